/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * killed.c - with SHMEM_FT=continue PEs are killed one after another while every PE has
 * many gets, puts and atomics to every other one in flight, also the PE that dies.
 *   killed SEED [THREADS]
 * With several threads each of them has, on the default context, and calls quiet itself.
 * The survivors complete their operations, check what they have got from live PEs, shrink
 * the world and go on, until one is left.  The last one prints "killed: PE N is left".
 */
#include <pthread.h>
#include <shmemx.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/api/multi/check.h"

enum { PES_MAX = 16, OPS = 40, SHORT = 64, LONG = 200000, WORDS = LONG / 8, ROUNDS = 8 };
enum { THREADS_MAX = 4 };

static uint64_t source[WORDS], target[PES_MAX][WORDS]; /* target: by origin */
static uint64_t count[PES_MAX], signals;
static struct thread {
    uint64_t got[PES_MAX][WORDS], old[PES_MAX][OPS];
} threads[THREADS_MAX];
static uint64_t seed;
static int me, npes, nthreads = 1;

static unsigned random_below(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* Post operations of all kinds to PE `to`, which may be dead. */
static void post(struct thread *t, int to, uint64_t round)
{
    shmem_uint64_get_nbi(t->got[to], source, WORDS, to);
    for (int i = 0; i < OPS; i++) {
        shmem_uint64_atomic_fetch_inc_nbi(&t->old[to][i], &count[me], to);
        shmem_uint64_atomic_inc(&count[me], to);
        shmem_uint64_get_nbi(&t->got[to][i], &source[i], 1, to);
        shmem_putmem_nbi(&target[me][i], &source[i], SHORT, to);
        shmem_uint64_put_signal_nbi(&target[me][i], &source[i], 1, &signals, 1,
                                    SHMEM_SIGNAL_ADD, to);
    }
    shmem_uint64_put_nbi(target[me], source, WORDS, to);
    if (round % 2 == 0)
        shmem_fence();
}

static void check_got(const struct thread *t, int from)
{
    for (int i = 0; i < WORDS && !shmemx_pe_failed(from); i++)
        CHECK(t->got[from][i] == (uint64_t)from * WORDS + (uint64_t)i ||
              shmemx_pe_failed(from));
    for (int i = 1; i < OPS && !shmemx_pe_failed(from); i++)
        CHECK(t->old[from][i] > t->old[from][i - 1] || shmemx_pe_failed(from));
}

/* Dies, if it is to, after that many PEs. */
static void run_rounds(struct thread *t, bool dies, uint64_t after)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (int to = 0; to < npes; to++) {
            if (to != me)
                post(t, to, round);
            if (dies && after-- == 0)
                raise(SIGKILL);
        }
        shmem_quiet();
    }
    if (dies)
        raise(SIGKILL);
    for (int from = 0; from < npes; from++)
        if (from != me)
            check_got(t, from);
}

static void *run_thread(void *arg)
{
    run_rounds(arg, false, 0);
    return NULL;
}

/* One step: true if nobody has failed in it. */
static bool step(shmem_team_t team, int victim)
{
    uint64_t flags = 0, after = random_below(ROUNDS * OPS / 8);
    pthread_t thread[THREADS_MAX];

    for (int t = 1; t < nthreads; t++)
        CHECK(pthread_create(&thread[t], NULL, run_thread, &threads[t]) == 0);
    run_rounds(&threads[0], me == victim, after);
    for (int t = 1; t < nthreads; t++)
        CHECK(pthread_join(thread[t], NULL) == 0);
    return shmemx_team_agree(team, &flags) == 0;
}

int main(int argc, char **argv)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    int provided;

    if (argc > 2)
        nthreads = atoi(argv[2]);
    shmem_init_thread(nthreads > 1 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE,
                      &provided);
    CHECK(nthreads <= THREADS_MAX);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    CHECK(npes <= PES_MAX);
    for (int i = 0; i < WORDS; i++)
        source[i] = (uint64_t)me * WORDS + (uint64_t)i;
    shmem_barrier_all();
    while (shmem_team_n_pes(team) > 1) {
        int rank = (int)random_below((unsigned)shmem_team_n_pes(team)), victim = 0;
        CHECK((victim = shmem_team_translate_pe(team, rank, SHMEM_TEAM_WORLD)) >= 0);
        while (step(team, victim))
            ;
        CHECK(shmemx_team_shrink(SHMEM_TEAM_WORLD, &team) == 0);
        CHECK(shmem_team_sync(team) == 0);
    }
    printf("killed: PE %d is left\n", me);
    shmem_finalize();
    return 0;
}
