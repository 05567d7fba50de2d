/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collect_internode.h - large collect and fcollect of a team over several nodes.
 * Uses: core/team.  Used by: collect.
 */
#ifndef PGAS_COLL_COLLECT_INTERNODE_H
#define PGAS_COLL_COLLECT_INTERNODE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team/team.h"

enum { COLLECT_NODES_MAX = 1 << 16 };

/* at: offset in dest of the block of PE i; for i = npes the bytes of all PEs. */
struct collect_layout {
    size_t (*at)(const struct collect_layout *layout, int i);
    const void *arg;
    size_t each;
};

/* The layout of equal blocks. */
static inline size_t collect_at_equal(const struct collect_layout *layout, int i)
{
    return layout->each * (size_t)i;
}

/* Eager fcollect of blocks of `each` bytes, `all` bytes of all PEs; dest does not overlap
 * source.  collect_eager_fits is collective as scratch_get. */
bool collect_eager_fits(struct shmem_team *team, size_t all, const char *fn);
void collect_eager(struct shmem_team *team, void *dest, const void *source, size_t each,
                   const char *fn);

/* dest overlaps no source.  `synced`: all PEs have passed a barrier of this call. */
void collect_internode(struct shmem_team *team, void *dest, const void *source,
                       const struct collect_layout *layout, bool synced, const char *fn);

#endif
