/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schedule_reduce.c - schedules of reductions between leaders.
 *
 * All leaders obtain the same bits: each slice is combined by one leader, or by all
 * leaders in the same order.
 */
#include "config.h"

#include "pgas/coll/schedule/schedule_int.h"

/* ---- contributions of all nodes in the inbox ------------------------------------- */

/* A region of the operand that this leader combines, and the units of the inbox part of
 * each node's contribution to it. */
struct combined {
    struct schedule_region mine;
    size_t part;
};

enum { COMBINE_STEPS = 2 }; /* of each node, in node order: RECV and REDUCE */

/* The contribution of a node.  The sum accumulates in that of node 0. */
static struct schedule_region combine_part(const struct schedule *s,
                                           const struct combined *c, int node)
{
    return node == s->rank ? c->mine
                           : schedule_inbox_at((size_t)node * c->part, c->mine.count);
}

/* A message with tag k has come k nodes far. */
static void combine_step(const struct schedule *s, const struct combined *c, int i,
                         struct schedule_step *step)
{
    int node = i / COMBINE_STEPS;
    bool recv = i % COMBINE_STEPS == 0;

    if (recv && node != s->rank)
        schedule_recv(step, node, schedule_at(s, -node), combine_part(s, c, node));
    else if (!recv && node > 0)
        schedule_reduce(step, combine_part(s, c, 0), combine_part(s, c, node), false);
}

/* COPY of the sum to the operand. */
static void combine_copy(const struct schedule *s, const struct combined *c,
                         struct schedule_step *step)
{
    if (s->rank != 0)
        *step = (struct schedule_step){
            .kind = STEP_COPY, .to = c->mine, .from = combine_part(s, c, 0)};
}

/* ---- exchange -------------------------------------------------------------------- */

/* N - 1 SENDs of the whole operand, RECV and REDUCE of each contribution, COPY. */
bool schedule_reduce_exchange_step(const struct schedule *s, int i,
                                   struct schedule_step *step)
{
    struct combined c = {schedule_data(0, s->units), schedule_operand_part(s)};
    int others = s->nodes - 1, combines = COMBINE_STEPS * s->nodes;

    if (i < others) {
        schedule_send(step, schedule_at(s, i + 1), i + 1, c.mine,
                      schedule_inbox_at((size_t)s->rank * c.part, s->units));
        step->copied = true;
    } else if (i - others < combines) {
        combine_step(s, &c, i - others, step);
    } else if (i - others == combines) {
        combine_copy(s, &c, step);
    }
    return i - others <= combines;
}

/* ---- direct ---------------------------------------------------------------------- */

/*
 * N - 1 SENDs of the slices of the others; RECV and REDUCE of each node's contribution to
 * the own slice; COPY; N - 1 SENDs and N - 1 RECVs of sums.
 */
static struct combined direct_combined(const struct schedule *s)
{
    return (struct combined){schedule_slice(s, s->rank), schedule_slice_part(s)};
}

static void direct_send_part(const struct schedule *s, int k, struct schedule_step *step)
{
    int peer = schedule_at(s, k);
    struct schedule_region from = schedule_slice(s, peer);
    size_t at = (size_t)s->rank * schedule_slice_part(s);

    schedule_send(step, peer, k, from, schedule_inbox_at(at, from.count));
}

static void direct_spread(const struct schedule *s, int k, bool send,
                          struct schedule_step *step)
{
    int peer = schedule_at(s, send ? k : -k);
    struct schedule_region slice = schedule_slice(s, send ? s->rank : peer);

    if (send)
        schedule_send(step, peer, s->nodes + k, slice, slice);
    else
        schedule_recv(step, peer, s->nodes + k, slice);
}

bool schedule_reduce_direct_step(const struct schedule *s, int i,
                                 struct schedule_step *step)
{
    struct combined c = direct_combined(s);
    int others = s->nodes - 1, combines = COMBINE_STEPS * s->nodes;

    if (i < others) {
        direct_send_part(s, i + 1, step);
    } else if ((i -= others) < combines) {
        combine_step(s, &c, i, step);
    } else if ((i -= combines) == 0) {
        combine_copy(s, &c, step);
    } else {
        i -= 1;
        direct_spread(s, i % others + 1, i < others, step);
        return i < 2 * others;
    }
    return true;
}

/* ---- ring ------------------------------------------------------------------------ */

/* SEND, RECV, REDUCE in each round of the reduce-scatter; SEND, RECV in the allgather. */
enum { RING_REDUCE = 3, RING_GATHER = 2 };

static void ring_reduce(const struct schedule *s, int round, int part,
                        struct schedule_step *step)
{
    struct schedule_region out = schedule_slice_at(s, -round);
    struct schedule_region in = schedule_slice_at(s, -round - 1);
    struct schedule_region inbox = schedule_inbox_at(in.first, in.count);

    if (part == 0)
        schedule_send(step, schedule_at(s, 1), round, out,
                      schedule_inbox_at(out.first, out.count));
    else if (part == 1)
        schedule_recv(step, schedule_at(s, -1), round, inbox);
    else
        schedule_reduce(step, in, inbox, false);
}

static void ring_gather(const struct schedule *s, int round, bool send,
                        struct schedule_step *step)
{
    int tag = s->nodes - 1 + round, distance = send ? 1 - round : -round;
    struct schedule_region slice = schedule_slice_at(s, distance);

    if (send)
        schedule_send(step, schedule_at(s, 1), tag, slice, slice);
    else
        schedule_recv(step, schedule_at(s, -1), tag, slice);
}

bool schedule_reduce_ring_step(const struct schedule *s, int i,
                               struct schedule_step *step)
{
    int rounds = s->nodes - 1, first = RING_REDUCE * rounds;

    if (i < first) {
        ring_reduce(s, i / RING_REDUCE, i % RING_REDUCE, step);
        return true;
    }
    i -= first;
    if (i < RING_GATHER * rounds)
        ring_gather(s, i / RING_GATHER, i % RING_GATHER == 0, step);
    return i < RING_GATHER * rounds;
}
