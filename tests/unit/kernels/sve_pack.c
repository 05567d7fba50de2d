/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sve_pack.c - the checks of the pack kernels as a program of its own, for a processor
 * that qemu emulates (sve.sh).  Prints the kernels that it finds; exit 1 if one is wrong.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/kernels/check_pack.h"

/* The argument: number of layouts for each kernel */
int main(int argc, char **argv)
{
    size_t cases = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    char text[CHECK_PACK_TEXT];
    int failed = 0;

    for (enum pack_kernel k = 0; k <= PACK_KERNELS; k++) {
        pack_choice_init(isa_best(), PACK_KERNELS);
        if (k < PACK_KERNELS && !pack_kernel_here(k))
            continue;
        printf("%s\n", k == PACK_KERNELS ? "auto" : pack_kernel_name(k));
        long used = check_pack(k, cases, text);
        if (used <= 0) {
            printf("FAIL: %s\n", used == 0 ? "no vector used the kernel" : text);
            failed = 1;
        }
    }
    return failed;
}
