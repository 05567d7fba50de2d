/* SPDX-License-Identifier: BSD-3-Clause */
/* op_scalar.c - the kernels without vectors, for benchmarks to compare with. */
#define OP_TABLE  op_scalar
#define OP_SCALAR 1
#include "pgas/datatype/op/op_kernels.h"
