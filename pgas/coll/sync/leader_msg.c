/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leader_msg.c - see leader_msg.h.  Uses: core/team, core/block, core/net, core/peer,
 * core/stress, rma/order, rma/signal, internode, probe, scratch.
 *
 * The message of step s sets word s % TEAM_LEADERS of `landed` at its target to
 * base + s + 1.  Even and odd collectives have separate words and scratch buffers.
 *
 * Invariant: a leader begins collective k only when it knows that all leaders have ended
 * k - 2; by then they have received all messages of k - 2.  Hence no signal word reaches
 * a value of k before the message of k has arrived, and no scratch buffer is written
 * while it is read.  A leader knows this from an inter-node barrier after k - 2, or
 * because collective k - 1 returned after a message that depends on every leader
 * (leader_exchange_end with all).  Most reductions are of that kind, so consecutive
 * reductions need no barrier.  All leaders count alike: all or none enter a barrier.
 *
 * Flow control: messages are unacknowledged notified puts; a leader only waits for the
 * local completion of its puts.  If a collective has more than TEAM_LEADERS steps, it
 * reuses words; then each message is a put with signal, and a fence precedes each reuse,
 * so that the later signal implies that the earlier message has arrived.
 */
#include "config.h"

#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/leader_msg.h"
#include "pgas/coll/sync/probe.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/memory/peer.h"
#include "pgas/core/base/stress.h"
#include "pgas/rma/order.h"
#include "pgas/rma/signal.h"

/* ---- a collective ---------------------------------------------------------------- */

struct exchange leader_exchange_begin(struct shmem_team *team, int steps, const char *fn)
{
    struct team_nodes *n = team->nodes;

    if (n->leader_synced + 1 < n->leader_calls)
        internode_barrier(team, fn);
    n->leader_calls++;
    n->nleft = 0;
    return (struct exchange){team, fn, n->exchange, steps};
}

static bool leader_msg_uses_words_again(const struct exchange *h)
{
    return h->steps > TEAM_LEADERS;
}

static void leader_msg_await_left(const struct exchange *h, struct team_left *left)
{
    net_await_source(net_ctx_default(), &left->done, left->pe, h->fn);
}

void leader_exchange_end(struct exchange *h, bool all)
{
    struct team_nodes *n = h->team->nodes;

    for (unsigned i = 0; i < n->nleft && i < TEAM_LEFT; i++)
        leader_msg_await_left(h, &n->left[i]);
    if (leader_msg_uses_words_again(h))
        order_quiet(SHMEM_CTX_DEFAULT, h->fn);
    if (all)
        n->leader_synced = n->leader_calls - 1;
    n->exchange += (uint64_t)h->steps;
}

/* Which of the two sets of words and scratch buffers this collective uses. */
static unsigned leader_msg_turn_of(const struct exchange *h)
{
    return h->team->nodes->leader_calls % 2;
}

char *leader_scratch(const struct exchange *h, int node, size_t at)
{
    return scratch_at(h->team, node, leader_msg_turn_of(h) * (size_t)SCRATCH_BYTES + at);
}

/* ---- messages -------------------------------------------------------------------- */

static int leader_of(const struct exchange *h, int node)
{
    return team_world_pe(h->team, h->team->nodes->leader[node]);
}

/* Signal word of a step in this PE's memory; it has the same symmetric address on all. */
static uint64_t *leader_msg_word_of(const struct exchange *h, int step)
{
    return &team_words(h->team, h->team->me)
                ->landed[leader_msg_turn_of(h)][step % TEAM_LEADERS];
}

static uint64_t leader_msg_number_of(const struct exchange *h, int step)
{
    return h->base + (uint64_t)step + 1;
}

/* A completion record for a message to a leader; waits for the oldest one if all are in
 * use. */
static struct team_left *leader_msg_next_left(const struct exchange *h, int pe)
{
    struct team_nodes *n = h->team->nodes;
    struct team_left *left = &n->left[n->nleft % TEAM_LEFT];

    if (n->nleft++ >= TEAM_LEFT)
        leader_msg_await_left(h, left);
    left->pe = pe;
    return left;
}

static struct transport_signal leader_msg_signal_of(uint64_t *word, uint64_t value,
                                                    int pe, const char *fn)
{
    return (struct transport_signal){.at = peer_place(word, sizeof *word, pe, fn),
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
static struct team_left *leader_msg_note(const struct exchange *h, int step, int node,
                                         void *there, const void *from, size_t bytes)
{
    int pe = leader_of(h, node);
    struct team_left *left = leader_msg_next_left(h, pe);
    struct transport_signal signal = leader_msg_signal_of_step(h, step, pe);

    net_notify(net_ctx_default(),
               bytes > 0 ? peer_place(there, bytes, pe, h->fn) : signal.at, from, bytes,
               &signal, &left->done, h->fn);
    return left;
}

/* Signal the step after all data put before. */
static void leader_msg_note_after(const struct exchange *h, int step, int node)
{
    struct transport_signal signal =
        leader_msg_signal_of_step(h, step, leader_of(h, node));

    signal.after_puts = true;
    net_notify(net_ctx_default(), signal.at, NULL, 0, &signal, NULL, h->fn);
}

/* As leader_msg_note, in a collective that reuses words. */
static void leader_msg_put_with_signal(const struct exchange *h, int step, int node,
                                       const struct signal_put *put)
{
    if (unlikely(step > 0 && step % TEAM_LEADERS == 0))
        order_fence(SHMEM_CTX_DEFAULT, h->fn);
    signal_put(SHMEM_CTX_DEFAULT, put, leader_msg_word_of(h, step),
               leader_msg_number_of(h, step), SHMEM_SIGNAL_SET, leader_of(h, node),
               h->fn);
}

static void leader_msg_put(const struct exchange *h, int step, int node, void *there,
                           const void *from, size_t bytes, bool now)
{
    stress_point();
    if (leader_msg_uses_words_again(h)) {
        leader_msg_put_with_signal(
            h, step, node, &(struct signal_put){there, from, bytes, 1, .nbi = !now});
    } else {
        struct team_left *left = leader_msg_note(h, step, node, there, from, bytes);
        if (now)
            leader_msg_await_left(h, left);
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
    struct team_left *left = leader_msg_next_left(h, pe);

    net_notify(net_ctx_default(), peer_place(there, bytes, pe, h->fn), from, bytes, NULL,
               &left->done, h->fn);
}

void leader_signal(const struct exchange *h, int step, int node)
{
    stress_point();
    if (leader_msg_uses_words_again(h)) {
        order_fence(SHMEM_CTX_DEFAULT, h->fn);
        leader_msg_put_with_signal(h, step, node, &(struct signal_put){.nbi = true});
    } else {
        leader_msg_note_after(h, step, node);
    }
    stress_point();
}

void leader_push(struct shmem_team *team, int node, char *bytes, size_t n, uint64_t *word,
                 uint64_t value, const char *fn)
{
    int pe = team_world_pe(team, team->nodes->leader[node]);
    struct transport_signal signal = leader_msg_signal_of(word, value, pe, fn);

    stress_point();
    net_notify(net_ctx_default(), peer_place(bytes, n, pe, fn), bytes, n, &signal, NULL,
               fn);
    stress_point();
}

/* ---- waiting --------------------------------------------------------------------- */

struct goal {
    struct shmem_team *team;
    const uint64_t *word;
    uint64_t value;
    int node;
    struct look *look;
    const char *fn;
};

static bool leader_msg_landed(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u64(g->word) >= g->value;
}

static void leader_msg_on_stall(const void *arg)
{
    const struct goal *g = arg;

    internode_probe(g->team, g->node, g->look, g->fn);
}

void leader_await_push(struct shmem_team *team, int node, const uint64_t *word,
                       uint64_t value, const char *fn)
{
    struct look look = {0};
    struct goal g = {team, word, value, node, &look, fn};

    if (leader_msg_landed(&g))
        return;
    block_until(&(struct block_wait){.ready = leader_msg_landed,
                                     .arg = &g,
                                     .far = true,
                                     .word = g.word,
                                     .what = fn,
                                     .on_stall = leader_msg_on_stall});
}

void leader_await(const struct exchange *h, int step, int node)
{
    leader_await_push(h->team, node, leader_msg_word_of(h, step),
                      leader_msg_number_of(h, step), h->fn);
}
