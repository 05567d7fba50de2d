/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb.h - nonblocking collectives: started, then tested or waited for.  For MPI.
 *
 * All PEs of a team start its nonblocking collectives in the same order; they may end in
 * any order, and any other collective of the team may run in between.  To start one never
 * waits, however many are under way: at most TEAM_NB_OUT of a team go on at a time, the
 * others wait for their turn.  What has been started goes on whenever a thread of this PE
 * is in nb_test, or waits anywhere in the library.  Buffers are symmetric, and belong to
 * the library until the request has been completed.  Any team, but no active set.
 *
 * Threads may do all that at the same time, for different teams; a request is tested and
 * waited for by one thread at a time.
 * Uses: core/team, datatype/op.  Used by: life, split.
 */
#ifndef PGAS_COLL_NB_H
#define PGAS_COLL_NB_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team/team.h"
#include "pgas/datatype/op.h"

struct nb; /* a request */

/* fn is the public routine, for sentences. */
struct nb *nb_barrier(struct shmem_team *team, const char *fn);

/* bytes at source of PE `root` to dest of all; to the root's own too unless that is
 * source.  Who is not the root need not wait for more than those before it in a tree. */
struct nb *nb_bcast(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                    int root, const char *fn);

/*
 * dest of PE root (of all PEs, if root is NB_ALL) = the sources of all PEs combined, for
 * n elements of `size` bytes.  In the order of the PEs, or, where a tree combines them,
 * of those from the root on, all around; with SHMEM_REPRODUCIBLE always that of the PEs.
 * The same bits in each run.  dest and source are the same or do not overlap; root alone
 * has a dest.
 */
enum { NB_ALL = -1 };
struct nb *nb_reduce(struct shmem_team *team, int root, void *dest, const void *source,
                     size_t n, size_t size, const struct op_fns *op, const char *fn);

/* The sources of the PEs up to this one combined, in their order; exclusive: without this
 * one's, 0 on PE 0.  dest and source as for nb_reduce. */
struct nb *nb_scan(struct shmem_team *team, void *dest, const void *source, size_t n,
                   size_t size, const struct op_fns *op, bool exclusive, const char *fn);

/* bytes of each PE to all (source NULL, on all PEs: this PE's block is in dest already) /
 * one block of bytes of each PE to each PE.  dest and source may overlap. */
struct nb *nb_fcollect(struct shmem_team *team, void *dest, const void *source,
                       size_t bytes, const char *fn);
struct nb *nb_alltoall(struct shmem_team *team, void *dest, const void *source,
                       size_t bytes, const char *fn);

/* Has it ended?  If so it is freed, and *request is NULL: of which the answer is yes. */
bool nb_test(struct nb **request);
/* The same when it has ended. */
void nb_wait(struct nb **request);

/* End the job with a sentence if this PE has started one (of the team, or NULL: at all)
 * that is not completed. */
void nb_check_ended(const struct shmem_team *team, const char *fn);

#endif
