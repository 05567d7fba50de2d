/* SPDX-License-Identifier: BSD-3-Clause */
/* op_base.c - the kernels with the instructions that every processor has. */
#define OP_TABLE op_base
#include "pgas/datatype/op_kernels.h"
