/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_key.h - what identifies a message, what a receive asks for, and the entry that a
 * caller embeds in its request or in its message header to queue it.
 *
 * An entry belongs to the caller, is in at most one queue, and stays at its address while
 * it is there.  The key of a queued entry is constant.  A leaf.
 * Used by: all files of compat/mpi/match.
 */
#ifndef COMPAT_MPI_MATCH_KEY_H
#define COMPAT_MPI_MATCH_KEY_H

#include <stdbool.h>
#include <stdint.h>

/* The wildcards of receives and probes; no message has them.  All other values, negative
 * ones too, are ordinary.  There is no wildcard for the context: internal traffic has
 * contexts of its own, so that MATCH_ANY_TAG cannot match it. */
#define MATCH_ANY_SOURCE INT32_MIN
#define MATCH_ANY_TAG    INT32_MIN

struct match_key {
    uint32_t context;
    int32_t source, tag;
};

enum match_where {
    MATCH_NOWHERE, /* zeroed memory is an unqueued entry */
    MATCH_IN_LIST,
    MATCH_IN_NODE,
    MATCH_IN_INBOX, /* of tail queues (match_tail.h) */
};

struct match_node;

struct match_entry {
    struct match_key key;
    uint16_t where; /* enum match_where */
    uint16_t slot;  /* in the node */
    union {
        struct match_node *node;
        struct match_entry *prev;
    };
    struct match_entry *next;
    uint64_t age; /* in a queue with bins (match_bins.h) */
};

/* All ones, or 0 for a wildcard */
static inline uint32_t match_field_mask(int32_t field)
{
    return field == INT32_MIN ? 0 : UINT32_MAX;
}

static inline bool match_field_fits(int32_t wanted, int32_t field)
{
    return wanted == INT32_MIN || wanted == field;
}

static inline bool match_key_fits(const struct match_key *receive,
                                  const struct match_key *message)
{
    return receive->context == message->context &&
           match_field_fits(receive->source, message->source) &&
           match_field_fits(receive->tag, message->tag);
}

#endif
