/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schedule_int.h - private to the files schedule*.c: the functions of the algorithms, and
 * their helpers.
 *
 * schedule_<function>_step stores step i of the leader, which was initialized to NONE;
 * false: there is no step i.  The column `tags` of the table names the function of
 * schedule.c that bounds the tags, `inbox` the one that bounds the inbox.
 */
#ifndef PGAS_COLL_SCHEDULE_INT_H
#define PGAS_COLL_SCHEDULE_INT_H

#include "pgas/coll/algorithms/slice.h"
#include "pgas/coll/schedule/schedule.h"

#define X(NAME, function, tags, inbox, text)                                             \
    bool schedule_##function##_step(const struct schedule *s, int i,                     \
                                    struct schedule_step *step);
SCHEDULE_ALL(X)
#undef X

/* The rank at a cyclic distance > -nodes from this one. */
static inline int schedule_at(const struct schedule *s, int distance)
{
    return (int)(((long)s->rank + distance + s->nodes) % s->nodes);
}

static inline struct schedule_region schedule_data(size_t first, size_t count)
{
    return (struct schedule_region){.space = SPACE_DATA, .first = first, .count = count};
}

/* The k-th child of this rank in the binomial tree, or -1; and the parent of a rank. */
static inline int schedule_binomial_child(const struct schedule *s, int k)
{
    int bit = 1 << k;

    return (s->rank & (2 * bit - 1)) == 0 && bit < s->nodes - s->rank ? s->rank + bit
                                                                      : -1;
}

static inline int schedule_binomial_parent(int rank)
{
    return rank & (rank - 1);
}

/* Slice i of the operand, which is divided among all ranks. */
static inline struct schedule_region schedule_slice(const struct schedule *s, int i)
{
    struct slice slice = slice_aligned(s->units, s->line, i, s->nodes);

    return schedule_data(slice.first, slice.end - slice.first);
}

/* The slice of the rank at a cyclic distance > -nodes. */
static inline struct schedule_region schedule_slice_at(const struct schedule *s,
                                                       int distance)
{
    return schedule_slice(s, schedule_at(s, distance));
}

/* Units of an inbox part for the whole operand, and for a slice. */
static inline size_t schedule_operand_part(const struct schedule *s)
{
    return slice_most(s->units, s->line, 1);
}

static inline size_t schedule_slice_part(const struct schedule *s)
{
    return slice_most(s->units, s->line, s->nodes);
}

/* Units of an inbox part of one round of an alltoall. */
static inline size_t schedule_bruck_part(const struct schedule *s)
{
    return (size_t)s->nodes / 2 + 1;
}

static inline struct schedule_region schedule_inbox_at(size_t first, size_t count)
{
    return (struct schedule_region){.space = SPACE_INBOX, .first = first, .count = count};
}

static inline void schedule_send(struct schedule_step *step, int peer, int tag,
                                 struct schedule_region from, struct schedule_region to)
{
    *step = (struct schedule_step){
        .kind = STEP_SEND, .peer = peer, .tag = tag, .from = from, .to = to};
}

static inline void schedule_recv(struct schedule_step *step, int peer, int tag,
                                 struct schedule_region to)
{
    *step = (struct schedule_step){.kind = STEP_RECV, .peer = peer, .tag = tag, .to = to};
}

static inline void schedule_reduce(struct schedule_step *step, struct schedule_region to,
                                   struct schedule_region from, bool before)
{
    *step = (struct schedule_step){
        .kind = STEP_REDUCE, .to = to, .from = from, .before = before};
}

static inline void schedule_ready(struct schedule_step *step, struct schedule_region to)
{
    *step = (struct schedule_step){.kind = STEP_READY, .to = to};
}

#endif
