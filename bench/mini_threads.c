/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mini_threads.c - the threads of a PE, their messages and their sums, for the
 * mini-applications.
 *
 * Barriers of the threads of a PE: the last thread resets `arrived` and then changes
 * `released` to the turn of this barrier; no thread can enter the next one before.
 * Thread 0 alone calls collectives, between two barriers.
 */
#include "mini.h"

#include <pthread.h>
#include <sched.h>

enum { SPINS = 200 }; /* before the thread yields its processor */

struct partial {
    _Alignas(MINI_LINE) double value;
};

static struct {
    struct partial partial[MINI_THREADS_MAX];
    double total;   /* result of the last mini_sum */
    double *sums;   /* symmetric: source, two results by turns, target of warm_up */
    bool sums_turn; /* of thread 0 */
    atomic_flag spoiled;
    bool spoils;
    _Alignas(MINI_LINE) atomic_int arrived;
    _Alignas(MINI_LINE) atomic_bool released;
} team;

struct thread {
    struct mini_worker w;
    const struct mini_app *app;
    pthread_t thread;
    bool private_ctx;
    double begin, end;
};

void mini_open(bool spoil)
{
    team.sums = mini_need(4 * sizeof(*team.sums));
    team.spoils = spoil && shmem_my_pe() == shmem_n_pes() - 1;
}

void mini_close(void)
{
    shmem_barrier_all();
    shmem_free(team.sums);
}

static void wait_local(struct mini_worker *w)
{
    bool turn = w->local_turn = !w->local_turn;

    if (atomic_fetch_add_explicit(&team.arrived, 1, memory_order_acq_rel) ==
        w->threads - 1) {
        atomic_store_explicit(&team.arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&team.released, turn, memory_order_release);
        return;
    }
    for (int spins = 0;
         atomic_load_explicit(&team.released, memory_order_acquire) != turn; spins++)
        if (spins >= SPINS)
            sched_yield();
}

void mini_barrier(struct mini_worker *w)
{
    double start = coll_now();

    wait_local(w);
    w->comm_s += coll_now() - start;
}

double mini_sum(struct mini_worker *w, double mine)
{
    double start = coll_now();

    team.partial[w->id].value = mine;
    wait_local(w);
    if (w->id == 0) {
        double *dest = team.sums + 1 + (team.sums_turn = !team.sums_turn);
        *team.sums = 0;
        for (int t = 0; t < w->threads; t++)
            *team.sums += team.partial[t].value;
        coll_lib.allreduce(dest, team.sums, 1);
        team.total = *dest;
    }
    wait_local(w);
    w->comm_s += coll_now() - start;
    return team.total;
}

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
static void put_signal(shmem_ctx_t ctx, void *dest, const void *src, size_t bytes,
                       uint64_t *signal, uint64_t value, int pe)
{
    shmem_ctx_putmem_signal(ctx, dest, src, bytes, signal, value, SHMEM_SIGNAL_SET, pe);
}

static void wait_signal(uint64_t *signal, uint64_t value)
{
    shmem_signal_wait_until(signal, SHMEM_CMP_GE, value);
}
#else
/* Open MPI's OpenSHMEM 1.4 has no atomic operations on uint64_t. */
static void put_signal(shmem_ctx_t ctx, void *dest, const void *src, size_t bytes,
                       uint64_t *signal, uint64_t value, int pe)
{
    shmem_ctx_putmem(ctx, dest, src, bytes, pe);
    shmem_ctx_fence(ctx);
    shmem_ctx_ulong_atomic_set(ctx, (unsigned long *)signal, value, pe);
}

static void wait_signal(uint64_t *signal, uint64_t value)
{
    shmem_ulong_wait_until((unsigned long *)signal, SHMEM_CMP_GE, value);
}
#endif

void mini_send(struct mini_worker *w, void *dest, const void *src, size_t bytes,
               uint64_t *signal, uint64_t value, int pe)
{
    double start = coll_now();

    put_signal(w->ctx, dest, src, bytes, signal, value, pe);
    w->comm_s += coll_now() - start;
}

void mini_recv(struct mini_worker *w, uint64_t *signal, uint64_t value)
{
    double start = coll_now();

    wait_signal(signal, value);
    w->comm_s += coll_now() - start;
}

void mini_spoil(double *received)
{
    if (team.spoils && !atomic_flag_test_and_set(&team.spoiled))
        *received += 0.125;
}

/* Connects the context with all PEs. */
static void warm_up(struct mini_worker *w)
{
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        shmem_ctx_double_p(w->ctx, team.sums + 3, 0, pe);
    shmem_ctx_quiet(w->ctx);
}

/* No thread is timed before all have a context, and no context is destroyed while
 * others are timed. */
static void *run_thread(void *arg)
{
    struct thread *t = arg;

    t->w.ctx = SHMEM_CTX_DEFAULT;
    if (t->private_ctx && shmem_ctx_create(SHMEM_CTX_PRIVATE, &t->w.ctx) != 0)
        mini_fail("shmem_ctx_create(SHMEM_CTX_PRIVATE) failed on PE %d", shmem_my_pe());
    warm_up(&t->w);
    mini_sum(&t->w, 0);
    t->w.comm_s = 0;
    t->begin = coll_now();
    t->app->run(&t->w);
    t->end = coll_now();
    wait_local(&t->w);
    if (t->private_ctx)
        shmem_ctx_destroy(t->w.ctx);
    return NULL;
}

double mini_run(const struct mini_app *app, int threads, bool private_ctx, double *comm_s)
{
    struct thread thread[MINI_THREADS_MAX];
    double most = 0;

    *comm_s = 0;
    atomic_store(&team.released, false);
    for (int t = 0; t < threads; t++) {
        thread[t] = (struct thread){
            .w = {.id = t, .threads = threads}, .app = app, .private_ctx = private_ctx};
        if (pthread_create(&thread[t].thread, NULL, run_thread, &thread[t]) != 0)
            mini_fail("pthread_create failed on PE %d", shmem_my_pe());
    }
    for (int t = 0; t < threads; t++) {
        double seconds;
        pthread_join(thread[t].thread, NULL);
        seconds = thread[t].end - thread[t].begin;
        most = seconds > most ? seconds : most;
        *comm_s += thread[t].w.comm_s / threads;
    }
    return most;
}
