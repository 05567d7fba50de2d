/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match.h - message matching by the rules of MPI: a queue of posted receives and a queue
 * of unexpected messages.
 *
 * - A message is matched to the oldest posted receive that fits it; a receive to the
 * oldest unexpected message that fits it.  Messages of one source are therefore matched
 * in the order in which they are passed to match_arrive.
 * - A receive and a message that fit each other are never both queued: each operation
 *   searches one queue and, only if it finds nothing, appends to the other.
 *
 * A pure data structure without network, clock or locks: one thread at a time uses a
 * matcher (match_tail.h is for several).  Its size does not depend on the number of
 * peers. Uses: match_queue.  Used by: tests, bench.
 */
#ifndef COMPAT_MPI_MATCH_H
#define COMPAT_MPI_MATCH_H

#include "compat/mpi/match/match_queue.h"

struct matcher {
    struct match_queue posted, unexpected;
};

/* Returns 0, EINVAL or ENOMEM, as match_queue_init. */
int match_init(struct matcher *m, const struct match_options *options);
void match_free(struct matcher *m);

/* Returns the message for this receive and removes it, or queues the receive and returns
 * NULL. */
struct match_entry *match_post(struct matcher *m, struct match_entry *receive);

/* Returns the receive for this message and removes it, or queues the message and returns
 * NULL. */
struct match_entry *match_arrive(struct matcher *m, struct match_entry *message);

/* Returns the message that a receive would get, which stays queued; NULL if there is
 * none. */
struct match_entry *match_probe(struct matcher *m, const struct match_key *receive);

/* The matched probe: removes the message, so that no other receive can get it. */
struct match_entry *match_mprobe(struct matcher *m, const struct match_key *receive);

/* Removes a posted receive.  Returns false if it has been matched before. */
bool match_cancel(struct matcher *m, struct match_entry *receive);

#endif
