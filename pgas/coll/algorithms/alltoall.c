/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall.c - see alltoall.h.  Uses: core/team, core/net, alltoall_internode, arrival,
 * executor, barrier, mailbox, select, bounce, rma, rma/order, datatype/copy.
 *
 * On a node, n PEs, blocks of b bytes:
 * - mailbox (small): each PE reads its blocks from the eager slots of all others.
 * - arrival: pairwise exchange in arrival order, by the later PE of each pair.
 * - barrier: direct; each PE gets its blocks between two barriers, starting with its
 *   own so that the PEs do not all read from one source at the same time.
 *
 * Over several nodes:
 * - gather, direct, bruck (small): alltoall_internode.c.
 * - pairwise (large): each PE puts its blocks to all others in cyclic order, n - 1
 *   messages of b bytes, between two barriers (schedule.h).
 */
#include "config.h"

#include "pgas/coll/algorithms/alltoall.h"
#include "pgas/coll/algorithms/alltoall_internode.h"
#include "pgas/coll/sync/arrival.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/schedule/executor.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/bounce.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/progress/net.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

static void alltoall_exchange_mailbox(struct shmem_team *team, char *dest,
                                      const void *source, size_t each, const char *fn)
{
    struct mailbox b = mailbox_open(team, (size_t)team->npes * each, fn);

    copy_bytes(mailbox_own(&b), source, (size_t)team->npes * each);
    mailbox_post(&b);
    for (int i = 0; i < team->npes; i++)
        copy_bytes(dest + (size_t)i * each, mailbox_of(&b, i) + (size_t)team->me * each,
                   each);
    mailbox_close_all(&b);
}

/* Get this PE's block from PE i. */
static void alltoall_get_block(const struct shmem_team *team, int i, char *to,
                               const void *source, size_t each, const char *fn)
{
    const char *block = (const char *)source + (size_t)team->me * each;
    size_t npes = (size_t)team->npes;
    int pe = team_world_pe(team, i);

    if (unlikely(net_remote(pe)))
        rma_get_nbi(SHMEM_CTX_DEFAULT, to, block, each, pe, fn);
    else
        copy_part(to, peer_at(block, each, pe, fn), each, each * npes * npes);
}

static void alltoall_exchange_barrier(struct shmem_team *team, void *dest,
                                      const void *source, size_t each, const char *fn)
{
    size_t all = (size_t)team->npes * each;
    char *to = bounce_open(dest, all, source, all, all, fn);

    barrier_sync(team, fn); /* all sources are ready */
    for (int k = 0; k < team->npes; k++) {
        int i = (team->me + k) % team->npes;
        alltoall_get_block(team, i, to + (size_t)i * each, source, each, fn);
    }
    if (unlikely(team->remote))
        order_quiet(SHMEM_CTX_DEFAULT, fn);
    barrier_sync(team, fn); /* all sources have been read */
    bounce_close(to, dest, all);
}

/* ---- pairwise -------------------------------------------------------------------- */

struct pairwise {
    struct shmem_team *team;
    char *dest;
    const char *source;
    size_t each;
    bool puts; /* since the last barrier */
    const char *fn;
};

static bool alltoall_pairwise_put(void *job, const struct schedule_step *step)
{
    struct pairwise *j = job;

    j->puts = true;
    rma_put_nbi(SHMEM_CTX_DEFAULT, j->dest + step->to.first * j->each,
                j->source + step->from.first * j->each, j->each,
                team_world_pe(j->team, step->peer), j->fn);
    return true;
}

static bool alltoall_pairwise_copy(void *job, const struct schedule_step *step)
{
    const struct pairwise *j = job;

    copy_bytes(j->dest + step->to.first * j->each, j->source + step->from.first * j->each,
               j->each);
    return true;
}

static bool alltoall_pairwise_barrier(void *job, const struct schedule_step *step)
{
    struct pairwise *j = job;

    (void)step;
    if (j->puts)
        order_quiet(SHMEM_CTX_DEFAULT, j->fn);
    barrier_sync(j->team, j->fn);
    return true;
}

static const struct executor_ops pairwise_ops = {.put = alltoall_pairwise_put,
                                                 .compute = alltoall_pairwise_copy,
                                                 .barrier = alltoall_pairwise_barrier};

static void alltoall_exchange_pairwise(struct shmem_team *team, char *dest,
                                       const char *source, size_t each, const char *fn)
{
    struct pairwise j = {team, dest, source, each, false, fn};

    executor_run(&(struct executor){.schedule = {.name = SCHEDULE_ALLTOALL_PAIRWISE,
                                                 .nodes = team->npes,
                                                 .rank = team->me},
                                    .ops = &pairwise_ops,
                                    .job = &j});
}

/* ---- selection ------------------------------------------------------------------- */

static void alltoall_exchange_remote(struct shmem_team *team, void *dest,
                                     const void *source, size_t each, const char *fn)
{
    size_t all = (size_t)team->npes * each;

    barrier_guard(team, fn);
    enum select_algorithm a = alltoall_internode_algorithm(team, each, fn);
    if (a == INTERNODE_ALLTOALL_GATHER)
        alltoall_gather(team, dest, source, each, fn);
    else if (a == INTERNODE_ALLTOALL_DIRECT || a == INTERNODE_ALLTOALL_BRUCK)
        alltoall_bundles(team, a, dest, source, &(struct strides){1, 1, each, 1}, fn);
    else if (a != INTERNODE_ALLTOALL_BARRIER && !bounce_overlap(dest, all, source, all))
        alltoall_exchange_pairwise(team, dest, source, each, fn);
    else
        alltoall_exchange_barrier(team, dest, source, each, fn);
    barrier_unguard(team, fn);
}

static void alltoall_exchange_on_node(struct shmem_team *team, void *dest,
                                      const void *source, size_t each, const char *fn)
{
    size_t all = (size_t)team->npes * each;

    barrier_guard(team, fn);
    enum select_algorithm a = select_algorithm(team, SELECT_ALLTOALL, each);
    if (a == ALLTOALL_MAILBOX)
        alltoall_exchange_mailbox(team, dest, source, each, fn);
    else if (a == ALLTOALL_ARRIVAL && !bounce_overlap(dest, all, source, all))
        arrival_blocks(team, dest, source, each, each, fn);
    else
        alltoall_exchange_barrier(team, dest, source, each, fn);
    barrier_unguard(team, fn);
}

int alltoall(struct shmem_team *team, void *dest, const void *source, size_t n,
             size_t size, const char *fn)
{
    size_t each = rma_bytes(n, size, fn);
    size_t all = rma_bytes((size_t)team->npes, each, fn);

    if (all == 0)
        return 0;
    (void)peer_at(source, all, pgas_self.me, fn);
    (void)peer_at(dest, all, pgas_self.me, fn);
    if (mailbox_has(team))
        alltoall_exchange_on_node(team, dest, source, each, fn);
    else if (team->nodes != NULL)
        alltoall_exchange_remote(team, dest, source, each, fn);
    else
        alltoall_exchange_barrier(team, dest, source, each, fn);
    return 0;
}
