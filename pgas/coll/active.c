/* SPDX-License-Identifier: BSD-3-Clause */
/* active.c - see active.h.  Uses: core/team, core/block, core/net, rma/rma, rma/amo_at,
 * look, barrier. */
#include "config.h"

#include "pgas/coll/active.h"
#include "pgas/coll/barrier.h"
#include "pgas/coll/look.h"
#include "pgas/core/block.h"
#include "pgas/core/log.h"
#include "pgas/core/net.h"
#include "pgas/core/stress.h"
#include "pgas/rma/amo_at.h"
#include "pgas/rma/rma.h"

/*
 * Words of pSync, a cache line apart wherever the array begins; the other ones are not
 * used.  All are SHMEM_SYNC_VALUE (0) between the calls.
 */
enum {
    ARRIVED = 0,  /* on the set's first PE: others that have called */
    RELEASED = 8, /* on each other PE: 1 = all have called */
    PART = 16,    /* on each PE, during a collect: its struct team_part */
    LOG_STRIDE_MAX = 30,
};
_Static_assert(PART + sizeof(struct team_part) / sizeof(long) <= SHMEM_SYNC_SIZE / 2 &&
                   SHMEM_BARRIER_SYNC_SIZE == SHMEM_SYNC_SIZE &&
                   SHMEM_COLLECT_SYNC_SIZE == SHMEM_SYNC_SIZE && SHMEM_SYNC_VALUE == 0,
               "the words are in every pSync, and 0 at first");

static bool is_set(int start, int log_stride, int size)
{
    if (start < 0 || log_stride < 0 || size < 1)
        return false;
    if (size > 1 && log_stride > LOG_STRIDE_MAX)
        return false;
    int64_t last = size > 1 ? start + ((int64_t)(size - 1) << log_stride) : start;
    return last < pgas_self.npes;
}

struct shmem_team active_set(int start, int log_stride, int size, long *psync,
                             const char *fn)
{
    if (!is_set(start, log_stride, size))
        log_die(
            "%s: arguments 'PE_start' = %d, 'logPE_stride' = %d, 'PE_size' = %d are no "
            "active set of the PEs 0..%u",
            fn, start, log_stride, size, pgas_self.npes - 1);
    int stride = size > 1 ? 1 << log_stride : 1;
    int away = pgas_self.me - start;
    if (away < 0 || away % stride != 0 || away / stride >= size)
        log_die(
            "%s: arguments 'PE_start' = %d, 'logPE_stride' = %d, 'PE_size' = %d are an "
            "active set without PE %d, which calls",
            fn, start, log_stride, size, pgas_self.me);
    struct shmem_team set = {.npes = size,
                             .me = away / stride,
                             .start = start,
                             .stride = stride,
                             .cpu = -1,
                             .psync = psync};
    set.far = team_has_far(&set);
    return set;
}

static uint64_t *word_of(const struct shmem_team *set, int word, int i, const char *fn)
{
    return peer_at(set->psync + word, sizeof(uint64_t), team_world_pe(set, i), fn);
}

struct team_part *active_part(const struct shmem_team *set, int i, const char *fn)
{
    return peer_at(set->psync + PART, sizeof(struct team_part), team_world_pe(set, i),
                   fn);
}

/* What this PE waits for: a word of its own is at least `goal`. */
struct goal {
    const uint64_t *word;
    uint64_t goal;
    const struct shmem_team *set;
    const char *fn;
    struct look *look;
};

static bool reached(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u64(g->word) >= g->goal;
}

/* Has a PE of the world left the job? */
static bool has_left(int pe, const char *fn)
{
    const struct shmem_team *world = team_of(SHMEM_TEAM_WORLD, fn);

    if (net_far(pe))
        return look_at(team_here(world, offsetof(struct team_words, left)), pe, fn) != 0;
    return atomic_load_explicit(&pgas_self.peer[pe].node->last_barrier,
                                memory_order_acquire) != 0;
}

/*
 * Exact: the first PE waits for calls, and who has called can't leave before it is
 * released.  The others wait for the first PE only, which releases them before it leaves;
 * so if it has left and the word, looked at again, is not there, it never will be.
 */
static void check_left(const struct goal *g, int i)
{
    int pe = team_world_pe(g->set, i);

    if (has_left(pe, g->fn) && !reached(g))
        barrier_in_vain(pe, g->fn);
}

/* Of the far PEs one at a time, as each costs a round trip. */
static void in_vain(const void *arg)
{
    const struct goal *g = arg;
    int first = g->set->me == 0 ? 1 : 0, end = g->set->me == 0 ? g->set->npes : 1;
    bool left = atomic_load_explicit(&pgas_self.node->left, memory_order_acquire) != 0;

    for (int i = first; left && i < end; i++)
        if (!net_far(team_world_pe(g->set, i)))
            check_left(g, i);
    if (g->set->far && look_due(g->look))
        check_left(g, first + (int)(g->look->looks % (uint32_t)(end - first)));
}

/* Wait until a word of this PE is `value`, and make it SHMEM_SYNC_VALUE again. */
static void take(const struct shmem_team *set, int word, uint64_t value, const char *fn)
{
    uint64_t *mine = word_of(set, word, set->me, fn);
    struct look look = {0};
    struct goal g = {mine, value, set, fn, &look};

    block_until(&(struct block_wait){.ready = reached,
                                     .arg = &g,
                                     .word = set->psync + word,
                                     .what = fn,
                                     .in_vain = in_vain});
    if (load_relaxed_u64(mine) != value)
        log_die(
            "%s: argument 'pSync' = %p: word %d is %ld in the call; all words must be "
            "SHMEM_SYNC_VALUE (%ld) before, and no other routine may use them",
            fn, (void *)set->psync, word, (long)*mine, SHMEM_SYNC_VALUE);
    store_relaxed_u64(mine, SHMEM_SYNC_VALUE);
}

/* Tell the first PE that this one has called. */
static void call(const struct shmem_team *set, const char *fn)
{
    int pe = team_world_pe(set, 0);

    if (unlikely(net_far(pe))) {
        amo_post(TRANSPORT_AMO_ADD, set->psync + ARRIVED, sizeof(long), 1, pe, fn);
        return;
    }
    stress_point();
    fetch_add_acq_rel_u64(word_of(set, ARRIVED, 0, fn), 1);
    rma_changed(set->psync + ARRIVED, sizeof(long), pe);
}

static void release(const struct shmem_team *set, int i, const char *fn)
{
    int pe = team_world_pe(set, i);

    if (unlikely(net_far(pe))) {
        amo_post(TRANSPORT_AMO_SET, set->psync + RELEASED, sizeof(long), 1, pe, fn);
        return;
    }
    stress_point();
    store_release_u64(word_of(set, RELEASED, i, fn), 1);
    rma_changed(set->psync + RELEASED, sizeof(long), pe);
}

/*
 * The first PE counts the calls of the others, then releases each of them.
 *
 * Invariants, for calls one after the other by the same set: ARRIVED is 0 again before
 * anybody is released, so the calls of the next barrier are counted from 0.  RELEASED of
 * a PE is 0 again before that PE calls the next barrier (the fetch-and-add releases the
 * store), and nobody is released from that one before it has called; so a release is
 * never lost and never taken for another one.
 */
void active_barrier(const struct shmem_team *set, const char *fn)
{
    uint64_t others = (uint64_t)set->npes - 1;

    if (set->me > 0) {
        call(set, fn);
        take(set, RELEASED, 1, fn);
        return;
    }
    take(set, ARRIVED, others, fn);
    for (int i = 1; i < set->npes; i++)
        release(set, i, fn);
}
