/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - see reduce.h.  Uses: core/team, adapt, pick, rma, datatype, reduce_int.
 *
 * But for `first` and `chain` elements are combined in the order of the PEs, whoever does
 * it: all PEs get the same bits, whatever their order of arrival, and wherever they are.
 */
#include "config.h"

#include "pgas/coll/adapt.h"
#include "pgas/coll/barrier.h"
#include "pgas/coll/pick.h"
#include "pgas/coll/reduce.h"
#include "pgas/coll/reduce_int.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

static void (*const algorithms[])(const struct reduce_job *) = {
    [REDUCE_FLAT] = reduce_flat,     [REDUCE_LAST] = reduce_last,
    [REDUCE_FIRST] = reduce_first,   [REDUCE_CHAIN] = reduce_chain,
    [REDUCE_SLICES] = reduce_slices,
};

static void copy_own(const struct reduce_job *j)
{
    if (j->dest != j->source)
        copy_bytes(j->dest, j->source, reduce_bytes(j));
}

/* The table has slices; a chain does with a team whose PEs come one after the other. */
static void reduce_adaptive(const struct reduce_job *j)
{
    struct adapt a = adapt_begin(j->team, reduce_bytes(j), j->fn);

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

void reduce_run(const struct reduce_job *j)
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
    struct reduce_job j = {team, dest, source, n, size, op, fn};
    size_t bytes = rma_bytes(n, size, fn);

    if (bytes == 0)
        return 0;
    (void)peer_at(source, bytes, pgas_self.me, fn); /* before n is cut up */
    (void)peer_at(dest, bytes, pgas_self.me, fn);
    reduce_run(&j);
    return 0;
}
