/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schedule_int.h - private to the files schedule*.c: the functions of the algorithms, and
 * what they share.
 *
 * A function schedule_NAME_step stores step i of the leader, which was initialized to
 * NONE; false: there is no step i.  schedule_NAME_tags and schedule_NAME_inbox: see
 * schedule.h.
 */
#ifndef PGAS_COLL_SCHEDULE_INT_H
#define PGAS_COLL_SCHEDULE_INT_H

#include "pgas/coll/schedule/schedule.h"

#define X(NAME, function, text)                                                          \
    bool schedule_##function##_step(const struct schedule *s, int i,                     \
                                    struct schedule_step *step);                         \
    int schedule_##function##_tags(const struct schedule *s);                            \
    size_t schedule_##function##_inbox(const struct schedule *s);
SCHEDULE_ALL(X)
#undef X

/* The rank at a cyclic distance > -nodes from this one. */
static inline int schedule_at(const struct schedule *s, int distance)
{
    return (int)(((long)s->rank + distance + s->nodes) % s->nodes);
}

/* Slice i of the operand: the part of rank i if it is divided among all ranks. */
struct schedule_region schedule_slice(const struct schedule *s, int i);
/* The largest slice, rounded up to a line. */
size_t schedule_slice_most(const struct schedule *s);

static inline struct schedule_region schedule_data(size_t first, size_t count)
{
    return (struct schedule_region){.space = SPACE_DATA, .first = first, .count = count};
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
