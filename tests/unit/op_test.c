/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_test.c - every reduction kernel of every available instruction set against C's own
 * operators (tests/unit/kernels/check.c): lengths 0 to 300, all alignments, no access
 * outside the arrays; and the kernels that the type tables refer to.
 */
#include "config.h"

#include <complex.h>
#include <criterion/criterion.h>
#include <string.h>

#include "include/shmem_types.def"
#include "pgas/datatype/op/op.h"
#include "tests/unit/kernels/check.h"

static void check_rows_of(const struct check_extent *extent, bool special)
{
    char text[CHECK_TEXT];

    for (size_t r = 0; r < check_rows(); r++)
        cr_assert_eq(check_row(r, extent, special, text), 0, "%s", text);
}

/* Slow builds go through every third length. */
#ifdef PGAS_SANITIZED
enum { STEP = 3 };
#else
enum { STEP = 1 };
#endif

static void check_isa(enum isa isa)
{
    if (!isa_here(isa))
        return;
    op_init(isa, SIZE_MAX);
    check_rows_of(&(struct check_extent){300, STEP, 8, 1}, false);
    check_rows_of(&(struct check_extent){300, STEP, 8, 3}, true);
    check_rows_of(&(struct check_extent){290, 29, 64, 1}, false);
    op_init(isa, 1); /* three operands: non-temporal stores */
    check_rows_of(&(struct check_extent){CHECK_COUNT_MAX, 1249, 64, 9}, true);
    check_rows_of(&(struct check_extent){60, STEP, 64, 9}, false);
}

Test(op, baseline)
{
    check_isa(ISA_BASELINE);
}

Test(op, avx2)
{
    check_isa(ISA_AVX2);
}

Test(op, avx512)
{
    check_isa(ISA_AVX512);
}

Test(op, sve)
{
    check_isa(ISA_SVE);
}

Test(op, every_kernel_is_checked)
{
    size_t found = 0;

    for (enum op op = 0; op < OPS; op++)
        for (enum op_kind kind = 0; kind < OP_KINDS; kind++)
            for (size_t size = 1; size <= 32; size *= 2)
                found += op_find(op, kind, size) != NULL;
    cr_assert_eq(found, check_rows());
}

/* ---- the tables of types --------------------------------------------------------- */

#define FOUND(C, KIND, OP)                                                               \
    cr_assert_not_null(op_find(OP_##OP, OP_KIND_##KIND(C), sizeof(C)), "%s of %s", #OP,  \
                       #C);
#define FOUND_NUM(NAME, C, KIND) FOUND(C, KIND, SUM) FOUND(C, KIND, PROD)
#define FOUND_ORD(NAME, C, KIND) FOUND(C, KIND, MAX) FOUND(C, KIND, MIN)
#define FOUND_BIT(NAME, C, KIND)                                                         \
    FOUND(C, KIND, AND) FOUND(C, KIND, OR) FOUND(C, KIND, XOR)

Test(op, rows_of_all_tables){
    SHMEM_TYPES_REDUCE_NUM(FOUND_NUM) SHMEM_TYPES_REDUCE_ORD(FOUND_ORD)
        SHMEM_TYPES_REDUCE_BIT(FOUND_BIT) SHMEM_TYPES_OLD_REDUCE_BIT(FOUND_BIT)}

Test(op, undefined_operations_have_no_kernel)
{
    cr_assert_null(op_find(OP_AND, OP_FLT, sizeof(float)));
    cr_assert_null(op_find(OP_XOR, OP_FLT, sizeof(double)));
    cr_assert_null(op_find(OP_MAX, OP_CPLX, sizeof(double _Complex)));
    cr_assert_null(op_find(OP_OR, OP_CPLX, sizeof(float _Complex)));
    cr_assert_null(op_find(OP_SUM, OP_FLT, sizeof(short)));
    cr_assert_null(op_find(OP_MAXLOC, OP_SINT, sizeof(int)));
    cr_assert_null(op_find(OP_SUM, OP_PAIR_FLT, sizeof(float)));
}

/* C leaves this undefined. */
Test(op, signed_overflow_wraps_around)
{
    long most = INT64_MAX, one = 1, two = 2;
    int16_t small = INT16_MIN, less = -1;

    op_find(OP_SUM, OP_SINT, sizeof most)->two(&most, &one, 1);
    cr_assert_eq(most, INT64_MIN);
    op_find(OP_PROD, OP_SINT, sizeof most)->two(&most, &two, 1);
    cr_assert_eq(most, 0);
    op_find(OP_PROD, OP_SINT, sizeof small)->two(&small, &less, 1);
    cr_assert_eq(small, INT16_MIN);
}

Test(op, char_has_the_sign_of_the_processor)
{
    enum op_kind kind = (char)-1 < 0 ? OP_SINT : OP_UINT;

    cr_assert_eq(OP_KIND_SINT(char), kind);
    cr_assert_eq(OP_KIND_SINT(signed char), OP_SINT);
    cr_assert_eq(OP_KIND_SINT(long), OP_SINT);
}
