/* SPDX-License-Identifier: BSD-3-Clause */
/* ordered_internode.h - scans, and reductions in PE order, of a team over several nodes.
 * Uses: core/team, datatype/op.  Used by: scan, reduce_internode. */
#ifndef PGAS_COLL_ORDERED_INTERNODE_H
#define PGAS_COLL_ORDERED_INTERNODE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team/team.h"
#include "pgas/datatype/op/op.h"

/* The result of PE i: the combination of all PEs, of the PEs 0 .. i, or of the PEs
 * 0 .. i - 1 (zero on PE 0). */
enum ordered_kind { ORDERED_REDUCE, ORDERED_INSCAN, ORDERED_EXSCAN };

/* source and dest have the same symmetric addresses on all PEs, and are the same or do
 * not overlap. */
struct ordered_job {
    struct shmem_team *team;
    char *dest;
    const char *source;
    size_t n;    /* elements, at least 1 */
    size_t size; /* bytes of an element */
    const struct op_fns *op;
    enum ordered_kind kind;
    const char *fn;
};

/* True if the team can run them: the PEs of each node have consecutive team numbers, and
 * all leaders have scratch memory.  Equal on all PEs; all must call it alike, because the
 * first call allocates the memory. */
bool ordered_applies(struct shmem_team *team, const char *fn);

/* Scans of at most SELECT_DOUBLING_BYTES: the PEs of each node are combined first, so the
 * bits of floating-point results depend on the distribution over nodes. */
void ordered_doubling(const struct ordered_job *j);

/* The order of combination is ((PE 0 op PE 1) op PE 2) op .., so the bits of the result
 * do not depend on the distribution over nodes. */
void ordered_chain(const struct ordered_job *j);

#endif
