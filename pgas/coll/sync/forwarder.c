/* SPDX-License-Identifier: BSD-3-Clause */
/* forwarder.c - see forwarder.h. */
#include "config.h"

#include "pgas/coll/sync/forwarder.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/leader_msg.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/stress.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/progress/block.h"

uint64_t *forwarder_signal(const struct forwarder_call *c)
{
    return &internode_own_words(c->team)->bcast.eager[c->number % BCAST_EAGER_SLOTS];
}

static const uint64_t *forwarder_arrived_word(const struct forwarder_call *c)
{
    return &c->node->eager[c->number % BCAST_EAGER_SLOTS];
}

bool forwarder_arrived(const struct forwarder_call *c)
{
    return leader_eager_arrived(forwarder_arrived_word(c), c->number);
}

static bool forwarder_leader_entered(const struct forwarder_call *c)
{
    return load_acquire_u64(&c->node->entered) >= c->number;
}

/* ---- a PE that is not the leader waits for the data ----------------------------------
 */

struct forwarder_wait {
    const struct forwarder_call *call;
    uint64_t deadline_ns; /* then the leader is late */
};

static bool forwarder_has_data(const void *arg)
{
    const struct forwarder_wait *w = arg;

    return forwarder_arrived(w->call);
}

static bool forwarder_has_data_or_is_late(const void *arg)
{
    const struct forwarder_wait *w = arg;

    return forwarder_arrived(w->call) || clock_ns() >= w->deadline_ns;
}

static struct node_pe *forwarder_leader(const struct forwarder_call *c)
{
    return pgas_self.peer[internode_leader(c->team)].node;
}

/* While the leader computes, its progress thread receives the data and wakes this PE. */
static bool forwarder_watch(const struct forwarder_call *c)
{
    uint64_t seen = load_relaxed_u64(forwarder_arrived_word(c));

    return !forwarder_leader_entered(c) &&
           block_watch(forwarder_leader(c), forwarder_signal(c), seen);
}

/* Called before a sleep, after the last check.  A watch may have ended, or was refused.
 * Only leaders probe other nodes; a late one does so when it enters the call. */
static void forwarder_on_stall(const void *arg)
{
    const struct forwarder_wait *w = arg;
    const struct forwarder_call *c = w->call;

    internode_probe_local(c->team, c->fn);
    if (forwarder_watch(c) && forwarder_arrived(c))
        block_wake_listed();
}

static void forwarder_await_data(const struct forwarder_call *c)
{
    struct forwarder_wait w = {c, 0};
    struct block_wait wait = {.ready = forwarder_has_data_or_is_late,
                              .arg = &w,
                              .word = forwarder_signal(c),
                              .what = c->fn,
                              .team = c->team,
                              .on_stall = forwarder_on_stall};

    if (forwarder_arrived(c))
        return;
    w.deadline_ns = clock_ns() + TIMING_LEADER_LATE;
    block_until(&wait);
    if (!forwarder_arrived(c)) {
        (void)forwarder_watch(c);
        wait.ready = forwarder_has_data;
        block_until(&wait);
    }
    block_unwatch(forwarder_leader(c), forwarder_signal(c));
    if (!forwarder_leader_entered(c)) /* no other PE can watch the word */
        forwarder_wake_node(c);
}

/* ---- claims ---------------------------------------------------------------------------
 */

/* True if this PE is the first that claims the call. */
static bool forwarder_claim(const struct forwarder_call *c)
{
    unsigned slot = (unsigned)(c->number % BCAST_EAGER_SLOTS);
    bool set = (c->number - 1) / BCAST_EAGER_SLOTS % 2 == 0; /* numbers begin at 1 */
    uint64_t *word = &c->node->claimed[slot / 64], bit = UINT64_C(1) << slot % 64;

    stress_point();
    uint64_t was = set ? __atomic_fetch_or(word, bit, __ATOMIC_ACQ_REL)
                       : __atomic_fetch_and(word, ~bit, __ATOMIC_ACQ_REL);
    stress_point();
    return ((was & bit) != 0) != set;
}

bool forwarder_await(const struct forwarder_call *c, int from)
{
    if (!internode_is_leader(c->team)) {
        forwarder_await_data(c);
        stress_point();
        return c->first && !forwarder_leader_entered(c) && forwarder_claim(c);
    }
    stress_point();
    store_release_u64(&c->node->entered, c->number);
    block_cancel_watch(forwarder_signal(c));
    leader_eager_await(c->team, from, forwarder_signal(c), c->number, c->fn);
    return !c->first || forwarder_claim(c);
}

void forwarder_wake_node(const struct forwarder_call *c)
{
    internode_wake_node(c->team, forwarder_signal(c), sizeof(uint64_t));
}

/* ---- the root -------------------------------------------------------------------------
 */

static bool forwarder_has_credit(const void *arg)
{
    const struct forwarder_call *c = arg;

    return c->number <= load_acquire_u64(&c->node->acked) + BCAST_EAGER_SLOTS;
}

static void forwarder_probe_node(const void *arg)
{
    const struct forwarder_call *c = arg;

    internode_probe_local(c->team, c->fn);
}

void forwarder_claim_root(const struct forwarder_call *c)
{
    if (unlikely(!forwarder_has_credit(c)))
        block_until(
            &(struct block_wait){.ready = forwarder_has_credit,
                                 .arg = c,
                                 .word = &internode_own_words(c->team)->bcast.acked,
                                 .what = c->fn,
                                 .team = c->team,
                                 .on_stall = forwarder_probe_node});
    stress_point();
    bool claimed = forwarder_claim(c);
    PGAS_ASSERT(claimed);
    (void)claimed;
}
