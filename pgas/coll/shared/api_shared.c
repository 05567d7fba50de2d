/* SPDX-License-Identifier: BSD-3-Clause */
/* api_shared.c - API entry points of node-shared collectives (shmemx.h).  Uses: shared.
 */
#include "config.h"

#include "include/shmemx.h"
#include "pgas/coll/algorithms/reduce.h"
#include "pgas/coll/shared/shared.h"
#include "pgas/rma/api.h"

/* clang-format off */

#define SHARED_ARG (shmemx_shared_t, shared, ANY)
ROUTINE(int, shmemx_shared_create, 1, BY_TEAM, (shmem_team_t, team, TEAM_OR_NONE),
        (size_t, bytes, SAME_SIZE), (shmemx_shared_t *, shared, POINTER))
{ return shared_create(team, bytes, shared, fn); }

ROUTINE(void, shmemx_shared_destroy, 0, ALONE, (shmemx_shared_t *, shared, POINTER))
{ shared_destroy(shared, fn); }

ROUTINE(void *, shmemx_shared_ptr, 0, ALONE, SHARED_ARG)
{ return shared_ptr(shared, fn); }

/* The handle determines the team, so the routines below check their arguments. */
ROUTINE(int, shmemx_shared_reclaim, 0, ALONE, SHARED_ARG)
{ return shared_reclaim(shared, fn); }

ROUTINE(int, shmemx_shared_broadcast, 1, ALONE, SHARED_ARG,
        (const void *, source, OPTIONAL), (size_t, bytes, ANY), (int, PE_root, ANY))
{ return shared_broadcast(shared, source, bytes, PE_root, fn); }

ROUTINE(int, shmemx_shared_fcollect, 1, ALONE, SHARED_ARG,
        (const void *, source, OPTIONAL), (size_t, bytes, ANY))
{ return shared_fcollect(shared, source, bytes, fn); }

#define REDUCE(NAME, C, KIND, op, OP)                                                    \
    ROUTINE(int, shmemx_##NAME##_shared_##op##_reduce, sizeof(C), ALONE, SHARED_ARG,     \
            (const C *, source, SYM), (size_t, nreduce, COUNT))                          \
    { return shared_reduce(shared, source, nreduce, sizeof(C),                           \
                           op_find(OP, OP_KIND_##KIND(C), sizeof(C)), fn); }
SHMEM_TYPES_REDUCE_BIT(REDUCE_BITWISE)
SHMEM_TYPES_REDUCE_ORD(REDUCE_ORDERED)
SHMEM_TYPES_REDUCE_NUM(REDUCE_NUMERIC)

/* clang-format on */
