/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scan.c - inclusive and exclusive prefix sums of every type over several teams against a
 * serial model: many counts, in place and not, consecutive calls without a barrier
 * between them.  Floating-point sums are computed in PE order, so their bits are known;
 * signed integer sums wrap around.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/api/multi/coll.h"

#include <complex.h>
#include <math.h>

typedef int (*scan_fn)(shmem_team_t team, void *dest, const void *source, size_t n);
typedef void (*make_fn)(void *element, uint64_t r);
typedef void (*add_fn)(void *into, const void *element);

/* Floating-point values of very different magnitude, so that another order of summation
 * changes the bits. */
#define MAKE_SINT(C, r) (C)(r)
#define MAKE_UINT(C, r) (C)(r)
#define MAKE_FLT(C, r)  ((C)((r) % 1000) / 7 * ((r) % 3 == 0 ? (C)1e6 : (C)1e-3))
#define MAKE_CPLX(C, r) ((C)((r) % 1000) / 7 - (C)((r) % 777) / 3 * (C)I)
/* Adding as unsigned numbers wraps around. */
#define ADD_SINT(C, a, b) (C)((uint64_t)(a) + (uint64_t)(b))
#define ADD_UINT(C, a, b) (C)((uint64_t)(a) + (uint64_t)(b))
#define ADD_FLT(C, a, b)  (C)((a) + (b))
#define ADD_CPLX(C, a, b) (C)((a) + (b))

#define SCAN(NAME, X)                                                                    \
    static int X##_##NAME(shmem_team_t team, void *d, const void *s, size_t n)           \
    {                                                                                    \
        return shmem_##NAME##_sum_##X(team, d, s, n);                                    \
    }
#define MODEL(NAME, C, KIND)                                                             \
    static void make_##NAME(void *element, uint64_t r)                                   \
    {                                                                                    \
        *(C *)element = MAKE_##KIND(C, r);                                               \
    }                                                                                    \
    static void add_##NAME(void *into, const void *element)                              \
    {                                                                                    \
        *(C *)into = ADD_##KIND(C, *(C *)into, *(const C *)element);                     \
    }
#define TYPE(NAME, C, KIND) SCAN(NAME, inscan) SCAN(NAME, exscan) MODEL(NAME, C, KIND)
SHMEM_TYPES_REDUCE_NUM(TYPE)

struct row {
    const char *name;
    size_t size, compared; /* bytes of an element, bytes that are its value */
    scan_fn inscan, exscan;
    make_fn make;
    add_fn add;
};
#define COMPARED_SINT(C) sizeof(C)
#define COMPARED_UINT(C) sizeof(C)
#define COMPARED_CPLX(C) sizeof(C)
#define COMPARED_FLT(C)                                                                  \
    (sizeof(C) == sizeof(long double) ? (size_t)LDBL_BYTES : sizeof(C))
#define ROW(NAME, C, KIND)                                                               \
    {#NAME,         sizeof(C),   COMPARED_##KIND(C), inscan_##NAME,                      \
     exscan_##NAME, make_##NAME, add_##NAME},
static const struct row rows[] = {SHMEM_TYPES_REDUCE_NUM(ROW)};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), MOST = 30000, ELEMENT = 16 };
static const size_t counts[] = {0, 1, 3, 64, 1001, MOST};
static unsigned char *dest, *source;

static void make_element(const struct row *row, void *element, size_t i, int pe)
{
    uint64_t state = i * 131 + (uint64_t)pe * 65537 + 1;
    memset(element, 0, ELEMENT);
    row->make(element, check_random(&state));
}

/* at[] must be the sums over the first `pes` PEs. */
static void check_sums(const struct row *row, const struct group *g, size_t n, int pes,
                       const unsigned char *at, const char *what)
{
    unsigned char sum[ELEMENT] __attribute__((aligned(16)));
    unsigned char element[ELEMENT] __attribute__((aligned(16)));
    size_t step = n > 2000 ? 11 : 1; /* the model is slow: check a sample */
    for (size_t i = 0; i < n; i += step) {
        memset(sum, 0, ELEMENT);
        for (int pe = 0; pe < pes; pe++) {
            make_element(row, element, i, pe);
            if (pe == 0)
                memcpy(sum, element, ELEMENT);
            else
                row->add(sum, element);
        }
        CHECK_NAMED(memcmp(at + i * row->size, sum, row->compared) == 0,
                    "%s %s of %s: element %zu of %zu is wrong", row->name, what, g->name,
                    i, n);
    }
    check_guard(at + n * row->size, what, g);
}

static void make_source(const struct row *row, const struct group *g, size_t n)
{
    unsigned char element[ELEMENT] __attribute__((aligned(16)));
    for (size_t i = 0; i < n; i++) {
        make_element(row, element, i, g->me);
        memcpy(source + i * row->size, element, row->size);
    }
    memset(source + n * row->size, GUARD_BYTE, GUARD);
    memset(dest, GUARD_BYTE, n * row->size + GUARD);
}

static void test_row(const struct row *row, const struct group *g, size_t n,
                     uint64_t *seed)
{
    make_source(row, g, n);
    check_delay(seed);
    CHECK_EQ(row->inscan(g->team, dest, source, n), 0);
    check_sums(row, g, n, g->me + 1, dest, "inscan");
    CHECK_EQ(row->exscan(g->team, dest, source, n), 0);
    check_sums(row, g, n, g->me, dest, "exscan");
    /* In place. */
    CHECK_EQ(row->inscan(g->team, source, source, n), 0);
    check_sums(row, g, n, g->me + 1, source, "inscan in place");
    make_source(row, g, n);
    check_delay(seed);
    CHECK_EQ(row->exscan(g->team, source, source, n), 0);
    check_sums(row, g, n, g->me, source, "exscan in place");
}

/* The sum of negative zeros is a negative zero; the exclusive sum of PE 0 is +0. */
static void test_zero(const struct group *g)
{
    static double from, to;
    from = -0.0;
    CHECK_EQ(shmem_double_sum_inscan(g->team, &to, &from, 1), 0);
    CHECK(to == 0 && signbit(to));
    CHECK_EQ(shmem_double_sum_exscan(g->team, &to, &from, 1), 0);
    CHECK(to == 0 && (signbit(to) != 0) == (g->me > 0));
}

/* Consecutive calls with the same buffers: no call may overtake another. */
static void test_rounds(const struct group *g, uint64_t *seed)
{
    static long from, to;
    enum { ROUNDS = 500 };
    for (long round = 0; round < ROUNDS; round++) {
        from = round + g->me;
        check_delay(seed);
        CHECK_EQ(shmem_long_sum_inscan(g->team, &to, &from, 1), 0);
        CHECK_EQ(to, (g->me + 1) * round + g->me * (g->me + 1) / 2);
        CHECK_EQ(shmem_long_sum_exscan(g->team, &to, &from, 1), 0);
        CHECK_EQ(to, g->me * round + (g->me - 1) * g->me / 2);
    }
}

int main(void)
{
    uint64_t seed = coll_init(&dest, &source, (MOST + 8) * ELEMENT);
    for (int g = 0; g < ngroups; g++) {
        size_t most = g == 0 ? sizeof(counts) / sizeof(counts[0]) : 5;
        for (size_t i = 0; i < ROWS; i++)
            for (size_t c = 0; c < most; c++)
                test_row(&rows[i], &groups[g], counts[c], &seed);
        test_zero(&groups[g]);
        test_rounds(&groups[g], &seed);
    }
    shmem_finalize();
    return 0;
}
