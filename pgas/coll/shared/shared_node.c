/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_node.c - node-shared results: node phase.
 * Uses: core/team, core/block, core/check, core/stress, barrier, slice, bounce, rma,
 * datatype.
 *
 * Invariant: the copy is written for call k only after all PEs of the node (over several
 * nodes: of the team) have entered call k, hence have read the result of call k - 1.  So
 * a call needs no barrier at its end.  Entering is an acq_rel increment: the last PE to
 * enter has acquired the reads of the others and passes them on by the store-release of
 * `open`.  In the same way `filled` collects the PEs' writes and `ready` publishes them.
 */
#include "config.h"

#include <string.h>

#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/shared/shared_int.h"
#include "pgas/coll/algorithms/slice.h"
#include "pgas/coll/sync/bounce.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/check/check.h"
#include "pgas/core/memory/peer.h"
#include "pgas/core/base/stress.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

enum {
    SLICED_BYTES = 128 * 1024, /* threshold of shared_node_broadcast_slices */
    CHUNK_BYTES = 16 * 1024,   /* fits the L1 cache with one source chunk */
};

/* ---- words ----------------------------------------------------------------------- */

struct goal {
    const uint64_t *word;
    uint64_t value;
    const struct shmemx_shared *s;
    const char *fn;
};

static bool shared_node_reached(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u64(g->word) >= g->value;
}

static uint64_t shared_node_all_entries(const struct shmemx_shared *s)
{
    return s->calls * (uint64_t)s->local_pes;
}

/* A PE returns from a call only after all PEs have entered it.  So a departed PE has not
 * entered this call if `entered` is incomplete. */
static void shared_node_on_stall(const void *arg)
{
    const struct goal *g = arg;
    const struct shmem_team *team = g->s->team;

    if (atomic_load_explicit(&pgas_self.node->departed, memory_order_acquire) == 0)
        return;
    for (int i = 0; !team->remote && i < team->npes; i++)
        if (load_acquire_u64(&team_words(team, i)->departure.epoch) != 0 &&
            load_acquire_u64(&g->s->head->entered) < shared_node_all_entries(g->s))
            barrier_report_departed(team_world_pe(team, i), g->fn);
}

/* Symmetric address of a word of this node's head. */
static const void *shared_node_here(const struct shmemx_shared *s, const uint64_t *word)
{
    int node = s->team->nodes != NULL ? s->team->nodes->me : 0;
    size_t offset = (size_t)((const char *)word - (const char *)s->head);

    return (const char *)pgas_self.heap_base + s->offset[node] + offset;
}

static void shared_node_await(const struct shmemx_shared *s, const uint64_t *word,
                              bool remote, const char *fn)
{
    struct goal g = {word, s->calls, s, fn};

    stress_point();
    if (load_acquire_u64(word) < g.value)
        block_until(&(struct block_wait){.ready = shared_node_reached,
                                         .arg = &g,
                                         .word = shared_node_here(s, word),
                                         .remote = remote,
                                         .what = fn,
                                         .team = s->team,
                                         .on_stall = shared_node_on_stall});
    stress_point();
}

/* Store the call number to a word and wake the PEs of the node. */
static void shared_node_publish(const struct shmemx_shared *s, uint64_t *word)
{
    stress_point();
    store_release_u64(word, s->calls);
    for (int k = 0; k < s->local_pes; k++)
        if (k != s->rank)
            rma_changed(shared_node_here(s, word), sizeof *word,
                        team_world_pe(s->team, shared_local_pe(s, k)));
}

void shared_enter(struct shmemx_shared *s, const char *fn)
{
    s->calls++;
    stress_point();
    if (s->team->remote)
        barrier_sync(s->team, fn);
    else if (fetch_add_acq_rel_u64(&s->head->entered, 1) + 1 ==
             shared_node_all_entries(s))
        shared_node_publish(s, &s->head->open);
}

void shared_await_open(const struct shmemx_shared *s, const char *fn)
{
    if (!s->team->remote)
        shared_node_await(s, &s->head->open, false, fn);
}

void shared_release(const struct shmemx_shared *s)
{
    shared_node_publish(s, &s->head->ready);
}

void shared_await_ready(const struct shmemx_shared *s, const char *fn)
{
    shared_node_await(s, &s->head->ready, false, fn);
}

void shared_await_remote_ready(const struct shmemx_shared *s, const char *fn)
{
    shared_node_await(s, &s->head->remote_ready, true, fn);
}

/* Count this PE's part as written; the last PE of the node publishes the result. */
static void shared_node_fill(struct shmemx_shared *s)
{
    uint64_t all = ++s->fills * (uint64_t)s->local_pes;

    stress_point();
    if (fetch_add_acq_rel_u64(&s->head->filled, 1) + 1 == all)
        shared_release(s);
}

/* ---- data ------------------------------------------------------------------------ */

/* source may overlap the copy. */
static void shared_node_move(char *to, const void *source, size_t bytes)
{
    if (source == NULL || source == to || bytes == 0)
        return;
    if (bounce_overlap(to, bytes, source, bytes))
        memmove(to, source, bytes);
    else
        copy_bytes(to, source, bytes);
}

/* Encoded address of the source if other PEs can read it, else 0: it must be in the heap,
 * because other executables have other addresses of globals, and must not overlap the
 * copy. */
static uint64_t shared_node_encode_source(const struct shmemx_shared *s,
                                          const void *source, size_t bytes)
{
    uint64_t offset = symaddr_encode(source);

    return offset % 2 == 0 && !bounce_overlap(s->copy, s->bytes, source, bytes) ? offset
                                                                                : 0;
}

static void shared_node_copy_slice(const struct shmemx_shared *s, size_t bytes, int root,
                                   const char *fn)
{
    struct slice slice = slice_of(bytes, 1, s->rank, s->local_pes);
    const char *from = symaddr_decode(s->head->from); /* written before `source_ready` */
    size_t n = slice.end - slice.first;

    if (from != NULL && n > 0)
        copy_bytes(s->copy + slice.first,
                   peer_at(from + slice.first, n, team_world_pe(s->team, root), fn), n);
}

/* Each PE of the node copies a slice of the root's source. */
static void shared_node_broadcast_slices(struct shmemx_shared *s, const void *source,
                                         size_t bytes, int root, const char *fn)
{
    if (s->team->me == root) {
        shared_await_open(s, fn);
        s->head->from = shared_node_encode_source(s, source, bytes);
        if (s->head->from == 0)
            shared_node_move(s->copy, source, bytes);
        shared_node_publish(s, &s->head->source_ready);
    }
    shared_node_await(s, &s->head->source_ready, false, fn);
    shared_node_copy_slice(s, bytes, root, fn);
    shared_node_fill(s);
    shared_await_ready(s, fn);
}

void shared_node_broadcast(struct shmemx_shared *s, const void *source, size_t bytes,
                           int root, const char *fn)
{
    if (bytes >= SLICED_BYTES && s->local_pes > 1) {
        shared_node_broadcast_slices(s, source, bytes, root, fn);
    } else if (s->team->me == root) {
        shared_await_open(s, fn);
        shared_node_move(s->copy, source, bytes);
        shared_release(s);
    } else {
        shared_await_ready(s, fn);
    }
}

void shared_put_block(const struct shmemx_shared *s, const void *source, size_t bytes)
{
    shared_node_move(s->copy + (size_t)s->team->me * bytes, source, bytes);
}

/* In place (source NULL): the blocks were written after shared_reclaim. */
void shared_node_fcollect(struct shmemx_shared *s, const void *source, size_t bytes,
                          const char *fn)
{
    if (source != NULL)
        shared_await_open(s, fn);
    shared_put_block(s, source, bytes);
    shared_node_fill(s);
    shared_await_ready(s, fn);
}

static const void *shared_node_source_of(const struct shared_sum *sum, size_t at,
                                         size_t bytes, int k)
{
    return peer_at(sum->source + at, bytes,
                   team_world_pe(sum->s->team, shared_local_pe(sum->s, k)), sum->fn);
}

static void shared_node_combine_chunk(const struct shared_sum *sum, size_t first,
                                      size_t n)
{
    size_t at = first * sum->size, bytes = n * sum->size;
    char *to = sum->s->copy + at;

    if (sum->s->local_pes == 1) {
        copy_bytes(to, shared_node_source_of(sum, at, bytes, 0), bytes);
        return;
    }
    sum->op->three(to, shared_node_source_of(sum, at, bytes, 0),
                   shared_node_source_of(sum, at, bytes, 1), n);
    for (int k = 2; k < sum->s->local_pes; k++)
        sum->op->two(to, shared_node_source_of(sum, at, bytes, k), n);
}

void shared_combine(const struct shared_sum *sum)
{
    struct slice slice = slice_of(sum->n, sum->size, sum->s->rank, sum->s->local_pes);
    size_t chunk = CHUNK_BYTES / sum->size;

    for (size_t first = slice.first; first < slice.end; first += chunk)
        shared_node_combine_chunk(sum, first,
                                  slice.end - first < chunk ? slice.end - first : chunk);
}

void shared_node_reduce(const struct shared_sum *sum)
{
    shared_await_open(sum->s, sum->fn);
    shared_combine(sum);
    shared_node_fill(sum->s);
    shared_await_ready(sum->s, sum->fn);
}
