/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * again.c - the library is finalized and initialized again many times (OpenSHMEM 1.6,
 * shmem_init): each time the heap is new, globals keep their values, and teams, contexts
 * and locks work.
 */
#include "check.h"

enum { GENERATIONS = 30, BYTES = 100000 };

static long total;
static long lock;

static void use_heap(int generation, int me, int npes)
{
    long *block = check_alloc(BYTES);
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;

    block[0] = -1;
    shmem_barrier_all();
    shmem_long_p(block, generation * npes + me, next);
    shmem_long_atomic_inc(&total, next);
    shmem_barrier_all();
    CHECK_EQ(block[0], generation * npes + before);
    CHECK_EQ(total, generation + 1);
    /* Not freed: shmem_finalize releases the heap. */
}

static void use_team(int npes)
{
    shmem_team_t team;
    shmem_team_config_t config = {.num_contexts = 1};
    shmem_ctx_t ctx;
    long one = 1, *sum = check_alloc(2 * sizeof *sum);

    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, &config,
                                      SHMEM_TEAM_NUM_CONTEXTS, &team),
             0);
    CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
    shmem_ctx_long_p(ctx, &sum[1], one, shmem_team_my_pe(team));
    shmem_ctx_quiet(ctx);
    CHECK_EQ(shmem_long_sum_reduce(team, sum, &sum[1], 1), 0);
    CHECK_EQ(sum[0], npes);
    /* shmem_finalize releases the team and the context too. */
}

static void use_lock(void)
{
    static long count;

    shmem_set_lock(&lock);
    shmem_long_p(&count, shmem_long_g(&count, 0) + 1, 0);
    shmem_clear_lock(&lock);
    shmem_barrier_all();
}

int main(void)
{
    uint64_t random = 1;

    for (int g = 0; g < GENERATIONS; g++) {
        int is_up;
        shmem_query_initialized(&is_up);
        if (is_up)
            return 1;
        if (g % 2 == 0)
            shmem_init();
        else if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &is_up) != 0)
            return 1;
        int me = shmem_my_pe(), npes = shmem_n_pes();
        random += (uint64_t)me;
        check_delay(&random);
        use_heap(g, me, npes);
        use_team(npes);
        use_lock();
        check_delay(&random);
        shmem_finalize();
        check_delay(&random);
    }
    return 0;
}
