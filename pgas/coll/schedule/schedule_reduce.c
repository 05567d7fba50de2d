/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schedule_reduce.c - schedules of reductions between leaders.
 *
 * All leaders obtain the same bits: each slice is combined by one leader, or by all
 * leaders in the same order.
 */
#include "config.h"

#include "pgas/coll/schedule/schedule_int.h"

/* ---- direct ---------------------------------------------------------------------- */

/*
 * N - 1 SENDs of the slices of the others; RECV and REDUCE of each node's contribution to
 * the own slice, in node order; COPY of the sum to the operand; N - 1 SENDs and N - 1
 * RECVs of sums.
 */
enum { DIRECT_COMBINE = 2 };

/* Contribution of a node to this leader's slice.  The sum accumulates in that of node 0.
 */
static struct schedule_region direct_part(const struct schedule *s, int node)
{
    struct schedule_region mine = schedule_slice(s, s->rank);

    return node == s->rank
               ? mine
               : schedule_inbox_at((size_t)node * schedule_slice_part(s), mine.count);
}

static void direct_send_part(const struct schedule *s, int k, struct schedule_step *step)
{
    int peer = schedule_at(s, k);
    struct schedule_region from = schedule_slice(s, peer);
    size_t at = (size_t)s->rank * schedule_slice_part(s);

    schedule_send(step, peer, k, from, schedule_inbox_at(at, from.count));
}

static void direct_combine(const struct schedule *s, int node, bool recv,
                           struct schedule_step *step)
{
    if (recv && node != s->rank)
        schedule_recv(step, node, schedule_at(s, -node), direct_part(s, node));
    else if (!recv && node > 0)
        schedule_reduce(step, direct_part(s, 0), direct_part(s, node), false);
}

static void direct_copy(const struct schedule *s, struct schedule_step *step)
{
    if (s->rank != 0)
        *step = (struct schedule_step){.kind = STEP_COPY,
                                       .to = schedule_slice(s, s->rank),
                                       .from = direct_part(s, 0)};
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
    int others = s->nodes - 1, combines = DIRECT_COMBINE * s->nodes;

    if (i < others) {
        direct_send_part(s, i + 1, step);
    } else if ((i -= others) < combines) {
        direct_combine(s, i / DIRECT_COMBINE, i % DIRECT_COMBINE == 0, step);
    } else if ((i -= combines) == 0) {
        direct_copy(s, step);
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
