/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_isas.h - the matching kernels that are built for this architecture besides the
 * baseline (compat/mpi/local.mk lists the files).  Uses: match_kernels.  Used by:
 * match_base.
 */
#ifndef COMPAT_MPI_MATCH_ISAS_H
#define COMPAT_MPI_MATCH_ISAS_H

#include "compat/mpi/match/match_kernels.h"

#if defined(__x86_64__)
#define MATCH_ISA_KERNELS                                                                \
    [ISA_AVX2] = &match_kernels_avx2, [ISA_AVX512] = &match_kernels_avx512
#elif defined(__aarch64__)
#define MATCH_ISA_KERNELS [ISA_SVE] = &match_kernels_sve
#else
#define MATCH_ISA_KERNELS [ISAS - 1] = NULL
#endif

#endif
