/* SPDX-License-Identifier: BSD-3-Clause */
/* op_base.c - the kernels with the instructions that every processor has. */
#define OP_TABLE op_base
#ifdef __aarch64__
#define OP_COMPARE64
#endif
#include "pgas/datatype/op/op_kernels.h"
