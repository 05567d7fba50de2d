/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nested.c - PE 0 starts the program that the argument names.  That inherits the identity
 * of the PE and tries to join the job, which must fail and must not change the data that
 * PE 0 has published.
 */
#include "config.h"

#include "tests/api/multi/check.h"

static long word;

int main(int argc, char **argv)
{
    int last_value = 7;
    shmem_init();
    if (shmem_my_pe() == 0) {
        CHECK(argc == 2);
        CHECK_NAMED(system(argv[1]) != 0, "%s joined the job as PE 0 too", argv[1]);
    }
    shmem_barrier_all();
    /* The first remote access to the globals of PE 0 reads where they are. */
    if (shmem_my_pe() == shmem_n_pes() - 1)
        shmem_long_p(&word, last_value, 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        CHECK_EQ(word, last_value);
    CHECK_EQ(shmem_long_g(&word, 0), last_value);
    shmem_finalize();
    return 0;
}
