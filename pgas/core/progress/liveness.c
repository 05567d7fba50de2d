/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * liveness.c - the time limit of operations (net_check_stall), and liveness probes of
 * other nodes (net_watch).
 *
 * A PE that waits for a store of another PE has no outstanding operation that could fail.
 * Therefore a thread that has slept for TIMING_PROBE_AFTER reads a word of a PE on
 * another node, cycling through the nodes: a node that does not respond for net_timeout
 * ends the job.  At most one such read per process is outstanding.
 * Uses: net_int, clock, log.
 */
#include "config.h"

#include <errno.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/core_state.h"
#include "pgas/core/progress/net_int.h"
#include "pgas/ft/ft.h"

#define STATE core_self.net.watch

/* ---- the time limit of an operation ------------------------------------------------ */

static _Noreturn void net_op_timed_out(const struct net_op *o, int pe)
{
    unsigned seconds = (unsigned)pgas_self.env.net_timeout;

    if (pe < 0)
        log_die("%s: no network progress for %u s; is a node or a link down? "
                "SHMEM_NET_TIMEOUT sets the limit",
                o->fn, seconds);
    if (net_endpoint_awaited(pe))
        net_endpoint_timed_out(o->fn, pe);
    log_die("%s: PE %d has not answered for %u s; is it stopped, or is its node or the "
            "link down? SHMEM_NET_TIMEOUT sets the limit",
            o->fn, pe, seconds);
}

uint64_t net_timeout_ns(void)
{
    uint64_t seconds = pgas_self.env.net_timeout;

    return seconds < UINT64_MAX / NS_PER_S / NET_LIMIT_BUSY ? seconds * NS_PER_S : 0;
}

void net_check_stall(const struct net_op *o, struct net_patience *p)
{
    int pe = o->symaddr.pe;

    net_lock(o->c);
    /* A post that waits for a quiet waits for any operation. */
    bool limited = o->rc == -EAGAIN && o->c->limited && o->c->credit == 0;
    bool one = pe >= 0 && !limited;
    uint64_t pending = pgas_self.net->t->pending(o->c->t, one ? NULL : &pe);
    uint64_t posts = o->c->posts;
    net_unlock(o->c);
    if (limited)
        p->waited_ns = 0; /* the limit of one operation does not apply */
    bool ends = net_patience_ends(p, clock_ns(), posts - pending, one, net_timeout_ns());
    if (p->silent_ns == 0)
        p->pe = pe; /* later operations, such as probes, are not to blame */
    net_check_suspects(pgas_self.net);
    if (ends && p->pe >= 0 && ft_pe_failed(p->pe))
        *p = (struct net_patience){0}; /* the transport completes its operations */
    else if (ends)
        net_op_timed_out(o, p->pe);
}

/* ---- probes ------------------------------------------------------------------------ */

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

/* The PE of the node with index local_rank % PEs, so that the PEs of this node probe
 * different PEs; without those that are known to be dead.  -1: there is none. */
static int liveness_pe_of_node(uint32_t node)
{
    const struct boot *b = pgas_self.net->boot;
    const uint32_t *pes = boot_node_pes(b, node), size = boot_node_size(b, node);
    int n = 0, seen = 0;

    for (uint32_t i = 0; i < size; i++)
        n += !ft_pe_failed((int)pes[i]);
    for (uint32_t i = 0; i < size && n > 0; i++)
        if (!ft_pe_failed((int)pes[i]) && seen++ == pgas_self.local_rank % n)
            return (int)pes[i];
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
