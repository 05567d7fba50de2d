/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * credit.h - sequence numbers of operations that share a ring of buffers, and the credit
 * that bounds them.
 *
 * Operation `seq` (1, 2, ..) uses buffer seq % slots.  It may write to its buffer when
 * operation seq - slots, the last user of the buffer, is known to have ended on all PEs:
 *
 *     acked <= seq,   and for an operation that writes:   seq <= acked + slots
 *
 * Both numbers only increase.  All participants advance `seq` alike, so each decides
 * locally, from its own numbers, whether it has to wait.
 *
 *     operations            slots         credit is returned by
 *     mailboxes             8, inline 64  data read of all PEs, a barrier, `done` words
 *     leader exchanges      2             a leader barrier, a dependent message
 *     eager broadcasts      128           a leader barrier
 *     chunks of broadcasts  16            a leader barrier
 *     nonblocking           NB_OUT        completion on this PE, in call order (nb.c
 *     collectives                         shows that this is enough)
 *
 * A struct credit belongs to one PE and one team, of which one thread at a time is in a
 * collective (nb.c: under its lock).
 * Uses: core/base/pgas_assert.  Used by: barrier, mailbox, internode, leader_msg,
 * bcast_internode, nb.
 */
#ifndef PGAS_COLL_CREDIT_H
#define PGAS_COLL_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "pgas/core/base/pgas_assert.h"

struct credit {
    uint64_t seq; /* operations begun by this PE */
    /* All operations up to this one have ended on all PEs (nb.c: on this PE). */
    uint64_t acked;
};

/* Begins an operation and returns its number. */
static inline uint64_t credit_begin(struct credit *c)
{
    PGAS_ASSERT(c->acked <= c->seq);
    return ++c->seq;
}

/* True if operation `seq` may write to its buffer. */
static inline bool credit_covers(const struct credit *c, uint64_t seq, uint64_t slots)
{
    return seq <= c->acked + slots;
}

/* True if the next operation may write to its buffer at once. */
static inline bool credit_available(const struct credit *c, uint64_t slots)
{
    return credit_covers(c, c->seq + 1, slots);
}

/* All operations up to `seq` have ended on all PEs. */
static inline void credit_return(struct credit *c, uint64_t seq)
{
    PGAS_ASSERT(seq <= c->seq);
    if (seq > c->acked)
        c->acked = seq;
}

/* All operations begun so far have ended on all PEs. */
static inline void credit_return_all(struct credit *c)
{
    c->acked = c->seq;
}

#endif
