/* SPDX-License-Identifier: BSD-3-Clause */
/* alltoall.h - all-to-all exchange (9.10.5, 9.10.6).
 * Uses: arrival, barrier, bounce, rma.  Used by: the rows. */
#ifndef PGAS_COLL_ALLTOALL_H
#define PGAS_COLL_ALLTOALL_H

#include <stddef.h>
#include <stdint.h>

#include "pgas/core/boot/node.h"
#include "pgas/core/team/team.h"

/* On each PE of a team over nodes: number of blocks put to it in all calls of pairwise.
 */
struct alltoall_words {
    _Alignas(NODE_LINE) uint64_t arrived;
};

struct alltoall_state {
    uint64_t expected; /* value of `arrived` when all calls so far have ended */
};

/* Block i of dest on PE j of the team = block j of source on PE i; a block has n
 * elements. Returns 0. */
int alltoall(struct shmem_team *team, void *dest, const void *source, size_t n,
             size_t size, const char *fn);

/* Layout of a strided exchange: element e of block k is at stride * (k * n + e). */
struct strides {
    ptrdiff_t dst, sst; /* strides of dest and source, in elements, at least 1 */
    size_t n, size;
};
int alltoalls(struct shmem_team *team, void *dest, const void *source, struct strides x,
              const char *fn);

#endif
