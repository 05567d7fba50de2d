/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.c - collectives with known delays, for profile.sh.
 *   profile [exit | empty]
 * PE LATE arrives late at each call of one site; another site is balanced.  Teams are
 * created, destroyed, and created again in the same slot.  With `exit` no PE calls
 * shmem_finalize, with `empty` no PE calls a collective.
 */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LATE = 1,
    DELAY_US = 60000,
    LATE_CALLS = 10,
    CALLS = 50,
    LARGE = 65536,
    LARGE_CALLS = 4,
    TEAMS = 3
};

static long source[LARGE], dest[LARGE], psync[SHMEM_REDUCE_SYNC_SIZE];
static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static long here; /* on PE LATE: number of calls that the others have entered */

static void come_late(void)
{
    static long others;

    if (shmem_n_pes() <= LATE)
        return;
    if (shmem_my_pe() != LATE) {
        shmem_long_atomic_inc(&here, LATE);
        return;
    }
    others += shmem_n_pes() - 1;
    shmem_long_wait_until(&here, SHMEM_CMP_GE, others);
    usleep(DELAY_US);
}

/* A function whose name is only in the static symbol table. */
static __attribute__((noinline)) void late_reduce(void)
{
    come_late();
    if (shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 1) != 0)
        abort();
}

static void balanced_reduces(void)
{
    for (int i = 0; i < CALLS; i++)
        shmem_int_max_reduce(SHMEM_TEAM_WORLD, (int *)dest, (int *)source, 4);
    for (int i = 0; i < LARGE_CALLS; i++)
        shmem_double_min_reduce(SHMEM_TEAM_WORLD, (double *)dest, (double *)source,
                                LARGE);
}

/* A team of the even PEs, then one of the odd PEs too. */
static void teams(void)
{
    int n = shmem_n_pes();

    for (int i = 0; i < TEAMS; i++) {
        shmem_team_t team;
        int start = i % 2;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, start, 2, (n - start + 1) / 2, NULL, 0,
                                 &team);
        if (team == SHMEM_TEAM_INVALID)
            continue;
        for (int k = 0; k <= i; k++)
            shmem_short_broadcast(team, (short *)dest, (short *)source, 100, 0);
        shmem_team_destroy(team);
    }
}

int main(int argc, char **argv)
{
    shmem_init();
    if (argc > 1 && strcmp(argv[1], "empty") == 0) {
        shmem_finalize();
        return 0;
    }
    for (int i = 0; i < LATE_CALLS; i++)
        late_reduce();
    balanced_reduces();
    teams();
    shmem_barrier_all();
    if (shmem_n_pes() > 1 && shmem_my_pe() < 2)
        shmem_long_max_to_all(dest, source, 3, 0, 0, 2, work, psync);
    shmem_barrier_all();
    if (argc > 1 && strcmp(argv[1], "exit") == 0)
        return 0;
    shmem_finalize();
    return 0;
}
