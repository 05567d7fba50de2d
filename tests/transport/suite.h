/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * suite.h - interface of the transport conformance suite for its test cases.
 *
 * A PE is a process (in the sim transport: a fiber), forked by suite.c.  Its two segments
 * are memfds, which it maps at addresses of its own; the harness also maps the segments
 * of all PEs ("views"), so a case can read the target's memory without the transport.
 * Phases end with a barrier in memory shared by fork, which does not use the transport.
 *
 * Each PE has a service thread that sleeps on fd(context 0) and makes progress on it; a
 * lock protects context 0, which the main thread uses too.  The first failure of a PE
 * ends it and all others; suite.c continues with the next case in new processes.
 *
 * Uses: transport.h.
 */
#ifndef TESTS_TRANSPORT_SUITE_H
#define TESTS_TRANSPORT_SUITE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pgas/transport/transport.h"

enum {
    GUARD = 64,             /* guard bytes checked before and after written data */
    WORDS = 8192,           /* bytes at the start of a segment for flags and counters */
    MAX_LEN = 5 << 20,      /* longest pattern */
    HEAP_SLOT = 4500 << 10, /* space of each origin in the heap of a PE */
    DATA_SLOT = 1100 << 10,
    SHARED_WORDS = 64, /* words per PE in shared memory, for the cases */
    WHAT_MAX = 512,
    MAX_CASES = 128,
};

/* Exit status of a PE.  PE_GAVE_UP: another PE failed. */
enum { PE_OK = 0, PE_FAILED = 3, PE_GAVE_UP = 4, PE_CANNOT_OPEN = 5 };

struct test_case;

/* State of a PE in memory that all PEs and the parent share. */
struct shared_pe {
    unsigned char address[TRANSPORT_ADDRESS_MAX];
    size_t address_len;
    double open_ms;
    const char *waits_for; /* a string literal: the same address in all PEs */
    int line;
    uint64_t pending;
    int pending_pe;
    int failures;  /* calls of world->failed */
    int failed_pe; /* of the last one */
    char message[WHAT_MAX];
    uint64_t word[SHARED_WORDS];
};

struct shared {
    int failed; /* a PE has failed and printed the reason */
    int case_now;
    uint32_t arrived, generation;
    double seconds[MAX_CASES];
    int passed[MAX_CASES];
    char describe[WHAT_MAX];
    struct shared_pe pe[];
};

/* Memory layout of every PE. */
struct layout {
    size_t slot[SEGMENTS]; /* one per origin and one for the PE itself */
    size_t len[SEGMENTS];
};

struct service {
    pthread_t thread;
    pthread_mutex_t lock;
    struct pe *pe;
    int kick; /* eventfd: wakes the service thread when the main thread uses context 0 */
    bool started, sleeping, paused, stop;
    uint64_t calls;
    int nap_ms; /* duration of the next nap if the transport has no fd */
};

/* A context as the cases use it; service is NULL if only one thread uses it. */
struct chan {
    struct pe *pe;
    struct transport_ctx *ctx;
    struct service *service;
};

struct options {
    const char *name;                          /* as on the command line: "hook:ofi" */
    const struct transport *transport, *inner; /* inner: the one that hook wraps */
    const char *provider, *avoid, *faults, *only;
    enum transport_order order;
    int npes;
    unsigned scale;
    bool survives; /* world->survives in all cases, not only in those that need it */
    bool sim, hook, memory; /* memory: a dead PE's memory is still accessible */
};

enum { NPES_MANY = 1024 }; /* of cases with CASE_MANY */

struct pe {
    int me, npes, members;
    const struct options *options;
    struct shared *shared;
    struct shared_pe *mine;
    const struct layout *layout;
    const struct transport *t;
    struct transport_net *net;
    struct transport_world world;
    struct chan ctx0;
    struct service service;
    unsigned address_calls[NPES_MANY]; /* of world.address_of, for each PE */
    unsigned char **view[SEGMENTS];    /* of each PE */
    const char *case_name;
    uint64_t deadline;  /* ns */
    bool expect_failed; /* world->failed and errors of operations are expected */
    bool dead;          /* this PE is a fiber that was killed: it runs no more cases */
};

/* -- failing -------------------------------------------------------------------- */

void fail(struct pe *pe, const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));
#define FAIL(pe, ...) fail(pe, __FILE__, __LINE__, __VA_ARGS__)
#define CHECK(pe, ok, ...)                                                               \
    do {                                                                                 \
        if (!(ok))                                                                       \
            FAIL(pe, __VA_ARGS__);                                                       \
    } while (0)

/* -- waiting -------------------------------------------------------------------- */

struct wait {
    struct chan *chan;
    const char *what;
    unsigned turns;
    bool memory; /* waits for a word that other PEs write: do not sleep on fd */
};

struct wait wait_begin(struct chan *chan, const char *what, int line, bool memory);
/* One unsuccessful poll: progress, then back off.  Fails at the case's deadline. */
void wait_step(struct wait *wait);
#define WAIT_OPS(chan, what, until)                                                      \
    for (struct wait w_ = wait_begin(chan, what, __LINE__, false); !(until);             \
         wait_step(&w_))
#define WAIT_MEMORY(chan, what, until)                                                   \
    for (struct wait w_ = wait_begin(chan, what, __LINE__, true); !(until);              \
         wait_step(&w_))

/* Barrier of the pe->members PEs of the case; makes progress while it waits. */
void barrier_at(struct pe *pe, int line);
#define barrier(pe) barrier_at(pe, __LINE__)
void nap(struct pe *pe, unsigned ms);
/* Waits up to 10 s until a process is stopped by a signal. */
void await_stop(pid_t pid);
/* Yield the processor (sim: make progress) during a poll loop. */
void relax(struct chan *chan);
uint64_t now_ns(void);
double cpu_ms(void); /* processor time of this process */
void service_start(struct pe *pe);
void service_stop(struct pe *pe);
void service_pause(struct pe *pe, bool pause);
/* Open another context; false: no resources, which fails the case if `must`. */
bool chan_open(struct pe *pe, struct chan *chan, bool must);
void chan_close(struct chan *chan);

/* -- operations: post until accepted; an error fails the case ------------------- */

int try_put(struct chan *chan, struct transport_symaddr to, const void *from, size_t len,
            struct transport_completion *done);
int try_get(struct chan *chan, void *to, struct transport_symaddr from, size_t len,
            struct transport_completion *done);
int try_amo(struct chan *chan, struct transport_symaddr at,
            const struct transport_amo *amo, struct transport_completion *done);
int try_put_signal(struct chan *chan, struct transport_symaddr to, const void *from,
                   size_t len, const struct transport_signal *signal,
                   struct transport_completion *done);
int try_put_blocks(struct chan *chan, const struct transport_blocks *blocks);
int try_get_blocks(struct chan *chan, const struct transport_blocks *blocks,
                   struct transport_completion *done);
/* Waits until the transport's blocks_max is positive. */
size_t blocks_max(struct chan *chan, int pe, size_t bytes);
int try_quiet(struct chan *chan);
int try_quiet_all(struct chan *chan);
int try_fence(struct chan *chan);
uint64_t pending(struct chan *chan, int *pe);

void put_nbi(struct chan *chan, struct transport_symaddr to, const void *from,
             size_t len);
void get_nbi(struct chan *chan, void *to, struct transport_symaddr from, size_t len);
/* One put_signal if len <= signal_max, otherwise a put and an amo with after_puts. */
void put_signal_nbi(struct chan *chan, struct transport_symaddr to, const void *from,
                    size_t len, const struct transport_signal *signal);
/* These wait until `from` may be changed, or the data have arrived. */
void put(struct chan *chan, struct transport_symaddr to, const void *from, size_t len);
void get(struct chan *chan, void *to, struct transport_symaddr from, size_t len);
void amo_nbi(struct chan *chan, struct transport_symaddr at, enum transport_amo_op op,
             uint32_t size, uint64_t operand);
/* Returns the old value. */
uint64_t amo_fetch(struct chan *chan, struct transport_symaddr at,
                   enum transport_amo_op op, uint32_t size, uint64_t operand,
                   uint64_t cond);
void quiet(struct chan *chan);
void fence(struct chan *chan);
void done_wait(struct chan *chan, struct transport_completion *done, const char *what);
#define NOT_DONE ((struct transport_completion){.pending = 1, .error = 0})

/* -- memory --------------------------------------------------------------------- */

/* Byte `offset` of origin's slot in a segment of PE target; origin == npes: the slot of
 * the target itself. */
struct transport_symaddr slot_symaddr(const struct pe *pe, int target,
                                      enum transport_segment segment, int origin,
                                      size_t offset);
/* Word i (8 bytes) of the words at the start of the target's heap. */
struct transport_symaddr word_symaddr(int target, unsigned i);
/* The same memory through the harness's mapping, without the transport. */
unsigned char *view(const struct pe *pe, struct transport_symaddr symaddr);
uint64_t *view_word(const struct pe *pe, int target, unsigned i);
/* All PEs: set the words of every heap, and those in shared memory, to 0. */
void words_clear(struct pe *pe);
/* The same through this PE's own mapping; symaddr.pe must be this PE. */
unsigned char *own(const struct pe *pe, struct transport_symaddr symaddr);
uint64_t *own_word(const struct pe *pe, unsigned i);

/* MAX_LEN pseudo-random bytes that depend on the seed. */
const unsigned char *pattern(uint64_t seed);
/* Fails with the first byte that differs from the pattern. */
void check_bytes_at(struct pe *pe, const char *file, int line, const unsigned char *is,
                    const unsigned char *should, size_t len, const char *what);
#define check_bytes(pe, ...) check_bytes_at(pe, __FILE__, __LINE__, __VA_ARGS__)
/* Set, and check, the GUARD bytes before and after [at, at + len). */
void guards_set(unsigned char *at, size_t len);
void guards_check_at(struct pe *pe, const char *file, int line, const unsigned char *at,
                     size_t len, const char *what);
#define guards_check(pe, ...) guards_check_at(pe, __FILE__, __LINE__, __VA_ARGS__)
unsigned times(const struct pe *pe, unsigned n);
uint64_t load(const uint64_t *word);
void store(uint64_t *word, uint64_t value);
uint64_t mix(uint64_t x);

/* -- running a PE --------------------------------------------------------------- */

/* Run cases from..to-1 in this PE, between open and close; returns its exit status. */
int pe_run(struct pe *pe, const struct test_case *const *cases, int from, int to);

/* -- the cases ------------------------------------------------------------------ */

enum {
    CASE_THREADS = 1,   /* not in sim */
    CASE_PROCESSES = 2, /* not in sim */
    CASE_HOOK = 4,      /* only with hook */
    CASE_ALONE = 8,     /* in a set of its own */
    CASE_DIES = 16,     /* PE 1 dies by SIGKILL */
    CASE_SIM = 32,      /* only in sim */
    CASE_MANY = 64,     /* with a thousand PEs, in a set of its own */
    CASE_SURVIVES = 128 /* with world->survives; with CASE_ALONE */
};

struct test_case {
    const char *name;
    void (*run)(struct pe *pe);
    unsigned flags;
    const char *faults;  /* instead of those of -c; NULL = those */
    unsigned timeout_ms; /* world->timeout_ns; 0 = TIMEOUT_MS */
};

extern const struct test_case data_cases[], blocks_cases[], order_cases[], signal_cases[],
    done_cases[], amo_cases[], race_cases[], ctx_cases[], error_cases[], lost_cases[],
    stopped_cases[], many_cases[];

#endif
