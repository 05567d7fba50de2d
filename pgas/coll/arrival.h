/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrival.h - the order in which the PEs of a team come to a call, and exchanges in that
 * order.  For calls with a board (board.h), of teams of at most TEAM_ORDER PEs where the
 * order is written down.
 * Uses: core/team, core/peer, barrier, board, datatype/copy.  Used by: alltoall,
 * alltoalls, collect, reduce.
 */
#ifndef PGAS_COLL_ARRIVAL_H
#define PGAS_COLL_ARRIVAL_H

#include "pgas/coll/board.h"

/* This PE's place among those that come to a call. */
struct arrival {
    int position; /* from 0 */
    int before;   /* who has come before it; -1: nobody */
};

/* Once in a call.  `tail` belongs to this call, or nobody comes to this one before all
 * have come to the one to which it belonged. */
struct arrival arrival_at(uint64_t *tail, const struct board *b);
/* The same with the team's word for calls that end when all have come. */
struct arrival arrival_come(const struct board *b);

/* Write down that this PE has that position / who has it: wait until that is known. */
void arrival_note(const struct board *b, int position);
int arrival_pe(const struct board *b, int position);

/* Do what PE i of the team and this one have for each other, both ways. */
typedef void arrival_pair(const void *job, int i);

/* Of every two PEs the one that comes later calls pair(job, the other one); returns when
 * all have.  A call of its own, between barrier_guard and barrier_unguard. */
void arrival_exchange(struct shmem_team *team, arrival_pair *pair, const void *job,
                      const char *fn);

/* Block i of dest on PE j of the team = the block of `each` bytes at source + j * step on
 * PE i: by such an exchange.  source and dest do not overlap; all PEs are mapped. */
void arrival_blocks(struct shmem_team *team, char *dest, const char *source, size_t each,
                    size_t step, const char *fn);

#endif
