/* SPDX-License-Identifier: BSD-3-Clause */
/* annex_verify.c - cases of annex.c in which PEs call different collectives, or one with
 * different arguments. */
#include "tests/api/check/annex.h"

static void malloc_mismatch(void)
{
    start();
    shmem_malloc(me == 0 ? 64 : 128);
}

static void malloc_or_free(void)
{
    start();
    void *p = shmem_malloc(64);
    if (me == 0)
        shmem_malloc(64);
    else
        shmem_free(p);
}

static void free_mismatch(void)
{
    start();
    void *p = shmem_malloc(64), *q = shmem_malloc(64);
    shmem_free(me == 0 ? p : q);
}

static void roots_differ(void)
{
    start();
    shmem_long_broadcast(SHMEM_TEAM_WORLD, word, other, 1, me == 0 ? 0 : 1);
}

static void counts_differ(void)
{
    start();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, word, other, me == 0 ? 1 : 2);
}

static void arrays_differ(void)
{
    start();
    shmem_long_fcollect(SHMEM_TEAM_WORLD, word, me == 0 ? other : other + 1, 1);
}

static void hints_differ(void)
{
    start();
    shmem_malloc_with_hints(64, me == 0 ? 0 : SHMEM_MALLOC_ATOMICS_REMOTE);
}

static void alignments_differ(void)
{
    start();
    shmem_align(me == 0 ? 64 : 128, 256);
}

static void dest_strides_differ(void)
{
    start();
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, word, other, me == 0 ? 1 : 2, 1, 1);
}

static void source_strides_differ(void)
{
    start();
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, word, other, 1, me == 0 ? 1 : 2, 1);
}

static void set_sizes_differ(void)
{
    start();
    shmem_barrier(0, 0, me == 1 ? npes - 1 : npes, psync);
}

static void work_arrays_differ(void)
{
    start();
    shmem_long_sum_to_all(word, other, 1, 0, 0, npes, me == 0 ? pwrk : pwrk + 1, psync);
}

static void collectives_differ(void)
{
    start();
    if (me == 0)
        shmem_barrier_all();
    else
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, word, other, 1);
}

/* Equivalent by the specification, hence allowed. */
static void barriers_by_other_names(void)
{
    start();
    if (me == 0)
        shmem_barrier_all();
    else if (me == 1)
        shmem_sync_all();
    else
        shmem_team_sync(SHMEM_TEAM_WORLD);
    shmem_finalize();
}

static void sets_differ(void)
{
    start();
    shmem_long_sum_to_all(word, other, me == 0 ? 1 : 2, 0, 0, npes, pwrk, psync);
}

static void split_differs(void)
{
    shmem_team_t team;

    start();
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, me == 0 ? 1 : 2, NULL, 0, &team);
}

/* Both lists are valid, but their order differs. */
static void members_differ(void)
{
    int list[] = {0, 1}, reverse[] = {1, 0};
    shmem_team_t team;

    start();
    shmemx_team_create(SHMEM_TEAM_WORLD, me == 0 ? list : reverse, 2, &team);
}

const struct annex_case annex_verify_cases[] = {
    {"malloc_mismatch", "shmem_malloc: argument 1 'size' = 128, but 64 on PE 0",
     malloc_mismatch},
    {"malloc_or_free", "PE 0 calls shmem_malloc", malloc_or_free},
    {"free_mismatch", "shmem_free: argument 1 'ptr' = 0x", free_mismatch},
    {"roots_differ", "argument 5 'PE_root' = 1, but 0 on PE 0", roots_differ},
    {"counts_differ", "argument 4 'nreduce' = 2, but 1 on PE 0", counts_differ},
    {"arrays_differ", "argument 3 'source' = 0x", arrays_differ},
    {"hints_differ", "argument 2 'hints' = 1, but 0 on PE 0", hints_differ},
    {"alignments_differ", "argument 1 'alignment' = 128, but 64 on PE 0",
     alignments_differ},
    {"dest_strides_differ", "argument 4 'dst' = 2, but 1 on PE 0", dest_strides_differ},
    {"source_strides_differ", "argument 5 'sst' = 2, but 1 on PE 0",
     source_strides_differ},
    {"set_sizes_differ", "argument 3 'PE_size' = 2, but 3 on PE 0", set_sizes_differ},
    {"work_arrays_differ", "argument 7 'pWrk' = 0x", work_arrays_differ},
    {"collectives_differ", "PE 0 calls shmem_barrier_all", collectives_differ},
    {"barriers_by_other_names", "", barriers_by_other_names},
    {"sets_differ", "argument 3 'nreduce' = 2, but 1 on PE 0", sets_differ},
    {"split_differs", "argument 4 'size' = 2, but 1 on PE 0", split_differs},
    {"members_differ", "shmemx_team_create: argument 2 'list' = 0x", members_differ},
    {NULL, NULL, NULL},
};
