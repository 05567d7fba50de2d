/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern_put.c - see kern_put.h.  Each halo row is a put with a signal that counts
 * exchanges.
 */
#include "kern_put.h"

static shmem_team_t teams[KERN_TEAMS];
static uint64_t *arrived, exchanges; /* symmetric: from PE me - 1, from PE me + 1 */

shmem_team_t kern_put_team(enum kern_team team)
{
    return teams[team];
}

void kern_put_grid(int columns)
{
    int failed = shmem_team_split_2d(SHMEM_TEAM_WORLD, columns, NULL, 0, &teams[KERN_ROW],
                                     NULL, 0, &teams[KERN_COLUMN]);
    teams[KERN_WORLD] = SHMEM_TEAM_WORLD;
    arrived = shmem_calloc(2, sizeof(*arrived));
    if (failed != 0 || arrived == NULL)
        kern_fail("cannot create the teams of a grid with %d columns", columns);
}

void kern_put_exchange(double *halo, const double *first, const double *last, size_t n)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    exchanges++;
    if (me > 0)
        shmem_double_put_signal_nbi(halo + n, first, n, &arrived[1], 1, SHMEM_SIGNAL_ADD,
                                    me - 1);
    if (me < npes - 1)
        shmem_double_put_signal_nbi(halo, last, n, &arrived[0], 1, SHMEM_SIGNAL_ADD,
                                    me + 1);
    shmem_quiet();
    if (me > 0)
        shmem_signal_wait_until(&arrived[0], SHMEM_CMP_GE, exchanges);
    if (me < npes - 1)
        shmem_signal_wait_until(&arrived[1], SHMEM_CMP_GE, exchanges);
}
