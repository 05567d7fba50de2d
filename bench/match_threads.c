/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_threads.c - threads on one matcher: with one lock around it, and with tail
 * queues. Both queues hold LENGTH entries that nothing matches; each thread posts a
 * receive and delivers the message for it, in a loop.  The contestants of a cell take
 * turns.  Prints a line per figure: threads, length, engine, lock, million pairs per
 * second. Uses: compat/mpi/match.
 */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "compat/mpi/match/match.h"
#include "compat/mpi/match/match_tail.h"
#include "pgas/core/base/clock.h"

enum { THREADS_MAX = 16, LENGTH_MAX = 1024, ROUNDS = 5, CONTESTANTS = 4, BATCH = 16 };

struct contestant {
    const char *lock_name;
    enum match_engine engine;
    bool tail;
};

static const struct contestant contestants[CONTESTANTS] = {
    {"one", MATCH_LIST, false},
    {"tail", MATCH_LIST, true},
    {"one", MATCH_AUTO, false},
    {"tail", MATCH_AUTO, true},
};

/* One contestant in one cell */
struct cell {
    bool use_tail;
    struct adaptive_lock lock;
    struct matcher one;
    struct match_tail tail;
    struct match_entry unmatched[2 * LENGTH_MAX];
};

struct thread {
    pthread_t id;
    struct cell *cell;
    pthread_barrier_t *start;
    const uint32_t *stop;
    int number;
    uint64_t pairs;
};

static struct match_entry *cell_call(struct cell *c, struct match_entry *e, bool post)
{
    struct match_entry *mate;

    if (c->use_tail)
        return post ? match_tail_post(&c->tail, e) : match_tail_arrive(&c->tail, e);
    adaptive_acquire(&c->lock);
    mate = post ? match_post(&c->one, e) : match_arrive(&c->one, e);
    adaptive_release(&c->lock);
    return mate;
}

static void cell_open(struct cell *c, const struct contestant *who, int length)
{
    struct match_options o = match_options_default();

    o.engine = who->engine;
    c->use_tail = who->tail;
    c->lock = (struct adaptive_lock){0};
    if ((who->tail ? match_tail_init(&c->tail, &o) : match_init(&c->one, &o)) != 0)
        abort();
    for (int i = 0; i < 2 * length; i++) {
        c->unmatched[i] = (struct match_entry){.key = {0, 1000 + i, i}};
        if (cell_call(c, &c->unmatched[i], i % 2 == 0) != NULL)
            abort();
    }
}

static void cell_close(struct cell *c)
{
    if (c->use_tail)
        match_tail_free(&c->tail);
    else
        match_free(&c->one);
}

static void *thread_run(void *arg)
{
    struct thread *t = arg;
    struct match_entry receive, message;

    pthread_barrier_wait(t->start);
    while (load_relaxed_u32(t->stop) == 0) {
        for (int i = 0; i < BATCH; i++) {
            receive = (struct match_entry){.key = {0, t->number, i}};
            message = receive;
            if (cell_call(t->cell, &receive, true) != NULL ||
                cell_call(t->cell, &message, false) != &receive)
                abort();
        }
        t->pairs += BATCH;
    }
    return NULL;
}

/* Million pairs per second */
static double cell_rate(struct cell *c, int threads, double seconds)
{
    struct thread t[THREADS_MAX];
    pthread_barrier_t start;
    uint32_t stop = 0;
    uint64_t pairs = 0;

    pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        t[i] = (struct thread){.cell = c, .start = &start, .stop = &stop, .number = i};
        if (pthread_create(&t[i].id, NULL, thread_run, &t[i]) != 0)
            abort();
    }
    pthread_barrier_wait(&start);
    uint64_t began = clock_ns();
    usleep((useconds_t)(seconds * 1e6));
    store_relaxed_u32(&stop, 1);
    for (int i = 0; i < threads; i++) {
        pthread_join(t[i].id, NULL);
        pairs += t[i].pairs;
    }
    double ns = (double)(clock_ns() - began);
    pthread_barrier_destroy(&start);
    return (double)pairs * 1e3 / ns;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void bench_cell(int threads, int length, double seconds)
{
    static struct cell cells[CONTESTANTS];
    double rates[CONTESTANTS][ROUNDS];

    for (int k = 0; k < CONTESTANTS; k++)
        cell_open(&cells[k], &contestants[k], length);
    for (int r = 0; r < ROUNDS; r++)
        for (int k = 0; k < CONTESTANTS; k++)
            rates[k][r] = cell_rate(&cells[k], threads, seconds);
    for (int k = 0; k < CONTESTANTS; k++) {
        qsort(rates[k], ROUNDS, sizeof rates[k][0], compare_doubles);
        printf("%d %d %s %s %.3f\n", threads, length,
               match_engine_name(contestants[k].engine), contestants[k].lock_name,
               rates[k][ROUNDS / 2]);
        cell_close(&cells[k]);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {1, 8, 32, 128, 512, LENGTH_MAX};
    double seconds = 0.01;
    int only = 0;

    for (int option; (option = getopt(argc, argv, "n:t:")) != -1;)
        if (option == 't')
            seconds = atof(optarg);
        else if (option == 'n')
            only = atoi(optarg);
        else
            return fprintf(stderr, "usage: match_threads [-n LENGTH] [-t SECONDS]\n") > 0;
    for (int threads = 1; threads <= 8; threads *= 2)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            if (only == 0 || only == lengths[i])
                bench_cell(threads, lengths[i], seconds);
    return 0;
}
