/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * few_types.h - reduces the table of types to those that the simulated programs use.  The
 * compiler reads it first (-include): most of the time to compile the library is that of
 * its typed routines, 20 times the same.
 */
#ifndef PGAS_SIM_FEW_TYPES_H
#define PGAS_SIM_FEW_TYPES_H

#include "include/shmem_types.def"

#undef SHMEM_T_FLOAT
#define SHMEM_T_FLOAT(T)
#undef SHMEM_T_LDBL
#define SHMEM_T_LDBL(T)
#undef SHMEM_T_CHAR
#define SHMEM_T_CHAR(T)
#undef SHMEM_T_SSMALL
#define SHMEM_T_SSMALL(T)
#undef SHMEM_T_USMALL
#define SHMEM_T_USMALL(T)
#undef SHMEM_T_SINT
#define SHMEM_T_SINT(T) T(long, long, SINT)
#undef SHMEM_T_UINT
#define SHMEM_T_UINT(T) T(ulong, unsigned long, UINT)
#undef SHMEM_T_FIX_S8
#define SHMEM_T_FIX_S8(T)
#undef SHMEM_T_FIX_U8
#define SHMEM_T_FIX_U8(T)
#undef SHMEM_T_FIX_S
#define SHMEM_T_FIX_S(T)
#undef SHMEM_T_FIX_U
#define SHMEM_T_FIX_U(T)
#undef SHMEM_T_SIZE
#define SHMEM_T_SIZE(T)
#undef SHMEM_T_PTRD
#define SHMEM_T_PTRD(T)
#undef SHMEM_T_CPLX
#define SHMEM_T_CPLX(T)

#endif
