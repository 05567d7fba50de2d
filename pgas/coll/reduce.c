/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - see reduce.h.  Uses: core/team, core/log, adapt, pick, rma, datatype,
 * reduce_int.
 *
 * But for `first`, `lines`, `chain` and `tree` elements are combined in an order that the
 * PEs' own gives, whoever does it: all PEs get the same bits, whatever their order of
 * arrival. But for `static` too it is the order of the PEs: the same wherever they are.
 */
#include "config.h"

#include "pgas/coll/adapt.h"
#include "pgas/coll/barrier.h"
#include "pgas/coll/pick.h"
#include "pgas/coll/reduce.h"
#include "pgas/coll/reduce_int.h"
#include "pgas/core/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

typedef void (*reduce_fn)(const struct reduce_job *);

static const reduce_fn algorithms[] = {
    [REDUCE_FLAT] = reduce_flat,   [REDUCE_LAST] = reduce_last,
    [REDUCE_FIRST] = reduce_first, [REDUCE_LINES] = reduce_first_lines,
    [REDUCE_CHAIN] = reduce_chain, [REDUCE_SLICES] = reduce_slices,
    [REDUCE_TREE] = reduce_tree,   [REDUCE_STATIC] = reduce_static,
};

/* The same to a root. */
static const reduce_fn rooted[] = {
    [REDUCE_FLAT] = reduce_flat,   [REDUCE_LAST] = reduce_last,
    [REDUCE_FIRST] = reduce_first, [REDUCE_LINES] = reduce_first_lines,
    [REDUCE_CHAIN] = reduce_relay, [REDUCE_SLICES] = reduce_shares,
    [REDUCE_TREE] = reduce_relay,  [REDUCE_STATIC] = reduce_shares,
};

static void copy_own(const struct reduce_job *j)
{
    if (j->dest != j->source)
        copy_bytes(j->dest, j->source, reduce_bytes(j));
}

/* The ways between which a team adapts: whose bytes fit a slot, and the others. */
static const enum pick_algorithm small_ways[TEAM_WAYS] = {REDUCE_LAST, REDUCE_FLAT,
                                                          REDUCE_FIRST};
static const enum pick_algorithm large_ways[TEAM_WAYS] = {REDUCE_SLICES, REDUCE_CHAIN,
                                                          REDUCE_TREE};

static const enum pick_algorithm *ways_of(const struct reduce_job *j)
{
    return reduce_bytes(j) <= TEAM_SLOT_BYTES ? small_ways : large_ways;
}

/* Must elements be combined in an order that the arrivals do not change?  As long as the
 * user does not name another one. */
static bool in_order(const struct reduce_job *j)
{
    return pgas_self.env.reproducible != REPRODUCIBLE_NOT && !op_exact(j->op) &&
           !pick_asked(PICK_REDUCE);
}

/* By the tables; what goes by the arrivals only if it may. */
static enum pick_algorithm algorithm_for(const struct reduce_job *j)
{
    enum pick_algorithm a = pick(j->team, PICK_REDUCE, reduce_bytes(j));
    bool small = reduce_bytes(j) <= TEAM_SLOT_BYTES && j->team->npes <= PICK_LEAD_PES;

    if (likely(pick_info(a)->same) || !in_order(j))
        return a;
    return small ? REDUCE_LAST : REDUCE_SLICES;
}

/* Those that the team may take, as bits; of two neighbours that are the same thing one.
 */
static unsigned usable_ways(const struct reduce_job *j, const reduce_fn *by)
{
    const enum pick_algorithm *way = ways_of(j);
    unsigned usable = 0;

    for (unsigned w = 0; w < TEAM_WAYS; w++)
        if (pick_adapts(PICK_REDUCE, way[w], j->team) &&
            (pick_info(way[w])->same || !in_order(j)) &&
            (w == 0 || by[way[w]] != by[way[w - 1]]))
            usable |= 1u << w;
    return usable;
}

/* What is small and goes to a root is too short for the exchange of notes. */
static void plan_ways(const struct reduce_job *j, struct team_adapt *state,
                      const reduce_fn *by)
{
    bool adapts = j->root < 0 || ways_of(j) != small_ways;

    adapt_plan(state, adapts ? usable_ways(j, by) : 0, reduce_bytes(j));
}

/* Its number among the ways that the state has, or -1. */
static int way_of(const struct reduce_job *j, const struct team_adapt *state,
                  enum pick_algorithm a)
{
    for (int w = 0; w < TEAM_WAYS; w++)
        if (ways_of(j)[w] == a && (state->ways >> w & 1) != 0)
            return w;
    return -1;
}

/* By the tables, which a team begins with, or what its PEs have seen of their arrivals.
 * Of the ways to a root that adapt one alone has a fixed order. */
static void reduce_with(const struct reduce_job *j, enum adapt_kind kind,
                        const reduce_fn *by)
{
    enum pick_algorithm a = algorithm_for(j);

    if (in_order(j)) {
        if (kind == ADAPT_TO_ROOT) {
            by[a](j);
            return;
        }
        kind = ADAPT_IN_ORDER;
    }
    struct team_adapt *state = adapt_state(j->team, kind, reduce_bytes(j));

    if (unlikely(state->ways == 0))
        plan_ways(j, state, by);
    int way = state->ways == ADAPT_NONE ? -1 : way_of(j, state, a);
    if (way < 0) {
        by[a](j);
        return;
    }
    if (state->calls == 0)
        state->way = (uint8_t)way;
    struct adapt call = adapt_begin(j->team, kind, reduce_bytes(j), state, j->fn);
    by[ways_of(j)[call.way]](j);
    adapt_end(&call);
}

static void reduce_near(const struct reduce_job *j, enum adapt_kind kind,
                        const reduce_fn *by)
{
    barrier_guard(j->team, j->fn);
    reduce_with(j, kind, by);
    barrier_unguard(j->team, j->fn);
}

static void reduce_any(const struct reduce_job *j)
{
    if (unlikely(j->team->npes == 1))
        copy_own(j);
    else if (unlikely(j->team->far))
        reduce_far(j);
    else if (unlikely(j->team->psync != NULL))
        reduce_slices(j);
    else
        reduce_near(j, ADAPT_TO_ALL, algorithms);
}

int reduce(struct shmem_team *team, void *dest, const void *source, size_t n, size_t size,
           const struct op_fns *op, const char *fn)
{
    struct reduce_job j = {team, dest, source, n, size, -1, op, fn};
    size_t bytes = rma_bytes(n, size, fn);

    if (bytes == 0)
        return 0;
    (void)peer_at(source, bytes, pgas_self.me, fn); /* before n is cut up */
    (void)peer_at(dest, bytes, pgas_self.me, fn);
    reduce_any(&j);
    return 0;
}

/* ---- to a root --------------------------------------------------------------------- */

int reduce_to(struct shmem_team *team, int root, void *dest, const void *source, size_t n,
              size_t size, const struct op_fns *op, const char *fn)
{
    struct reduce_job j = {team, dest, source, n, size, root, op, fn};
    size_t bytes = rma_bytes(n, size, fn);

    if (root < 0 || root >= team->npes)
        log_die("%s: argument 'PE_root' = %d, but the team has PEs 0..%d", fn, root,
                team->npes - 1);
    if (bytes == 0)
        return 0;
    (void)peer_at(source, bytes, pgas_self.me, fn);
    if (reduce_gets(&j))
        (void)peer_at(dest, bytes, pgas_self.me, fn);
    if (unlikely(team->npes == 1))
        copy_own(&j);
    else if (board_has(team))
        reduce_near(&j, ADAPT_TO_ROOT, rooted);
    else
        reduce_far_to(&j);
    return 0;
}
