/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - a short job that uses what allocates: first contact with PEs of another node,
 * contexts, teams, collectives, strided data, symmetric memory.  Each PE prints one
 * line. */
#include <shmem.h>
#include <stdio.h>

enum { N = 64 };

static long data[N], sum[N], part[N], all[N * 16];
static long counter;

static void use_team(int npes)
{
    shmem_team_t team;

    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team) != 0) {
        if (shmem_my_pe() == 0)
            fprintf(stderr, "job: no memory for a team\n");
        shmem_barrier_all();
        shmem_global_exit(3);
    }
    shmem_long_fcollect(team, all, part, 1);
    shmem_team_destroy(team);
}

static void use_ctx(int next)
{
    shmem_ctx_t ctx;

    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0)
        return; /* permitted: the program goes on without a context */
    shmem_ctx_long_atomic_add(ctx, &counter, 1, next);
    shmem_ctx_quiet(ctx);
    shmem_ctx_long_atomic_add(ctx, &counter, -1, next);
    shmem_ctx_destroy(ctx);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    long *heap = shmem_malloc(N * sizeof *heap);

    if (heap == NULL || npes > 16)
        shmem_global_exit(2);
    for (int i = 0; i < N; i++)
        part[i] = i;
    shmem_long_iput(heap, part, 2, 1, N / 2, next);
    shmem_long_put_nbi(data, part, N, next);
    shmem_long_atomic_inc(&counter, next);
    use_ctx(next);
    shmem_barrier_all();
    long got = shmem_long_g(&data[N - 1], next);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum, part, N);
    use_team(npes);
    printf("PE %d: %ld %ld %ld %ld\n", me, got, sum[N - 1], counter,
           heap[N - 2]); /* expected: N - 1, npes * (N - 1), 1, N / 2 - 1 */
    shmem_free(heap);
    shmem_finalize();
    return 0;
}
