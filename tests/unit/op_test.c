/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_test.c - the reduction kernel of every operation and type of the tables, element by
 * element against C's own operators: boundary values with each other, lengths around
 * those of vector registers, starts that are aligned for one element only, nothing
 * beyond.
 */
#include "config.h"

#include <complex.h>
#include <criterion/criterion.h>
#include <float.h>
#include <string.h>

#include "include/shmem_types.def"
#include "pgas/datatype/op.h"

enum { ELEMENT = 16, LONGEST = 67, ROOM = LONGEST + 2 };

struct row {
    const char *name;
    enum op op;
    enum op_kind kind;
    size_t size;
    void (*make)(void *element, unsigned i);
    void (*model)(void *into, const void *element);
    bool (*same)(const void *a, const void *b);
};

/* Integers as bits: what is at a boundary of some width, and patterns. */
static const uint64_t bits[] = {
    0,
    1,
    2,
    3,
    0x7f,
    0x80,
    0x81,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fffffff,
    0x80000000,
    0xffffffff,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    0xffffffffffffffff,
    0xfffffffffffffffe,
    0x5555555555555555,
    0xaaaaaaaaaaaaaaaa,
    0x0123456789abcdef,
    0xffffffffffff8001,
};
static const double reals[] = {0, 1, -1, 0.5, 3, -7, 1e6, FLT_MAX, -FLT_MAX, FLT_MIN};
#define PICK(table, i) (table)[(i) % (sizeof(table) / sizeof((table)[0]))]

/* How an element of a kind is made, and how the model adds and multiplies. */
#define MAKE_SINT(C, i) ((C)PICK(bits, i))
#define MAKE_UINT(C, i) ((C)PICK(bits, i))
#define MAKE_FLT(C, i)  ((C)PICK(reals, i))
#define MAKE_CPLX(C, i) ((C)((i) % 7) - 3 + ((C)((i) % 5) - 2) * (C)I)
#define INT_MODEL(C, a, op, b)                                                           \
    (C)((unsigned __int128)(__int128)(a)op(unsigned __int128)(__int128)(b))
#define MODEL_SINT(C, a, op, b) INT_MODEL(C, a, op, b)
#define MODEL_UINT(C, a, op, b) INT_MODEL(C, a, op, b)
#define MODEL_FLT(C, a, op, b)  (C)((a)op(b))
#define MODEL_CPLX(C, a, op, b) (C)((a)op(b))

#define TYPE(NAME, C, KIND)                                                              \
    static void make_##NAME(void *element, unsigned i)                                   \
    {                                                                                    \
        *(C *)element = MAKE_##KIND(C, i);                                               \
    }                                                                                    \
    static bool same_##NAME(const void *a, const void *b)                                \
    {                                                                                    \
        return *(const C *)a == *(const C *)b;                                           \
    }
#define MODEL(NAME, C, OP, EXPRESSION)                                                   \
    static void model_##OP##_##NAME(void *into, const void *element)                     \
    {                                                                                    \
        C a = *(C *)into, b = *(const C *)element;                                       \
        *(C *)into = EXPRESSION;                                                         \
    }
#define NUM(NAME, C, KIND)                                                               \
    TYPE(NAME, C, KIND)                                                                  \
    MODEL(NAME, C, SUM, MODEL_##KIND(C, a, +, b))                                        \
    MODEL(NAME, C, PROD, MODEL_##KIND(C, a, *, b))
#define ORD(NAME, C, KIND)                                                               \
    MODEL(NAME, C, MAX, a > b ? a : b) MODEL(NAME, C, MIN, a < b ? a : b)
#define BIT(NAME, C, KIND)                                                               \
    MODEL(NAME, C, AND, (C)(a & b))                                                      \
    MODEL(NAME, C, OR, (C)(a | b)) MODEL(NAME, C, XOR, (C)(a ^ b))
SHMEM_TYPES_REDUCE_NUM(NUM)
SHMEM_TYPES_REDUCE_ORD(ORD)
SHMEM_TYPES_REDUCE_BIT(BIT)
SHMEM_TYPES_OLD_REDUCE_BIT(BIT)

#define ROW(NAME, C, KIND, OP)                                                           \
    {#NAME " " #OP,       OP_##OP,    OP_KIND_##KIND(C), sizeof(C), make_##NAME,         \
     model_##OP##_##NAME, same_##NAME},
#define ROWS_NUM(NAME, C, KIND) ROW(NAME, C, KIND, SUM) ROW(NAME, C, KIND, PROD)
#define ROWS_ORD(NAME, C, KIND) ROW(NAME, C, KIND, MAX) ROW(NAME, C, KIND, MIN)
#define ROWS_BIT(NAME, C, KIND)                                                          \
    ROW(NAME, C, KIND, AND) ROW(NAME, C, KIND, OR) ROW(NAME, C, KIND, XOR)
static const struct row rows[] = {SHMEM_TYPES_REDUCE_NUM(ROWS_NUM) SHMEM_TYPES_REDUCE_ORD(
    ROWS_ORD) SHMEM_TYPES_REDUCE_BIT(ROWS_BIT) SHMEM_TYPES_OLD_REDUCE_BIT(ROWS_BIT)};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* n elements behind the first of acc and in; `far` pairs each value with another. */
static void check_kernel(const struct row *row, size_t n, unsigned far)
{
    _Alignas(64) unsigned char acc[ROOM * ELEMENT], in[ROOM * ELEMENT],
        expected[ROOM * ELEMENT];

    memset(acc, 0, sizeof acc);
    memset(in, 0, sizeof in);
    for (unsigned i = 0; i < n + 2; i++) {
        row->make(acc + i * row->size, i);
        row->make(in + i * row->size, i + far);
    }
    memcpy(expected, acc, sizeof acc);
    for (size_t i = 1; i <= n; i++)
        row->model(expected + i * row->size, in + i * row->size);
    op_find(row->op, row->kind, row->size)(acc + row->size, in + row->size, n);
    for (size_t i = 0; i < n + 2; i++)
        cr_assert(row->same(acc + i * row->size, expected + i * row->size),
                  "%s of %zu: element %zu is wrong (values %u apart)", row->name, n, i,
                  far);
}

Test(op, every_kernel)
{
    static const size_t lengths[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, LONGEST};

    for (size_t r = 0; r < ROWS; r++)
        for (unsigned far = 0; far < sizeof(bits) / sizeof(bits[0]); far++)
            for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
                check_kernel(&rows[r], lengths[i], far);
}

Test(op, rows_of_all_tables)
{
    enum { NUM_TYPES = 26, ORD_TYPES = 24, BIT_TYPES = 14, OLD_BIT_TYPES = 4 };

    cr_assert_eq((int)ROWS,
                 2 * NUM_TYPES + 2 * ORD_TYPES + 3 * (BIT_TYPES + OLD_BIT_TYPES));
}

Test(op, none_where_none_is_defined)
{
    cr_assert_null(op_find(OP_AND, OP_FLT, sizeof(float)));
    cr_assert_null(op_find(OP_XOR, OP_FLT, sizeof(double)));
    cr_assert_null(op_find(OP_MAX, OP_CPLX, sizeof(double _Complex)));
    cr_assert_null(op_find(OP_OR, OP_CPLX, sizeof(float _Complex)));
    cr_assert_null(op_find(OP_SUM, OP_FLT, sizeof(short)));
}

/* The rule that C's own operators do not have. */
Test(op, signed_overflow_wraps_around)
{
    long most = INT64_MAX, one = 1, two = 2;
    int16_t small = INT16_MIN, less = -1;

    op_find(OP_SUM, OP_SINT, sizeof most)(&most, &one, 1);
    cr_assert_eq(most, INT64_MIN);
    op_find(OP_PROD, OP_SINT, sizeof most)(&most, &two, 1);
    cr_assert_eq(most, 0);
    op_find(OP_PROD, OP_SINT, sizeof small)(&small, &less, 1);
    cr_assert_eq(small, INT16_MIN);
}

Test(op, char_has_the_sign_of_the_processor)
{
    enum op_kind kind = (char)-1 < 0 ? OP_SINT : OP_UINT;

    cr_assert_eq(OP_KIND_SINT(char), kind);
    cr_assert_eq(OP_KIND_SINT(signed char), OP_SINT);
    cr_assert_eq(OP_KIND_SINT(long), OP_SINT);
}
