/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mini.h - mini-applications with threads (conjugate gradients, finite elements,
 * particles, a halo alone) and what they share: the threads of a PE, messages with a
 * signal, sums over all threads of all PEs.  Each thread computes its share of the PE's
 * part and sends the boundary data of its share itself, with its own context or with the
 * default one. Uses: OpenSHMEM 1.4 (1.5 where it is provided), coll.h.  Used by:
 * mini_*.c.
 */
#ifndef BENCH_MINI_H
#define BENCH_MINI_H

#include <stdatomic.h>

#include <shmem.h>

#include "coll.h"

enum { MINI_THREADS_MAX = 16, MINI_LINE = 128 /* two cache lines, for prefetches */ };

/* A thread of this PE while an application runs. */
struct mini_worker {
    int id, threads;
    shmem_ctx_t ctx;
    double comm_s;   /* in messages, sums and barriers, waiting included */
    bool local_turn; /* sense of the next barrier of this PE's threads */
};

struct mini_job {
    int me, npes, threads;
    size_t n;
    uint64_t seed;
};

struct mini_app {
    const char *name;
    const char *usual;                                     /* sizes */
    const char *(*check_size)(const struct mini_job *job); /* NULL, or what is wrong */
    void (*open)(const struct mini_job *job);              /* collective */
    void (*begin)(void);                /* restores the initial state before each run */
    void (*run)(struct mini_worker *w); /* by all threads of all PEs; timed */
    void (*verify)(void);               /* after each run; mini_fail if wrong */
    void (*close)(void);
};

extern const struct mini_app mini_cg, mini_fe, mini_halo, mini_md;

/* Waits for the other threads of this PE. */
void mini_barrier(struct mini_worker *w);

/* The sum of all threads of all PEs.  All threads call it. */
double mini_sum(struct mini_worker *w, double mine);

/* Stores the bytes at `pe`, then `value` in the signal there. */
void mini_send(struct mini_worker *w, void *dest, const void *src, size_t bytes,
               uint64_t *signal, uint64_t value, int pe);

/* Waits until the signal has at least `value`. */
void mini_recv(struct mini_worker *w, uint64_t *signal, uint64_t value);

/* Applications call it with an element of each message.  With -w, corrupts that of the
 * first message that the last PE receives. */
void mini_spoil(double *received);

/* The signal of thread t among those of a group, each in lines of its own. */
static inline uint64_t *mini_signal(uint64_t *group, int t)
{
    return group + (size_t)t * (MINI_LINE / sizeof(*group));
}

/* The beginning of part i of n elements split into `parts`. */
static inline size_t mini_split(size_t n, int i, int parts)
{
    return n * (size_t)i / (size_t)parts;
}

/* Prints an error message about a wrong result and ends all PEs. */
#define mini_fail(...)     coll_fail("mini_bench", __VA_ARGS__)
#define mini_need(bytes)   coll_need("mini_bench", bytes)
#define mini_memory(bytes) coll_memory("mini_bench", bytes)

/* Runs the application in the threads of this PE.  Returns the seconds of the slowest
 * thread; *comm_s is the mean of the threads. */
double mini_run(const struct mini_app *app, int threads, bool private_ctx,
                double *comm_s);

void mini_open(bool spoil); /* collective */
void mini_close(void);

#endif
