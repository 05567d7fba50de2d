/* SPDX-License-Identifier: BSD-3-Clause */
/* op_sve.c - the kernels with SVE, for registers of any length (flags: pgas/local.mk). */
#define OP_TABLE op_sve
#define OP_COMPARE64
#include "pgas/datatype/op/op_kernels.h"
