/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - see reduce.h.  Uses: core/team, core/log, adapt, pick, rma, datatype,
 * reduce_int.
 *
 * But for `first`, `chain` and `tree` elements are combined in an order that the PEs' own
 * gives, whoever does it: all PEs get the same bits, whatever their order of arrival. But
 * for `static` too it is the order of the PEs: the same wherever they are.
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

static void (*const algorithms[])(const struct reduce_job *) = {
    [REDUCE_FLAT] = reduce_flat,     [REDUCE_LAST] = reduce_last,
    [REDUCE_FIRST] = reduce_first,   [REDUCE_CHAIN] = reduce_chain,
    [REDUCE_SLICES] = reduce_slices, [REDUCE_TREE] = reduce_tree,
    [REDUCE_STATIC] = reduce_static,
};

/* The same to a root. */
static void (*const rooted[])(const struct reduce_job *) = {
    [REDUCE_FLAT] = reduce_flat,     [REDUCE_LAST] = reduce_last,
    [REDUCE_FIRST] = reduce_first,   [REDUCE_CHAIN] = reduce_relay,
    [REDUCE_SLICES] = reduce_shares, [REDUCE_TREE] = reduce_relay,
    [REDUCE_STATIC] = reduce_shares,
};

static void copy_own(const struct reduce_job *j)
{
    if (j->dest != j->source)
        copy_bytes(j->dest, j->source, reduce_bytes(j));
}

/* The table has slices; a chain does with a team whose PEs come one after the other. */
static void reduce_adaptive(const struct reduce_job *j)
{
    struct adapt a = adapt_begin(j->team, ADAPT_TO_ALL, reduce_bytes(j), j->fn);

    if (a.aware)
        reduce_chain(j);
    else
        reduce_slices(j);
    adapt_end(&a);
}

static void reduce_near(const struct reduce_job *j)
{
    barrier_guard(j->team, j->fn);
    enum pick_algorithm a = pick(j->team, PICK_REDUCE, reduce_bytes(j));
    if (a == REDUCE_SLICES && pick_adapts(PICK_REDUCE, REDUCE_CHAIN, j->team))
        reduce_adaptive(j);
    else
        algorithms[a](j);
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
        reduce_near(j);
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

static void reduce_adaptive_to(const struct reduce_job *j)
{
    struct adapt a = adapt_begin(j->team, ADAPT_TO_ROOT, reduce_bytes(j), j->fn);

    rooted[a.aware ? REDUCE_CHAIN : REDUCE_SLICES](j);
    adapt_end(&a);
}

static void reduce_near_to(const struct reduce_job *j)
{
    barrier_guard(j->team, j->fn);
    enum pick_algorithm a = pick(j->team, PICK_REDUCE, reduce_bytes(j));
    if (a == REDUCE_SLICES && pick_adapts(PICK_REDUCE, REDUCE_CHAIN, j->team))
        reduce_adaptive_to(j);
    else
        rooted[a](j);
    barrier_unguard(j->team, j->fn);
}

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
        reduce_near_to(&j);
    else
        reduce_far_to(&j);
    return 0;
}
