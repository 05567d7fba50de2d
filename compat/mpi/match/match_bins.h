/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_bins.h - the entries of a queue in bins by their source.  An entry of a known
 * source is in the bin that a hash of its context and source selects, and a receive from
 * any source in a queue of its own.  A bin is a queue of any engine; the number of bins
 * is fixed, so that a silent peer costs nothing.
 *
 * Invariant: `age` grows with each append and is never reused; entries of a bin are in
 * its order.  The oldest entry that fits is therefore the oldest of the first ones that
 * fit of all bins searched: a message searches its bin and the receives from any source,
 * a receive its bin, and one from any source all bins that are not empty. Uses:
 * match_queue.  Used by: match_queue.c.
 */
#ifndef COMPAT_MPI_MATCH_BINS_H
#define COMPAT_MPI_MATCH_BINS_H

#include "compat/mpi/match/match_queue.h"

/* NULL without memory.  options: number of bins, at least 2, and all else of a bin */
struct match_bins *match_bins_make(const struct match_options *options, bool posted);
void match_bins_free(struct match_bins *b);

void match_bins_append(struct match_bins *b, struct match_entry *e);
void match_bins_remove(struct match_bins *b, struct match_entry *e);
struct match_entry *match_bins_search(struct match_bins *b, const struct match_key *key);

/* Adds what the bins counted on nodes; searches are counted by the queue. */
void match_bins_add_stats(const struct match_bins *b, struct match_stats *sum);

size_t match_bins_memory(const struct match_bins *b);

#endif
