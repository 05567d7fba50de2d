/* SPDX-License-Identifier: BSD-3-Clause */
/* hello.c - a minimal OpenSHMEM program, which the scripts start in unusual ways. */
#include "config.h"

#include "tests/api/multi/check.h"

int main(void)
{
    shmem_init();
    printf("PE %d of %d\n", shmem_my_pe(), shmem_n_pes());
    shmem_finalize();
    return 0;
}
