/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule_chain.c - scans, and reductions in the order of the ranks: pipelined chains,
 * and a scan in a logarithmic number of rounds. */
#include "config.h"

#include "pgas/coll/schedule/schedule_int.h"

/* The inbox receives the combination of the previous ranks, and the contribution of this
 * rank is added to it there. */
static struct schedule_region chain_inbox(const struct schedule *s, int segment)
{
    struct schedule_region r = schedule_segment(s, segment);

    r.space = SPACE_INBOX;
    return r;
}

enum { CHAIN_STEPS = 3 }; /* RECV, COPY or REDUCE, SEND of a segment */

static void chain_step(const struct schedule *s, int segment, int part,
                       struct schedule_step *step)
{
    struct schedule_region inbox = chain_inbox(s, segment), source = inbox;

    source.space = SPACE_SOURCE;
    if (part == 0 && s->rank > 0)
        schedule_recv(step, s->rank - 1, segment, inbox);
    else if (part == 1 && s->rank == 0)
        *step = (struct schedule_step){.kind = STEP_COPY, .to = inbox, .from = source};
    else if (part == 1)
        schedule_reduce(step, inbox, source, false);
    else if (part == 2 && s->rank + 1 < s->nodes)
        schedule_send(step, s->rank + 1, segment, inbox, inbox);
}

bool schedule_scan_chain_step(const struct schedule *s, int i, struct schedule_step *step)
{
    int segment = i / CHAIN_STEPS;

    if (segment >= schedule_segments(s))
        return false;
    chain_step(s, segment, i % CHAIN_STEPS, step);
    return true;
}

/*
 * Result of the last rank to all: a tree of the distances from it.  A single segment
 * takes a binomial tree, more segments the chain in the opposite direction.
 * Turn t consists of the steps of segment t in the chain and of those of segment t - lag
 * of the result.  A result is later than its segment by two messages for each rank
 * between this one and the last one; without the lag a rank would wait for each result
 * before it goes on.
 */
enum { RESULT_STEPS = 2 }; /* RECV or COPY, READY; then a SEND to each child */

static int ordered_children(const struct schedule *s)
{
    return schedule_segments(s) == 1 ? schedule_log2(s->nodes) : 1;
}

static void ordered_result(const struct schedule *s, int segment, int part,
                           struct schedule_step *step)
{
    int last = s->nodes - 1, children = ordered_children(s);
    int tag = schedule_segments(s) + segment;
    struct schedule_region data = schedule_segment(s, segment);
    struct schedule from_last = {.nodes = s->nodes, .rank = last - s->rank};
    bool tree = schedule_segments(s) == 1;
    int parent = tree ? schedule_binomial_parent(from_last.rank) : from_last.rank - 1;
    int child = from_last.rank + 1 < s->nodes ? from_last.rank + 1 : -1;

    if (tree)
        child = schedule_binomial_child(&from_last, children - 1 - (part - RESULT_STEPS));
    if (part == 0 && s->rank == last)
        *step = (struct schedule_step){
            .kind = STEP_COPY, .to = data, .from = chain_inbox(s, segment)};
    else if (part == 0)
        schedule_recv(step, last - parent, tag, data);
    else if (part == 1)
        schedule_ready(step, data);
    else if (child >= 0)
        schedule_send(step, last - child, tag, data, data);
}

bool schedule_reduce_ordered_step(const struct schedule *s, int i,
                                  struct schedule_step *step)
{
    int steps = CHAIN_STEPS + RESULT_STEPS + ordered_children(s);
    int turn = i / steps, part = i % steps, segments = schedule_segments(s);
    int lag = segments == 1 ? 0 : 2 * (s->nodes - 1 - s->rank);

    if (turn >= segments + lag)
        return false;
    if (part < CHAIN_STEPS && turn < segments)
        chain_step(s, turn, part, step);
    else if (part >= CHAIN_STEPS && turn >= lag)
        ordered_result(s, turn - lag, part - CHAIN_STEPS, step);
    return true;
}

/* ---- scan by recursive doubling ---------------------------------------------------- */

enum { DOUBLING_STEPS = 4 }; /* SEND, RECV, two times REDUCE in each round */

/* DATA is the combination of up to 2^round ranks that end with this one.  That of the
 * ranks before them arrives in part `round` of the inbox.  Part 0 becomes the combination
 * of all previous ranks. */
bool schedule_scan_doubling_step(const struct schedule *s, int i,
                                 struct schedule_step *step)
{
    int round = i / DOUBLING_STEPS, part = i % DOUBLING_STEPS, distance = 1 << round;
    struct schedule_region data = schedule_data(0, s->units);
    struct schedule_region first = schedule_inbox_at(0, s->units);
    struct schedule_region inbox =
        schedule_inbox_at((size_t)round * schedule_operand_part(s), s->units);
    bool receives = s->rank >= distance;

    if (distance >= s->nodes)
        return false;
    if (part == 0 && distance < s->nodes - s->rank) {
        schedule_send(step, s->rank + distance, round, data, inbox);
        step->copied = true;
    } else if (part == 1 && receives) {
        schedule_recv(step, s->rank - distance, round, inbox);
    } else if (part == 2 && receives && round > 0) {
        schedule_reduce(step, first, inbox, true);
    } else if (part == 3 && receives && 2 * distance < s->nodes - s->rank) {
        schedule_reduce(step, data, inbox, true); /* it will be sent again */
    }
    return true;
}
