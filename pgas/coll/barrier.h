/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.h - all PEs of a team meet; what was stored before is visible after.
 * Uses: team, core/block.  Used by: bcast, reduce, mem, life, api_coll.
 */
#ifndef PGAS_COLL_BARRIER_H
#define PGAS_COLL_BARRIER_H

#include "pgas/coll/team.h"

/* fn is the public routine, for reports of who waits where. */
void barrier(struct shmem_team *team, const char *fn);

#endif
