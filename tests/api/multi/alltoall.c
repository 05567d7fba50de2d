/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall.c - alltoall and alltoalls of every type and of bytes over several teams
 * against a serial model: many counts and strides, gaps left unchanged, dest overlapping
 * the source, consecutive calls without a barrier between them.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/api/multi/coll.h"

typedef int (*alltoall_fn)(shmem_team_t team, void *dest, const void *source, size_t n);
typedef int (*alltoalls_fn)(shmem_team_t team, void *dest, const void *source,
                            ptrdiff_t dst, ptrdiff_t sst, size_t n);
#define FUNCTIONS(NAME, C, KIND)                                                         \
    static int alltoall_##NAME(shmem_team_t team, void *d, const void *s, size_t n)      \
    {                                                                                    \
        return shmem_##NAME##_alltoall(team, d, s, n);                                   \
    }                                                                                    \
    STRIDED(NAME)
#define STRIDED(NAME)                                                                    \
    static int alltoalls_##NAME(shmem_team_t team, void *d, const void *s,               \
                                ptrdiff_t dst, ptrdiff_t sst, size_t n)                  \
    {                                                                                    \
        return shmem_##NAME##_alltoalls(team, d, s, dst, sst, n);                        \
    }
SHMEM_TYPES_RMA(FUNCTIONS)

struct row {
    const char *name;
    size_t size;
    alltoall_fn alltoall;
    alltoalls_fn alltoalls;
};
#define ROW(NAME, C, KIND) {#NAME, sizeof(C), alltoall_##NAME, alltoalls_##NAME},
static const struct row rows[] = {
    SHMEM_TYPES_RMA(ROW){"mem", 1, shmem_alltoallmem, shmem_alltoallsmem}};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), MOST = 5000, ELEMENT = 16, PES_MAX = 16 };
enum { STRIDE_MAX = 3 };
static unsigned char *dest, *source;

/* One call: strides, elements of a block, and a salt that makes its values unique. */
struct call {
    ptrdiff_t dst, sst;
    size_t n;
    uint64_t salt;
};

/* Element e that PE `from` of the team sends to PE `to`. */
static void make_element(unsigned char *element, const struct call *c, int from, int to,
                         size_t e, size_t size)
{
    check_fill(element, size,
               (c->salt * 64 + (uint64_t)from) * 64 + (uint64_t)to + e * 77);
}

static void make_source(const struct row *row, const struct group *g,
                        const struct call *c, unsigned char *at)
{
    size_t step = (size_t)c->sst * row->size;
    memset(at, 0x11, c->n * (size_t)g->npes * step);
    for (int to = 0; to < g->npes; to++)
        for (size_t e = 0; e < c->n; e++)
            make_element(at + ((size_t)to * c->n + e) * step, c, g->me, to, e, row->size);
}

static void check_dest(const struct row *row, const struct group *g, const struct call *c)
{
    unsigned char element[ELEMENT];
    size_t step = (size_t)c->dst * row->size, all = c->n * (size_t)g->npes;
    for (size_t k = 0; k < all; k++) {
        const unsigned char *at = dest + k * step;
        make_element(element, c, (int)(k / c->n), g->me, k % c->n, row->size);
        CHECK_NAMED(memcmp(at, element, row->size) == 0,
                    "%s of %s, strides %td and %td: element %zu of %zu is wrong",
                    row->name, g->name, c->dst, c->sst, k, all);
        size_t gap = step - row->size;
        CHECK_NAMED(k + 1 == all ||
                        check_find_other(at + row->size, gap, GUARD_BYTE) == gap,
                    "%s of %s, strides %td and %td: wrote after element %zu", row->name,
                    g->name, c->dst, c->sst, k);
    }
    check_guard(dest + (all > 0 ? (all - 1) * step + row->size : 0), row->name, g);
}

static void test_call(const struct row *row, const struct group *g, const struct call *c,
                      uint64_t *seed)
{
    memset(dest, GUARD_BYTE, c->n * (size_t)(c->dst * g->npes) * row->size + GUARD);
    make_source(row, g, c, source);
    check_delay(seed);
    if (c->dst == 1 && c->sst == 1 && c->salt % 2 == 0)
        CHECK_EQ(row->alltoall(g->team, dest, source, c->n), 0);
    else
        CHECK_EQ(row->alltoalls(g->team, dest, source, c->dst, c->sst, c->n), 0);
    check_dest(row, g, c);
}

static void test_row(const struct row *row, const struct group *g, uint64_t *seed)
{
    static const size_t counts[] = {0, 1, 2, 9, 100};
    uint64_t salt = (uint64_t)g->id * 1000;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        for (ptrdiff_t dst = 1; dst <= STRIDE_MAX; dst++)
            for (ptrdiff_t sst = 1; sst <= STRIDE_MAX; sst++)
                test_call(row, g, &(struct call){dst, sst, counts[i], salt++}, seed);
}

/* dest is the source, or overlaps it: elements between the strides are not checked. */
static void test_overlap(const struct group *g, ptrdiff_t dst, ptrdiff_t sst,
                         size_t apart, size_t n)
{
    const struct row *row = &rows[ROWS - 1];
    unsigned char element[ELEMENT];
    struct call c = {dst, sst, n, (uint64_t)(dst * 10 + sst) + apart};
    memset(dest, GUARD_BYTE, c.n * (size_t)(STRIDE_MAX * g->npes) + apart + GUARD);
    make_source(row, g, &c, dest + apart);
    if (dst == 1 && sst == 1)
        CHECK_EQ(shmem_alltoallmem(g->team, dest, dest + apart, c.n), 0);
    else
        CHECK_EQ(shmem_alltoallsmem(g->team, dest, dest + apart, dst, sst, c.n), 0);
    for (size_t k = 0; k < c.n * (size_t)g->npes; k++) {
        make_element(element, &c, (int)(k / c.n), g->me, k % c.n, 1);
        CHECK_NAMED(
            dest[k * (size_t)dst] == element[0],
            "overlapping alltoalls of %s, strides %td and %td: element %zu is wrong",
            g->name, dst, sst, k);
    }
}

/* Consecutive calls with the same buffers: no call may overtake another. */
static void test_rounds(const struct group *g, uint64_t *seed)
{
    static long from[PES_MAX], to[PES_MAX];
    enum { ROUNDS = 500 };
    for (long round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < g->npes; i++)
            from[i] = round * 10000 + g->me * 100 + i;
        check_delay(seed);
        CHECK_EQ(shmem_long_alltoall(g->team, to, from, 1), 0);
        for (int i = 0; i < g->npes; i++)
            CHECK_EQ(to[i], round * 10000 + i * 100 + g->me);
    }
}

int main(void)
{
    size_t bytes = (size_t)MOST * ELEMENT * STRIDE_MAX * PES_MAX + GUARD;
    uint64_t seed = coll_init(&dest, &source, bytes);
    CHECK(shmem_n_pes() <= PES_MAX);
    for (int i = 0; i < ngroups; i++) {
        const struct group *g = &groups[i];
        for (size_t r = 0; r < ROWS; r++)
            test_row(&rows[r], g, &seed);
        test_call(&rows[0], g, &(struct call){1, 1, MOST, 2}, &seed);
        test_call(&rows[1], g, &(struct call){2, 3, MOST, 3}, &seed);
        /* large source strides: gaps that are fetched along, in several segments; and
         * gaps that are too large for that */
        test_call(&rows[ROWS - 1], g, &(struct call){1, 2000, 60, 4}, &seed);
        test_call(&rows[ROWS - 1], g, &(struct call){2, 5000, 40, 5}, &seed);
        for (ptrdiff_t stride = 1; stride <= STRIDE_MAX; stride++)
            for (size_t apart = 0; apart < 1000; apart += 499)
                for (size_t n = 11; n < 1000; n += 689)
                    test_overlap(g, stride, STRIDE_MAX + 1 - stride, apart, n);
        test_overlap(g, 1, 1, 0, 700);
        test_rounds(g, &seed);
    }
    shmem_finalize();
    return 0;
}
