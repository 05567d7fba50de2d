/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_isas.h - the pack kernels that are built for this architecture besides the
 * baseline (pgas/local.mk lists the files).  Uses: pack_table.  Used by: pack_choice,
 * pack_indexed.
 */
#ifndef PGAS_DATATYPE_PACK_ISAS_H
#define PGAS_DATATYPE_PACK_ISAS_H

#include "pgas/datatype/pack/pack_table.h"

#if defined(__x86_64__)
#define PACK_ISA_KERNELS                                                                 \
    [PACK_FIXED_AVX2] = &pack_fixed_avx2, [PACK_FIXED_AVX512] = &pack_fixed_avx512,      \
    [PACK_GATHER_AVX2] = &pack_gather_avx2, [PACK_GATHER_AVX512] = &pack_gather_avx512,  \
    [PACK_PERMUTE_AVX512] = &pack_permute_avx512,                                        \
    [PACK_PERMUTE_VBMI] = &pack_permute_vbmi
#define PACK_INDEXED_GATHERS pack_indexed_gather_4, pack_indexed_gather_8
#elif defined(__aarch64__)
#define PACK_ISA_KERNELS                                                                 \
    [PACK_FIXED_SVE] = &pack_fixed_sve, [PACK_GATHER_SVE] = &pack_gather_sve,            \
    [PACK_STRUCTURE_SVE] = &pack_structure_sve
#else
#define PACK_ISA_KERNELS [PACK_KERNELS - 1] = NULL
#endif

#if !defined(__x86_64__)
#define PACK_INDEXED_GATHERS NULL, NULL
#endif

#endif
