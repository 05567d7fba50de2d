/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scratch.h - scratch memory of a team, allocated at its first use.
 *
 * Each owner (every PE of a team on one node, or each leader of a team over nodes)
 * allocates a block of its own node-shared results (heap_alloc_result); the blocks have
 * different offsets.  In the first call that needs them all PEs of the team exchange the
 * offsets.  If one owner has no memory, all PEs observe this in the exchange, the blocks
 * of the others are freed, and the callers select algorithms without scratch memory.
 *
 * Invariant: once `exchanged` is set, `offset` is NULL on all PEs of the team or on none.
 * Uses: core/team, core/heap, mailbox, internode.
 * Used by: internode, leader_msg, reduce_buffered, alltoall_internode, bcast_internode,
 * team_coll.
 */
#ifndef PGAS_COLL_SCRATCH_H
#define PGAS_COLL_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pgas/core/team/team.h"

struct scratch {
    bool exchanged;
    uint64_t *offset; /* heap offset of each owner's block; NULL: no blocks */
};

/* On each PE of a team on one node: 0 before the exchange, then the offset of its block
 * or SCRATCH_NONE. */
struct scratch_words {
    uint64_t offset;
};
#define SCRATCH_NONE UINT64_MAX

enum { SCRATCH_NO_OWNER = -1 };

/* Scratch memory of leaders for large messages (leader_msg.h). */
enum {
    SCRATCH_SEGMENT = 512 * 1024, /* segment of a pipelined message */
    SCRATCH_SLACK = 16 * 1024,    /* alignment of inbox parts to cache lines */
    /* Of one collective; even and odd ones have separate buffers (leader_msg.c). */
    SCRATCH_BYTES = 2 * SCRATCH_SEGMENT + SCRATCH_SLACK,
    SCRATCH_OWN = 2 * SCRATCH_BYTES, /* offset of a segment that only the leader writes */
    SCRATCH_CHUNKS = SCRATCH_OWN + SCRATCH_SEGMENT, /* of streamed broadcasts */
    SCRATCH_CHUNKS_BYTES = 512 * 1024,
    SCRATCH_ALL = SCRATCH_CHUNKS + SCRATCH_CHUNKS_BYTES,
};

/* True if every owner has a block of `bytes`: each PE of a team on one node, which
 * exchange the offsets at offset `words` in node_words; or each leader of a team over
 * nodes. Equal on all PEs.  The first call for `s` is collective, allocates the blocks
 * and waits for all PEs.  False if SHMEM_SHARED_SIZE is too small. */
bool scratch_of_pes(struct shmem_team *team, struct scratch *s, size_t words,
                    size_t bytes, const char *fn);
bool scratch_of_leaders(struct shmem_team *team, struct scratch *s, size_t bytes,
                        const char *fn);

/* scratch_of_leaders with SCRATCH_ALL bytes, in the team's `scratch`. */
bool scratch_get(struct shmem_team *team, const char *fn);

/* Symmetric address of byte `at` of the block of an owner: a PE of the team, or a node.
 */
char *scratch_at(const struct scratch *s, int owner, size_t at);

/* Frees the block of `owner`, which is this PE (-1: it has none). No PE may access the
 * blocks any more. */
void scratch_free(struct scratch *s, int owner);

#endif
