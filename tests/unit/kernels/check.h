/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.h - compare the reduction kernels with C's own operators, bit for bit.  Without a
 * test framework, so that it can be linked statically and run on an emulated processor.
 * Uses: datatype/op.  Used by: unit/op_test, kernels/sve.
 */
#ifndef TESTS_KERNELS_CHECK_H
#define TESTS_KERNELS_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/datatype/op/op.h"

/* What a kernel is tried with: 0 .. count_max elements in steps of count_step, each with
 * the operands 0 .. shifts - 1 bytes (in steps of shift_step) before a page that cannot
 * be touched. */
struct check_extent {
    size_t count_max, count_step;
    size_t shifts, shift_step;
};

enum { CHECK_COUNT_MAX = 5000, CHECK_TEXT = 256 };

/* The number of rows, one per operation, kind and size that has kernels. */
size_t check_rows(void);

/* The kernels that op_find finds now, of row r: 0, or -1 with what is wrong in
 * text[CHECK_TEXT].  values: all kinds, random; or `special`: for reals zeros,
 * infinities, NaN and the like, all with all. */
int check_row(size_t r, const struct check_extent *extent, bool special, char *text);

#endif
