/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - reductions of every operation and type over several teams against a serial
 * model: boundary values, in place and not, many counts, consecutive calls without a
 * barrier between them.  The model combines in PE order, the library in order of arrival.
 * That changes only the sign of zeros in complex products, so zeros compare equal there;
 * all other results are exact: floats are small whole numbers, and integers wrap around.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/api/multi/coll.h"

#include <complex.h>
#include <float.h>

typedef int (*reduce_fn)(shmem_team_t team, void *dest, const void *source, size_t n);
typedef void (*combine_fn)(void *into, const void *element);
typedef void (*make_fn)(void *element, uint64_t bits, long small);

/* For each type: the routine, and the model's combine function. */
#define REDUCE(NAME, OP)                                                                 \
    static int OP##_##NAME(shmem_team_t team, void *d, const void *s, size_t n)          \
    {                                                                                    \
        return shmem_##NAME##_##OP##_reduce(team, d, s, n);                              \
    }
#define COMBINE(NAME, C, OP, EXPRESSION)                                                 \
    static void combine_##OP##_##NAME(void *into, const void *element)                   \
    {                                                                                    \
        C a = *(C *)into, b = *(const C *)element;                                       \
        *(C *)into = (C)(EXPRESSION);                                                    \
    }
#define MAKE(NAME, C)                                                                    \
    static void make_##NAME(void *element, uint64_t bits, long small)                    \
    {                                                                                    \
        *(C *)element = (C)small;                                                        \
        (void)bits;                                                                      \
    }
#define MAKE_INT(NAME, C)                                                                \
    static void bits_##NAME(void *element, uint64_t bits, long small)                    \
    {                                                                                    \
        *(C *)element = (C)bits;                                                         \
        (void)small;                                                                     \
    }
/* Sums and products are computed in type V; integers are unsigned there, to wrap around.
 */
#define WIDE_SINT(C) uint64_t
#define WIDE_UINT(C) uint64_t
#define WIDE_FLT(C)  C
#define WIDE_CPLX(C) C
#define ARITHMETIC(NAME, C, V)                                                           \
    COMBINE(NAME, C, sum, (V)a + (V)b) COMBINE(NAME, C, prod, (V)a *(V)b)
#define NUM(NAME, C, KIND)                                                               \
    REDUCE(NAME, sum)                                                                    \
    REDUCE(NAME, prod) ARITHMETIC(NAME, C, WIDE_##KIND(C)) MAKE(NAME, C)
#define BIT(NAME, C, KIND)                                                               \
    REDUCE(NAME, and)                                                                    \
    REDUCE(NAME, or)                                                                     \
    REDUCE(NAME, xor)                                                                    \
    COMBINE(NAME, C, and, a &b) COMBINE(NAME, C, or, a | b) COMBINE(NAME, C, xor, a ^ b)
#define ORD(NAME, C, KIND)                                                               \
    REDUCE(NAME, max)                                                                    \
    REDUCE(NAME, min)                                                                    \
    COMBINE(NAME, C, max, a > b ? a : b)                                                 \
    COMBINE(NAME, C, min, a < b ? a : b) BITS_##KIND(NAME, C)
#define BITS_SINT(NAME, C) MAKE_INT(NAME, C)
#define BITS_UINT(NAME, C) MAKE_INT(NAME, C)
#define BITS_FLT(NAME, C)                                                                \
    static void bits_##NAME(void *element, uint64_t bits, long small)                    \
    {                                                                                    \
        const C table[] = {0, (C)FLT_MAX, (C)-FLT_MAX, (C)FLT_MIN, (C)-FLT_MIN, 1};      \
        *(C *)element = bits % 8 < 6 ? table[bits % 8] : (C)small;                       \
    }
SHMEM_TYPES_REDUCE_NUM(NUM)
SHMEM_TYPES_REDUCE_ORD(ORD)
SHMEM_TYPES_REDUCE_BIT(BIT)

struct row {
    const char *name;
    size_t size, compared; /* bytes of an element, bytes that are its value */
    int kind;
    make_fn make;
    reduce_fn reduce;
    combine_fn combine;
};
enum { SINT, UINT, FLT, CPLX };
#define COMPARED(C, KIND)                                                                \
    (KIND == FLT && sizeof(C) == sizeof(long double) ? (size_t)LDBL_BYTES : sizeof(C))

#define ROW(NAME, C, KIND, MAKER, OP)                                                    \
    {#NAME " " #OP,  sizeof(C),   COMPARED(C, KIND),    KIND,                            \
     MAKER##_##NAME, OP##_##NAME, combine_##OP##_##NAME},
#define ROWS_NUM(NAME, C, KIND)                                                          \
    ROW(NAME, C, KIND, make, sum) ROW(NAME, C, KIND, make, prod)
#define ROWS_ORD(NAME, C, KIND)                                                          \
    ROW(NAME, C, KIND, bits, max) ROW(NAME, C, KIND, bits, min)
#define ROWS_BIT(NAME, C, KIND)                                                          \
    ROW(NAME, C, KIND, bits, and)                                                        \
    ROW(NAME, C, KIND, bits, or) ROW(NAME, C, KIND, bits, xor)
static const struct row rows[] = {SHMEM_TYPES_REDUCE_NUM(ROWS_NUM) SHMEM_TYPES_REDUCE_ORD(
    ROWS_ORD) SHMEM_TYPES_REDUCE_BIT(ROWS_BIT)};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), MOST = 30000, ELEMENT = 16 };
static const size_t counts[] = {0, 1, 7, 130, 1000, MOST};

/* Half of the time a boundary value of some width, otherwise random. */
static uint64_t boundary_bits(uint64_t r)
{
    static const unsigned widths[] = {8, 16, 32, 64};
    uint64_t top = (uint64_t)1 << (widths[r % 4] - 1);
    const uint64_t edge[] = {0, 1, ~(uint64_t)0, top, top - 1, top + 1};
    return r / 4 % 2 != 0 ? edge[r / 8 % 6] : check_random(&r);
}

/* Element i of PE pe of the team. */
static void make_element(const struct row *row, void *element, size_t i, int pe)
{
    uint64_t state = i * 131 + (uint64_t)pe * 65537 + 1;
    uint64_t r = check_random(&state);
    long small = row->kind == UINT ? (long)(r >> 1) : (long)(r % 7) - 3;
    if (row->kind == SINT && i % 3 == 0) /* some sums overflow */
        small = (long)(boundary_bits(r) | 1);
    memset(element, 0, ELEMENT);
    row->make(element, boundary_bits(r), small);
}

static void make_source(const struct row *row, const struct group *g,
                        unsigned char *source, size_t n)
{
    unsigned char element[ELEMENT] __attribute__((aligned(16)));
    for (size_t i = 0; i < n; i++) {
        make_element(row, element, i, g->me);
        memcpy(source + i * row->size, element, row->size);
    }
}

/* True if the elements are equal; complex zeros of either sign are. */
static bool same_value(const struct row *row, const unsigned char *a,
                       const unsigned char *b)
{
    float f[2][2];
    double d[2][2];
    if (row->kind != CPLX)
        return memcmp(a, b, row->compared) == 0;
    if (row->size == sizeof(f[0])) {
        memcpy(f[0], a, sizeof(f[0]));
        memcpy(f[1], b, sizeof(f[1]));
        return f[0][0] == f[1][0] && f[0][1] == f[1][1];
    }
    memcpy(d[0], a, sizeof(d[0]));
    memcpy(d[1], b, sizeof(d[1]));
    return d[0][0] == d[1][0] && d[0][1] == d[1][1];
}

static void check_result(const struct row *row, const struct group *g,
                         const unsigned char *dest, size_t n)
{
    unsigned char expected[ELEMENT] __attribute__((aligned(16)));
    unsigned char element[ELEMENT] __attribute__((aligned(16)));
    size_t step = n > 1000 ? 7 : 1; /* the model is slow: check a sample */
    for (size_t i = 0; i < n; i += step) {
        make_element(row, expected, i, 0);
        for (int pe = 1; pe < g->npes; pe++) {
            make_element(row, element, i, pe);
            row->combine(expected, element);
        }
        CHECK_NAMED(same_value(row, dest + i * row->size, expected),
                    "%s of %zu over %s: element %zu is wrong", row->name, n, g->name, i);
    }
    check_guard(dest + n * row->size, row->name, g);
}

static void test_row(const struct row *row, const struct group *g, size_t n,
                     unsigned char *dest, unsigned char *source)
{
    size_t bytes = n * row->size;
    make_source(row, g, source, n);
    memset(dest, GUARD_BYTE, bytes + GUARD);
    CHECK_EQ(row->reduce(g->team, dest, source, n), 0);
    check_result(row, g, dest, n);
    /* In place: the source is the destination. */
    memset(source + bytes, GUARD_BYTE, GUARD);
    CHECK_EQ(row->reduce(g->team, source, source, n), 0);
    check_result(row, g, source, n);
}

/* Consecutive calls with the same buffers: no call may overtake another. */
static void test_rounds(const struct group *g, uint64_t *seed)
{
    enum { ROUNDS = 300, WORDS = 300 };
    static long from[WORDS], to[WORDS];
    for (long round = 0; round < ROUNDS; round++) {
        size_t n = round % 2 == 0 ? 1 : WORDS;
        for (size_t i = 0; i < n; i++)
            from[i] = round * 1000 + g->me + (long)i;
        check_delay(seed);
        CHECK_EQ(shmem_long_sum_reduce(g->team, to, from, n), 0);
        for (size_t i = 0; i < n; i++)
            CHECK_EQ(to[i],
                     (round * 1000 + (long)i) * g->npes + g->npes * (g->npes - 1) / 2);
    }
}

int main(void)
{
    unsigned char *dest, *source;
    uint64_t seed = coll_init(&dest, &source, (MOST + 8) * ELEMENT);
    for (int g = 0; g < ngroups; g++) {
        size_t most = g == 0 ? sizeof(counts) / sizeof(counts[0]) : 4;
        for (size_t i = 0; i < ROWS; i++) {
            for (size_t c = 0; c < most; c++)
                test_row(&rows[i], &groups[g], counts[c], dest, source);
            check_delay(&seed);
        }
        test_rounds(&groups[g], &seed);
    }
    shmem_finalize();
    return 0;
}
