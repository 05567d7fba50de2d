/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * active_many.c - random collectives on many overlapping active sets, more than the
 * library has space for as teams.  All PEs call the routine for each set; PEs outside the
 * set return at once.  "threads": two threads of each PE do so concurrently, with
 * separate pSync arrays; "mixed": only odd PEs initialize with SHMEM_THREAD_MULTIPLE.
 */
#include "config.h"

#include "tests/api/multi/check.h"

#include <pthread.h>

enum {
    PES_MAX = 16,
    SETS_MAX = 128,
    STEPS = 400,
    N = 40,
    THREADS = 2,
    GUARD = -77,
    WORDS = SHMEM_SYNC_SIZE,
    WORK = N > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? N : SHMEM_REDUCE_MIN_WRKDATA_SIZE
};

struct set {
    int start, log, size;
};

/* The state of one thread. */
struct lane {
    long (*sync)[WORDS]; /* by set: SYNCS arrays */
    long *dest, *source, *work;
    uint64_t seed;
};
enum { SYNCS = 4 }; /* of a set */

static struct set sets[SETS_MAX];
static int nsets, npes, me;
static struct lane lanes[THREADS];

#define SET(s) (s)->start, (s)->log, (s)->size

static void find_sets(void)
{
    for (int log = 0; log < 3; log++)
        for (int start = 0; start < npes; start++)
            for (int size = 2; start + ((size - 1) << log) < npes; size++)
                if (nsets < SETS_MAX && (size > 2 || log < 2))
                    sets[nsets++] = (struct set){start, log, size};
}

/* This PE's index in the set; -1 if it is not a member. */
static int index_in(const struct set *s)
{
    int away = me - s->start, stride = 1 << s->log;
    return away >= 0 && away % stride == 0 && away / stride < s->size ? away / stride
                                                                      : -1;
}

static void check_all(const long *at, size_t n, long first, long step, const char *what,
                      const struct set *s)
{
    for (size_t i = 0; i < n; i++)
        CHECK_NAMED(at[i] == first + step * (long)i,
                    "%s of set %d, 2^%d, %d: element %zu is %ld, should be %ld", what,
                    s->start, s->log, s->size, i, at[i], first + step * (long)i);
}

static void test_sum(struct lane *l, const struct set *s, long *sync, size_t n, long step)
{
    long ids = 0;
    for (int i = 0; i < s->size; i++)
        ids += s->start + (i << s->log);
    for (size_t i = 0; i < n; i++) {
        l->source[i] = step + me + (long)i;
        l->dest[i] = GUARD;
    }
    shmem_long_sum_to_all(l->dest, l->source, (int)n, SET(s), l->work, sync);
    if (index_in(s) >= 0)
        check_all(l->dest, n, step * s->size + ids, s->size, "sum", s);
    else
        check_all(l->dest, n, GUARD, 0, "sum, outside", s);
}

static void test_broadcast(struct lane *l, const struct set *s, long (*sync)[WORDS],
                           size_t n, long step)
{
    int root = (int)(step % s->size), mine = index_in(s);
    for (size_t i = 0; i < n; i++) {
        l->source[i] = mine == root ? step + (long)i : GUARD;
        l->dest[i] = GUARD;
    }
    shmem_barrier(SET(s), sync[1]); /* all dests are ready */
    shmem_broadcast64(l->dest, l->source, n, root, SET(s), sync[0]);
    if (mine >= 0 && mine != root)
        check_all(l->dest, n, step, 1, "broadcast", s);
    else
        check_all(l->dest, n, GUARD, 0, "broadcast, root or outside", s);
    shmem_barrier(SET(s), sync[1]);
}

static void test_collect(struct lane *l, const struct set *s, long *sync, size_t n,
                         long step)
{
    int mine = index_in(s);
    for (size_t i = 0; i < n; i++)
        l->source[i] = step + (long)n * mine + (long)i;
    if (step % 2 == 0)
        shmem_fcollect64(l->dest, l->source, n, SET(s), sync);
    else
        shmem_collect64(l->dest, l->source, n, SET(s), sync);
    if (mine >= 0)
        check_all(l->dest, n * (size_t)s->size, step, 1, "collect", s);
}

static void test_alltoall(struct lane *l, const struct set *s, long *sync, long step)
{
    int mine = index_in(s);
    for (int i = 0; i < s->size; i++)
        l->source[i] = step + 100 * mine + i;
    shmem_alltoall64(l->dest, l->source, 1, SET(s), sync);
    if (mine >= 0)
        check_all(l->dest, (size_t)s->size, step + mine, 100, "alltoall", s);
}

static void check_syncs(long (*sync)[WORDS])
{
    for (int k = 0; k < SYNCS; k++)
        for (int i = 0; i < WORDS; i++)
            CHECK_NAMED(sync[k][i] == SHMEM_SYNC_VALUE, "pSync %d has %ld at %d", k,
                        sync[k][i], i);
}

static void one_step(struct lane *l, uint64_t *common, long step)
{
    const struct set *s = &sets[check_random(common) % (uint64_t)nsets];
    long(*sync)[WORDS] = l->sync + (s - sets) * SYNCS;
    size_t n = check_random(common) % 4 == 0 ? N : 1 + check_random(common) % 3;
    uint64_t what = check_random(common) % 5;

    if (check_random(&l->seed) % 16 == 0)
        check_delay(&l->seed);
    if (what == 0)
        test_sum(l, s, sync[2], n, step);
    else if (what == 1)
        test_broadcast(l, s, sync, n, step);
    else if (what == 2)
        test_collect(l, s, sync[2], n, step);
    else if (what == 3)
        test_alltoall(l, s, sync[2], step);
    else
        shmem_sync(SET(s), sync[3]);
    if (index_in(s) >= 0 && what != 4)
        shmem_barrier(SET(s), sync[1]);
}

static void *run_lane(void *arg)
{
    struct lane *l = arg;
    uint64_t common = 20260101u + (uint64_t)(l - lanes);

    for (long step = 1; step <= STEPS; step++)
        one_step(l, &common, step);
    return NULL;
}

static void make_lane(struct lane *l)
{
    size_t bytes = (size_t)nsets * SYNCS * sizeof(long[WORDS]);
    l->sync = check_alloc(bytes);
    memset(l->sync, 0, bytes);
    l->dest = check_alloc((size_t)N * PES_MAX * sizeof(long));
    l->source = check_alloc((size_t)N * PES_MAX * sizeof(long));
    l->work = check_alloc((size_t)WORK * sizeof(long));
    l->seed = check_seed(me * THREADS + (int)(l - lanes));
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    const char *pe = getenv("PMIX_RANK");
    bool odd = pe != NULL && atoi(pe) % 2 == 1;
    int lanes_used = strcmp(way, "threads") == 0 ? THREADS : 1, provided;
    bool threads = lanes_used > 1 || (strcmp(way, "mixed") == 0 && odd);
    pthread_t thread[THREADS];

    shmem_init_thread(threads ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &provided);
    npes = shmem_n_pes();
    me = shmem_my_pe();
    CHECK(npes <= PES_MAX);
    find_sets();
    for (int i = 0; i < lanes_used; i++)
        make_lane(&lanes[i]);
    shmem_barrier_all();
    for (int i = 1; i < lanes_used && nsets > 0; i++)
        CHECK(pthread_create(&thread[i], NULL, run_lane, &lanes[i]) == 0);
    if (nsets > 0)
        run_lane(&lanes[0]);
    for (int i = 1; i < lanes_used && nsets > 0; i++)
        pthread_join(thread[i], NULL);
    shmem_barrier_all();
    for (int i = 0; i < lanes_used; i++)
        for (int k = 0; k < nsets; k++)
            check_syncs(lanes[i].sync + k * SYNCS);
    shmem_finalize();
    return 0;
}
