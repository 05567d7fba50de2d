/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_coll.c - API entry points of the collectives over teams (9.10).
 * Uses: barrier, bcast, collect, alltoall, reduce, scan.
 */
#include "config.h"

#include "pgas/coll/algorithms/alltoall.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/algorithms/bcast.h"
#include "pgas/coll/algorithms/collect.h"
#include "pgas/coll/algorithms/reduce.h"
#include "pgas/coll/algorithms/scan.h"
#include "pgas/rma/api.h"

/* clang-format off */

/* A barrier has release and acquire semantics, which completes puts that are stores. */
ROUTINE_0(void, shmem_barrier_all, BY_WORLD)
{ barrier(team_live(), fn); }
ROUTINE_0(void, shmem_sync_all, BY_WORLD)
{ barrier_commit(team_live(), fn); }
ROUTINE(int, shmem_team_sync, 0, BY_TEAM, (shmem_team_t, team, TEAM))
{ barrier_commit(team_of(team, fn), fn); return 0; }

#define END(rc) barrier_end_collective(team, rc, fn)

/* Data movement of elements of S bytes; PTR is the pointer type */
#define TEAM_ARG (shmem_team_t, team, TEAM)
#define BROADCAST(X, PTR, S)                                                             \
    ROUTINE(int, shmem_##X, S, BY_TEAM, TEAM_ARG, (PTR, dest, SYM),                      \
            (const PTR, source, SYM), (size_t, nelems, COUNT), (int, PE_root, ROOT))     \
    { return END(bcast(team_of(team, fn), dest, source, nelems, S, PE_root, fn)); }
#define COLLECT(X, PTR, S)                                                               \
    ROUTINE(int, shmem_##X, S, BY_TEAM, TEAM_ARG, (PTR, dest, SYM),                      \
            (const PTR, source, SYM), (size_t, nelems, COUNT_OWN))                       \
    { return END(collect(team_of(team, fn), dest, source, nelems, S, fn)); }
#define FCOLLECT(X, PTR, S)                                                              \
    ROUTINE(int, shmem_##X, S, BY_TEAM, TEAM_ARG, (PTR, dest, SYM_EACH),                 \
            (const PTR, source, SYM), (size_t, nelems, COUNT))                           \
    { return END(fcollect(team_of(team, fn), dest, source, nelems, S, fn)); }
#define ALLTOALL(X, PTR, S)                                                              \
    ROUTINE(int, shmem_##X, S, BY_TEAM, TEAM_ARG, (PTR, dest, SYM_EACH),                 \
            (const PTR, source, SYM_EACH), (size_t, nelems, COUNT))                      \
    { return END(alltoall(team_of(team, fn), dest, source, nelems, S, fn)); }
#define ALLTOALLS(X, PTR, S)                                                             \
    ROUTINE(int, shmem_##X, S, BY_TEAM, TEAM_ARG, (PTR, dest, SYM_EACH_DST),             \
            (const PTR, source, SYM_EACH_SST), (ptrdiff_t, dst, DST),                    \
            (ptrdiff_t, sst, SST), (size_t, nelems, COUNT))                              \
    { struct strides by = {dst, sst, nelems, S};                                         \
      return END(alltoalls(team_of(team, fn), dest, source, by, fn)); }

#define MOVES(NAME, C, KIND)                                                             \
    BROADCAST(NAME##_broadcast, C *, sizeof(C))                                          \
    COLLECT(NAME##_collect, C *, sizeof(C))                                              \
    FCOLLECT(NAME##_fcollect, C *, sizeof(C))                                            \
    ALLTOALL(NAME##_alltoall, C *, sizeof(C))                                            \
    ALLTOALLS(NAME##_alltoalls, C *, sizeof(C))
SHMEM_TYPES_RMA(MOVES)

BROADCAST(broadcastmem, void *, 1)
COLLECT(collectmem, void *, 1)
FCOLLECT(fcollectmem, void *, 1)
ALLTOALL(alltoallmem, void *, 1)
ALLTOALLS(alltoallsmem, void *, 1)

/* Reductions: operation `op` is OP in op.h */
#define REDUCE(NAME, C, KIND, op, OP)                                                    \
    ROUTINE(int, shmem_##NAME##_##op##_reduce, sizeof(C), BY_TEAM, TEAM_ARG,             \
            (C *, dest, SYM_APART), (const C *, source, SYM), (size_t, nreduce, COUNT))  \
    { return END(reduce(team_of(team, fn), dest, source, nreduce, sizeof(C),             \
                        op_find(OP, OP_KIND_##KIND(C), sizeof(C)), fn)); }
SHMEM_TYPES_REDUCE_BIT(REDUCE_BITWISE)
SHMEM_TYPES_REDUCE_ORD(REDUCE_ORDERED)
SHMEM_TYPES_REDUCE_NUM(REDUCE_NUMERIC)

#define SCAN(NAME, C, KIND, X, scan)                                                     \
    ROUTINE(int, shmem_##NAME##_sum_##X, sizeof(C), BY_TEAM, TEAM_ARG,                   \
            (C *, dest, SYM_APART), (const C *, source, SYM), (size_t, nelems, COUNT))   \
    { return END(scan(team_of(team, fn), dest, source, nelems, sizeof(C),                \
                      op_find(OP_SUM, OP_KIND_##KIND(C), sizeof(C)), fn)); }
#define SCANS(NAME, C, KIND)                                                             \
    SCAN(NAME, C, KIND, inscan, scan_inclusive)                                          \
    SCAN(NAME, C, KIND, exscan, scan_exclusive)
SHMEM_TYPES_REDUCE_NUM(SCANS)

/* clang-format on */
