/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.h - reductions to all PEs (9.10.9) and to one PE.  Uses: core/team, datatype/op.
 * Used by: the api_* files. */
#ifndef PGAS_COLL_REDUCE_H
#define PGAS_COLL_REDUCE_H

#include <stddef.h>

#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/core/team/team.h"
#include "pgas/datatype/op/op.h"

/* Ring of segments between neighbours of a rooted chain (reduce_buffered.c). */
enum {
    REDUCE_ENTRIES = 8,
    REDUCE_ENTRY_BYTES = 16 * 1024,
};

/* Flow control of one entry: sequence numbers, counted from 1 over all chains of the
 * team, of the segment stored and of the last one read. */
struct reduce_entry {
    _Alignas(NODE_LINE) uint64_t filled; /* written by the owner */
    _Alignas(NODE_LINE) uint64_t freed;  /* written by the reader */
};

/* Words of reductions on one node. */
struct reduce_words {
    /* On the first PE (reduce_combiner.c): the last call claimed by a combiner; the
     * number of arrivals in all calls that count them. */
    _Alignas(NODE_LINE) uint64_t claim;
    _Alignas(NODE_LINE) uint64_t gathered;
    /* On the first PE: arrival_words.tail by call number, for calls that a PE may leave
     * before others arrive. */
    struct {
        _Alignas(NODE_LINE) uint64_t tail;
    } queue[MAILBOX_SLOTS];
    struct scratch_words ring;                 /* on each PE */
    struct reduce_entry entry[REDUCE_ENTRIES]; /* on each PE */
};

/* On each leader of a team over nodes: the last leader that arrived in a reduction in
 * arrival order whose home is this one (reduce_leaders_chain.c). */
struct chain_words {
    _Alignas(NODE_LINE) uint64_t last;
};

/* Invariant: stored[e] <= segments for each entry e. */
struct reduce_state {
    uint64_t gathers;                /* calls counted in `gathered` */
    uint64_t segments;               /* of rooted chains so far; equal on all PEs */
    uint64_t stored[REDUCE_ENTRIES]; /* segment stored in each own entry; 0: none */
    struct scratch ring;             /* REDUCE_ENTRIES * REDUCE_ENTRY_BYTES of each PE */
};

/* Reduction to all PEs of n elements of `size` bytes; all PEs receive the same bits.
 *
 * Combining order on one node: PE order, except for the algorithms first, lines, chain,
 * tree, static and groups; adaptive selection (adapt.h) may change the algorithm between
 * calls. Over several nodes the contributions of each node are combined first.  With
 * SHMEM_REPRODUCIBLE the order is independent of the arrival order and of the placement.
 *
 * dest and source are the same or do not overlap.  Returns 0. */
int reduce(struct shmem_team *team, void *dest, const void *source, size_t n, size_t size,
           const struct op_fns *op, const char *fn);

/* Reduction to dest of PE `root` of the team; dest is ignored on the other PEs.  source
 * is at the same symmetric address on all PEs.  A PE may return before other PEs have
 * entered the call, and may modify its source after it has returned. */
int reduce_to(struct shmem_team *team, int root, void *dest, const void *source, size_t n,
              size_t size, const struct op_fns *op, const char *fn);

/* For the api_* files: REDUCE(NAME, C, KIND, op, OP) for each operation of a type list */
/* clang-format off */
#define REDUCE_BITWISE(NAME, C, KIND)                                                    \
    REDUCE(NAME, C, KIND, and, OP_AND) REDUCE(NAME, C, KIND, or, OP_OR)                  \
    REDUCE(NAME, C, KIND, xor, OP_XOR)
#define REDUCE_ORDERED(NAME, C, KIND)                                                    \
    REDUCE(NAME, C, KIND, max, OP_MAX) REDUCE(NAME, C, KIND, min, OP_MIN)
#define REDUCE_NUMERIC(NAME, C, KIND)                                                    \
    REDUCE(NAME, C, KIND, sum, OP_SUM) REDUCE(NAME, C, KIND, prod, OP_PROD)
/* clang-format on */

#endif
