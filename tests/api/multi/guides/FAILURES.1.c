/* SPDX-License-Identifier: BSD-3-Clause */
/* FAILURES.1.c - the loop of the guide, with steps that add the numbers of the live PEs
 * of the last good step to a saved sum; PE 2 dies in step 3. */
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>

enum { STEPS = 8 };
static long sum, mine, saved[STEPS + 1]; /* sum of all steps before this one */

static int compute(int step, shmem_team_t team)
{
    if (step == 3 && shmem_my_pe() == 2)
        raise(SIGKILL);
    mine = step;
    return shmem_long_sum_reduce(team, &sum, &mine, 1);
}

static void save(int step, shmem_team_t team)
{
    (void)team;
    saved[step + 1] = saved[step] + sum;
}

static void restore(int step, shmem_team_t team)
{
    (void)team;
    sum = saved[step];
}

int main(void)
{
    shmem_init();
#include "block.h"
    printf("PE %d: %d of %d PEs after %d steps, sum %ld\n", shmem_my_pe(),
           shmem_team_n_pes(team), shmem_n_pes(), STEPS, saved[STEPS]);
    shmem_finalize();
    return 0;
}
