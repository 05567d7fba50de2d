/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mailbox.h - eager exchange of small data between the PEs of a team on one node: each PE
 * publishes its data in its own sync area, and a reader waits only for the PEs whose data
 * it reads.
 *
 *     struct mailbox b = mailbox_open(team, bytes, fn);
 *     write at most `bytes` bytes to mailbox_own(&b)
 *     mailbox_post(&b);
 *     read mailbox_of(&b, i), which waits for PE i of the team
 *     mailbox_close_all(&b) after reading the data of all PEs, else mailbox_close(&b)
 *
 * Collective: all PEs of the team open the same mailboxes in the same order.  The data at
 * mailbox_of stay valid until this PE closes the mailbox.  Only for teams with
 * mailbox_has: all PEs mapped, no active set.
 * Uses: core/team, core/block, rma, barrier.
 * Used by: arrival, bcast, collect, alltoall, alltoalls, scan, reduce, adapt.
 */
#ifndef PGAS_COLL_MAILBOX_H
#define PGAS_COLL_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/coll/sync/credit.h"
#include "pgas/core/boot/node.h"
#include "pgas/core/team/team.h"

enum {
    MAILBOX_SLOTS = 8, /* ring of full slots, by call number */
    MAILBOX_SLOT_BYTES = 2048,
    MAILBOX_LINES = 64, /* ring of inline slots: data and call number in one cache line */
    MAILBOX_LINE_BYTES = 48,
};

/* An eager slot, full or inline: the number of the call, and data. */
struct mailbox_slot {
    _Alignas(NODE_LINE) uint64_t call;
    _Alignas(16) char data[MAILBOX_SLOT_BYTES];
};
struct mailbox_line {
    _Alignas(NODE_LINE) uint64_t call;
    _Alignas(16) char data[MAILBOX_LINE_BYTES];
};

/* On each PE, written by its owner, except `combiner`: written by the combiner of the
 * call, on team PE 0 or on each PE. */
struct mailbox_words {
    _Alignas(NODE_LINE) uint64_t done;     /* last call whose data this PE has read */
    _Alignas(NODE_LINE) uint64_t parts;    /* call << 16 | parts published in that call */
    _Alignas(NODE_LINE) uint64_t combiner; /* call << 16 | combiner of that call */
};

/* Invariant: credit.h. */
struct mailbox_state {
    struct credit calls;
    uint64_t before_barrier; /* calls before the last barrier of the team */
};

struct mailbox {
    struct shmem_team *team;
    uint64_t call; /* call number: 1, 2, .. */
    bool line;     /* the data fit an inline slot */
    const char *fn;
};

/* The data of a PE are limited to MAILBOX_SLOT_BYTES. */
static inline bool mailbox_has(const struct shmem_team *team)
{
    return !team->remote && team->psync == NULL;
}

/* For at most `bytes` from each PE, the same number on all PEs. */
struct mailbox mailbox_open(struct shmem_team *team, size_t bytes, const char *fn);

/* True if the last calls that used the slots of the next `calls` calls with `bytes` were
 * before a barrier of the team (mailbox_note_barrier) or a call that replaces one
 * (mailbox_note_ended), so that mailbox_own does not wait.  The same on all PEs. */
bool mailbox_barrier_covers(const struct shmem_team *team, size_t bytes, unsigned calls);
/* All PEs know that all PEs have ended the call: called by all of them after the same
 * call. */
void mailbox_note_ended(const struct mailbox *b); /* A barrier of the team has ended: all
                                                     PEs have ended all calls. */
void mailbox_note_barrier(struct shmem_team *team);

/* This PE's slot, aligned for any type; waits until all PEs have ended the call that last
 * used the slot, MAILBOX_SLOTS or MAILBOX_LINES calls ago. */
char *mailbox_own(struct mailbox *b);
/* Publish the slot: to all PEs, */
void mailbox_post(struct mailbox *b);
/* to PE i of the team only, */
void mailbox_post_to(struct mailbox *b, int i);
/* or without a wake-up, for readers that are notified by other means. */
void mailbox_publish(struct mailbox *b);
/* After mailbox_publish: wake PE i of the team. */
void mailbox_wake_reader(const struct mailbox *b, int i);

/* Wait for the data of PE i of the team (acquire). */
const char *mailbox_of(const struct mailbox *b, int i);
/* True if the data of PE i are published (acquire). */
bool mailbox_published(const struct mailbox *b, int i);
/* Wait until ready(arg), which tests mailbox_published of several PEs. */
void mailbox_wait_for(const struct mailbox *b, bool (*ready)(const void *arg),
                      const void *arg);

/* End the call.  mailbox_close_all: this PE has read the data of all PEs, or of a PE that
 * had read them. mailbox_close: it may not have.  A call that ends with a barrier after
 * its last read needs neither. */
void mailbox_close_all(struct mailbox *b);
void mailbox_close(struct mailbox *b);
/* Wait until all PEs have closed it by mailbox_close. */
void mailbox_await_all_closed(const struct mailbox *b);

/* Words of struct node_words (at `offset`) that are written in mailbox calls.  A word
 * only increases during the life of a team; waiting is for a value >= `value`, with
 * acquire.
 *
 * | word of     | written by    | wait               | wake-up after the store |
 * |-------------|---------------|--------------------|-------------------------|
 * | team PE i   | PE i          | mailbox_wait       | mailbox_wake            |
 * | this PE     | any other PE  | mailbox_wait_own   | mailbox_wake_owner      |
 * | team PE 0   | one of all    | mailbox_wait_first | (mailbox_store_first)   |
 */
void mailbox_wait(const struct mailbox *b, size_t offset, int i, uint64_t value);
void mailbox_wait_own(const struct mailbox *b, size_t offset, uint64_t value);
void mailbox_wake(const struct mailbox *b, size_t offset);
void mailbox_wake_owner(const struct mailbox *b, size_t offset, int i);

/* Returns the value of the word. */
uint64_t mailbox_wait_first(const struct mailbox *b, size_t offset, uint64_t value);
void mailbox_store_first(const struct mailbox *b, size_t offset, uint64_t value);

/* Pipelining: publish that the first n parts of this PE are ready, and wait for those of
 * PE i. n < MAILBOX_PARTS, not decreasing during the call. */
enum { MAILBOX_PARTS = 1 << 16 };
void mailbox_publish_parts(const struct mailbox *b, uint64_t n);
void mailbox_await_parts(const struct mailbox *b, int i, uint64_t n);

/* Announce this PE as the combiner of the call, and wait for the announcement (returns
 * the combiner). Once per call, after all PEs have begun it. */
void mailbox_release(const struct mailbox *b);
int mailbox_await_release(const struct mailbox *b);
/* As above, but with a cache line per waiting PE; only for PE `to` if it is not -1. */
void mailbox_release_each(const struct mailbox *b, int to);
int mailbox_await_release_own(const struct mailbox *b);

#endif
