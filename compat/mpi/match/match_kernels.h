/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_kernels.h - the kernels that search a chain of nodes, one table per instruction
 * set.  They read nodes and change only the cursor.
 * Uses: isa, match_node.  Used by: match_queue, match_*.c, tests, bench.
 */
#ifndef COMPAT_MPI_MATCH_KERNELS_H
#define COMPAT_MPI_MATCH_KERNELS_H

#include "compat/mpi/match/match_node.h"
#include "pgas/datatype/isa.h"

struct match_kernels {
    match_scan_fn fuzzy8, fuzzy16, fuzzy32;
    match_scan_fn vector;
};

extern const struct match_kernels match_kernels_baseline, match_kernels_avx2,
    match_kernels_avx512, match_kernels_sve;

/* One slot after the other, without vectors: of the engine `array` */
uint64_t match_scan_array(struct match_cursor *c);

/* NULL if there are no kernels for it in this build.  The caller has asked isa_here(). */
const struct match_kernels *match_kernels_of(enum isa isa);

#endif
