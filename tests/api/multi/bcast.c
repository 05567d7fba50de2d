/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast.c - broadcast of every type and of bytes over several teams: from every root,
 * many counts, buffers equal, overlapping and disjoint, consecutive calls without a
 * barrier between them, random delays.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/api/multi/coll.h"

typedef int (*bcast_fn)(shmem_team_t team, void *dest, const void *source, size_t n,
                        int root);
#define FUNCTION(NAME, C, KIND)                                                          \
    static int bcast_##NAME(shmem_team_t team, void *d, const void *s, size_t n,         \
                            int root)                                                    \
    {                                                                                    \
        return shmem_##NAME##_broadcast(team, d, s, n, root);                            \
    }
SHMEM_TYPES_RMA(FUNCTION)

struct row {
    const char *name;
    size_t size;
    bcast_fn bcast;
};
#define ROW(NAME, C, KIND) {#NAME " broadcast", sizeof(C), bcast_##NAME},
static const struct row rows[] = {
    SHMEM_TYPES_RMA(ROW){"broadcastmem", 1, shmem_broadcastmem}};
enum {
    ROWS = sizeof(rows) / sizeof(rows[0]),
    MOST = 100000,
    ELEMENT = 16,
    OTHER = 999999
};
static const size_t counts[] = {0, 1, 7, 1000, MOST};
static unsigned char *dest, *source;

static void check_dest(const struct row *row, const struct group *g,
                       const unsigned char *at, size_t n, uint64_t salt)
{
    check_block(at, n, salt, row->name, g);
    check_guard(at + n, row->name, g);
}

static void test_count(const struct row *row, const struct group *g, size_t n, int root,
                       uint64_t *seed)
{
    size_t bytes = n * row->size;
    uint64_t salt = n * 100 + (uint64_t)root;
    check_fill(source, bytes, g->me == root ? salt : OTHER);
    memset(dest, GUARD_BYTE, bytes + GUARD);
    check_delay(seed);
    CHECK_EQ(row->bcast(g->team, dest, source, n, root), 0);
    check_dest(row, g, dest, bytes, salt);
    if (g->me != root) /* the source of a non-root PE is not modified */
        CHECK(check_find_wrong(source, bytes, OTHER) == bytes);
    /* In place. */
    check_fill(dest, bytes, g->me == root ? salt + 50 : 1);
    CHECK_EQ(row->bcast(g->team, dest, dest, n, root), 0);
    check_dest(row, g, dest, bytes, salt + 50);
}

/* dest overlaps source from above and from below. */
static void test_overlap(const struct group *g, int root)
{
    enum { BYTES = 5000, APART = 1000 };
    for (int behind = 0; behind < 2; behind++) {
        unsigned char *to = dest + behind * APART, *from = dest + !behind * APART;
        memset(dest, GUARD_BYTE, BYTES + APART + GUARD);
        check_fill(from, BYTES, g->me == root ? (uint64_t)root : OTHER);
        CHECK_EQ(shmem_broadcastmem(g->team, to, from, BYTES, root), 0);
        check_block(to, BYTES, (uint64_t)root, "overlapping broadcast", g);
    }
}

/* Consecutive calls with the same two words: no call may overtake another. */
static void test_rounds(const struct group *g, uint64_t *seed)
{
    static long from, to;
    enum { ROUNDS = 500 };
    for (long round = 0; round < ROUNDS; round++) {
        int root = (int)(round * 7 % g->npes);
        from = round * 100 + g->me;
        check_delay(seed);
        CHECK_EQ(shmem_long_broadcast(g->team, &to, &from, 1, root), 0);
        CHECK_EQ(to, round * 100 + root);
    }
}

int main(void)
{
    uint64_t seed = coll_init(&dest, &source, (MOST + 8) * ELEMENT);
    for (int g = 0; g < ngroups; g++) {
        size_t most = g == 0 ? sizeof(counts) / sizeof(counts[0]) : 3;
        for (size_t i = 0; i < ROWS; i++)
            for (size_t c = 0; c < most; c++)
                test_count(&rows[i], &groups[g], counts[c], (int)(i + c) % groups[g].npes,
                           &seed);
        for (int root = 0; root < groups[g].npes; root++)
            test_overlap(&groups[g], root);
        test_rounds(&groups[g], &seed);
    }
    shmem_finalize();
    return 0;
}
