/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * team.h - the PEs that do a collective together.  For now the two predefined teams,
 * which are the same PEs while a job has one node.
 * Uses: core/pgas.h.  Used by: coll.
 */
#ifndef PGAS_COLL_TEAM_H
#define PGAS_COLL_TEAM_H

#include <stdint.h>

#include "include/shmem.h"
#include "pgas/core/node.h"

enum {
    TEAM_ROUNDS = 32, /* rounds of a dissemination: log2 of the most PEs */
    TEAM_CPUS = 64,   /* processors that are told apart; the others get no hints */
};

/*
 * The words through which a team's PEs meet; each PE has them in the reserved part of
 * its heap.  Only `round` is used on every PE; the others on the team's first PE.  Each
 * word has a line of its own.
 */
struct team_words {
    _Alignas(NODE_LINE) uint32_t arrived; /* calls of the barrier so far, all PEs' */
    _Alignas(NODE_LINE) uint32_t epoch;   /* barriers completed */
    /* By processor: how many PEs were there at their last call, and as (epoch << 16 | n)
     * how many of those have called in this barrier.  A hint: see barrier.c. */
    struct {
        _Alignas(NODE_LINE) uint32_t residents;
        uint32_t called;
    } cpu[TEAM_CPUS];
    struct {
        _Alignas(NODE_LINE) uint32_t epoch; /* the barrier that the partner is in */
    } round[TEAM_ROUNDS];
};

struct shmem_team {
    int npes, me;
    uint32_t epoch;      /* barriers begun by this PE */
    int cpu;             /* where we are a resident, -1 = nowhere yet */
    size_t words_offset; /* of struct team_words in every PE's heap */
};

/* The team behind a handle; ends the job with a sentence if it is none. */
struct shmem_team *team_of(shmem_team_t handle, const char *fn);

/* PE number in the world of PE i of the team. */
int team_world_pe(const struct shmem_team *team, int i);

/* The words of PE i of the team. */
struct team_words *team_words(const struct shmem_team *team, int i);

/* The symmetric address of a word of team_words(team, i): the same word in our heap. */
const void *team_here(const struct shmem_team *team, size_t offset);

/* Barriers of the world team that this PE has begun. */
uint32_t team_world_epoch(void);

/* Set up the predefined teams; after the heap. */
void team_init(void);

#endif
