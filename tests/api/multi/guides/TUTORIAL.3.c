/* SPDX-License-Identifier: BSD-3-Clause */
/* TUTORIAL.3.c - the collectives of the tutorial: a sum, and a broadcast in the team of
 * the even PEs. */
#include <shmem.h>
#include <stdio.h>

static int data[100];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = 0;
    for (int i = 0; i < 100; i++)
        data[i] = me == 0 ? i : -1 - i;
#include "block.h"
    for (int i = 0; i < 100; i++)
        right += data[i] == (me % 2 == 0 ? i : -1 - i);
    printf("PE %d: sum %g, %d of the data\n", me, sum, right);
    shmem_finalize();
    return 0;
}
