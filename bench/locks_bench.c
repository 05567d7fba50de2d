/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * locks_bench.c - the locks and rings of pgas/threads, by 1 to 8 threads.
 *
 *   locks_bench [-n ROUNDS] [-t SECONDS]
 *
 * Locks: each thread increments a counter under the lock, in a loop.  Rings: one thread
 * pops what the others push, and checks that the values of each producer are in order;
 * "locked" is a ring under the adaptive lock.  The contestants of a cell take turns; a
 * figure is the median.  Prints a line per figure: kind, name, threads, million
 * operations per second.  The exit status is 1 if an operation was lost.
 */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pgas/core/base/clock.h"
#include "pgas/threads/adaptive.h"
#include "pgas/threads/mcs.h"
#include "pgas/threads/mpsc.h"
#include "pgas/threads/spsc.h"
#include "pgas/threads/ticket.h"

enum { THREADS_MAX = 8, ROUNDS_MAX = 51, BATCH = 16, CAPACITY = 256 };

struct shared {
    _Alignas(64) struct adaptive_lock adaptive;
    _Alignas(64) struct mcs_lock mcs;
    _Alignas(64) struct ticket_lock ticket;
    _Alignas(64) pthread_mutex_t mutex;
    _Alignas(64) uint64_t counter;
    struct spsc_ring spsc, locked;
    struct mpsc_ring mpsc;
    uint64_t cells[CAPACITY], locked_cells[CAPACITY];
    struct mpsc_cell mpsc_cells[CAPACITY];
    uint32_t stop;
};

static struct shared shared = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static bool lost;

/* ---- locks ---------------------------------------------------------------------------
 */

static void increment_adaptive(void)
{
    adaptive_acquire(&shared.adaptive);
    shared.counter++;
    adaptive_release(&shared.adaptive);
}

static void increment_mcs(void)
{
    struct mcs_waiter w;

    mcs_acquire(&shared.mcs, &w);
    shared.counter++;
    mcs_release(&shared.mcs, &w);
}

static void increment_ticket(void)
{
    ticket_acquire(&shared.ticket);
    shared.counter++;
    ticket_release(&shared.ticket);
}

static void increment_mutex(void)
{
    pthread_mutex_lock(&shared.mutex);
    shared.counter++;
    pthread_mutex_unlock(&shared.mutex);
}

/* ---- rings ---------------------------------------------------------------------------
 */

static bool push_spsc(uint64_t value)
{
    return spsc_push(&shared.spsc, value);
}

static bool pop_spsc(uint64_t *value)
{
    return spsc_pop(&shared.spsc, value);
}

static bool push_mpsc(uint64_t value)
{
    return mpsc_push(&shared.mpsc, value);
}

static bool pop_mpsc(uint64_t *value)
{
    return mpsc_pop(&shared.mpsc, value);
}

static bool push_locked(uint64_t value)
{
    adaptive_acquire(&shared.adaptive);
    bool done = spsc_push(&shared.locked, value);
    adaptive_release(&shared.adaptive);
    return done;
}

static bool pop_locked(uint64_t *value)
{
    adaptive_acquire(&shared.adaptive);
    bool done = spsc_pop(&shared.locked, value);
    adaptive_release(&shared.adaptive);
    return done;
}

/* ---- measurement ---------------------------------------------------------------------
 */

static const struct contestant {
    const char *name;
    void (*increment)(void);
    bool (*push)(uint64_t value);
    bool (*pop)(uint64_t *value);
    int threads_min, threads_max;
} contestants[] = {
    {"adaptive", increment_adaptive, NULL, NULL, 1, THREADS_MAX},
    {"mcs", increment_mcs, NULL, NULL, 1, THREADS_MAX},
    {"ticket", increment_ticket, NULL, NULL, 1, THREADS_MAX},
    {"mutex", increment_mutex, NULL, NULL, 1, THREADS_MAX},
    {"spsc", NULL, push_spsc, pop_spsc, 2, 2},
    {"mpsc", NULL, push_mpsc, pop_mpsc, 2, THREADS_MAX},
    {"locked", NULL, push_locked, pop_locked, 2, THREADS_MAX},
};
enum { CONTESTANTS = sizeof contestants / sizeof contestants[0] };

struct worker {
    pthread_t id;
    const struct contestant *who;
    pthread_barrier_t *start;
    uint64_t number, done;
    uint64_t next[THREADS_MAX]; /* of the consumer: what each producer pushes next */
};

static void worker_pop(struct worker *w)
{
    uint64_t value;

    if (!w->who->pop(&value)) {
        sched_yield();
        return;
    }
    if ((uint32_t)value != (uint32_t)w->next[value >> 32]++)
        lost = true;
    w->done++;
}

static void *worker_run(void *arg)
{
    struct worker *w = arg;
    const struct contestant *who = w->who;

    pthread_barrier_wait(w->start);
    while (load_relaxed_u32(&shared.stop) == 0) {
        for (int i = 0; i < BATCH; i++)
            if (who->increment != NULL) {
                who->increment();
                w->done++;
            } else if (w->number == 0) {
                worker_pop(w);
            } else if (who->push(w->number << 32 | (uint32_t)w->done)) {
                w->done++;
            } else {
                sched_yield();
            }
    }
    return NULL;
}

/* What is still in the ring when all threads have ended */
static void drain(struct worker *w, int threads)
{
    uint64_t value;

    if (w->who->pop == NULL)
        return;
    while (w->who->pop(&value))
        if ((uint32_t)value != (uint32_t)w->next[value >> 32]++)
            lost = true;
    for (int i = 1; i < threads; i++)
        lost = lost || w->next[i] != w[i].done;
}

/* Million operations per second */
static double cell_rate(const struct contestant *who, int threads, double seconds)
{
    struct worker w[THREADS_MAX];
    pthread_barrier_t start;
    uint64_t sum = 0;
    const int first = who->pop != NULL && threads > 1;

    shared.stop = 0;
    shared.counter = 0;
    pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        w[i] = (struct worker){.who = who, .start = &start, .number = (uint64_t)i};
        if (pthread_create(&w[i].id, NULL, worker_run, &w[i]) != 0)
            abort();
    }
    pthread_barrier_wait(&start);
    uint64_t began = clock_ns();
    usleep((useconds_t)(seconds * 1e6));
    store_relaxed_u32(&shared.stop, 1);
    for (int i = 0; i < threads; i++)
        pthread_join(w[i].id, NULL);
    double ns = (double)(clock_ns() - began);
    drain(w, threads);
    for (int i = first; i < threads; i++)
        sum += w[i].done;
    lost = lost || (who->increment != NULL && shared.counter != sum);
    pthread_barrier_destroy(&start);
    return (double)sum * 1e3 / ns;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void bench_threads(int threads, int rounds, double seconds)
{
    static double rates[CONTESTANTS][ROUNDS_MAX];

    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < CONTESTANTS; k++)
            if (threads >= contestants[k].threads_min &&
                threads <= contestants[k].threads_max)
                rates[k][r] = cell_rate(&contestants[k], threads, seconds);
    for (int k = 0; k < CONTESTANTS; k++) {
        const struct contestant *who = &contestants[k];
        if (threads < who->threads_min || threads > who->threads_max)
            continue;
        qsort(rates[k], (size_t)rounds, sizeof rates[k][0], compare_doubles);
        printf("%s %s %d %.3f\n", who->pop == NULL ? "lock" : "ring", who->name, threads,
               rates[k][rounds / 2]);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    double seconds = 0.02;
    int rounds = 7;

    for (int option; (option = getopt(argc, argv, "n:t:")) != -1;)
        if (option == 't')
            seconds = atof(optarg);
        else if (option == 'n' && atoi(optarg) > 0 && atoi(optarg) <= ROUNDS_MAX)
            rounds = atoi(optarg);
        else
            return fprintf(stderr, "usage: locks_bench [-n ROUNDS] [-t SECONDS]\n") > 0;
    spsc_init(&shared.spsc, shared.cells, CAPACITY, 0);
    spsc_init(&shared.locked, shared.locked_cells, CAPACITY, 0);
    mpsc_init(&shared.mpsc, shared.mpsc_cells, CAPACITY, 0);
    for (int threads = 1; threads <= THREADS_MAX; threads *= 2)
        bench_threads(threads, rounds, seconds);
    if (lost)
        fprintf(stderr, "locks_bench: an operation was lost or out of order\n");
    return lost;
}
