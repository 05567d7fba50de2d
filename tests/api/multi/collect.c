/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collect.c - collect and fcollect of every type and of bytes over several teams against
 * a serial model: different counts, some or all of them 0, dest overlapping the source,
 * consecutive calls without a barrier between them, random delays; NULL as the source of
 * PEs that contribute nothing.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/api/multi/coll.h"

typedef int (*collect_fn)(shmem_team_t team, void *dest, const void *source, size_t n);
#define FUNCTIONS(NAME, C, KIND)                                                         \
    static int collect_##NAME(shmem_team_t team, void *d, const void *s, size_t n)       \
    {                                                                                    \
        return shmem_##NAME##_collect(team, d, s, n);                                    \
    }                                                                                    \
    static int fcollect_##NAME(shmem_team_t team, void *d, const void *s, size_t n)      \
    {                                                                                    \
        return shmem_##NAME##_fcollect(team, d, s, n);                                   \
    }
SHMEM_TYPES_RMA(FUNCTIONS)

struct row {
    const char *name;
    size_t size;
    collect_fn collect, fcollect;
};
#define ROW(NAME, C, KIND) {#NAME " collect", sizeof(C), collect_##NAME, fcollect_##NAME},
static const struct row rows[] = {
    SHMEM_TYPES_RMA(ROW){"collectmem", 1, shmem_collectmem, shmem_fcollectmem}};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), MOST = 20000, ELEMENT = 16, PES_MAX = 16 };
static unsigned char *dest, *source;

/* The number of elements that PE i contributes in a round: one of three distributions. */
static size_t count_of(uint64_t round, int i, const struct group *g)
{
    uint64_t state = round * 1000 + (uint64_t)i + 1;
    switch (round % 3) {
    case 0: /* random, sometimes 0 */
        return check_random(&state) % 5 == 0 ? 0 : check_random(&state) % 100;
    case 1: /* one PE contributes many, the others none */
        return (int)(round % (uint64_t)g->npes) == i ? MOST / 8 : 0;
    default: /* increasing from 0 */
        return (size_t)i * 3;
    }
}

static uint64_t salt_of(uint64_t round, int i)
{
    return round * PES_MAX + (uint64_t)i;
}

/* dest must be the blocks of all PEs; n: the count of each (fcollect), or NULL: the
 * counts of the round. */
static void check_blocks(const struct row *row, const struct group *g, uint64_t round,
                         const size_t *n)
{
    const unsigned char *at = dest;
    for (int i = 0; i < g->npes; i++) {
        size_t bytes = (n != NULL ? *n : count_of(round, i, g)) * row->size;
        check_block(at, bytes, salt_of(round, i), row->name, g);
        at += bytes;
    }
    check_guard(at, row->name, g);
}

static size_t total(const struct row *row, const struct group *g, uint64_t round)
{
    size_t sum = 0;
    for (int i = 0; i < g->npes; i++)
        sum += count_of(round, i, g) * row->size;
    return sum;
}

static void test_collect(const struct row *row, const struct group *g, uint64_t round,
                         uint64_t *seed)
{
    size_t n = count_of(round, g->me, g);
    memset(dest, GUARD_BYTE, total(row, g, round) + GUARD);
    check_fill(source, n * row->size, salt_of(round, g->me));
    check_delay(seed);
    CHECK_EQ(row->collect(g->team, dest, source, n), 0);
    check_blocks(row, g, round, NULL);
}

static void test_fcollect(const struct row *row, const struct group *g, size_t n,
                          uint64_t round, uint64_t *seed)
{
    memset(dest, GUARD_BYTE, n * row->size * (size_t)g->npes + GUARD);
    check_fill(source, n * row->size, salt_of(round, g->me));
    check_delay(seed);
    CHECK_EQ(row->fcollect(g->team, dest, source, n), 0);
    check_blocks(row, g, round, &n);
}

/* The source is the start of dest, or lies within it. */
static void test_overlap(const struct group *g)
{
    const struct row *row = &rows[ROWS - 1];
    size_t n = 3000;
    for (size_t at = 0; at < 2 * n; at += 1777) {
        memset(dest, GUARD_BYTE, n * (size_t)g->npes + 2 * n + GUARD);
        check_fill(dest + at, n, salt_of(at, g->me));
        CHECK_EQ(row->fcollect(g->team, dest, dest + at, n), 0);
        for (int i = 0; i < g->npes; i++)
            check_block(dest + (size_t)i * n, n, salt_of(at, i), "overlapping fcollect",
                        g);
        size_t mine = count_of(at, g->me, g);
        memset(dest, GUARD_BYTE, total(row, g, at) + 2 * n + GUARD);
        check_fill(dest + at, mine, salt_of(at, g->me));
        CHECK_EQ(row->collect(g->team, dest, dest + at, mine), 0);
        const unsigned char *block = dest;
        for (int i = 0; i < g->npes; block += count_of(at, i, g), i++)
            check_block(block, count_of(at, i, g), salt_of(at, i), "overlapping collect",
                        g);
    }
}

/* source may be NULL on a PE that contributes nothing; dest too if no PE contributes. */
static void test_nowhere(const struct group *g)
{
    static long from[2], to[2 * PES_MAX];
    for (int silent = 0; silent < g->npes; silent++) {
        bool brings = g->me != silent;
        from[0] = from[1] = 10 * silent + g->me;
        CHECK_EQ(shmem_long_collect(g->team, to, brings ? from : NULL, brings ? 2 : 0),
                 0);
        for (int i = 0, at = 0; i < g->npes; i++)
            for (int k = 0; k < 2 && i != silent; k++)
                CHECK_EQ(to[at++], 10 * silent + i);
        shmem_team_sync(g->team);
        CHECK_EQ(shmem_long_collect(g->team, brings ? to : NULL, NULL, 0), 0);
    }
}

/* Consecutive calls with the same buffers: no call may overtake another. */
static void test_rounds(const struct group *g, uint64_t *seed)
{
    static long from[3], to[3 * PES_MAX];
    enum { ROUNDS = 500 };
    for (long round = 0; round < ROUNDS; round++) {
        size_t n = (size_t)(round + g->me) % 4, at = 0;
        for (size_t k = 0; k < n; k++)
            from[k] = round * 100 + g->me;
        check_delay(seed);
        CHECK_EQ(shmem_long_collect(g->team, to, from, n), 0);
        for (int i = 0; i < g->npes; i++)
            for (size_t k = 0; k < (size_t)(round + i) % 4; k++)
                CHECK_EQ(to[at++], round * 100 + i);
    }
}

int main(void)
{
    enum { ROUNDS = 6 };
    shmem_init();
    CHECK(shmem_n_pes() <= PES_MAX);
    groups_init();
    dest = check_alloc((size_t)(MOST + 8) * ELEMENT * PES_MAX);
    source = check_alloc((size_t)(MOST + 8) * ELEMENT);
    uint64_t seed = check_seed(shmem_my_pe());
    for (int g = 0; g < ngroups; g++) {
        uint64_t round = (uint64_t)groups[g].id * 10000;
        for (size_t i = 0; i < ROWS; i++) {
            for (int k = 0; k < ROUNDS; k++)
                test_collect(&rows[i], &groups[g], round++, &seed);
            for (size_t n = 0; n < 100; n = n * 5 + 1)
                test_fcollect(&rows[i], &groups[g], n, round++, &seed);
        }
        test_fcollect(&rows[ROWS - 1], &groups[g], MOST, round++, &seed);
        test_overlap(&groups[g]);
        test_nowhere(&groups[g]);
        test_rounds(&groups[g], &seed);
    }
    shmem_finalize();
    return 0;
}
