/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall.c - see alltoall.h.  Uses: core/team, core/block, core/net, core/peer,
 * core/stress, alltoall_internode, arrival, executor, barrier, mailbox, select, bounce,
 * rma, rma/order, rma/signal, datatype/copy.
 *
 * On a node, n PEs, blocks of b bytes:
 * - mailbox (small): each PE reads its blocks from the eager slots of all others.
 * - arrival: pairwise exchange in arrival order, by the later PE of each pair.
 * - barrier: direct; each PE gets its blocks between two barriers, starting with its
 *   own so that the PEs do not all read from one source at the same time.
 *
 * Over several nodes:
 * - gather, direct, bruck (small): alltoall_internode.c.
 * - pairwise (large): after a barrier each PE puts its blocks to all others in cyclic
 *   order, n - 1 notified puts of b bytes, each of which adds 1 to `arrived` of its
 *   target, and waits until all blocks for itself have arrived.  At most PAIRWISE_SENDS
 *   sources are in use at a time.
 *   Invariant: `arrived` of a PE is at most `expected` after each call, because no PE
 *   puts blocks of the next call before all have entered that one's barrier, hence have
 *   seen all their blocks of this call.  A block's bytes are visible to the PE that reads
 *   its addition (acquire).  So no acknowledgement and no second barrier is needed.
 */
#include "config.h"

#include <stddef.h>

#include "pgas/coll/algorithms/alltoall.h"
#include "pgas/coll/algorithms/alltoall_internode.h"
#include "pgas/coll/sync/arrival.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/probe.h"
#include "pgas/coll/schedule/executor.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/bounce.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/stress.h"
#include "pgas/core/memory/peer.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/progress/net.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"
#include "pgas/rma/signal.h"
#include "pgas/threads/atomic.h"

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
        rma_get_nbi(CTX_LIBRARY, to, block, each, pe, fn);
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
        order_quiet(CTX_LIBRARY, fn);
    barrier_sync(team, fn); /* all sources have been read */
    bounce_close(to, dest, all);
}

/* ---- pairwise -------------------------------------------------------------------- */

enum { PAIRWISE_SENDS = 4 };

struct pairwise {
    struct shmem_team *team;
    char *dest;
    const char *source;
    size_t each;
    bool puts;      /* since the barrier */
    uint64_t *word; /* symmetric address of `arrived` */
    unsigned sends; /* to remote PEs */
    struct pairwise_send {
        struct transport_completion done;
        int pe;
    } send[PAIRWISE_SENDS];
    struct probe_timer timer;
    const char *fn;
};

static void alltoall_pairwise_await_sent(struct pairwise *j, unsigned k)
{
    struct pairwise_send *send = &j->send[k % PAIRWISE_SENDS];

    net_await_source(net_ctx_0(), &send->done, send->pe, j->fn);
}

static void alltoall_pairwise_notify(struct pairwise *j, char *to, const char *from,
                                     int pe)
{
    struct pairwise_send *send = &j->send[j->sends % PAIRWISE_SENDS];
    const struct transport_signal signal = {
        .at = peer_symaddr(j->word, sizeof *j->word, pe, j->fn),
        .op = TRANSPORT_AMO_ADD,
        .size = sizeof *j->word,
        .operand = 1};

    if (j->sends >= PAIRWISE_SENDS)
        alltoall_pairwise_await_sent(j, j->sends);
    j->sends++;
    send->pe = pe;
    net_notify(net_ctx_0(), peer_symaddr(to, j->each, pe, j->fn), from, j->each, &signal,
               &send->done, j->fn);
}

static bool alltoall_pairwise_put(void *job, const struct schedule_step *step)
{
    struct pairwise *j = job;
    int pe = team_world_pe(j->team, step->peer);
    char *to = j->dest + step->to.first * j->each;
    const char *from = j->source + step->from.first * j->each;

    j->puts = true;
    stress_point();
    if (net_remote(pe))
        alltoall_pairwise_notify(j, to, from, pe);
    else
        signal_put(CTX_LIBRARY, &(struct signal_put){to, from, j->each, 1, false},
                   j->word, 1, SHMEM_SIGNAL_ADD, pe, j->fn);
    stress_point();
    return true;
}

static bool alltoall_pairwise_copy(void *job, const struct schedule_step *step)
{
    const struct pairwise *j = job;

    copy_bytes(j->dest + step->to.first * j->each, j->source + step->from.first * j->each,
               j->each);
    return true;
}

static bool alltoall_pairwise_arrived(const void *job)
{
    const struct pairwise *j = job;

    return load_acquire_u64(j->word) >= j->team->coll->alltoall.expected;
}

/* PE i of the team has departed after it had received `received` - 1 blocks.  It
 * completed its puts before; so if it took part in this call, its block is here. */
static void alltoall_pairwise_judge(const struct pairwise *j, int i, uint64_t received)
{
    if (received - 1 < j->team->coll->alltoall.expected)
        barrier_report_departed(team_world_pe(j->team, i), j->fn);
}

static void alltoall_pairwise_probe(const struct pairwise *j, int i)
{
    int pe = team_world_pe(j->team, i);
    const void *left = team_here(j->team, offsetof(struct team_words, departure.epoch));
    const void *blocks =
        team_here(j->team, offsetof(struct team_words, departure.alltoall_blocks));
    uint64_t received;

    if (probe_pe(left, pe, j->fn) == 0)
        return;
    rma_get(CTX_LIBRARY, &received, blocks, sizeof received, pe, j->fn);
    alltoall_pairwise_judge(j, i, received);
}

/* All PEs have entered the barrier of this call, but one may have done so in another
 * routine.  Local PEs at each call; one remote PE in turn at each probe interval. */
static void alltoall_pairwise_on_stall(const void *arg)
{
    struct pairwise *j = (struct pairwise *)arg; /* alltoall_exchange_pairwise's */
    const struct team_nodes *n = j->team->nodes;
    bool departed =
        atomic_load_explicit(&pgas_self.node->departed, memory_order_acquire) != 0;

    for (int k = 0; departed && k < n->local_pes; k++) {
        const struct departure_words *words =
            &team_words(j->team, n->local_pe[k])->departure;
        if (load_acquire_u64(&words->epoch) != 0)
            alltoall_pairwise_judge(j, n->local_pe[k],
                                    load_relaxed_u64(&words->alltoall_blocks));
    }
    if (!probe_due(&j->timer))
        return;
    int i = (int)(j->timer.probes % (uint32_t)j->team->npes);
    if (net_remote(team_world_pe(j->team, i)))
        alltoall_pairwise_probe(j, i);
}

/* The second barrier of the schedule: all blocks have arrived here, and the sources are
 * not in use. */
static void alltoall_pairwise_end(struct pairwise *j)
{
    unsigned first = j->sends > PAIRWISE_SENDS ? j->sends - PAIRWISE_SENDS : 0;

    j->team->coll->alltoall.expected += (uint64_t)j->team->npes - 1;
    for (unsigned k = first; k < j->sends; k++)
        alltoall_pairwise_await_sent(j, k);
    if (!alltoall_pairwise_arrived(j))
        block_until(&(struct block_wait){.ready = alltoall_pairwise_arrived,
                                         .arg = j,
                                         .remote = j->team->nodes->local_pes == 1,
                                         .word = j->word,
                                         .what = j->fn,
                                         .team = j->team,
                                         .on_stall = alltoall_pairwise_on_stall});
}

static bool alltoall_pairwise_barrier(void *job, const struct schedule_step *step)
{
    struct pairwise *j = job;

    (void)step;
    if (j->puts)
        alltoall_pairwise_end(j);
    else
        barrier_sync(j->team, j->fn);
    return true;
}

static const struct executor_ops pairwise_ops = {.put = alltoall_pairwise_put,
                                                 .compute = alltoall_pairwise_copy,
                                                 .barrier = alltoall_pairwise_barrier};

static void alltoall_exchange_pairwise(struct shmem_team *team, char *dest,
                                       const char *source, size_t each, const char *fn)
{
    struct pairwise j = {.team = team,
                         .dest = dest,
                         .source = source,
                         .each = each,
                         .word = &internode_own_words(team)->alltoall.arrived,
                         .fn = fn};

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
