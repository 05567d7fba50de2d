/* SPDX-License-Identifier: BSD-3-Clause */
/* lock_foreign.c - PE 1 clears a lock that PE 0 holds; lock_foreign.sh checks the error.
 */
#include "config.h"

#include "tests/api/multi/check.h"

static long lock;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        shmem_clear_lock(&lock);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
