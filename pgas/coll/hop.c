/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hop.c - see hop.h.  Uses: core/team, core/block, core/net, core/peer, core/stress,
 * rma/order, rma/signal, bridge, look, room.
 *
 * The message of a step sets word step modulo TEAM_HOPS of its target's `landed` to its
 * number, base + step + 1.  Collectives with even and odd numbers have words of their
 * own, and rooms.
 *
 * Invariants: a leader begins collective k when it knows that all leaders have ended
 * k - 2, in which each has waited for all that was sent to it.  So a word has never a
 * number of k before its message is there, and nobody writes to a room in which somebody
 * still reads.  It knows that from a meeting after k - 2; or as it has ended a k - 1 in
 * which who ends it has heard of all others (hops_end): most reductions do without
 * meetings.  All leaders count alike, so they meet all or none.
 *
 * Messages are notes, so nobody answers, and what is waited for in the end is only that
 * the sources are free.  In a collective of more than TEAM_HOPS steps, where words are
 * used again, they are puts with signals, with a fence between two uses: so the second
 * signal says that the first message is there too.
 */
#include "config.h"

#include "pgas/coll/bridge.h"
#include "pgas/coll/hop.h"
#include "pgas/coll/look.h"
#include "pgas/coll/room.h"
#include "pgas/core/block.h"
#include "pgas/core/net.h"
#include "pgas/core/peer.h"
#include "pgas/core/stress.h"
#include "pgas/rma/order.h"
#include "pgas/rma/signal.h"

/* ---- a collective ---------------------------------------------------------------- */

struct hops hops_begin(struct shmem_team *team, int steps, const char *fn)
{
    struct team_nodes *n = team->nodes;

    if (n->hop_met + 1 < n->hop_calls)
        bridge_meet(team, fn);
    n->hop_calls++;
    n->nleft = 0;
    return (struct hops){team, fn, n->hops, steps};
}

static bool uses_words_again(const struct hops *h)
{
    return h->steps > TEAM_HOPS;
}

static void await_left(const struct hops *h, struct team_left *left)
{
    net_left(net_ctx_default(), &left->done, left->pe, h->fn);
}

void hops_end(struct hops *h, bool all)
{
    struct team_nodes *n = h->team->nodes;

    for (unsigned i = 0; i < n->nleft && i < TEAM_LEFT; i++)
        await_left(h, &n->left[i]);
    if (uses_words_again(h))
        order_quiet(SHMEM_CTX_DEFAULT, h->fn);
    if (all)
        n->hop_met = n->hop_calls - 1;
    n->hops += (uint64_t)h->steps;
}

/* Of what is there twice. */
static unsigned turn_of(const struct hops *h)
{
    return h->team->nodes->hop_calls % 2;
}

char *hop_room(const struct hops *h, int node, size_t at)
{
    return room_at(h->team, node, turn_of(h) * (size_t)ROOM_BYTES + at);
}

/* ---- messages -------------------------------------------------------------------- */

static int leader_of(const struct hops *h, int node)
{
    return team_world_pe(h->team, h->team->nodes->leader[node]);
}

/* Our word for a step: the others' are at the same symmetric address. */
static uint64_t *word_of(const struct hops *h, int step)
{
    return &team_words(h->team, h->team->me)->landed[turn_of(h)][step % TEAM_HOPS];
}

static uint64_t number_of(const struct hops *h, int step)
{
    return h->base + (uint64_t)step + 1;
}

/* A record for a message to a leader; one of the first ones again, once that has left. */
static struct team_left *next_left(const struct hops *h, int pe)
{
    struct team_nodes *n = h->team->nodes;
    struct team_left *left = &n->left[n->nleft % TEAM_LEFT];

    if (n->nleft++ >= TEAM_LEFT)
        await_left(h, left);
    left->pe = pe;
    return left;
}

static struct transport_signal signal_of(uint64_t *word, uint64_t value, int pe,
                                         const char *fn)
{
    return (struct transport_signal){.at = peer_place(word, sizeof *word, pe, fn),
                                     .op = TRANSPORT_AMO_SET,
                                     .size = sizeof *word,
                                     .operand = value};
}

static struct transport_signal signal_of_step(const struct hops *h, int step, int pe)
{
    return signal_of(word_of(h, step), number_of(h, step), pe, h->fn);
}

/* Bytes, and then the signal of a step. */
static struct team_left *note(const struct hops *h, int step, int node, void *there,
                              const void *from, size_t bytes)
{
    int pe = leader_of(h, node);
    struct team_left *left = next_left(h, pe);
    struct transport_signal signal = signal_of_step(h, step, pe);

    net_note(net_ctx_default(),
             bytes > 0 ? peer_place(there, bytes, pe, h->fn) : signal.at, from, bytes,
             &signal, &left->done, h->fn);
    return left;
}

/* The signal alone, after all bytes that have been put before. */
static void note_after(const struct hops *h, int step, int node)
{
    struct transport_signal signal = signal_of_step(h, step, leader_of(h, node));

    signal.after_puts = true;
    net_note(net_ctx_default(), signal.at, NULL, 0, &signal, NULL, h->fn);
}

/* The same where words are used again. */
static void put_with_signal(const struct hops *h, int step, int node,
                            const struct signal_put *put)
{
    if (unlikely(step > 0 && step % TEAM_HOPS == 0))
        order_fence(SHMEM_CTX_DEFAULT, h->fn);
    signal_put(SHMEM_CTX_DEFAULT, put, word_of(h, step), number_of(h, step),
               SHMEM_SIGNAL_SET, leader_of(h, node), h->fn);
}

static void put(const struct hops *h, int step, int node, void *there, const void *from,
                size_t bytes, bool now)
{
    stress_point();
    if (uses_words_again(h)) {
        put_with_signal(h, step, node,
                        &(struct signal_put){there, from, bytes, 1, .nbi = !now});
    } else {
        struct team_left *left = note(h, step, node, there, from, bytes);
        if (now)
            await_left(h, left);
    }
    stress_point();
}

void hop_put(const struct hops *h, int step, int node, void *there, const void *from,
             size_t bytes)
{
    put(h, step, node, there, from, bytes, false);
}

void hop_put_now(const struct hops *h, int step, int node, void *there, const void *from,
                 size_t bytes)
{
    put(h, step, node, there, from, bytes, true);
}

void hop_add(const struct hops *h, int node, void *there, const void *from, size_t bytes)
{
    int pe = leader_of(h, node);
    struct team_left *left = next_left(h, pe);

    net_note(net_ctx_default(), peer_place(there, bytes, pe, h->fn), from, bytes, NULL,
             &left->done, h->fn);
}

void hop_signal(const struct hops *h, int step, int node)
{
    stress_point();
    if (uses_words_again(h)) {
        order_fence(SHMEM_CTX_DEFAULT, h->fn);
        put_with_signal(h, step, node, &(struct signal_put){.nbi = true});
    } else {
        note_after(h, step, node);
    }
    stress_point();
}

void hop_push(struct shmem_team *team, int node, char *bytes, size_t n, uint64_t *word,
              uint64_t value, const char *fn)
{
    int pe = team_world_pe(team, team->nodes->leader[node]);
    struct transport_signal signal = signal_of(word, value, pe, fn);

    stress_point();
    net_note(net_ctx_default(), peer_place(bytes, n, pe, fn), bytes, n, &signal, NULL,
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

static bool landed(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u64(g->word) >= g->value;
}

static void in_vain(const void *arg)
{
    const struct goal *g = arg;

    bridge_look(g->team, g->node, g->look, g->fn);
}

void hop_await_push(struct shmem_team *team, int node, const uint64_t *word,
                    uint64_t value, const char *fn)
{
    struct look look = {0};
    struct goal g = {team, word, value, node, &look, fn};

    if (landed(&g))
        return;
    block_until(&(struct block_wait){.ready = landed,
                                     .arg = &g,
                                     .far = true,
                                     .word = g.word,
                                     .what = fn,
                                     .in_vain = in_vain});
}

void hop_await(const struct hops *h, int step, int node)
{
    hop_await_push(h->team, node, word_of(h, step), number_of(h, step), h->fn);
}
