/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule_data.c - schedules without computation: allgather and barrier, broadcast,
 * alltoall. */
#include "config.h"

#include "pgas/coll/schedule/schedule_int.h"

/* ---- allgather, barrier ------------------------------------------------------------ */

/* The block of the node at a cyclic distance > -nodes. */
static struct schedule_region gather_block(const struct schedule *s, int distance)
{
    return schedule_data((size_t)schedule_at(s, distance), 1);
}

/* The blocks of `count` nodes, cyclically ending with rank `last`. */
static struct schedule_region gather_ending(const struct schedule *s, int last, int count)
{
    return schedule_data((size_t)((last - count + 1 + s->nodes) % s->nodes),
                         (size_t)count);
}

/* N - 1 SENDs; then RECV and READY of each other block. */
bool schedule_gather_direct_step(const struct schedule *s, int i,
                                 struct schedule_step *step)
{
    int others = s->nodes - 1, k = i < others ? i + 1 : (i - others) / 2 + 1;
    struct schedule_region mine = gather_block(s, 0);

    if (i < others)
        schedule_send(step, schedule_at(s, k), k - 1, mine, mine);
    else if (k < s->nodes && (i - others) % 2 == 0)
        schedule_recv(step, schedule_at(s, -k), k - 1, gather_block(s, -k));
    else if (k < s->nodes)
        schedule_ready(step, gather_block(s, -k));
    return k < s->nodes;
}

/* SEND and RECV in each round; the last round sends only the missing blocks. */
bool schedule_dissemination_step(const struct schedule *s, int i,
                                 struct schedule_step *step)
{
    int round = i / 2, distance = 1 << round;
    int missing = s->nodes - distance, from = schedule_at(s, -distance);
    int count = missing < distance ? missing : distance;

    if (missing <= 0)
        return false;
    if (i % 2 == 0) {
        struct schedule_region blocks = gather_ending(s, s->rank, count);
        schedule_send(step, schedule_at(s, distance), round, blocks, blocks);
    } else {
        schedule_recv(step, from, round, gather_ending(s, from, count));
    }
    return true;
}

enum { RING_ROUND = 3 }; /* SEND, RECV, READY */

bool schedule_gather_ring_step(const struct schedule *s, int i,
                               struct schedule_step *step)
{
    int k = i / RING_ROUND + 1, part = i % RING_ROUND;
    struct schedule_region out = gather_block(s, 1 - k), in = gather_block(s, -k);

    if (k >= s->nodes)
        return false;
    if (part == 0)
        schedule_send(step, schedule_at(s, 1), k - 1, out, out);
    else if (part == 1)
        schedule_recv(step, schedule_at(s, -1), k - 1, in);
    else
        schedule_ready(step, in);
    return true;
}

/* ---- broadcast by a tree ----------------------------------------------------------- */

/* The k-nomial tree over ranks: in numbers to base k = radix, the parent of a rank has 0
 * instead of its lowest digit that is not 0. */

/* Digits of the ranks. */
static int knomial_levels(const struct schedule *s)
{
    int levels = 0;

    for (long weight = 1; weight < s->nodes; weight *= s->radix)
        levels++;
    return levels;
}

/* The i-th child, from the lowest level, or -1; i < levels * (radix - 1). */
static int knomial_child(const struct schedule *s, int i)
{
    int level = i / (s->radix - 1), digit = i % (s->radix - 1) + 1;
    long weight = 1;

    while (level-- > 0)
        weight *= s->radix;
    long child = s->rank + digit * weight;
    return s->rank % (weight * s->radix) == 0 && child < s->nodes ? (int)child : -1;
}

static int knomial_parent(const struct schedule *s)
{
    int weight = 1;

    while (s->rank / weight % s->radix == 0)
        weight *= s->radix;
    return s->rank - s->rank / weight % s->radix * weight;
}

/* RECV, READY and a SEND to each child for each segment, to the highest level first.
 * READY precedes the SENDs, which may wait for resources. */
bool schedule_bcast_knomial_step(const struct schedule *s, int i,
                                 struct schedule_step *step)
{
    int most = knomial_levels(s) * (s->radix - 1);
    int tag = i / (2 + most), part = i % (2 + most);
    int child = part >= 2 ? knomial_child(s, most - 1 - (part - 2)) : -1;

    if (tag >= schedule_segments(s))
        return false;
    struct schedule_region segment = schedule_segment(s, tag);
    if (part == 0 && s->rank != 0)
        schedule_recv(step, knomial_parent(s), tag, segment);
    else if (part == 1)
        schedule_ready(step, segment);
    else if (child >= 0)
        schedule_send(step, child, tag, segment, segment);
    return true;
}

/* ---- broadcast by scatter and ring ------------------------------------------------- */

/* Rounds of SEND to the next rank and RECV from the previous one.  Rank 0 has all slices,
 * so its predecessor sends it nothing. */
static bool scatter_ring(const struct schedule *s, int i, struct schedule_step *step)
{
    int round = i / 2 + 1, next = s->rank + 1;

    if (round >= s->nodes) {
        if (i % 2 == 0)
            schedule_ready(step, schedule_data(0, s->units));
        return round == s->nodes && i % 2 == 0;
    }
    if (i % 2 == 0 && next < s->nodes) {
        struct schedule_region out = schedule_slice_at(s, 1 - round);
        schedule_send(step, next, round, out, out);
    } else if (i % 2 != 0 && s->rank != 0) {
        schedule_recv(step, s->rank - 1, round, schedule_slice_at(s, -round));
    }
    return true;
}

bool schedule_bcast_scatter_step(const struct schedule *s, int i,
                                 struct schedule_step *step)
{
    int scatter = s->rank == 0 ? s->nodes - 1 : 1;

    if (i >= scatter)
        return scatter_ring(s, i - scatter, step);
    struct schedule_region slice = schedule_slice(s, s->rank == 0 ? i + 1 : s->rank);
    if (s->rank == 0)
        schedule_send(step, i + 1, 0, slice, slice);
    else
        schedule_recv(step, 0, 0, slice);
    return true;
}

/* ---- alltoall ---------------------------------------------------------------------- */

enum { BRUCK_ROUND = 3 }; /* SEND, RECV, COPY from the inbox to the bundles */

/* Number of integers in 1 .. nodes - 1 that have the bit. */
static size_t bruck_count(const struct schedule *s, unsigned bit)
{
    size_t n = (size_t)s->nodes, full = n / (2 * bit) * bit, rest = n % (2 * bit);

    return full + (rest > bit ? rest - bit : 0);
}

static struct schedule_region bruck_inbox(const struct schedule *s, int round)
{
    return schedule_inbox_at((size_t)round * schedule_bruck_part(s),
                             bruck_count(s, 1u << round));
}

static struct schedule_region bruck_bundles(const struct schedule *s, int round)
{
    return (struct schedule_region){
        .space = SPACE_DATA, .bit = 1u << round, .count = bruck_count(s, 1u << round)};
}

/* The bundles change in the COPY of the same round. */
bool schedule_alltoall_bruck_step(const struct schedule *s, int i,
                                  struct schedule_step *step)
{
    int round = i / BRUCK_ROUND, part = i % BRUCK_ROUND, distance = 1 << round;

    if (distance >= s->nodes)
        return false;
    if (part == 0) {
        schedule_send(step, schedule_at(s, distance), round, bruck_bundles(s, round),
                      bruck_inbox(s, round));
        step->copied = true;
    } else if (part == 1) {
        schedule_recv(step, schedule_at(s, -distance), round, bruck_inbox(s, round));
    } else {
        *step = (struct schedule_step){.kind = STEP_COPY,
                                       .tag = round,
                                       .to = bruck_bundles(s, round),
                                       .from = bruck_inbox(s, round)};
    }
    return true;
}

/* N - 1 SENDs; COPY of the own bundle; N - 1 times RECV and COPY. */
bool schedule_alltoall_direct_step(const struct schedule *s, int i,
                                   struct schedule_step *step)
{
    int sends = s->nodes - 1, k = i - sends, distance = (k + 1) / 2;
    size_t rank = (size_t)s->rank;

    if (i < sends) {
        int peer = schedule_at(s, i + 1);
        schedule_send(step, peer, i + 1,
                      (struct schedule_region){
                          .space = SPACE_SOURCE, .first = (size_t)peer, .count = 1},
                      schedule_inbox_at(rank, 1));
        return true;
    }
    if (distance > sends)
        return false;
    int peer = schedule_at(s, -distance);
    struct schedule_region from = schedule_inbox_at((size_t)peer, 1);
    if (k % 2 != 0) {
        schedule_recv(step, peer, distance, from);
        return true;
    }
    from.space = distance == 0 ? SPACE_SOURCE : SPACE_INBOX;
    *step = (struct schedule_step){.kind = STEP_COPY,
                                   .peer = peer,
                                   .tag = distance,
                                   .from = from,
                                   .to = schedule_data((size_t)peer, 1)};
    return true;
}

/* BARRIER; N - 1 PUTs; COPY of the own block; BARRIER. */
bool schedule_alltoall_pairwise_step(const struct schedule *s, int i,
                                     struct schedule_step *step)
{
    size_t peer = (size_t)schedule_at(s, i % s->nodes);

    if (i > s->nodes + 1)
        return false;
    *step =
        (struct schedule_step){.kind = i == 0 || i > s->nodes ? STEP_BARRIER
                                       : i < s->nodes         ? STEP_PUT
                                                              : STEP_COPY,
                               .peer = (int)peer,
                               .from = {.space = SPACE_SOURCE, .first = peer, .count = 1},
                               .to = schedule_data((size_t)s->rank, 1)};
    return true;
}
