/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stress.c - a random mix of calls by several threads of each PE, with random delays.
 *
 *     stress [-s seed] [-t threads] [-w seconds] [-a actions] [-D]
 *
 * Threads with the same number are in step on all PEs: they draw the kind of each action
 * from the same random numbers, and their parameters from their own.  An epoch is
 * `actions` of each thread; the threads of an epoch are new.  The model: each thread
 * knows the values of its rows of `slot` on each PE, since only it writes them; and what
 * all threads have added to the counters of all PEs is summed up after each epoch.
 */
#include "tests/threads/stress.h"

#include <pthread.h>

static struct stress_worker workers[STRESS_THREADS];
static int threads = 8, actions = 60;
static uint64_t seed = 1;

static const struct {
    const char *name;
    void (*act)(struct stress_worker *w);
    int weight;
    bool first; /* only of thread 0: collectives of all PEs */
} kinds[] = {
    {"put", stress_put, 8, false},         {"burst", stress_burst, 3, false},
    {"get", stress_get, 8, false},         {"add", stress_add, 8, false},
    {"mix", stress_mix, 6, false},         {"signal", stress_signal, 3, false},
    {"wait", stress_wait, 3, false},       {"lock", stress_lock, 2, false},
    {"context", stress_context, 1, false}, {"collective", stress_collective, 4, false},
    {"team", stress_team, 1, false},       {"world", stress_world, 2, true},
    {"strided", stress_strided, 6, false}, {"alltoalls", stress_alltoalls, 2, false},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int stress_kind(struct stress_worker *w)
{
    int sum = 0, i = 0;

    for (int k = 0; k < KINDS; k++)
        sum += !kinds[k].first || w->t == 0 ? kinds[k].weight : 0;
    for (int left = stress_below(&w->common, sum);; i++) {
        left -= !kinds[i].first || w->t == 0 ? kinds[i].weight : 0;
        if (left < 0)
            return i;
    }
}

/* A context of its own means connections of its own: not for all threads of an epoch. */
static void stress_open(struct stress_worker *w)
{
    w->ctx[1] = w->ctx[2] = SHMEM_CTX_DEFAULT;
    if (stress_below(&w->own, 4) == 0)
        CHECK_EQ(shmem_ctx_create(0, &w->ctx[1]), 0);
    if (stress_below(&w->own, 4) == 0)
        CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &w->ctx[2]), 0);
}

static void *stress_run(void *arg)
{
    struct stress_worker *w = arg;

    stress_open(w);
    for (int i = 0; i < actions; i++) {
        int k = stress_kind(w);
        w->counts[k]++;
        kinds[k].act(w);
        check_delay(&w->own);
    }
    stress_complete(w);
    for (int i = 1; i < STRESS_CONTEXTS; i++)
        if (w->ctx[i] != SHMEM_CTX_DEFAULT)
            shmem_ctx_destroy(w->ctx[i]);
    return NULL;
}

/* Sums over all threads of all PEs must be what the counters are. */
static void stress_verify(void)
{
    enum { ALL = STRESS_PES * STRESS_COUNTERS };
    static uint64_t mine[2][ALL], all[2][ALL], now[2][ALL];
    const int npes = shmem_n_pes(), me = shmem_my_pe();

    memset(mine, 0, sizeof mine);
    for (int t = 0; t < threads; t++)
        for (int i = 0; i < npes * STRESS_COUNTERS; i++) {
            mine[0][i] += workers[t].added[i / STRESS_COUNTERS][i % STRESS_COUNTERS];
            mine[1][i] ^= workers[t].mixed[i / STRESS_COUNTERS][i % STRESS_COUNTERS];
        }
    shmem_barrier_all();
    CHECK_EQ(shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, all[0], mine[0], ALL), 0);
    CHECK_EQ(shmem_uint64_xor_reduce(SHMEM_TEAM_WORLD, all[1], mine[1], ALL), 0);
    memcpy(&now[0][me * STRESS_COUNTERS], stress_counter, sizeof stress_counter);
    memcpy(&now[1][me * STRESS_COUNTERS], stress_mixed, sizeof stress_mixed);
    for (int i = me * STRESS_COUNTERS; i < (me + 1) * STRESS_COUNTERS; i++) {
        CHECK_EQ(now[0][i], all[0][i]);
        CHECK_EQ(now[1][i], all[1][i]);
    }
    shmem_barrier_all();
}

/* PE 0 decides. */
static bool stress_goes_on(double end)
{
    static int more, all;

    more = shmem_my_pe() == 0 && check_now() < end;
    CHECK_EQ(shmem_int_max_reduce(SHMEM_TEAM_WORLD, &all, &more, 1), 0);
    return all != 0;
}

static void stress_report(long epochs)
{
    printf("%ld epochs of %d actions by %d threads of %d PEs:", epochs, actions, threads,
           shmem_n_pes());
    for (int k = 0; k < KINDS; k++) {
        unsigned long n = 0;
        for (int t = 0; t < threads; t++)
            n += workers[t].counts[k];
        printf(" %s %lu", kinds[k].name, n * (unsigned long)shmem_n_pes());
    }
    printf("\n");
}

static void stress_job(double seconds)
{
    const int npes = shmem_n_pes();
    const double end = check_now() + seconds;
    pthread_t thread[STRESS_THREADS];
    long epochs = 0;

    for (int t = 0; t < threads; t++) {
        struct stress_worker *w = &workers[t];
        *w = (struct stress_worker){.t = t, .ctx[0] = SHMEM_CTX_DEFAULT};
        w->common = seed * 1000003u + (uint64_t)t + 1;
        w->own = w->common * 31 + (uint64_t)shmem_my_pe();
        CHECK_EQ(
            shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &w->team), 0);
    }
    do {
        for (int t = 0; t < threads; t++)
            CHECK_EQ(pthread_create(&thread[t], NULL, stress_run, &workers[t]), 0);
        for (int t = 0; t < threads; t++)
            pthread_join(thread[t], NULL);
        stress_verify();
        epochs++;
    } while (stress_goes_on(end));
    if (shmem_my_pe() == 0)
        stress_report(epochs);
    for (int t = 0; t < threads; t++)
        shmem_team_destroy(workers[t].team);
}

int main(int argc, char **argv)
{
    double seconds = 1;
    int provided;

    for (int c; (c = getopt(argc, argv, "s:t:w:a:D")) != -1;)
        switch (c) {
        case 's':
            seed = strtoull(optarg, NULL, 0);
            break;
        case 't':
            threads = atoi(optarg);
            break;
        case 'w':
            seconds = atof(optarg);
            break;
        case 'D':
            stress_loses_updates = true;
            break;
        case 'a':
            actions = atoi(optarg);
            break;
        default:
            return 2;
        }
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
    CHECK(shmem_n_pes() <= STRESS_PES && threads <= STRESS_THREADS);
    stress_job(seconds);
    shmem_finalize();
    return 0;
}
