/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sve.c - the checks of the reduction kernels as a program of its own, for a processor
 * that qemu emulates (sve.sh).  Prints the instruction sets that it finds, the best of
 * which is last, and the bits of an SVE register; exit 1 if a kernel is wrong.
 */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "tests/unit/kernels/check.h"

#ifndef PR_SVE_GET_VL
#define PR_SVE_GET_VL      51
#define PR_SVE_VL_LEN_MASK 0xffff
#endif

static int failed;

static void check_all(const struct check_extent *extent, bool special)
{
    char text[CHECK_TEXT];

    for (size_t r = 0; r < check_rows(); r++)
        if (check_row(r, extent, special, text) != 0) {
            printf("FAIL: %s\n", text);
            failed = 1;
        }
}

static void check_isa(enum isa isa, size_t step)
{
    printf("%s", isa_name(isa));
    if (isa == ISA_SVE)
        printf(" %d", 8 * (prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK));
    printf("\n");
    op_init(isa, SIZE_MAX);
    check_all(&(struct check_extent){20, 1, 1, 1}, false);
    check_all(&(struct check_extent){300, step, 8, 7}, false);
    check_all(&(struct check_extent){256, 256, 1, 1}, true);
    op_init(isa, 1); /* three operands: non-temporal stores, if available */
    check_all(&(struct check_extent){CHECK_COUNT_MAX, CHECK_COUNT_MAX, 1, 1}, false);
}

/* The argument: lengths 0, STEP, 2 STEP, ... up to 300, besides those up to 20. */
int main(int argc, char **argv)
{
    size_t step = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;

    for (enum isa isa = ISA_BASELINE; isa < ISAS; isa++)
        if (isa_here(isa))
            check_isa(isa, step);
    return failed;
}
