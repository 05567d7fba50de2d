/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_tail.h - a matcher for several threads, with tail queues: posting threads and
 * threads that deliver messages search at the same time.
 *
 * A side is one queue of the matcher: the main queue, and an inbox, its younger end.
 * - The lock of a side protects its main queue.  Posts take the lock of the unexpected
 *   messages, because they search them, and arrivals that of the posted receives.
 * - The tail lock protects both inboxes.  An operation that has found nothing in the main
 *   queue takes it, searches the inbox of that side, and appends its entry to the other
 *   inbox: so of a receive and a message that fit each other, the one that gets the tail
 *   lock later finds the other.
 * - Order of locks: that of a side, then the tail lock; never both sides.
 *
 * Invariant: an entry of an inbox is younger than all entries of its main queue.  Entries
 * move from the inbox to the main queue in order, under the lock of the side.
 *
 * The locks are not first come, first served, but bound how often a waiter is passed
 * over. The caller must serialize the arrivals of one source: two threads that deliver
 * its messages could take the lock in the wrong order. Uses: match_queue, adaptive.  Used
 * by: tests, bench.
 */
#ifndef COMPAT_MPI_MATCH_TAIL_H
#define COMPAT_MPI_MATCH_TAIL_H

#include "compat/mpi/match/match_queue.h"
#include "pgas/threads/adaptive.h"

struct match_side {
    _Alignas(MATCH_LINE) struct adaptive_lock lock;
    struct match_queue queue;
    uint64_t from_inbox; /* entries moved to the main queue */
    uint64_t inbox_hits; /* matches with entries of the inbox */
};

struct match_inbox {
    struct match_list list;
    uint32_t count;
};

struct match_tail {
    struct match_side posted, unexpected;
    _Alignas(MATCH_LINE) struct adaptive_lock tail_lock;
    struct match_inbox posted_inbox, unexpected_inbox;
};

/* Returns 0, EINVAL or ENOMEM, as match_queue_init.  match_tail_free: no thread uses it
 * any more.
 */
int match_tail_init(struct match_tail *t, const struct match_options *options);
void match_tail_free(struct match_tail *t);

/* As in match.h, by any number of threads.  After NULL the entry may already have been
 * matched by another thread: the caller must not touch it without synchronization. */
struct match_entry *match_tail_post(struct match_tail *t, struct match_entry *receive);
struct match_entry *match_tail_arrive(struct match_tail *t, struct match_entry *message);
struct match_entry *match_tail_mprobe(struct match_tail *t,
                                      const struct match_key *receive);
bool match_tail_cancel(struct match_tail *t, struct match_entry *receive);

/* Another thread may remove a message as soon as the probe has returned.  Therefore it
 * does not return the message but calls visit(message, arg) first, under the locks. */
typedef void (*match_visit_fn)(const struct match_entry *message, void *arg);
bool match_tail_probe(struct match_tail *t, const struct match_key *receive,
                      match_visit_fn visit, void *arg);

/* A side at one moment. */
struct match_tail_stats {
    struct match_stats queue; /* searches of the main queue only */
    uint32_t length, inbox;   /* entries of the main queue, of the inbox */
    uint64_t from_inbox, inbox_hits;
};

/* Of the posted receives or of the unexpected messages; takes the locks of the side. */
struct match_tail_stats match_tail_stats_of(struct match_tail *t, bool posted);

#endif
