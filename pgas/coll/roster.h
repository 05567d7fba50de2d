/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * roster.h - what each PE of a team over several nodes says of itself, seen by all.
 * Uses: core/team, barrier, bridge, rma.  Used by: collect, split.
 */
#ifndef PGAS_COLL_ROSTER_H
#define PGAS_COLL_ROSTER_H

#include <stddef.h>

#include "pgas/core/team.h"

/* Bytes of all entries that go with one barrier at most: TEAM_BOX, less only in tests. */
extern size_t roster_box;

struct roster {
    const struct shmem_team *team; /* NULL: there is none */
    const char *entries;
    size_t bytes; /* of one */
    void *memory; /* in which they are, in the order of the team; NULL: in a box */
};

/* All PEs meet (barrier_sync), and each has then the `bytes` that each has at symmetric
 * address mine, aligned for their type.  Nobody may change his before the next barrier,
 * nor call for another roster of the team while he uses this one. */
struct roster roster_open(struct shmem_team *team, const void *mine, size_t bytes,
                          const char *fn);
/* The entry of PE i of the team. */
const void *roster_at(const struct roster *roster, int i);
void roster_close(struct roster *roster);

#endif
