/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_nodes.h - the entries of a queue in a chain of nodes: appending, removing and
 * compaction.  Uses: match_queue.  Used by: match_queue.c.
 */
#ifndef COMPAT_MPI_MATCH_NODES_H
#define COMPAT_MPI_MATCH_NODES_H

#include "compat/mpi/match/match_queue.h"

/* Returns false, with the queue unchanged, if no memory can be allocated. */
bool match_nodes_append(struct match_queue *q, struct match_entry *e);

/* Afterwards the nodes may be compacted or merged. */
void match_nodes_remove(struct match_queue *q, struct match_entry *e);

struct match_entry *match_nodes_search(struct match_queue *q,
                                       const struct match_key *key);

/* Appends all entries to the list in order, and removes the nodes. */
void match_nodes_to_list(struct match_queue *q);

void match_nodes_free(struct match_queue *q);

size_t match_nodes_bytes(const struct match_queue *q);

#endif
