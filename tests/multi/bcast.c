/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast.c - broadcast of every type and of bytes from every root, many counts, in place
 * and not, one after the other without a barrier between, with PEs that are late.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/multi/check.h"

typedef int (*bcast_fn)(void *dest, const void *source, size_t n, int root);
#define FUNCTION(NAME, C, KIND)                                                          \
    static int bcast_##NAME(void *d, const void *s, size_t n, int root)                  \
    {                                                                                    \
        return shmem_##NAME##_broadcast(SHMEM_TEAM_WORLD, d, s, n, root);                \
    }
SHMEM_TYPES_RMA(FUNCTION)

static int bcast_mem(void *d, const void *s, size_t n, int root)
{
    return shmem_broadcastmem(SHMEM_TEAM_WORLD, d, s, n, root);
}

struct row {
    const char *name;
    size_t size;
    bcast_fn bcast;
};
#define ROW(NAME, C, KIND) {#NAME, sizeof(C), bcast_##NAME},
static const struct row rows[] = {SHMEM_TYPES_RMA(ROW){"mem", 1, bcast_mem}};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), MOST = 100000, ELEMENT = 16, GUARD = 64 };
static const size_t counts[] = {0, 1, 7, 1000, MOST};
static unsigned char *dest, *source;

static void check_dest(const struct row *row, const unsigned char *at, size_t n, int root,
                       uint64_t salt)
{
    size_t wrong = check_find_wrong(at, n, salt);
    CHECK_NAMED(wrong == n, "%s of %zu bytes from %d: byte %zu is wrong", row->name, n,
                root, wrong);
    CHECK_NAMED(check_find_other(at + n, GUARD, 0x66) == GUARD,
                "%s of %zu bytes from %d wrote beyond its end", row->name, n, root);
}

static void test_row(const struct row *row, int root, uint64_t *seed)
{
    int me = shmem_my_pe();
    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
        size_t bytes = counts[c] * row->size;
        uint64_t salt = c * 100 + (uint64_t)root;
        check_fill(source, bytes, me == root ? salt : 999999);
        memset(dest, 0x66, bytes + GUARD);
        check_delay(seed);
        CHECK_EQ(row->bcast(dest, source, counts[c], root), 0);
        check_dest(row, dest, bytes, root, salt);
        if (me != root) /* the source of the others is no one's business */
            CHECK(check_find_wrong(source, bytes, 999999) == bytes);
        /* In place. */
        check_fill(dest, bytes, me == root ? salt + 50 : 1);
        CHECK_EQ(row->bcast(dest, dest, counts[c], root), 0);
        check_dest(row, dest, bytes, root, salt + 50);
    }
}

/* Round after round over the same two words: no round may overtake another. */
static void test_rounds(uint64_t *seed)
{
    static long from, to;
    enum { ROUNDS = 1000 };
    for (long round = 0; round < ROUNDS; round++) {
        int root = (int)(round * 7 % shmem_n_pes());
        from = round * 100 + shmem_my_pe();
        check_delay(seed);
        CHECK_EQ(shmem_long_broadcast(SHMEM_TEAM_WORLD, &to, &from, 1, root), 0);
        CHECK_EQ(to, round * 100 + root);
        shmem_sync_all(); /* before `from` changes, as the specification asks */
    }
}

int main(void)
{
    shmem_init();
    dest = check_alloc((MOST + 8) * ELEMENT);
    source = check_alloc((MOST + 8) * ELEMENT);
    uint64_t seed = check_seed(shmem_my_pe());
    for (size_t i = 0; i < ROWS; i++)
        for (int k = 0; k < 3 && k < shmem_n_pes(); k++)
            test_row(&rows[i], (int)(i + (size_t)k) % shmem_n_pes(), &seed);
    test_rounds(&seed);
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_WORLD), shmem_my_pe());
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_WORLD), shmem_n_pes());
    shmem_finalize();
    return 0;
}
