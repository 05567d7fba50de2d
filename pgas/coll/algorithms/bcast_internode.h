/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast_internode.h - broadcast of a team over several nodes (team->nodes).
 * Uses: core/team.  Used by: bcast, internode (the constants).
 */
#ifndef PGAS_COLL_BCAST_INTERNODE_H
#define PGAS_COLL_BCAST_INTERNODE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/coll/sync/credit.h"
#include "pgas/core/boot/node.h"
#include "pgas/core/team/team.h"

enum {
    BCAST_EAGER_SLOTS = 128,  /* eager broadcasts between two barriers of the leaders */
    BCAST_EAGER_BYTES = 2048, /* maximum payload */
    BCAST_CHUNKS = 16, /* chunks of streamed broadcasts between two such barriers */
    BCAST_CHUNK_BYTES = 32 * 1024,
};

/* On each leader: sequence number of the last eager broadcast, and of the last chunk,
 * received, by sequence number modulo the number of slots.  (The payloads are in
 * internode_eager.slot and at SCRATCH_CHUNKS of the scratch memory.) */
struct bcast_words {
    _Alignas(NODE_LINE) uint64_t eager[BCAST_EAGER_SLOTS];
    _Alignas(NODE_LINE) uint64_t chunk[BCAST_CHUNKS];
    /* Written by the PEs of the node; see forwarder.h. */
    struct forwarder_words {
        _Alignas(NODE_LINE) uint64_t acked; /* the leader's credit for the slots */
        uint64_t entered; /* last call that the leader has entered as a receiver */
        uint64_t claimed[BCAST_EAGER_SLOTS / 64]; /* bits of calls */
    } eager_forwarder, stream_forwarder;
};
_Static_assert(BCAST_CHUNKS <= (int)BCAST_EAGER_SLOTS, "a bit of each round of a stream");
/* Invariant on leaders: seq <= acked + number of slots, of both credits. */
struct bcast_state {
    struct credit eager;  /* eager broadcasts */
    struct credit chunks; /* of streamed broadcasts */
    uint64_t rounds;      /* of streamed broadcasts so far */
};

/* As bcast, or as bcast_set without `copies`; bytes > 0.  Contains a leader barrier. */
void bcast_internode(struct shmem_team *team, void *dest, const void *source,
                     size_t bytes, int root, bool copies, const char *fn);

/* Streamed form, on a team with scratch_get; contains a leader barrier when the chunks of
 * a round do not fit the slots that are free since the last one: in each round of more
 * than BCAST_CHUNKS / 2 chunks. */
void bcast_stream(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                  int root, bool copies, const char *fn);

/* Eager form for at most BCAST_EAGER_BYTES on a team with internode_has_eager; contains a
 * leader barrier at most once per BCAST_EAGER_SLOTS calls. */
void bcast_eager(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                 int root, bool copies, const char *fn);

#endif
