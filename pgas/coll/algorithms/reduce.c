/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - see reduce.h.  Uses: core/team, core/log, adapt, select, rma, datatype,
 * reduce_int.
 *
 * Combining order.  `flat`, `last` and `slices` combine in PE order 0, 1, .., npes - 1;
 * `static` combines in a fixed tree over the PE numbers.  Their results are bitwise
 * independent of the arrival order, and those of the first three also of the placement
 * of the PEs.  `groups` combines in the order of the groups of the team (groups.h): its
 * result is independent of the arrival order, but not of the placement.  `first`,
 * `lines`, `chain` and `tree` combine in arrival order.
 */
#include "config.h"

#include "pgas/coll/select/adapt.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/algorithms/reduce.h"
#include "pgas/coll/algorithms/reduce_int.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

typedef void (*reduce_fn)(const struct reduce_job *);

static const reduce_fn algorithms[] = {
    [REDUCE_FLAT] = reduce_flat,     [REDUCE_LAST] = reduce_last,
    [REDUCE_FIRST] = reduce_first,   [REDUCE_LINES] = reduce_first_lines,
    [REDUCE_CHAIN] = reduce_chain,   [REDUCE_SLICES] = reduce_slices,
    [REDUCE_TREE] = reduce_tree,     [REDUCE_STATIC] = reduce_static,
    [REDUCE_GROUPS] = reduce_groups,
};

/* Algorithms of rooted reductions. */
static const reduce_fn rooted[] = {
    [REDUCE_FLAT] = reduce_flat,
    [REDUCE_LAST] = reduce_last,
    [REDUCE_FIRST] = reduce_first,
    [REDUCE_LINES] = reduce_first_lines,
    [REDUCE_CHAIN] = reduce_chain_buffered,
    [REDUCE_SLICES] = reduce_slices_to,
    [REDUCE_TREE] = reduce_chain_buffered,
    [REDUCE_STATIC] = reduce_slices_to,
    [REDUCE_GROUPS] = reduce_groups_to,
};

static void reduce_copy_own(const struct reduce_job *j)
{
    if (j->dest != j->source)
        copy_bytes(j->dest, j->source, reduce_bytes(j));
}

/* Candidates of adaptive selection, for data that fits an eager slot and for larger data.
 */
static const enum select_algorithm small_candidates[ADAPT_CANDIDATES] = {
    REDUCE_LAST, REDUCE_FLAT, REDUCE_FIRST};
static const enum select_algorithm large_candidates[ADAPT_CANDIDATES] = {
    REDUCE_SLICES, REDUCE_CHAIN, REDUCE_TREE};

static const enum select_algorithm *reduce_candidates_of(const struct reduce_job *j)
{
    return reduce_bytes(j) <= MAILBOX_SLOT_BYTES ? small_candidates : large_candidates;
}

/* True if the combining order must not depend on the arrival order. */
static bool reduce_is_in_order(const struct reduce_job *j)
{
    return pgas_self.env.reproducible != REPRODUCIBLE_NOT && !op_exact(j->op);
}

bool reduce_permits(const struct reduce_job *j, enum select_algorithm a)
{
    bool placed =
        a == REDUCE_GROUPS && pgas_self.env.reproducible == REPRODUCIBLE_ANYWHERE;

    return likely(select_info(a)->same && !placed) || select_is_requested(a) ||
           !reduce_is_in_order(j);
}
/* The algorithm from the plan, replaced by one with a fixed combining order if required.
 */
static enum select_algorithm reduce_algorithm_for(const struct reduce_job *j)
{
    enum select_algorithm a = select_algorithm(j->team, SELECT_REDUCE, reduce_bytes(j));
    bool small =
        reduce_bytes(j) <= MAILBOX_SLOT_BYTES && j->team->npes <= SELECT_COMBINER_PES;

    if (reduce_permits(j, a))
        return a;
    return small ? REDUCE_LAST : REDUCE_SLICES;
}

/* Bit mask of the candidates that the team may use.  Adjacent candidates that map to the
 * same function are counted once. */
static unsigned reduce_usable_candidates(const struct reduce_job *j, const reduce_fn *by)
{
    const enum select_algorithm *candidate = reduce_candidates_of(j);
    unsigned usable = 0;

    for (unsigned w = 0; w < ADAPT_CANDIDATES; w++)
        if (select_adapts(SELECT_REDUCE, candidate[w], j->team) &&
            (select_info(candidate[w])->same || !reduce_is_in_order(j)) &&
            (w == 0 || by[candidate[w]] != by[candidate[w - 1]]))
            usable |= 1u << w;
    return usable;
}

/* Small rooted reductions do not adapt: exchanging the samples would cost too much. */
static void reduce_plan_candidates(const struct reduce_job *j, struct adapt_class *state,
                                   const reduce_fn *by)
{
    bool adapts = j->root < 0 || reduce_candidates_of(j) != small_candidates;

    adapt_plan(state, adapts ? reduce_usable_candidates(j, by) : 0, reduce_bytes(j));
}

/* Index of an algorithm among the candidates of the state; -1 = not a candidate. */
static int reduce_candidate_of(const struct reduce_job *j,
                               const struct adapt_class *state, enum select_algorithm a)
{
    for (int w = 0; w < ADAPT_CANDIDATES; w++)
        if (reduce_candidates_of(j)[w] == a && (state->candidates >> w & 1) != 0)
            return w;
    return -1;
}

/* Adaptive selection starts with the algorithm from the plan.  Only one of the rooted
 * candidates has a fixed combining order, so a rooted reduction that needs a fixed order
 * does not adapt. */
static void reduce_with(const struct reduce_job *j, enum adapt_kind kind,
                        const reduce_fn *by)
{
    enum select_algorithm a = reduce_algorithm_for(j);

    if (reduce_is_in_order(j)) {
        if (kind == ADAPT_TO_ROOT) {
            by[a](j);
            return;
        }
        kind = ADAPT_IN_ORDER;
    }
    struct adapt_class *state = adapt_class(j->team, kind, reduce_bytes(j));

    if (unlikely(state->candidates == 0))
        reduce_plan_candidates(j, state, by);
    int candidate =
        state->candidates == ADAPT_NONE ? -1 : reduce_candidate_of(j, state, a);
    if (candidate < 0) {
        by[a](j);
        return;
    }
    if (state->calls == 0)
        state->candidate = (uint8_t)candidate;
    struct adapt call = adapt_begin(j->team, kind, reduce_bytes(j), state, j->fn);
    by[reduce_candidates_of(j)[call.candidate]](j);
    adapt_end(&call);
}

static void reduce_on_node(const struct reduce_job *j, enum adapt_kind kind,
                           const reduce_fn *by)
{
    barrier_guard(j->team, j->fn);
    reduce_with(j, kind, by);
    barrier_unguard(j->team, j->fn);
}

static void reduce_any(const struct reduce_job *j)
{
    if (unlikely(j->team->npes == 1))
        reduce_copy_own(j);
    else if (unlikely(j->team->remote))
        reduce_internode(j);
    else if (unlikely(j->team->psync != NULL))
        reduce_slices(j);
    else
        reduce_on_node(j, ADAPT_TO_ALL, algorithms);
}

int reduce(struct shmem_team *team, void *dest, const void *source, size_t n, size_t size,
           const struct op_fns *op, const char *fn)
{
    struct reduce_job j = {team, dest, source, n, size, -1, op, fn};
    size_t bytes = rma_bytes(n, size, fn);

    if (bytes == 0)
        return 0;
    (void)peer_at(source, bytes, pgas_self.me, fn); /* check the whole range once */
    (void)peer_at(dest, bytes, pgas_self.me, fn);
    reduce_any(&j);
    return 0;
}

/* ---- rooted ------------------------------------------------------------------------ */

void reduce_node_to(const struct reduce_job *j)
{
    if (unlikely(j->team->npes == 1))
        reduce_copy_own(j);
    else
        reduce_on_node(j, ADAPT_TO_ROOT, rooted);
}

int reduce_to(struct shmem_team *team, int root, void *dest, const void *source, size_t n,
              size_t size, const struct op_fns *op, const char *fn)
{
    struct reduce_job j = {team, dest, source, n, size, root, op, fn};
    size_t bytes = rma_bytes(n, size, fn);

    if (root < 0 || root >= team->npes)
        log_misuse("%s: argument 'PE_root' = %d, but the team has PEs 0..%d", fn, root,
                   team->npes - 1);
    if (bytes == 0)
        return 0;
    (void)peer_at(source, bytes, pgas_self.me, fn);
    if (reduce_is_receiver(&j))
        (void)peer_at(dest, bytes, pgas_self.me, fn);
    if (likely(team->npes == 1 || mailbox_has(team)))
        reduce_node_to(&j);
    else
        reduce_internode_to(&j);
    return 0;
}
