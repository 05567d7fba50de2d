/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * active_departed.c - one PE finalizes while others wait for it in a collective, which
 * the argument selects; active_departed.sh expects that the job ends with a message that
 * names the PE.
 */
#include "config.h"

#include "tests/api/multi/check.h"

static long sync_words[SHMEM_SYNC_SIZE], from[2], to[2];

/* All PEs call the routine in round 0, and all but the leaver in round 1. */
static void leave_or_wait(const char *way, int round)
{
    static shmem_team_t team = SHMEM_TEAM_INVALID;
    int npes = shmem_n_pes();
    if (strncmp(way, "shared", 6) == 0) {
        shmem_team_sync(SHMEM_TEAM_SHARED);
    } else if (strncmp(way, "team", 4) == 0) {
        if (round == 0)
            shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team);
        shmem_long_sum_reduce(team, to, from, 1);
    } else if (strncmp(way, "set", 3) == 0) {
        shmem_barrier(0, 0, npes, sync_words);
    } else {
        shmem_broadcast64(to, from, 1, 0, 0, 0, npes, sync_words);
    }
}

int main(int argc, char **argv)
{
    enum { LATE_US = 30000 };
    const char *way = argc > 1 ? argv[1] : "";
    shmem_init();
    int leaver = strstr(way, "first") != NULL ? 0 : shmem_n_pes() - 1;
    leave_or_wait(way, 0);
    if (strstr(way, "late") != NULL) /* the others are asleep by then */
        check_sleep_us(shmem_my_pe() == leaver ? LATE_US : 0);
    if (shmem_my_pe() != leaver)
        leave_or_wait(way, 1);
    shmem_finalize();
    return 0;
}
