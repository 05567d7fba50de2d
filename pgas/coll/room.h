/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * room.h - where the leaders of a team over several nodes have room for what others send
 * them in large collectives, and cannot be put to where it belongs yet.
 * Uses: core/team, core/heap, roster.  Used by: reduce_far, reduce_hops, alltoall_far.
 */
#ifndef PGAS_COLL_ROOM_H
#define PGAS_COLL_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/pgas.h"
#include "pgas/core/team.h"

enum {
    ROOM_PIECE = 512 * 1024, /* of a large message that is worked on at a time, at most */
    ROOM_SLACK = 16 * 1024,  /* for parts that begin on lines of their own */
    /* Of a leader, for what comes in one collective; and another one, for the next. */
    ROOM_BYTES = 2 * ROOM_PIECE + ROOM_SLACK,
    ROOM_OWN = 2 * ROOM_BYTES, /* where another piece is, for the leader */
    ROOM_ALL = ROOM_OWN + ROOM_PIECE,
};

/* Have all leaders room?  The first time for a team all of its PEs meet, and they get the
 * same answer.  It is SHMEM_SHARED_SIZE that may be too small. */
bool room_get(struct shmem_team *team, const char *fn);

/* The symmetric address of byte `at` of the room of a node's leader. */
static inline char *room_at(const struct shmem_team *team, int node, size_t at)
{
    return (char *)pgas_self.heap_base + team->nodes->room[node] + at;
}

#endif
