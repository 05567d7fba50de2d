/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * liveness.c - liveness probes of other nodes (net_watch).
 *
 * A PE that waits for a store of another PE has no outstanding operation that could fail.
 * Therefore a thread that has slept for TIMING_PROBE_AFTER reads a word of a PE on
 * another node, cycling through the nodes: a node that does not respond for net_timeout
 * ends the job.  At most one such read per process is outstanding.
 * Uses: net_int, clock.
 */
#include "config.h"

#include "pgas/core/base/clock.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/core_state.h"
#include "pgas/core/progress/net_int.h"
#include "pgas/ft/ft.h"

#define STATE core_self.net.watch

void net_watch_init(void)
{
    STATE.probing = STATE.posted = false;
    STATE.next_ns = 0;
}

/* Cycles through the nodes at distance 1, 2, 4 ..: each node is probed by several others,
 * which rarely all compute at the same time, and each PE connects to few nodes. */
static uint32_t liveness_next_node(void)
{
    STATE.distance = STATE.distance * 2 < pgas_self.nnodes ? STATE.distance * 2 : 1;
    return (pgas_self.node_of[pgas_self.me] + STATE.distance) % pgas_self.nnodes;
}

static bool liveness_counts(uint32_t node, int pe)
{
    return pgas_self.node_of[pe] == node && !ft_pe_failed(pe);
}

/* The PE of the node with index local_rank % PEs, so that the PEs of this node probe
 * different PEs; without those that are known to be dead.  -1: there is none. */
static int liveness_pe_of_node(uint32_t node)
{
    const struct pgas *g = &pgas_self;
    int n = 0, seen = 0;

    for (uint32_t pe = 0; pe < g->npes; pe++)
        n += liveness_counts(node, (int)pe);
    for (uint32_t pe = 0; pe < g->npes && n > 0; pe++)
        if (liveness_counts(node, (int)pe) && seen++ == g->local_rank % n)
            return (int)pe;
    return -1;
}

static void liveness_start(const char *fn)
{
    int pe = liveness_pe_of_node(liveness_next_node());

    if (pe < 0)
        return;
    STATE.done = (struct transport_completion){.pending = 1};
    STATE.patience = (struct net_patience){.checked_ns = 0};
    STATE.op = (struct net_op){
        .post = net_post_get,
        .c = &pgas_self.net->ctx_0,
        .fn = fn,
        .symaddr = {.pe = pe, .segment = SEGMENT_HEAP},
        .to = &STATE.word,
        .len = sizeof STATE.word,
        .done = &STATE.done,
    };
    STATE.probing = true;
    STATE.posted = false;
}

/* A read that the transport does not accept also counts as no progress. */
static void liveness_progress(void)
{
    if (!STATE.posted)
        STATE.posted = net_op_try_post(&STATE.op);
    if (STATE.posted && (STATE.op.rc != 0 || load_acquire_u32(&STATE.done.pending) == 0))
        STATE.probing = false; /* complete, or failed and reported by the transport */
    else
        net_check_stall(&STATE.op, &STATE.patience);
}

void net_watch(const char *fn, uint64_t slept_ns)
{
    struct net *n = pgas_self.net;

    if (n != NULL)
        net_check_suspects(n);
    /* Not during shmem_init: the lookup of a PE's descriptor could wait for that node,
     * which waits for this one. */
    if (n == NULL || load_acquire_u32(&n->leaving) != 0 || pgas_self.life != LIFE_UP ||
        pgas_self.node_of == NULL || slept_ns < TIMING_PROBE_AFTER ||
        pthread_mutex_trylock(&STATE.lock) != 0)
        return;
    uint64_t now = clock_ns();
    if (!STATE.probing && now >= STATE.next_ns) {
        STATE.next_ns = now + TIMING_PROBE_EVERY;
        liveness_start(fn);
    }
    if (STATE.probing)
        liveness_progress();
    pthread_mutex_unlock(&STATE.lock);
}
