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

/* ---- words of the leader -------------------------------------------------------------
 */

/* The word of this node's leader, mapped, of a symmetric word of internode_words; and the
 * symmetric address of a mapped one. */
static const uint64_t *forwarder_mapped(const struct forwarder_call *c,
                                        const uint64_t *word)
{
    size_t at = (size_t)((const char *)word - (const char *)internode_own_words(c->team));

    return (const uint64_t *)((const char *)internode_leaders_words(c->team) + at);
}

static const void *forwarder_symmetric(const struct forwarder_call *c,
                                       const uint64_t *mapped)
{
    size_t at =
        (size_t)((const char *)mapped - (const char *)internode_leaders_words(c->team));

    return (const char *)internode_own_words(c->team) + at;
}

bool forwarder_arrived(const struct forwarder_call *c, const struct forwarder_signal *s)
{
    return leader_eager_arrived(forwarder_mapped(c, s->word), s->value);
}

static bool forwarder_leader_entered(const struct forwarder_call *c)
{
    return load_acquire_u64(&c->words->entered) >= c->number;
}

/* ---- a PE that is not the leader waits for the data ----------------------------------
 */

struct forwarder_wait {
    const struct forwarder_call *call;
    const struct forwarder_signal *signal;
    uint64_t deadline_ns; /* then the leader is late */
};

static bool forwarder_has_data(const void *arg)
{
    const struct forwarder_wait *w = arg;

    return forwarder_arrived(w->call, w->signal);
}

static bool forwarder_has_data_or_is_late(const void *arg)
{
    const struct forwarder_wait *w = arg;

    return forwarder_has_data(w) || clock_ns() >= w->deadline_ns;
}

static struct node_pe *forwarder_leader(const struct forwarder_call *c)
{
    return pgas_self.peer[internode_leader(c->team)].node;
}

/* While the leader computes, its progress thread receives the data and wakes this PE. */
static bool forwarder_watch(const struct forwarder_wait *w)
{
    const struct forwarder_call *c = w->call;
    uint64_t seen = load_relaxed_u64(forwarder_mapped(c, w->signal->word));

    return !forwarder_leader_entered(c) &&
           block_watch(forwarder_leader(c), w->signal->word, seen);
}

/* Called before a sleep, after the last check.  A watch may have ended, or was refused.
 * Only leaders probe other nodes; a late one does so when it enters the call. */
static void forwarder_on_stall(const void *arg)
{
    const struct forwarder_wait *w = arg;

    internode_probe_local(w->call->team, w->call->fn);
    if (forwarder_watch(w) && forwarder_has_data(w))
        block_wake_listed();
}

static void forwarder_await_data(const struct forwarder_call *c,
                                 const struct forwarder_signal *s)
{
    struct forwarder_wait w = {c, s, 0};
    struct block_wait wait = {.ready = forwarder_has_data_or_is_late,
                              .arg = &w,
                              .word = s->word,
                              .what = c->fn,
                              .team = c->team,
                              .on_stall = forwarder_on_stall};

    if (forwarder_arrived(c, s))
        return;
    w.deadline_ns = clock_ns() + TIMING_LEADER_LATE;
    block_until(&wait);
    if (!forwarder_arrived(c, s)) {
        (void)forwarder_watch(&w);
        wait.ready = forwarder_has_data;
        block_until(&wait);
    }
    block_unwatch(forwarder_leader(c), s->word);
    if (!forwarder_leader_entered(c)) /* no other PE can watch the word */
        forwarder_wake_node(c, s);
}

void forwarder_await(const struct forwarder_call *c, const struct forwarder_signal *s,
                     int from)
{
    stress_point();
    if (internode_is_leader(c->team)) {
        block_cancel_watch(s->word);
        leader_eager_await(c->team, from, s->word, s->value, c->fn);
    } else {
        forwarder_await_data(c, s);
    }
    stress_point();
}

/* ---- claims ---------------------------------------------------------------------------
 */

/* True if this PE is the first that claims the call. */
static bool forwarder_claim(const struct forwarder_call *c)
{
    unsigned slot = (unsigned)(c->number % c->slots);
    bool set = (c->number - 1) / c->slots % 2 == 0; /* numbers begin at 1 */
    uint64_t *word = &c->words->claimed[slot / 64], bit = UINT64_C(1) << slot % 64;

    stress_point();
    uint64_t was = set ? __atomic_fetch_or(word, bit, __ATOMIC_ACQ_REL)
                       : __atomic_fetch_and(word, ~bit, __ATOMIC_ACQ_REL);
    stress_point();
    return ((was & bit) != 0) != set;
}

bool forwarder_enter(const struct forwarder_call *c, const struct forwarder_signal *s,
                     int from)
{
    bool leader = internode_is_leader(c->team);

    if (leader) {
        stress_point();
        store_release_u64(&c->words->entered, c->number);
    }
    forwarder_await(c, s, from);
    if (!c->first)
        return leader;
    return (leader || !forwarder_leader_entered(c)) && forwarder_claim(c);
}

void forwarder_wake_node(const struct forwarder_call *c, const struct forwarder_signal *s)
{
    internode_wake_node(c->team, s->word, sizeof *s->word);
}

/* ---- the root -------------------------------------------------------------------------
 */

static bool forwarder_has_credit(const void *arg)
{
    const struct forwarder_call *c = arg;

    return c->last <= load_acquire_u64(&c->words->acked) + c->slots;
}

static void forwarder_probe_node(const void *arg)
{
    const struct forwarder_call *c = arg;

    internode_probe_local(c->team, c->fn);
}

void forwarder_claim_root(const struct forwarder_call *c)
{
    if (unlikely(!forwarder_has_credit(c)))
        block_until(&(struct block_wait){.ready = forwarder_has_credit,
                                         .arg = c,
                                         .word = forwarder_symmetric(c, &c->words->acked),
                                         .what = c->fn,
                                         .team = c->team,
                                         .on_stall = forwarder_probe_node});
    stress_point();
    bool claimed = forwarder_claim(c);
    PGAS_ASSERT(claimed);
    (void)claimed;
}
