/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.c - calls every routine of OpenSHMEM 1.6 once with harmless arguments, by its own
 * name and by its profiling name.  calls.awk generates calls.def and pcalls.def.
 * usage: calls START END [all]
 * START and END are the routines that initialize and finalize the library; END "return":
 * main returns without.  all: call all routines in between.  PE 0 prints the name of each
 * routine after its call.
 */
#include <pshmem.h>
#include <shmemx.h>

#include "include/shmem_types.def"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNED(name, bytes) static _Alignas(64) char name[bytes]

/* Symmetric; memory that other PEs may write is not checked. */
ALIGNED(dest_bytes, 4096);
ALIGNED(source_bytes, 4096);
ALIGNED(zero_bytes, 64);
ALIGNED(pwrk_bytes, SHMEM_REDUCE_MIN_WRKDATA_SIZE * 16);
static long psync[SHMEM_SYNC_SIZE];
static long lock;
static uint64_t sig;

static int me, world, peer, number;
static char text[SHMEM_MAX_NAME_LEN];
static size_t indices[1];
static char fetch_bytes[16];
static shmem_ctx_t ctx;
static shmem_team_t team, xaxis_team, yaxis_team;
static shmem_team_config_t team_config;
static const shmem_ctx_session_config_t session_config = {.total_ops = 1};

static void report(const char *name)
{
    if (me == 0)
        puts(name);
}

static void fail(const char *name, const char *what)
{
    fflush(stdout);
    fprintf(stderr, "calls: PE %d: %s %s\n", me, name, what);
    shmem_global_exit(1);
}

static void check_heap(const char *name, void *memory)
{
    if (!memory)
        fail(name, "returned NULL");
    shmem_free(memory);
}

static void call_test_lock(int (*test_lock)(long *))
{
    if (test_lock(&lock) == 0)
        shmem_clear_lock(&lock);
}

static shmem_team_t make_team(void)
{
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, world, NULL, 0, &team) != 0)
        fail("shmem_team_split_strided", "failed");
    return team;
}

static shmem_ctx_t make_ctx(void)
{
    if (shmem_ctx_create(0, &ctx) != 0)
        fail("shmem_ctx_create", "failed");
    return ctx;
}

static int start(const char *how)
{
    if (strcmp(how, "shmem_init") == 0)
        shmem_init();
    else if (strcmp(how, "pshmem_init") == 0)
        pshmem_init();
    else if (strcmp(how, "shmem_init_thread") == 0)
        return shmem_init_thread(SHMEM_THREAD_SINGLE, &number);
    else if (strcmp(how, "pshmem_init_thread") == 0)
        return pshmem_init_thread(SHMEM_THREAD_SINGLE, &number);
    else if (strcmp(how, "start_pes") == 0)
        start_pes(0);
    else if (strcmp(how, "pstart_pes") == 0)
        pstart_pes(0);
    else
        return 1;
    return 0;
}

/* PE 0 ends the job; the others wait in a barrier that never completes. */
static void leave(void (*global_exit)(int status), const char *name)
{
    if (me != 0)
        shmem_barrier_all();
    report(name);
    fflush(stdout);
    global_exit(0);
    fprintf(stderr, "calls: %s returned\n", name);
    abort();
}

static int end(const char *how)
{
    if (strcmp(how, "return") == 0)
        return 0;
    shmem_barrier_all();
    if (strcmp(how, "shmem_finalize") == 0)
        shmem_finalize();
    else if (strcmp(how, "pshmem_finalize") == 0)
        pshmem_finalize();
    else if (strcmp(how, "shmem_global_exit") == 0)
        leave(shmem_global_exit, how);
    else if (strcmp(how, "pshmem_global_exit") == 0)
        leave(pshmem_global_exit, how);
    else
        return 1;
    report(how);
    return 0;
}

#define CALL(name, call)                                                                 \
    call;                                                                                \
    report(#name);
#define EXPECT(name, value, call)                                                        \
    if ((call) != (value))                                                               \
        fail(#name, "did not return " #value);                                           \
    report(#name);

static void call_all(void)
{
    void *const dest = dest_bytes, *const source = source_bytes;
    void *const zeros = zero_bytes, *const pwrk = pwrk_bytes, *const fetch = fetch_bytes;

#include "calls.def"
#include "pcalls.def"
}

/* Node-shared results, each routine by both of its names. */
static shmemx_shared_t shared;
#define SHARED(name, ...)                                                                \
    EXPECT(shmemx_##name, 0, shmemx_##name(__VA_ARGS__))                                 \
    EXPECT(pshmemx_##name, 0, pshmemx_##name(__VA_ARGS__))
#define SHARED_REDUCE(NAME, C, op)                                                       \
    SHARED(NAME##_shared_##op##_reduce, shared, (const C *)zero_bytes, 1)
#define SHARED_BIT(NAME, C, KIND)                                                        \
    SHARED_REDUCE(NAME, C, and) SHARED_REDUCE(NAME, C, or) SHARED_REDUCE(NAME, C, xor)
#define SHARED_ORD(NAME, C, KIND) SHARED_REDUCE(NAME, C, max) SHARED_REDUCE(NAME, C, min)
#define SHARED_NUM(NAME, C, KIND) SHARED_REDUCE(NAME, C, sum) SHARED_REDUCE(NAME, C, prod)

static void call_shared(void)
{
    EXPECT(pshmemx_shared_create, 0,
           pshmemx_shared_create(SHMEM_TEAM_WORLD, 4096, &shared))
    CALL(pshmemx_shared_destroy, pshmemx_shared_destroy(&shared))
    EXPECT(shmemx_shared_create, 0, shmemx_shared_create(SHMEM_TEAM_WORLD, 4096, &shared))
    SHARED(shared_reclaim, shared)
    SHARED(shared_broadcast, shared, NULL, 64, 0)
    SHARED(shared_fcollect, shared, zero_bytes, sizeof zero_bytes)
    CALL(shmemx_shared_ptr, (void)shmemx_shared_ptr(shared))
    CALL(pshmemx_shared_ptr, (void)pshmemx_shared_ptr(shared))
    SHMEM_TYPES_REDUCE_BIT(SHARED_BIT)
    SHMEM_TYPES_REDUCE_ORD(SHARED_ORD)
    SHMEM_TYPES_REDUCE_NUM(SHARED_NUM)
    CALL(shmemx_shared_destroy, shmemx_shared_destroy(&shared))
}

/* Failures, in a job with SHMEM_FT=abort. */
#define FAILURE(name, value, ...)                                                        \
    EXPECT(shmemx_##name, value, shmemx_##name(__VA_ARGS__))                             \
    EXPECT(pshmemx_##name, value, pshmemx_##name(__VA_ARGS__))

static void call_failures(void)
{
    uint64_t flags = 3;

    FAILURE(pe_failed, 0, 0)
    FAILURE(team_failed, 0, SHMEM_TEAM_WORLD, NULL, 0)
    FAILURE(team_status, 0, SHMEM_TEAM_WORLD)
    FAILURE(failure_handler, 0, NULL, NULL)
    FAILURE(team_revoke, -1, SHMEM_TEAM_WORLD)
    FAILURE(team_agree, 0, SHMEM_TEAM_WORLD, &flags)
    EXPECT(shmemx_team_shrink, 0, shmemx_team_shrink(SHMEM_TEAM_WORLD, &team))
    shmem_team_destroy(team);
    EXPECT(pshmemx_team_shrink, 0, pshmemx_team_shrink(SHMEM_TEAM_WORLD, &team))
    shmem_team_destroy(team);
}

/* Layouts.  X(prefix): the names shmemx_... or pshmemx_... */
#define LAYOUT_ROUTINES(X)                                                               \
    EXPECT(X##_layout_contiguous, 0, X##_layout_contiguous(64, &member))                 \
    EXPECT(X##_layout_struct, 0, X##_layout_struct(&member, &offset, 1, &layout))        \
    CALL(X##_layout_free, X##_layout_free(&layout))                                      \
    EXPECT(X##_layout_nested, 0, X##_layout_nested(8, 1, &n, &offset, &layout))          \
    X##_layout_free(&layout);                                                            \
    EXPECT(X##_layout_indexed, 0, X##_layout_indexed(&n, &offset, 1, &layout))           \
    X##_layout_free(&layout);                                                            \
    EXPECT(X##_layout_indexed_block, 0,                                                  \
           X##_layout_indexed_block(8, &offset, 1, &layout))                             \
    X##_layout_free(&layout);                                                            \
    EXPECT(X##_layout_vector, 0, X##_layout_vector(8, 16, 8, &layout))                   \
    EXPECT(X##_layout_size, 64, X##_layout_size(layout))                                 \
    CALL(X##_layout_bounds, X##_layout_bounds(layout, &offset, &high))                   \
    EXPECT(X##_layout_overlaps, 0, X##_layout_overlaps(layout))                          \
    EXPECT(X##_pack, 0, X##_pack(layout, from, 0, to, 64))                               \
    EXPECT(X##_unpack, 0, X##_unpack(layout, from, 0, to, 64))                           \
    EXPECT(X##_copy_layout, 0, X##_copy_layout(to, member, from, layout))                \
    EXPECT(X##_put_layout, 0, X##_put_layout(to, member, from, layout, peer))            \
    EXPECT(X##_get_layout, 0, X##_get_layout(to, member, from, layout, peer))            \
    EXPECT(X##_ctx_put_layout, 0,                                                        \
           X##_ctx_put_layout(SHMEM_CTX_DEFAULT, to, member, from, layout, peer))        \
    EXPECT(X##_ctx_get_layout, 0,                                                        \
           X##_ctx_get_layout(SHMEM_CTX_DEFAULT, to, member, from, layout, peer))        \
    n = X##_layout_write(layout, wire, sizeof wire);                                     \
    report(#X "_layout_write");                                                          \
    X##_layout_free(&layout);                                                            \
    EXPECT(X##_layout_read, 0, X##_layout_read(wire, n, &layout))                        \
    X##_layout_free(&layout);                                                            \
    X##_layout_free(&member);

static void call_layouts(void)
{
    static char from[128], to[128], wire[128];
    shmemx_layout_t member, layout;
    ptrdiff_t offset = 16, high;
    size_t n = 4;

    LAYOUT_ROUTINES(shmemx)
    LAYOUT_ROUTINES(pshmemx)
}

static void call_extensions(void)
{
    int *list = malloc((size_t)world * sizeof(int));

    for (int i = 0; i < world; i++)
        list[i] = i;
    EXPECT(shmemx_team_create, 0,
           shmemx_team_create(SHMEM_TEAM_WORLD, list, world, &team))
    shmem_team_destroy(team);
    EXPECT(pshmemx_team_create, 0,
           pshmemx_team_create(SHMEM_TEAM_WORLD, list, world, &team))
    shmem_team_destroy(team);
    free(list);
    call_shared();
    call_failures();
    call_layouts();
    CALL(shmem_clear_cache_inv, shmem_clear_cache_inv())
    CALL(shmem_clear_cache_line_inv, shmem_clear_cache_line_inv(dest_bytes))
    CALL(shmem_set_cache_inv, shmem_set_cache_inv())
    CALL(shmem_set_cache_line_inv, shmem_set_cache_line_inv(dest_bytes))
    CALL(shmem_udcflush, shmem_udcflush())
    CALL(shmem_udcflush_line, shmem_udcflush_line(dest_bytes))
    CALL(pshmem_clear_cache_inv, pshmem_clear_cache_inv())
    CALL(pshmem_clear_cache_line_inv, pshmem_clear_cache_line_inv(dest_bytes))
    CALL(pshmem_set_cache_inv, pshmem_set_cache_inv())
    CALL(pshmem_set_cache_line_inv, pshmem_set_cache_line_inv(dest_bytes))
    CALL(pshmem_udcflush, pshmem_udcflush())
    CALL(pshmem_udcflush_line, pshmem_udcflush_line(dest_bytes))
}

int main(int argc, char **argv)
{
    if (argc < 3 || start(argv[1]) != 0) {
        fprintf(stderr, "usage: calls START END [all]\n");
        return 2;
    }
    me = shmem_my_pe();
    world = shmem_n_pes();
    peer = (me + 1) % world;
    report(argv[1]);
    if (argc > 3) {
        for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
            psync[i] = SHMEM_SYNC_VALUE;
        shmem_barrier_all();
        call_all();
        call_extensions();
    }
    return end(argv[2]);
}
