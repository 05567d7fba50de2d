/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - sum, max and min reductions of every type on the world team against a serial
 * model: boundary values, in place and not, many counts.  Sums of signed types do not
 * overflow and those of real types are exact, so that the order does not matter.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/multi/check.h"

#include <complex.h>
#include <float.h>

typedef int (*reduce_fn)(void *dest, const void *source, size_t n);
typedef void (*combine_fn)(void *into, const void *element);
typedef void (*make_fn)(void *element, uint64_t bits, long small);

/* For each type: the routine, and the model's way to combine two elements. */
#define REDUCE(NAME, OP)                                                                 \
    static int OP##_##NAME(void *d, const void *s, size_t n)                             \
    {                                                                                    \
        return shmem_##NAME##_##OP##_reduce(SHMEM_TEAM_WORLD, d, s, n);                  \
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
#define NUM(NAME, C, KIND) REDUCE(NAME, sum) COMBINE(NAME, C, sum, a + b) MAKE(NAME, C)
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

struct row {
    const char *name;
    size_t size, compared; /* bytes of an element, bytes that are its value */
    int kind;
    make_fn make;
    reduce_fn reduce;
    combine_fn combine;
};
enum { SINT, UINT, FLT, CPLX };
enum { LDBL_BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };
#define COMPARED(C, KIND)                                                                \
    (KIND == FLT && sizeof(C) == sizeof(long double) ? (size_t)LDBL_BYTES : sizeof(C))

#define ROW_SUM(NAME, C, KIND)                                                           \
    {#NAME " sum", sizeof(C),  COMPARED(C, KIND), KIND,                                  \
     make_##NAME,  sum_##NAME, combine_sum_##NAME},
#define ROW_ORD(NAME, C, KIND)                                                           \
    {#NAME " max", sizeof(C),  COMPARED(C, KIND), KIND,                                  \
     bits_##NAME,  max_##NAME, combine_max_##NAME},                                      \
        {#NAME " min", sizeof(C),  COMPARED(C, KIND), KIND,                              \
         bits_##NAME,  min_##NAME, combine_min_##NAME},
static const struct row rows[] = {SHMEM_TYPES_REDUCE_NUM(ROW_SUM)
                                      SHMEM_TYPES_REDUCE_ORD(ROW_ORD)};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), MOST = 100000, ELEMENT = 16 };
static const size_t counts[] = {0, 1, 7, 1000, MOST};

/* Bits that are at a boundary of some width half of the time. */
static uint64_t boundary_bits(uint64_t r)
{
    static const unsigned widths[] = {8, 16, 32, 64};
    uint64_t top = (uint64_t)1 << (widths[r % 4] - 1);
    const uint64_t edge[] = {0, 1, ~(uint64_t)0, top, top - 1, top + 1};
    return r / 4 % 2 != 0 ? edge[r / 8 % 6] : check_random(&r);
}

/* Element i of pe.  Of a signed sum of few bits, one PE holds the boundary. */
static void make_element(const struct row *row, void *element, size_t i, int pe)
{
    uint64_t state = i * 131 + (uint64_t)pe * 65537 + 1;
    uint64_t r = check_random(&state);
    long small = row->kind == UINT ? (long)(r >> 1) : (long)(r % 7) - 3;
    if (row->kind == SINT && i % 3 == 0) {
        long highest = row->size >= sizeof(long) ? (long)(~(uint64_t)0 >> 1)
                                                 : (1L << (8 * row->size - 1)) - 1;
        long edge = i % 2 == 0 ? highest : -highest - 1;
        small = (int)(i % (size_t)shmem_n_pes()) == pe ? edge : 0;
    }
    memset(element, 0, ELEMENT);
    row->make(element, boundary_bits(r), small);
}

static void make_source(const struct row *row, unsigned char *source, size_t n)
{
    unsigned char element[ELEMENT] __attribute__((aligned(16)));
    for (size_t i = 0; i < n; i++) {
        make_element(row, element, i, shmem_my_pe());
        memcpy(source + i * row->size, element, row->size);
    }
}

static void check_result(const struct row *row, const unsigned char *dest, size_t n)
{
    unsigned char expected[ELEMENT] __attribute__((aligned(16)));
    unsigned char element[ELEMENT] __attribute__((aligned(16)));
    size_t step = n > 1000 ? 7 : 1; /* the model is slow: look at some of the many */
    for (size_t i = 0; i < n; i += step) {
        make_element(row, expected, i, 0);
        for (int pe = 1; pe < shmem_n_pes(); pe++) {
            make_element(row, element, i, pe);
            row->combine(expected, element);
        }
        CHECK_NAMED(memcmp(dest + i * row->size, expected, row->compared) == 0,
                    "%s of %zu: element %zu is wrong", row->name, n, i);
    }
    CHECK_NAMED(check_find_other(dest + n * row->size, ELEMENT, 0x99) == ELEMENT,
                "%s of %zu wrote beyond its end", row->name, n);
}

static void test_row(const struct row *row, unsigned char *dest, unsigned char *source)
{
    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
        size_t n = counts[c], bytes = n * row->size;
        if (n == MOST && row->size < 8 && row->kind != FLT)
            n = MOST / 10 + 3, bytes = n * row->size;
        make_source(row, source, n);
        memset(dest, 0x99, bytes + ELEMENT);
        CHECK_EQ(row->reduce(dest, source, n), 0);
        check_result(row, dest, n);
        /* In place: the source is the destination. */
        memset(source + bytes, 0x99, ELEMENT);
        CHECK_EQ(row->reduce(source, source, n), 0);
        check_result(row, source, n);
    }
}

int main(void)
{
    shmem_init();
    unsigned char *dest = check_alloc((MOST + 1) * ELEMENT);
    unsigned char *source = check_alloc((MOST + 1) * ELEMENT);
    uint64_t seed = check_seed(shmem_my_pe());
    for (size_t i = 0; i < ROWS; i++) {
        test_row(&rows[i], dest, source);
        check_delay(&seed);
    }
    shmem_finalize();
    return 0;
}
