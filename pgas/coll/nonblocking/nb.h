/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb.h - nonblocking collectives (internal; meant for MPI).
 *
 * All PEs of a team start its nonblocking collectives in the same order; they may
 * complete in any order, and other collectives of the team may run in between.  Starting
 * never waits: up to NB_OUT requests of a team are active, the others are queued.
 * Requests advance whenever a thread of this PE is in nb_test or waits anywhere in the
 * library.  Buffers are symmetric and belong to the library until the request completes.
 * For any team, but not for active sets.
 *
 * Thread safety: all functions, for different teams; a request is used by one thread at a
 * time.
 *
 * Uses: core/team, executor, datatype/op.  Used by: life, split.
 */
#ifndef PGAS_COLL_NB_H
#define PGAS_COLL_NB_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/credit.h"
#include "pgas/core/team/team.h"
#include "pgas/datatype/op/op.h"
#include "pgas/threads/adaptive.h"

struct nb; /* a request */

enum {
    NB_OUT = 8,        /* maximum active requests of a team */
    NB_SYNC_EVERY = 4, /* calls between two synchronisations of all PEs */
    NB_SLOTS = 2 * NB_OUT + NB_SYNC_EVERY,
    /* Of a call: exclusive scan and barrier need most. */
    NB_WORDS = 3 * BARRIER_ROUNDS + 2,
};

/* Signals of one call to a PE (nb_steps.c); 0: not sent, or received. */
struct nb_slot {
    _Alignas(NODE_LINE) uint32_t word[NB_WORDS];
};

/* The requests of this PE in a team; under its lock, except next. */
struct nb_queue {
    struct adaptive_lock lock;
    struct credit calls; /* begun by this PE; acked: all up to this one are complete */
    struct nb *first;    /* incomplete ones, in call order */
    struct nb **end;     /* end of that list */
    uint32_t again;      /* 1: another thread could not advance the requests; atomic */
    bool listed;         /* the team is in the list of nb.c */
    struct shmem_team *next; /* in that list, under its lock */
};

/* fn is the public routine, for messages. */
struct nb *nb_barrier(struct shmem_team *team, const char *fn);

/* Binomial tree.  `bytes` at source of PE `root` to dest of all PEs, on the root too
 * unless dest == source.  A PE waits only for its parent and its children. */
struct nb *nb_bcast(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                    int root, const char *fn);

/*
 * dest of PE root (NB_ALL: of all PEs) = combination of n elements of `size` bytes at
 * source of all PEs.  Order: PE order; to one PE, cyclic PE order from the root (PE order
 * with SHMEM_REPRODUCIBLE).  The same bits in each run; to all PEs with
 * SHMEM_REPRODUCIBLE, those of the blocking reduction.  dest == source, or they do not
 * overlap; only the root has a dest.
 */
enum { NB_ALL = -1 };
struct nb *nb_reduce(struct shmem_team *team, int root, void *dest, const void *source,
                     size_t n, size_t size, const struct op_fns *op, const char *fn);

/* dest = combination of the sources of PEs 0 .. me in PE order; exclusive: 0 .. me - 1,
 * and zero on PE 0.  dest and source as for nb_reduce. */
struct nb *nb_scan(struct shmem_team *team, void *dest, const void *source, size_t n,
                   size_t size, const struct op_fns *op, bool exclusive, const char *fn);

/* `bytes` of each PE to all PEs (source NULL on all PEs: in place) / a block of `bytes`
 * of each PE to each PE.  dest and source may overlap. */
struct nb *nb_fcollect(struct shmem_team *team, void *dest, const void *source,
                       size_t bytes, const char *fn);
struct nb *nb_alltoall(struct shmem_team *team, void *dest, const void *source,
                       size_t bytes, const char *fn);

/* True if it is complete: then it is freed and *request = NULL.  True for NULL. */
bool nb_test(struct nb **request);
/* Wait until it is complete; frees it and sets *request = NULL. */
void nb_wait(struct nb **request);

/* End the job with an error if this PE has a request that is not completed (of the team;
 * NULL: of any). */
void nb_check_ended(const struct shmem_team *team, const char *fn);
/* Forgets the requests of a team that is destroyed after a failure. */
void nb_abandon(struct shmem_team *team);

#endif
