/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrival.h - the arrival order of the PEs of a team in a call, and exchanges in arrival
 * order.
 *
 * The call must have opened a mailbox (mailbox.h).  The functions that record the order
 * (arrival_publish, arrival_pe, arrival_exchange, arrival_blocks) are limited to teams of
 * at most ARRIVAL_ORDER PEs. Uses: core/team, core/peer, barrier, mailbox, datatype/copy.
 * Used by: alltoall, alltoalls, collect, reduce.
 */
#ifndef PGAS_COLL_ARRIVAL_H
#define PGAS_COLL_ARRIVAL_H

#include "pgas/coll/sync/mailbox.h"

/* Maximum PEs of a team that records the order of arrival. */
enum { ARRIVAL_ORDER = 256 };

/* On the first PE of the team: the last arriver of a call (arrival_at), and the PE at
 * each position (call << 16 | PE). */
struct arrival_words {
    _Alignas(NODE_LINE) uint64_t tail;
    _Alignas(NODE_LINE) uint64_t order[ARRIVAL_ORDER];
};

/* Position of this PE in the arrival order of a call. */
struct arrival {
    int position; /* from 0 */
    int before;   /* predecessor in the arrival order; -1 = none */
};

/* Enter the arrival order; once per call.  Either `tail` is used by this call only, or no
 * PE enters this call before all PEs have entered the previous call that used it. */
struct arrival arrival_at(uint64_t *tail, const struct mailbox *b);
/* As arrival_at with the team's arrival word, for calls that no PE leaves before all PEs
 * have arrived. */
struct arrival arrival_enter(const struct mailbox *b);

/* Publish this PE's position (release), and read the PE at a position, waiting until it
 * is published (acquire). */
void arrival_publish(const struct mailbox *b, int position);
int arrival_pe(const struct mailbox *b, int position);

/* Performs the copies between PE i of the team and this PE, in both directions. */
typedef void arrival_pair(const void *job, int i);

/* In each pair of PEs the later arrival calls pair(job, the other PE).  Returns after all
 * pairs are complete.  Counts as one call with a mailbox, and must be called between
 * barrier_guard and barrier_unguard. */
void arrival_exchange(struct shmem_team *team, arrival_pair *pair, const void *job,
                      const char *fn);

/* Exchange of blocks: block i of dest on PE j of the team = the block of `each` bytes at
 * source + j * step on PE i.  source and dest do not overlap; all PEs are mapped. */
void arrival_blocks(struct shmem_team *team, char *dest, const char *source, size_t each,
                    size_t step, const char *fn);

#endif
