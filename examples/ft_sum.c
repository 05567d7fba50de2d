/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_sum.c - a sum by work stealing that survives the failure of PEs and nodes.
 *
 * The work is a list of chunks.  Each PE begins with a part of the list, and then steals
 * the upper half of what another PE still has to do.  It keeps the values of its chunks;
 * at the end a reduction combines those of all survivors.  Chunks whose values died with
 * their PE are the list of the next round, until no value is missing.  A chunk that two
 * PEs have computed does no harm, because the reduction is a maximum.
 *
 *   SHMEM_FT=continue oshrun -n 6 ./ft_sum --kill 2@10 --kill 4@30
 *   SHMEM_FT=continue oshrun -n 6 --vnodes 3 ./ft_sum --kill-node 3@20
 * The steps of a PE are its chunks; ft_kill.h has more options. */
#include <shmemx.h>

#include "ft_kill.h"

enum { CHUNKS = 1200, TASKS = 2000 }; /* tasks of a chunk */

static uint64_t value[CHUNKS];    /* 0: this PE does not know it */
static uint64_t combined[CHUNKS]; /* values that any PE knows */
static uint64_t
    range; /* this PE still has to do todo[first .. end-1]: first << 32 | end */
static long lock, most, most_pe; /* the PE with most chunks: on PE 0, under the lock */
static int todo[CHUNKS], todo_count; /* equal on all survivors */
static long chunks_done;

/* The sum of the squares of the tasks. */
static uint64_t compute(int chunk)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < TASKS; i++) {
        uint64_t task = (uint64_t)chunk * TASKS + i + 1;
        sum += task * task;
    }
    return sum;
}

/* Takes work of PE pe into [*first, *end): one chunk of this PE itself, the upper half of
 * another one, whose last chunk stays there.  False if there is none. */
static bool take(int pe, uint32_t *first, uint32_t *end)
{
    uint64_t old = shmem_uint64_atomic_fetch(&range, pe);

    for (;;) {
        bool own = pe == shmem_my_pe();
        uint32_t a = (uint32_t)(old >> 32), b = (uint32_t)old;
        if (a >= b || b > CHUNKS || (!own && b - a == 1) || shmemx_pe_failed(pe))
            return false;
        uint32_t cut = own ? a + 1 : a + (b - a + 1) / 2;
        uint64_t rest = own ? (uint64_t)cut << 32 | b : (uint64_t)a << 32 | cut;
        uint64_t seen = shmem_uint64_atomic_compare_swap(&range, old, rest, pe);
        if (seen == old) {
            *first = own ? a : cut;
            *end = own ? cut : b;
            return true;
        }
        old = seen;
    }
}

/* A record of two words that no atomic routine can update together.  If the PE that holds
 * the lock dies, another one acquires it. */
static void count_chunk(int me)
{
    chunks_done++;
    shmem_set_lock(&lock);
    kill_at(me, chunks_done, true);
    if (chunks_done > shmem_long_g(&most, 0)) {
        shmem_long_p(&most, chunks_done, 0);
        shmem_long_p(&most_pe, me, 0);
    }
    shmem_clear_lock(&lock);
}

static void work(void)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    uint32_t first, end;

    for (int i = 0; i < npes;) {
        int pe = (me + i) % npes;
        if (!take(pe, &first, &end)) {
            i++;
        } else if (pe != me) {
            shmem_uint64_atomic_set(&range, (uint64_t)first << 32 | end, me);
            i = 0;
        } else {
            kill_at(me, chunks_done + 1, false);
            value[todo[first]] = compute(todo[first]);
            count_chunk(me);
        }
    }
}

/* Combines the values of all survivors, who are then the team. */
static void combine(shmem_team_t *team)
{
    for (;;) {
        uint64_t good = shmem_uint64_max_reduce(*team, combined, value, CHUNKS) == 0;
        shmemx_team_agree(*team, &good);
        if (good)
            break; /* all survivors have the result */
        if (*team != SHMEM_TEAM_WORLD)
            shmem_team_destroy(*team);
        if (shmemx_team_shrink(SHMEM_TEAM_WORLD, team) != 0)
            shmem_global_exit(1);
    }
    memcpy(value, combined, sizeof value);
}

/* Lists the chunks without a value; each PE begins with an equal part. */
static void plan(shmem_team_t team)
{
    uint64_t me = (uint64_t)shmem_team_my_pe(team), n = (uint64_t)shmem_team_n_pes(team);

    todo_count = 0;
    for (int chunk = 0; chunk < CHUNKS; chunk++)
        if (value[chunk] == 0)
            todo[todo_count++] = chunk;
    uint64_t count = (uint64_t)todo_count;
    shmem_uint64_atomic_set(&range, count * me / n << 32 | count * (me + 1) / n,
                            shmem_my_pe());
}

int main(int argc, char **argv)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    uint64_t sum = 0, n = (uint64_t)CHUNKS * TASKS;
    int rounds = 0;

    if (!kill_options(argc, argv))
        return 2;
    shmem_init();
    plan(team);
    for (; todo_count > 0; rounds++) {
        work();
        combine(&team);
        plan(team);
    }
    for (int chunk = 0; chunk < CHUNKS; chunk++)
        sum += value[chunk];
    bool wrong = sum != n * (n + 1) / 2 * (2 * n + 1) / 3;
    if (shmem_team_my_pe(team) == 0)
        printf("ft_sum: %d of %d PEs, %d rounds, sum %llu is %s\n",
               shmem_team_n_pes(team), shmem_n_pes(), rounds, (unsigned long long)sum,
               wrong ? "WRONG" : "exact");
    if (shmem_team_my_pe(team) == 0 && !shmemx_pe_failed(0))
        printf("ft_sum: PE %ld did most, %ld chunks\n", shmem_long_g(&most_pe, 0),
               shmem_long_g(&most, 0));
    shmem_finalize();
    return wrong;
}
