/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schedule_pull.c - schedules of the nonblocking collectives: signals, and data by GETs.
 *
 * Ranks with a signal or a barrier between them have begun the collective, so that their
 * memory may be read; each rank ends after it knows that nobody reads its memory.
 */
#include "config.h"

#include "pgas/coll/schedule/schedule_int.h"

static void pull_signal(struct schedule_step *step, int peer, int tag)
{
    *step = (struct schedule_step){.kind = STEP_SEND, .peer = peer, .tag = tag};
}

static void pull_await(struct schedule_step *step, int peer, int tag)
{
    *step = (struct schedule_step){.kind = STEP_RECV, .peer = peer, .tag = tag};
}

static void pull_get(struct schedule_step *step, int peer, struct schedule_region from,
                     struct schedule_region to)
{
    *step =
        (struct schedule_step){.kind = STEP_GET, .peer = peer, .from = from, .to = to};
}

static void pull_copy(struct schedule_step *step, struct schedule_region from,
                      struct schedule_region to)
{
    *step = (struct schedule_step){.kind = STEP_COPY, .from = from, .to = to};
}

static struct schedule_region pull_source(struct schedule_region r)
{
    r.space = SPACE_SOURCE;
    return r;
}

static struct schedule_region pull_all(const struct schedule *s)
{
    return schedule_data(0, s->units);
}

/* ---- barriers ---------------------------------------------------------------------- */

static int pull_barrier_steps(const struct schedule *s)
{
    return 2 * schedule_log2(s->nodes);
}

/* Step i of a barrier whose first tag is `tag`. */
static void pull_barrier(const struct schedule *s, int i, int tag,
                         struct schedule_step *step)
{
    (void)schedule_dissemination_step(s, i, step);
    step->tag += tag;
    step->from = step->to = (struct schedule_region){.space = SPACE_DATA};
}

/*
 * GETs from all other ranks between two barriers, whose tags begin with 0 and log2 N;
 * with `second`, because a barrier with tag 0 precedes them, the other way round.  A rank
 * gets the peer's slice of DATA to its own, or (`blocks`) block `rank` of the peer's
 * SOURCE to block `peer` of DATA.
 */
static bool pull_between(const struct schedule *s, int i, bool blocks, bool second,
                         struct schedule_step *step)
{
    int steps = pull_barrier_steps(s), others = s->nodes - 1, tags = steps / 2;

    if (i < steps) {
        pull_barrier(s, i, second ? tags : 0, step);
    } else if ((i -= steps) < others) {
        int peer = schedule_at(s, i + 1);
        struct schedule_region slice = schedule_slice(s, peer);
        if (blocks)
            pull_get(step, peer, pull_source(schedule_data((size_t)s->rank, 1)),
                     schedule_data((size_t)peer, 1));
        else
            pull_get(step, peer, slice, slice);
    } else if ((i -= others) < steps) {
        pull_barrier(s, i, second ? 0 : tags, step);
    } else {
        return false;
    }
    return true;
}

bool schedule_pull_gather_step(const struct schedule *s, int i,
                               struct schedule_step *step)
{
    return pull_between(s, i, false, false, step);
}

bool schedule_pull_alltoall_step(const struct schedule *s, int i,
                                 struct schedule_step *step)
{
    return pull_between(s, i, true, false, step);
}

/* ---- reduction by slices ----------------------------------------------------------- */

/* Combines a segment of the slice: COPY or GET the operand of each rank, N - 1 REDUCEs,
 * COPY of the sum.  The sum is in part 0 of the inbox, since this rank's operand, which
 * may be in the same place as the result, is not the first one. */
static void pull_direct_combine(const struct schedule *s, struct schedule_region data,
                                int i, struct schedule_step *step)
{
    int rank = i < s->nodes ? i : i - s->nodes + 1;
    struct schedule_region sum = schedule_inbox_at(0, data.count);
    struct schedule_region part =
        rank == s->rank && rank > 0
            ? pull_source(data)
            : schedule_inbox_at((size_t)rank * s->segment, data.count);

    if (i >= 2 * s->nodes - 1) {
        pull_copy(step, sum, data);
    } else if (i >= s->nodes) {
        schedule_reduce(step, sum, part, false);
    } else if (rank != s->rank) {
        pull_get(step, rank, pull_source(data), part);
        step->copied = rank == 0;
    } else if (rank == 0) {
        pull_copy(step, pull_source(data), sum);
    }
}

/* The third barrier uses the tags of the first one. */
bool schedule_pull_direct_step(const struct schedule *s, int i,
                               struct schedule_step *step)
{
    struct schedule own = *s;
    struct schedule_region mine = schedule_slice(s, s->rank);
    int each = 2 * s->nodes, barrier = pull_barrier_steps(s);

    own.units = mine.count;
    int combines = each * schedule_segments(&own);
    if (i < barrier) {
        pull_barrier(s, i, 0, step);
    } else if ((i -= barrier) < combines) {
        struct schedule_region segment = schedule_segment(&own, i / each);
        segment.first += mine.first;
        pull_direct_combine(s, segment, i % each, step);
    } else {
        return pull_between(s, i - combines, false, true, step);
    }
    return true;
}

/* ---- binomial tree ----------------------------------------------------------------- */

/* The k for which this rank, which is not 0, is the k-th child of its parent. */
static int tree_own_k(const struct schedule *s)
{
    return __builtin_ctz((unsigned)s->rank);
}

/* RECV, GET, SEND of the acknowledgement 1 + k; SEND to each child, the largest subtree
 * first; RECV of their acknowledgements. */
bool schedule_pull_bcast_step(const struct schedule *s, int i, struct schedule_step *step)
{
    enum { TAKE = 3 };
    int most = schedule_log2(s->nodes), parent = schedule_binomial_parent(s->rank);

    if (i < TAKE) {
        if (s->rank == 0)
            return true;
        if (i == 0)
            pull_await(step, parent, 0);
        else if (i == 1)
            pull_get(step, parent, pull_all(s), pull_all(s));
        else
            pull_signal(step, parent, 1 + tree_own_k(s));
        return true;
    }
    i -= TAKE;
    int k = most - 1 - i % most, child = schedule_binomial_child(s, k);
    if (child >= 0 && i < most)
        pull_signal(step, child, 0);
    else if (child >= 0)
        pull_await(step, child, 1 + k);
    return i < 2 * most;
}

/* RECV from child k; for each segment GET, REDUCE, before the first REDUCE a COPY of the
 * own operand; SEND of the acknowledgement. */
enum { TREE_SEGMENT = 3 };

static void pull_tree_child(const struct schedule *s, int k, int i,
                            struct schedule_step *step)
{
    int child = schedule_binomial_child(s, k), segments = schedule_segments(s);
    bool leaf = child % 2 != 0 || child + 1 >= s->nodes;

    if (child < 0)
        return;
    if (i == 0) {
        pull_await(step, child, k);
    } else if ((i -= 1) < TREE_SEGMENT * segments) {
        struct schedule_region data = schedule_segment(s, i / TREE_SEGMENT);
        struct schedule_region inbox = schedule_inbox_at(0, data.count);
        if (i % TREE_SEGMENT == 0)
            pull_get(step, child, leaf ? pull_source(data) : data, inbox);
        else if (i % TREE_SEGMENT == 1 && k == 0)
            pull_copy(step, pull_source(data), data);
        else if (i % TREE_SEGMENT == 2)
            schedule_reduce(step, data, inbox, false);
    } else {
        pull_signal(step, child, schedule_log2(s->nodes));
    }
}

/* The children; SEND to the parent, RECV of its acknowledgement. */
bool schedule_pull_tree_step(const struct schedule *s, int i, struct schedule_step *step)
{
    int most = schedule_log2(s->nodes), each = 2 + TREE_SEGMENT * schedule_segments(s);
    int parent = schedule_binomial_parent(s->rank);

    if (i < most * each) {
        pull_tree_child(s, i / each, i % each, step);
        return true;
    }
    i -= most * each;
    if (s->rank != 0 && i == 0)
        pull_signal(step, parent, tree_own_k(s));
    else if (s->rank != 0 && i == 1)
        pull_await(step, parent, most);
    return i < 2;
}

/* ---- scan -------------------------------------------------------------------------- */

/*
 * Level k: each rank passes its sum to the rank at distance 2^k: SEND, RECV, GET, SEND
 * and RECV of the acknowledgement, REDUCE.  In level k the sum is that of the last 2^k
 * ranks.
 */
enum { SCAN_LEVEL = 6 };

static void scan_level(const struct schedule *s, int level, int distance, int i,
                       struct schedule_step *step)
{
    int below = s->rank - distance, above = s->rank + distance, tag = 2 * level;
    struct schedule_region inbox = schedule_inbox_at(0, s->units);

    if (i == 0 && above < s->nodes)
        pull_signal(step, above, tag);
    else if (i == 4 && above < s->nodes)
        pull_await(step, above, tag + 1);
    if (below < 0)
        return;
    if (i == 1) {
        pull_await(step, below, tag);
    } else if (i == 2) {
        pull_get(step, below, pull_all(s), inbox);
        step->copied = true;
    } else if (i == 3) {
        pull_signal(step, below, tag + 1);
    } else if (i == 5) {
        schedule_reduce(step, pull_all(s), inbox, true);
    }
}

bool schedule_pull_scan_step(const struct schedule *s, int i, struct schedule_step *step)
{
    int level = i / SCAN_LEVEL;

    if (level >= schedule_log2(s->nodes))
        return false;
    scan_level(s, level, 1 << level, i % SCAN_LEVEL, step);
    return true;
}

/* At last each rank gets the inclusive sum of its predecessor. */
bool schedule_pull_exscan_step(const struct schedule *s, int i,
                               struct schedule_step *step)
{
    int levels = schedule_log2(s->nodes), last = i - levels * SCAN_LEVEL;

    if (last < 0)
        return schedule_pull_scan_step(s, i, step);
    if (last >= SCAN_LEVEL)
        return false;
    scan_level(s, levels, 1, last, step);
    if (step->kind == STEP_REDUCE)
        step->kind = STEP_COPY;
    return true;
}
