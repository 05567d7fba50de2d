/* SPDX-License-Identifier: BSD-3-Clause */
/* PORTING.1.c - the macro by which a program recognizes this library. */
#include "block.h"
#include <stdio.h>
#ifndef PGAS_SHMEM_NUMVERSION
#error "the guide names another macro"
#endif

int main(void)
{
    shmem_init();
    printf("this is pgas\n");
    shmem_finalize();
    return 0;
}
