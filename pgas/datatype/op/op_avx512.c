/* SPDX-License-Identifier: BSD-3-Clause */
/* op_avx512.c - the kernels with AVX-512 F, BW, DQ and VL (flags: pgas/local.mk). */
#define OP_TABLE    op_avx512
#define OP_REGISTER 64
#define OP_COMPARE64
#include "pgas/datatype/op/op_kernels.h"
