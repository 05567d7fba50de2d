/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared.c - see shared.h: handles, creation, and the entry of each call.
 * Uses: core/team, core/heap, core/pool, core/log, barrier, internode, allgather,
 * shared_node, shared_internode.
 *
 * Only the leader of a node allocates memory for the copy, from a part of the heap that
 * serves no user allocations: otherwise shmem_malloc would return different addresses on
 * different PEs. At creation all PEs of the team exchange the offsets.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/coll/api/coll_state.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/allgather.h"
#include "pgas/coll/shared/shared.h"
#include "pgas/coll/shared/shared_int.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/log.h"
#include "pgas/core/memory/peer.h"
#include "pgas/ft/ft.h"
#include "pgas/rma/rma.h"

/* ---- handles --------------------------------------------------------------------- */

static struct shmemx_shared *shared_result_of(shmemx_shared_t handle, const char *fn)
{
    if (!pool_has(&coll_self.shared, handle))
        log_misuse(
            "%s: argument 'shared' = %p is not a valid node-shared result%s; use one "
            "from shmemx_shared_create",
            fn, (void *)handle,
            handle == SHMEMX_SHARED_INVALID ? " (SHMEMX_SHARED_INVALID)"
                                            : " (already destroyed?)");
    if (!team_alive(handle->handle))
        log_misuse("%s: the team of argument 'shared' = %p has been destroyed; call "
                   "shmemx_shared_destroy before shmem_team_destroy",
                   fn, (void *)handle);
    (void)team_of(handle->handle, fn); /* records fn for messages */
    return handle;
}

void *shared_ptr(shmemx_shared_t shared, const char *fn)
{
    return shared_result_of(shared, fn)->copy;
}

/* ---- creation -------------------------------------------------------------------- */

static int shared_nodes_of(const struct shmem_team *team)
{
    return team->nodes != NULL ? team->nodes->leaders : 1;
}

static int shared_leader_of(const struct shmem_team *team, int node)
{
    return team->nodes != NULL ? team->nodes->leader[node] : 0;
}

static bool shared_is_leader(const struct shmemx_shared *s)
{
    return s->rank == 0;
}

static struct shmemx_shared *shared_new_result(struct shmem_team *team, size_t bytes)
{
    struct shmemx_shared *s = pool_alloc(&coll_self.shared);
    uint64_t *offset = calloc((size_t)shared_nodes_of(team), sizeof *offset);

    if (s == NULL || offset == NULL) {
        if (s != NULL)
            pool_free(&coll_self.shared, s);
        free(offset);
        return NULL;
    }
    s->team = team;
    s->bytes = bytes;
    s->offset = offset;
    s->local_pes = team->nodes != NULL ? team->nodes->local_pes : team->npes;
    while (shared_local_pe(s, s->rank) != team->me)
        s->rank++;
    return s;
}

static void shared_free_result(struct shmemx_shared *s)
{
    free(s->offset);
    pool_free(&coll_self.shared, s);
}

/* Heap offset of the leader's memory; 0 = none. */
static size_t shared_alloc_block(const struct shmemx_shared *s)
{
    size_t all, offset;

    if (__builtin_add_overflow(s->bytes, sizeof(struct shared_head), &all) ||
        !heap_alloc_result(all, &offset))
        return 0;
    memset((char *)pgas_self.heap_base + offset, 0, sizeof(struct shared_head));
    return offset;
}

/* Publish this PE's descriptor: bytes + 1 (0 = no memory), and the block's offset
 * (in `symaddr`). */
static void shared_publish(const struct shmem_team *team, struct descriptor part)
{
    struct descriptor *mine = &team_words(team, team->me)->descriptor;

    store_relaxed_u64(&mine->count, part.count);
    store_relaxed_u64(&mine->symaddr, part.symaddr);
}

static struct descriptor shared_descriptor_of(const struct shmem_team *team,
                                              const struct descriptors *r, int i)
{
    if (r->team != NULL)
        return *(const struct descriptor *)allgather_at(r, i);
    const struct descriptor *part = &team_words(team, i)->descriptor;
    return (struct descriptor){load_relaxed_u64(&part->count),
                               load_relaxed_u64(&part->symaddr)};
}

/* True if all PEs have memory; equal on all PEs. */
static bool shared_all_able(const struct shmem_team *team, const struct descriptors *r,
                            size_t bytes, const char *fn)
{
    bool able = true;

    for (int i = 0; i < team->npes; i++) {
        uint64_t count = shared_descriptor_of(team, r, i).count;
        able = able && count != 0;
        if (count != 0 && count - 1 != bytes)
            log_misuse(
                "%s: argument 'bytes' = %zu, but it is %llu on PE %d; all PEs must "
                "pass the same number",
                fn, bytes, (unsigned long long)(count - 1), team_world_pe(team, i));
    }
    return able;
}

/* *able: all PEs have memory.  Nonzero: a failure has interrupted the exchange. */
static __attribute__((noinline)) int shared_exchange(struct shmemx_shared *s,
                                                     struct shmem_team *team,
                                                     struct descriptor mine, size_t bytes,
                                                     bool *able, const char *fn)
{
    struct descriptors r = {.team = NULL};

    FT_GUARD(guard, ft_guard_open_team(&guard, team), guard.status);
    shared_publish(team, mine);
    if (team->remote)
        r = allgather_open(team, &team_words(team, team->me)->descriptor, sizeof mine,
                           fn);
    else
        barrier_sync(team, fn);
    *able = shared_all_able(team, &r, bytes, fn);
    for (int node = 0; *able && node < shared_nodes_of(team); node++)
        s->offset[node] =
            shared_descriptor_of(team, &r, shared_leader_of(team, node)).symaddr;
    allgather_close(&r);
    return 0;
}

static void shared_begin(struct shmemx_shared *s, const char *fn)
{
    int node = s->team->nodes != NULL ? s->team->nodes->me : 0;
    int leader = team_world_pe(s->team, shared_local_pe(s, 0));

    s->head = peer_at((char *)pgas_self.heap_base + s->offset[node],
                      sizeof(struct shared_head) + s->bytes, leader, fn);
    s->copy = (char *)(s->head + 1);
    pool_publish(&s->item);
}

static int shared_new(struct shmem_team *team, size_t bytes, struct shmemx_shared **out,
                      const char *fn)
{
    struct shmemx_shared *s = bytes < SIZE_MAX ? shared_new_result(team, bytes) : NULL;
    size_t block = s != NULL && shared_is_leader(s) ? shared_alloc_block(s) : 0;
    bool able = s != NULL && (block != 0 || !shared_is_leader(s)), all_able = false;

    *out = s;
    int status = shared_exchange(
        s, team, (struct descriptor){able ? bytes + 1 : 0, block}, bytes, &all_able, fn);
    if (status == 0) /* all descriptors have been read, or no PE will use the memory */
        status = barrier_commit_guarded(team, fn);
    if (status == 0 && !all_able)
        status = -1;
    if (status == 0) {
        shared_begin(s, fn);
        return 0;
    }
    if (block != 0)
        heap_free_result(block);
    if (s != NULL)
        shared_free_result(s);
    if (status == -1)
        log_debug(
            "%s: no space for %zu bytes on some node. Increase SHMEM_SHARED_SIZE (now "
            "%zu bytes).",
            fn, bytes, pgas_self.env.shared_size);
    return status;
}

int shared_create(shmem_team_t team, size_t bytes, shmemx_shared_t *shared,
                  const char *fn)
{
    struct shmemx_shared *s;

    *shared = SHMEMX_SHARED_INVALID;
    if (team == SHMEM_TEAM_INVALID)
        return -1;
    struct shmem_team *t = team_of(team, fn);
    barrier_guard(t, fn);
    int status = shared_new(t, bytes, &s, fn);
    barrier_unguard(t, fn);
    if (status != 0)
        return status;
    s->handle = team;
    *shared = s;
    return 0;
}

/* Waits until no PE accesses the copy or its head any more; false if that is unknown,
 * because a PE has failed. */
static bool shared_all_idle(const struct shmemx_shared *s, const char *fn)
{
    FT_GUARD(guard, ft_guard_open_team(&guard, s->team), false);
    barrier_guard(s->team, fn);
    barrier_sync(s->team, fn);
    barrier_unguard(s->team, fn);
    return true;
}

void shared_destroy(shmemx_shared_t *shared, const char *fn)
{
    if (*shared == SHMEMX_SHARED_INVALID)
        return;
    struct shmemx_shared *s = shared_result_of(*shared, fn);
    int node = s->team->nodes != NULL ? s->team->nodes->me : 0;
    *shared = SHMEMX_SHARED_INVALID;
    if (shared_all_idle(s, fn) && shared_is_leader(s))
        heap_free_result(s->offset[node]);
    shared_free_result(s);
}

static bool shared_free_offsets(void *object, void *arg)
{
    (void)arg;
    free(((struct shmemx_shared *)object)->offset);
    return true;
}

void shared_fini(void)
{
    pool_each(&coll_self.shared, shared_free_offsets, NULL);
    pool_clear(&coll_self.shared);
}

/* ---- calls ----------------------------------------------------------------------- */

static struct shmemx_shared *shared_enter_result(struct shmemx_shared *s, const char *fn)
{
    barrier_guard(s->team, fn);
    shared_enter(s, fn);
    return s;
}

static int shared_leave(const struct shmemx_shared *s, const char *fn)
{
    barrier_unguard(s->team, fn);
    return barrier_end_collective(s->handle, 0, fn);
}

int shared_reclaim(shmemx_shared_t shared, const char *fn)
{
    struct shmemx_shared *s = shared_result_of(shared, fn);

    FT_GUARD(guard, ft_guard_open_team(&guard, s->team), guard.status);
    shared_enter_result(s, fn);
    shared_await_open(s, fn);
    return shared_leave(s, fn);
}

static void shared_check_root(const struct shmem_team *team, int root, const char *fn)
{
    if (root < 0 || root >= team->npes)
        log_misuse("%s: argument 'PE_root' = %d, but the team has PEs 0..%d", fn, root,
                   team->npes - 1);
}

int shared_broadcast(shmemx_shared_t shared, const void *source, size_t bytes, int root,
                     const char *fn)
{
    struct shmemx_shared *s = shared_result_of(shared, fn);

    FT_GUARD(guard, ft_guard_open_team(&guard, s->team), guard.status);
    shared_check_root(s->team, root, fn);
    if (bytes > s->bytes)
        log_misuse(
            "%s: argument 'bytes' = %zu, but the result was made for %zu bytes; pass "
            "shmemx_shared_create a larger number",
            fn, bytes, s->bytes);
    shared_enter_result(s, fn);
    if (s->team->remote)
        shared_internode_broadcast(s, source, bytes, root, fn);
    else
        shared_node_broadcast(s, source, bytes, root, fn);
    return shared_leave(s, fn);
}

int shared_fcollect(shmemx_shared_t shared, const void *source, size_t bytes,
                    const char *fn)
{
    struct shmemx_shared *s = shared_result_of(shared, fn);

    FT_GUARD(guard, ft_guard_open_team(&guard, s->team), guard.status);
    if (bytes > s->bytes / (size_t)s->team->npes)
        log_misuse(
            "%s: argument 'bytes' = %zu of each of %d PEs, but the result was made "
            "for %zu bytes; pass shmemx_shared_create a larger number",
            fn, bytes, s->team->npes, s->bytes);
    shared_enter_result(s, fn);
    if (s->team->remote)
        shared_internode_fcollect(s, source, bytes, fn);
    else
        shared_node_fcollect(s, source, bytes, fn);
    return shared_leave(s, fn);
}

int shared_reduce(shmemx_shared_t shared, const void *source, size_t n, size_t size,
                  const struct op_fns *op, const char *fn)
{
    struct shmemx_shared *s = shared_result_of(shared, fn);
    struct shared_sum sum = {s, source, n, size, op, fn};

    FT_GUARD(guard, ft_guard_open_team(&guard, s->team), guard.status);
    if (n > s->bytes / size)
        log_misuse(
            "%s: argument 'nreduce' = %zu elements of %zu bytes, but the result was "
            "made for %zu bytes; pass shmemx_shared_create a larger number",
            fn, n, size, s->bytes);
    if (n > 0) /* report an invalid source on its own PE, not on a reader */
        (void)peer_at(source, n * size, pgas_self.me, fn);
    shared_enter_result(s, fn);
    if (s->team->remote)
        shared_internode_reduce(&sum);
    else
        shared_node_reduce(&sum);
    return shared_leave(s, fn);
}
