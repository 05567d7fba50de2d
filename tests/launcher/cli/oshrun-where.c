/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * oshrun-where.c - an OpenSHMEM program that hangs in the way its argument says.  Used by
 * oshrun-where.sh, which finds the lines by their comments.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "include/shmem.h"

#define HANG_S 60

static void compute(void)
{
    sleep(HANG_S); /* line: compute */
}

static void enter(shmem_team_t team)
{
    if (team == SHMEM_TEAM_WORLD)
        shmem_barrier_all(); /* line: barrier */
    else
        shmem_team_sync(team); /* line: sync */
}

/* The last PE computes, the others wait for it in a collective. */
int main(int argc, char **argv)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    const char *how = argc > 1 ? argv[1] : "";
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (strcmp(how, "team") == 0)
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, npes - 1, NULL, 0, &team);
    puts("is there");
    fflush(stdout);
    if (me == npes - 1)
        compute(); /* line: call-compute */
    else if (team != SHMEM_TEAM_INVALID)
        enter(team);
    shmem_finalize();
    return 0;
}
