/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_lost.c - failed PEs, with SHMEM_FT=continue (pgas_self.ft is not NULL).
 *
 * A PE is dead when the failure detector has marked it (ft_pe_failed); the transport then
 * completes its operations (net_pe_failed).  The transport may notice a failure first.
 * Such a PE is a suspect until the verdict: operations on it have failed, and their
 * callers wait.  A suspect that the failure detector considers alive for longer than the
 * limit has lost its connection, and the job ends, because data may be missing.
 * Uses: net_int, block, clock, log, ft.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/core_state.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/progress/net_int.h"
#include "pgas/ft/ft.h"

enum { VERDICT_TIMEOUTS = 10 /* limit of a verdict, in SHMEM_FT_TIMEOUT */ };

/* ---- failed PEs -------------------------------------------------------------------- */

static bool net_node_failed(uint32_t node)
{
    const struct boot *b = pgas_self.net->boot;
    const uint32_t *pes = boot_node_pes(b, node);

    for (uint32_t i = 0; i < boot_node_size(b, node); i++)
        if (!ft_pe_failed((int)pes[i]))
            return false;
    return true;
}

/* True if a live node has a PE on the host of a node.  The transport cannot know: it has
 * only the addresses of PEs to which it has sent. */
static bool net_host_has_live_node(uint32_t node)
{
    const struct ft_endpoint *of = ft_map_endpoint(pgas_self.ft);

    for (uint32_t i = 0; i < pgas_self.ft->nnodes; i++)
        if (i != node && ft_endpoint_share_host(&of[i], &of[node]) && !net_node_failed(i))
            return true;
    return false;
}

void net_pe_failed(int pe)
{
    struct net *n = pgas_self.net;
    const uint32_t *node_of = pgas_self.node_of;

    if (n == NULL || !net_remote(pe))
        return;
    n->t->lost(n->open, pe,
               node_of != NULL && net_node_failed(node_of[pe]) &&
                   !net_host_has_live_node(node_of[pe]));
    fetch_add_acq_rel_u32(&n->losses, 1);
    net_kick(n);
    block_wake_own();
}

/* ---- suspects ---------------------------------------------------------------------- */

static uint64_t net_verdict_ns(void)
{
    uint64_t ms = VERDICT_TIMEOUTS * pgas_self.env.ft_timeout;

    return ms > TIMING_VERDICT_MIN / NS_PER_MS ? ms * NS_PER_MS : TIMING_VERDICT_MIN;
}

/* The suspect with this PE; NULL: none.  Called with the lock held. */
static struct net_suspect *net_suspect_of(struct net_suspects *s, int pe)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->of[i].pe == pe)
            return &s->of[i];
    return NULL;
}

bool net_suspect(int pe, const char *reason)
{
    struct net_suspects *s = &pgas_self.net->suspects;

    if (pgas_self.ft == NULL)
        return false;
    if (ft_pe_failed(pe)) {
        log_debug("PE %d, which has failed: %s", pe, reason);
        return true;
    }
    pthread_mutex_lock(&s->lock);
    if (s->n < NET_SUSPECTS && net_suspect_of(s, pe) == NULL) {
        struct net_suspect *new = &s->of[s->n];
        *new = (struct net_suspect){.pe = pe, .since_ns = clock_ns()};
        snprintf(new->reason, sizeof new->reason, "%s", reason);
        store_release_u32(&s->n, s->n + 1);
        log_debug("the transport has lost PE %d: %s", pe, reason);
    }
    pthread_mutex_unlock(&s->lock);
    return true;
}

static _Noreturn void net_suspect_alive(int pe, const char *fn, const char *reason)
{
    char name[TRANSPORT_TEXT_MAX];
    unsigned seconds = (unsigned)(net_verdict_ns() / NS_PER_S);

    net_node_name(pgas_self.net, pe, name, sizeof name);
    log_lost("%s%slost PE %d on node %s, which the failure detector considers alive for "
             "%u s: %s: %s; its connection or its network interface has failed",
             fn, *fn != '\0' ? ": " : "", pe, name, seconds, pgas_self.net->t->name,
             reason);
}

/* Removes the suspects that are known to be dead.  True if one is due: *due is a copy. */
static bool net_suspects_update(struct net_suspects *s, struct net_suspect *due)
{
    uint64_t now = clock_ns(), limit = net_verdict_ns();
    bool found = false;
    uint32_t n = 0;

    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < s->n; i++) {
        if (ft_pe_failed(s->of[i].pe))
            continue;
        if (now - s->of[i].since_ns > limit) {
            found = true;
            *due = s->of[i];
        }
        if (n != i)
            s->of[n] = s->of[i];
        n++;
    }
    store_release_u32(&s->n, n);
    pthread_mutex_unlock(&s->lock);
    return found;
}

void net_check_suspects(struct net *n)
{
    struct net_suspect due;

    if (likely(load_relaxed_u32(&n->suspects.n) == 0) ||
        load_acquire_u32(&n->leaving) != 0)
        return;
    if (net_suspects_update(&n->suspects, &due))
        net_suspect_alive(due.pe, "", due.reason);
}

/* ---- waiting for the verdict ------------------------------------------------------- */

struct net_verdict {
    int pe, error;
    const char *fn;
    uint64_t end_ns;
};

/* A block_ready function. */
static bool net_verdict_known(const void *arg)
{
    const struct net_verdict *v = arg;

    return ft_pe_failed(v->pe);
}

/* block_wait.on_stall */
static void net_verdict_on_stall(const void *arg)
{
    const struct net_verdict *v = arg;

    net_check_suspects(pgas_self.net); /* has the reason */
    if (clock_ns() > v->end_ns)
        net_suspect_alive(v->pe, v->fn, strerror(v->error));
}

bool net_await_verdict(int pe, const char *fn, int error)
{
    struct net_verdict v = {
        .pe = pe, .error = error, .fn = fn, .end_ns = clock_ns() + net_verdict_ns()};

    if (pgas_self.ft == NULL || pe < 0)
        return false;
    net_suspect(pe, strerror(error));
    if (!ft_pe_failed(pe))
        block_until(&(struct block_wait){.ready = net_verdict_known,
                                         .arg = &v,
                                         .remote = true,
                                         .what = fn,
                                         .on_stall = net_verdict_on_stall});
    return true;
}

/* A block_ready function. */
static bool net_verdicts_known(const void *arg)
{
    struct net *n = pgas_self.net;

    (void)arg;
    net_check_suspects(n);
    return load_acquire_u32(&n->suspects.n) == 0;
}

void net_await_verdicts(const char *fn)
{
    block_until(
        &(struct block_wait){.ready = net_verdicts_known, .remote = true, .what = fn});
}

/* ---- the end of the job ------------------------------------------------------------ */

struct net_leave {
    uint32_t *survivor; /* the live PEs; */
    uint32_t n;         /* their number */
    uint64_t end_ns;
    struct boot_fence *fence; /* NULL: none */
};

/* The limit applies after a failure or an error: without one only the launcher knows what
 * a late PE does. */
static void net_leave_limit(struct net_leave *l)
{
    if (l->end_ns == UINT64_MAX)
        l->end_ns = clock_ns() + TIMING_LEAVE_MAX;
}

static void net_leave_collect(struct net_leave *l)
{
    l->n = 0;
    for (uint32_t pe = 0; pe < pgas_self.npes; pe++)
        if (!ft_pe_failed((int)pe))
            l->survivor[l->n++] = pe;
    if (l->n < pgas_self.npes)
        net_leave_limit(l);
}

/* More PEs have failed than were left out of the list: one of the list has. */
static bool net_leave_lost_one(const struct net_leave *l)
{
    return atomic_load_explicit(&pgas_self.ft->failures, memory_order_acquire) >
           pgas_self.npes - l->n;
}

/* A block_ready function: the barrier is complete, another PE has failed, or the time is
 * over. */
static bool net_leave_ended(const void *arg)
{
    const struct net_leave *l = arg;

    return (l->fence != NULL && boot_fence_done(l->fence)) || clock_ns() > l->end_ns ||
           net_leave_lost_one(l);
}

static void net_leave_wait(const struct net_leave *l, const char *fn)
{
    block_until(&(struct block_wait){.ready = net_leave_ended, .arg = l, .what = fn});
}

/* The barrier begins again without a PE that fails during it.  After an error it does so
 * when a failure is known. */
void net_leave_survivors(const char *fn)
{
    struct net_leave l = {.survivor = malloc(pgas_self.npes * sizeof *l.survivor),
                          .end_ns = UINT64_MAX};
    int rc = -1;

    if (l.survivor == NULL)
        log_die("%s: no memory for a list of %u PEs", fn, pgas_self.npes);
    while (rc != 0 && clock_ns() <= l.end_ns) {
        net_leave_collect(&l);
        l.fence = boot_fence_begin(l.survivor, l.n, block_wake_own);
        net_leave_wait(&l, fn);
        bool error = boot_fence_done(l.fence);
        rc = boot_fence_end(l.fence);
        l.fence = NULL;
        if (rc == 0 || !error)
            continue;
        net_leave_limit(&l);
        net_leave_wait(&l, fn);
    }
    free(l.survivor);
    if (rc != 0)
        log_warn("%s: the barrier of the launcher failed: %s", fn, boot_error());
}
