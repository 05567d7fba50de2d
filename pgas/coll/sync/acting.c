/* SPDX-License-Identifier: BSD-3-Clause */
/* acting.c - see acting.h. */
#include "config.h"

#include "pgas/coll/sync/acting.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/leader_msg.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/probe.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/stress.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/progress/block.h"

_Static_assert((int)BCAST_ACTING > (int)MAILBOX_LINES,
               "no PE of the node reads an entry when it is changed");

uint64_t *acting_signal(const struct acting *p)
{
    return &internode_own_words(p->team)->bcast.eager[p->number % BCAST_EAGER_SLOTS];
}

const uint64_t *acting_arrived_word(const struct acting *p)
{
    return &p->node->eager[p->number % BCAST_EAGER_SLOTS];
}

/* A wait for something that happens in the memory of this node's leader. */
struct acting_wait {
    const struct acting *p;
    int from; /* the node from which a message comes; -1: none */
    struct probe_timer *timer;
    bool *watches;
    uint64_t deadline_ns;
};

static uint32_t *acting_word(const struct acting *p)
{
    return &p->node->acting[p->number % BCAST_ACTING];
}

/* The entry of this call if PE i of the node team acts. */
static uint32_t acting_value(const struct acting *p, int i)
{
    return (uint32_t)p->number << BCAST_PE_BITS | (uint32_t)i;
}

static bool acting_is_of(const struct acting *p, uint32_t entry)
{
    return entry >> BCAST_PE_BITS == acting_value(p, 0) >> BCAST_PE_BITS;
}

static bool acting_known(const struct acting *p)
{
    return acting_is_of(p, load_acquire_u32(acting_word(p)));
}

static bool acting_leader_entered(const struct acting *p)
{
    return load_acquire_u64(&p->node->entered) >= p->number;
}

/* For a PE that is not the leader: a PE acts for the node, or the data have arrived and
 * the leader has not entered the call. */
static bool acting_due(const void *arg)
{
    const struct acting *p = ((const struct acting_wait *)arg)->p;

    return acting_known(p) || (leader_eager_arrived(acting_arrived_word(p), p->number) &&
                               !acting_leader_entered(p));
}

static bool acting_due_or_late(const void *arg)
{
    const struct acting_wait *w = arg;

    return acting_due(w) || clock_ns() >= w->deadline_ns;
}

static struct node_pe *acting_leader_pe(const struct acting *p)
{
    return pgas_self.peer[internode_leader(p->team)].node;
}

/* While the leader computes, its progress thread receives the data and wakes this PE. */
static bool acting_watch(const struct acting_wait *w)
{
    uint64_t seen = load_relaxed_u64(acting_arrived_word(w->p));

    if (acting_leader_entered(w->p) ||
        !block_watch(acting_leader_pe(w->p), acting_signal(w->p), seen))
        return false;
    *w->watches = true;
    return true;
}

/* Called before a sleep, after the last check. */
static void acting_on_stall(const void *arg)
{
    const struct acting_wait *w = arg;
    const struct acting *p = w->p;

    internode_probe_local(p->team, p->fn);
    internode_probe(p->team, w->from, w->timer, p->fn);
    if (acting_watch(w) && acting_due(w))
        block_wake_listed();
}

static void acting_await(const struct acting *p, int from)
{
    struct probe_timer timer = {0};
    bool watches = false;
    struct acting_wait w = {p, from, &timer, &watches, 0};
    struct block_wait wait = {.ready = acting_due_or_late,
                              .arg = &w,
                              .what = p->fn,
                              .team = p->team,
                              .on_stall = acting_on_stall};

    if (acting_due(&w))
        return;
    w.deadline_ns = clock_ns() + TIMING_LEADER_LATE;
    block_until(&wait);
    if (!acting_due(&w)) {
        (void)acting_watch(&w);
        wait.ready = acting_due;
        block_until(&wait);
    }
    if (watches)
        block_unwatch(acting_leader_pe(p));
}

int acting_pe(const struct acting *p, int from)
{
    struct shmem_team *team = p->team;
    uint32_t *word = acting_word(p), mine = acting_value(p, team->node_team->me);

    if (internode_is_leader(team)) {
        stress_point();
        store_release_u64(&p->node->entered, p->number);
        block_cancel_watch(acting_signal(p));
        leader_eager_await(team, from, acting_signal(p), p->number, p->fn);
    } else {
        acting_await(p, from);
    }
    stress_point();
    uint32_t was = load_acquire_u32(word);
    if (!acting_is_of(p, was)) {
        uint32_t now = cas_acq_rel_u32(word, was, mine);
        was = now == was ? mine : now;
    }
    PGAS_ASSERT(acting_is_of(p, was));
    stress_point();
    PGAS_ASSERT(load_relaxed_u32(word) == was); /* one PE acts */
    return (int)(was & ((1U << BCAST_PE_BITS) - 1));
}

/* ---- the root --------------------------------------------------------------------- */

static bool acting_has_credit(const void *arg)
{
    const struct acting *p = ((const struct acting_wait *)arg)->p;

    return p->number <= load_acquire_u64(&p->node->acked) + BCAST_EAGER_SLOTS;
}

static void acting_credit_on_stall(const void *arg)
{
    const struct acting *p = ((const struct acting_wait *)arg)->p;

    internode_probe_local(p->team, p->fn);
}

static void acting_await_credit(const struct acting *p)
{
    struct acting_wait w = {.p = p};

    if (likely(acting_has_credit(&w)))
        return;
    block_until(&(struct block_wait){.ready = acting_has_credit,
                                     .arg = &w,
                                     .word = &internode_own_words(p->team)->bcast.acked,
                                     .what = p->fn,
                                     .team = p->team,
                                     .on_stall = acting_credit_on_stall});
}

void acting_root(const struct acting *p)
{
    acting_await_credit(p);
    stress_point();
    store_release_u32(acting_word(p), acting_value(p, p->team->node_team->me));
}
