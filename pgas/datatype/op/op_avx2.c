/* SPDX-License-Identifier: BSD-3-Clause */
/* op_avx2.c - the kernels with AVX2; compiled with -mavx2 (pgas/local.mk). */
#define OP_TABLE    op_avx2
#define OP_REGISTER 32
#define OP_COMPARE64
#include "pgas/datatype/op/op_kernels.h"
