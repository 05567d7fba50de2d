/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allgather.h - allgather of a small descriptor from each PE of a team over several
 * nodes. Uses: core/team, barrier, internode, rma.  Used by: collect, split.
 */
#ifndef PGAS_COLL_ALLGATHER_H
#define PGAS_COLL_ALLGATHER_H

#include <stddef.h>
#include <stdint.h>

#include "pgas/core/team/team.h"

/* Contribution of a PE to a collective of variable lengths (collect): the number of
 * elements and the source (symaddr_encode).  While a node-shared result is created: its
 * bytes + 1, and the heap offset of its memory. */
struct descriptor {
    uint64_t count, symaddr;
};

struct descriptors {
    const struct shmem_team *team; /* NULL = not open */
    const char *entries;
    size_t bytes; /* size of a descriptor */
    void *memory; /* heap array in team order; NULL = piggyback buffer */
};

/* Collective, with the effect of barrier_sync.  Gathers the `bytes` at symmetric address
 * `mine` of each PE, aligned for their type.  A PE must not modify its descriptor before
 * the next barrier of the team, and must not open another allgather of the team while
 * this one is open. */
struct descriptors allgather_open(struct shmem_team *team, const void *mine, size_t bytes,
                                  const char *fn);
/* The descriptor of PE i of the team. */
const void *allgather_at(const struct descriptors *descriptors, int i);
void allgather_close(struct descriptors *descriptors);

#endif
