/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leader_msg.c - see leader_msg.h.  Uses: core/team, core/block, core/net, core/peer,
 * core/stress, rma/order, rma/signal, internode, probe, scratch.
 *
 * The message of step s sets word s % LEADER_WORDS of `arrived` at its target to
 * base + s + 1.  Even and odd collectives have separate words and scratch buffers.
 *
 * Invariant: a leader begins collective k only when it knows that all leaders have ended
 * k - 2; by then they have received all messages of k - 2.  Hence no signal word reaches
 * a value of k before the message of k has arrived, and no scratch buffer is written
 * while it is read.  A leader knows this from an inter-node barrier after k - 2, or
 * because collective k - 1 returned after a message that depends on every leader
 * (leader_exchange_end with all).  Most reductions are of that kind, so consecutive
 * reductions need no barrier.  All leaders have equal counters, so all or none of them
 * enter a barrier.  The PEs of a node may read their leader's scratch buffer after the
 * end of an exchange; the leader waits for them before it begins the next one
 * (internode_await_read), hence before any message from which others learn that it has
 * ended the one before.
 *
 * Flow control: messages are unacknowledged notified puts; a leader only waits for the
 * local completion of its puts.  If a collective has more than LEADER_WORDS steps, it
 * reuses words; then each message is a put with signal, and a fence precedes each reuse,
 * so that the later signal implies that the earlier message has arrived.
 */
#include "config.h"

#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/leader_msg.h"
#include "pgas/coll/sync/probe.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/memory/peer.h"
#include "pgas/core/base/stress.h"
#include "pgas/rma/order.h"
#include "pgas/rma/signal.h"

/* ---- a collective ---------------------------------------------------------------- */

struct exchange leader_exchange_begin(struct shmem_team *team, int steps, const char *fn)
{
    struct leader_state *s = &team->coll->leader;

    internode_await_read(team, fn);
    if (!credit_available(&s->calls, LEADER_EXCHANGES))
        internode_barrier(team, fn);
    credit_begin(&s->calls);
    s->sends = 0;
    return (struct exchange){team, fn, s->messages, steps};
}

static bool leader_msg_reuses_words(const struct exchange *h)
{
    return h->steps > LEADER_WORDS;
}

static void leader_msg_await_sent(const struct exchange *h, struct leader_send *send)
{
    net_await_source(net_ctx_0(), &send->done, send->pe, h->fn);
}

void leader_exchange_end(struct exchange *h, bool all)
{
    struct leader_state *s = &h->team->coll->leader;

    for (unsigned i = 0; i < s->sends && i < LEADER_SENDS; i++)
        leader_msg_await_sent(h, &s->send[i]);
    if (leader_msg_reuses_words(h))
        order_quiet(CTX_LIBRARY, h->fn);
    if (all)
        credit_return(&s->calls, s->calls.seq - 1);
    s->messages += (uint64_t)h->steps;
}

/* Index of the set of signal words and scratch buffers that this collective uses. */
static unsigned leader_msg_turn_of(const struct exchange *h)
{
    return h->team->coll->leader.calls.seq % LEADER_EXCHANGES;
}

char *leader_scratch(const struct exchange *h, int node, size_t at)
{
    return scratch_at(&h->team->coll->scratch, node,
                      leader_msg_turn_of(h) * (size_t)SCRATCH_BYTES + at);
}

char *leader_next_scratch(const struct shmem_team *team)
{
    uint64_t next = team->coll->leader.calls.seq + 1;

    return scratch_at(&team->coll->scratch, team->nodes->me,
                      next % LEADER_EXCHANGES * (size_t)SCRATCH_BYTES);
}

/* ---- messages -------------------------------------------------------------------- */

static int leader_of(const struct exchange *h, int node)
{
    return team_world_pe(h->team, h->team->nodes->leader[node]);
}

/* Signal word of a step in this PE's memory; it has the same symmetric address on all. */
static uint64_t *leader_msg_word_of(const struct exchange *h, int step)
{
    return &internode_own_words(h->team)
                ->leader.arrived[leader_msg_turn_of(h)][step % LEADER_WORDS];
}

static uint64_t leader_msg_number_of(const struct exchange *h, int step)
{
    return h->base + (uint64_t)step + 1;
}

/* A completion record for a message to a leader; waits for the oldest one if all are in
 * use. */
static struct leader_send *leader_msg_next_send(const struct exchange *h, int pe)
{
    struct leader_state *s = &h->team->coll->leader;
    struct leader_send *send = &s->send[s->sends % LEADER_SENDS];

    if (s->sends++ >= LEADER_SENDS)
        leader_msg_await_sent(h, send);
    send->pe = pe;
    return send;
}

static struct transport_signal leader_msg_signal_of(uint64_t *word, uint64_t value,
                                                    int pe, const char *fn)
{
    return (struct transport_signal){.at = peer_symaddr(word, sizeof *word, pe, fn),
                                     .op = TRANSPORT_AMO_SET,
                                     .size = sizeof *word,
                                     .operand = value};
}

static struct transport_signal leader_msg_signal_of_step(const struct exchange *h,
                                                         int step, int pe)
{
    return leader_msg_signal_of(leader_msg_word_of(h, step),
                                leader_msg_number_of(h, step), pe, h->fn);
}

/* Put the data and signal the step. */
static struct leader_send *leader_msg_notify(const struct exchange *h, int step, int node,
                                             void *there, const void *from, size_t bytes)
{
    int pe = leader_of(h, node);
    struct leader_send *send = leader_msg_next_send(h, pe);
    struct transport_signal signal = leader_msg_signal_of_step(h, step, pe);

    net_notify(net_ctx_0(), bytes > 0 ? peer_symaddr(there, bytes, pe, h->fn) : signal.at,
               from, bytes, &signal, &send->done, h->fn);
    return send;
}

/* Signal the step after all earlier puts to that leader. */
static void leader_msg_notify_after_puts(const struct exchange *h, int step, int node)
{
    struct transport_signal signal =
        leader_msg_signal_of_step(h, step, leader_of(h, node));

    signal.after_puts = true;
    net_notify(net_ctx_0(), signal.at, NULL, 0, &signal, NULL, h->fn);
}

/* Variant of leader_msg_notify for collectives that reuse signal words. */
static void leader_msg_put_with_signal(const struct exchange *h, int step, int node,
                                       const struct signal_put *put)
{
    if (unlikely(step > 0 && step % LEADER_WORDS == 0))
        order_fence(CTX_LIBRARY, h->fn);
    signal_put(CTX_LIBRARY, put, leader_msg_word_of(h, step),
               leader_msg_number_of(h, step), SHMEM_SIGNAL_SET, leader_of(h, node),
               h->fn);
}

static void leader_msg_put(const struct exchange *h, int step, int node, void *there,
                           const void *from, size_t bytes, bool now)
{
    stress_point();
    if (leader_msg_reuses_words(h)) {
        leader_msg_put_with_signal(
            h, step, node, &(struct signal_put){there, from, bytes, 1, .nbi = !now});
    } else {
        struct leader_send *send = leader_msg_notify(h, step, node, there, from, bytes);
        if (now)
            leader_msg_await_sent(h, send);
    }
    stress_point();
}

void leader_put(const struct exchange *h, int step, int node, void *there,
                const void *from, size_t bytes)
{
    leader_msg_put(h, step, node, there, from, bytes, false);
}

void leader_put_now(const struct exchange *h, int step, int node, void *there,
                    const void *from, size_t bytes)
{
    leader_msg_put(h, step, node, there, from, bytes, true);
}

void leader_add(const struct exchange *h, int node, void *there, const void *from,
                size_t bytes)
{
    int pe = leader_of(h, node);
    struct leader_send *send = leader_msg_next_send(h, pe);

    net_notify(net_ctx_0(), peer_symaddr(there, bytes, pe, h->fn), from, bytes, NULL,
               &send->done, h->fn);
}

void leader_signal(const struct exchange *h, int step, int node)
{
    stress_point();
    if (leader_msg_reuses_words(h)) {
        order_fence(CTX_LIBRARY, h->fn);
        leader_msg_put_with_signal(h, step, node, &(struct signal_put){.nbi = true});
    } else {
        leader_msg_notify_after_puts(h, step, node);
    }
    stress_point();
}

void leader_eager_put(struct shmem_team *team, int node, void *there, const void *from,
                      size_t n, uint64_t *word, uint64_t value, const char *fn)
{
    int pe = team_world_pe(team, team->nodes->leader[node]);
    struct transport_signal signal = leader_msg_signal_of(word, value, pe, fn);

    stress_point();
    net_notify(net_ctx_0(), peer_symaddr(there, n, pe, fn), from, n, &signal, NULL, fn);
    stress_point();
}

/* ---- waiting --------------------------------------------------------------------- */

struct goal {
    struct shmem_team *team;
    const uint64_t *word;
    uint64_t value;
    int node; /* of the sender, or LEADER_ANY */
    struct probe_timer *timer;
    const char *fn;
};

bool leader_eager_arrived(const uint64_t *word, uint64_t value)
{
    return load_acquire_u64(word) >= value;
}

bool leader_arrived(const struct exchange *h, int step)
{
    return leader_eager_arrived(leader_msg_word_of(h, step),
                                leader_msg_number_of(h, step));
}

static bool leader_msg_has_arrived(const void *arg)
{
    const struct goal *g = arg;

    return leader_eager_arrived(g->word, g->value);
}

/* The node to probe: the sender, or each other node in turn. */
static int leader_msg_probed_node(const struct goal *g)
{
    const struct team_nodes *n = g->team->nodes;

    if (g->node != LEADER_ANY)
        return g->node;
    return (n->me + 1 + (int)(g->timer->probes % (uint32_t)(n->leaders - 1))) %
           n->leaders;
}

static void leader_msg_on_stall(const void *arg)
{
    const struct goal *g = arg;

    internode_probe(g->team, leader_msg_probed_node(g), g->timer, g->fn);
}

void leader_eager_await(struct shmem_team *team, int node, const uint64_t *word,
                        uint64_t value, const char *fn)
{
    struct probe_timer timer = {0};
    struct goal g = {team, word, value, node, &timer, fn};

    if (leader_msg_has_arrived(&g))
        return;
    block_until(&(struct block_wait){.ready = leader_msg_has_arrived,
                                     .arg = &g,
                                     .remote = true,
                                     .word = g.word,
                                     .what = fn,
                                     .team = team,
                                     .on_stall = leader_msg_on_stall});
}

void leader_await(const struct exchange *h, int step, int node)
{
    leader_eager_await(h->team, node, leader_msg_word_of(h, step),
                       leader_msg_number_of(h, step), h->fn);
}
