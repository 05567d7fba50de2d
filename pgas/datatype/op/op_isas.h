/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_isas.h - the kernel tables that are built for this architecture besides the baseline
 * (pgas/local.mk lists the files).  Uses: op_table.  Used by: op.
 */
#ifndef PGAS_DATATYPE_OP_ISAS_H
#define PGAS_DATATYPE_OP_ISAS_H

#include "pgas/datatype/op/op_table.h"

#if defined(__x86_64__)
#define OP_TABLES [ISA_AVX2] = &op_avx2, [ISA_AVX512] = &op_avx512
#elif defined(__aarch64__)
#define OP_TABLES [ISA_SVE] = &op_sve
#else
#define OP_TABLES [ISAS - 1] = NULL
#endif

#endif
