/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job.c - a short job that uses the connections between nodes: first contact with each
 * PE, a collective, and what the agents of SHMEM_FT=continue agree upon.  Each PE prints
 * one line.
 */
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>

static long counter, one = 1, sum;

int main(void)
{
    shmem_init();
    int npes = shmem_n_pes();
    uint64_t flags = 7;

    for (int pe = 0; pe < npes; pe++)
        shmem_long_atomic_inc(&counter, pe);
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
    int rc = shmemx_team_agree(SHMEM_TEAM_WORLD, &flags);
    printf("PE %d: %ld %ld %d\n", shmem_my_pe(), counter, sum,
           rc == 0 ? (int)flags : -rc); /* expected: npes, npes, 7 */
    shmem_finalize();
    return 0;
}
