/* SPDX-License-Identifier: BSD-3-Clause */
/* hello.c - the smallest program: every PE prints its number.
 *   oshcc hello.c -o hello && oshrun -n 4 ./hello */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    int major, minor;
    char name[SHMEM_MAX_NAME_LEN];

    shmem_init();
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    printf("hello from PE %d of %d: %s, OpenSHMEM %d.%d\n", shmem_my_pe(), shmem_n_pes(),
           name, major, minor);
    shmem_finalize();
    return 0;
}
