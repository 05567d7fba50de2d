/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api.h - how a public routine is written: a row that converts its arguments and calls
 * one plain function.  API makes the strong name pshmem_x and the weak name shmem_x, so
 * that a tool may define shmem_x and call pshmem_x (section 10).
 * Included by the api_*.c files only; the library itself never calls a public name.
 */
#ifndef PGAS_RMA_API_H
#define PGAS_RMA_API_H

#define SHMEM_NO_GENERICS
#pragma GCC visibility push(default)
#include "include/pshmem.h"
#include "include/shmem.h"
#pragma GCC visibility pop
#include "include/shmem_types.def"

#define API(ret, name, args)                                                             \
    extern __attribute__((weak, alias("p" #name), visibility("default"))) ret name args; \
    __attribute__((visibility("default"))) ret p##name args

#endif
