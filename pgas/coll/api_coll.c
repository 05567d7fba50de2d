/* SPDX-License-Identifier: BSD-3-Clause */
/* api_coll.c - rows of the collectives (9.10).  Uses: barrier, bcast, reduce. */
#include "config.h"

#include "pgas/coll/barrier.h"
#include "pgas/coll/bcast.h"
#include "pgas/coll/reduce.h"
#include "pgas/rma/api.h"

/* barrier is a release and an acquire, and puts are stores: it completes them too. */
API(void, shmem_barrier_all, (void))
{
    barrier(team_of(SHMEM_TEAM_WORLD, "shmem_barrier_all"), "shmem_barrier_all");
}

API(void, shmem_sync_all, (void))
{
    barrier(team_of(SHMEM_TEAM_WORLD, "shmem_sync_all"), "shmem_sync_all");
}

API(int, shmem_broadcastmem,
    (shmem_team_t team, void *dest, const void *source, size_t n, int root))
{
    return bcast(team, dest, source, n, 1, root, "shmem_broadcastmem");
}

#define BROADCAST(NAME, C, KIND)                                                         \
    API(int, shmem_##NAME##_broadcast,                                                   \
        (shmem_team_t team, C * dest, const C *source, size_t n, int root))              \
    {                                                                                    \
        return bcast(team, dest, source, n, sizeof(C), root,                             \
                     "shmem_" #NAME "_broadcast");                                       \
    }
SHMEM_TYPES_RMA(BROADCAST)

#define REDUCE(NAME, C, op)                                                              \
    API(int, shmem_##NAME##_##op##_reduce,                                               \
        (shmem_team_t team, C * dest, const C *source, size_t n))                        \
    {                                                                                    \
        return reduce(team, dest, source, n, sizeof(C), op_##op##_##NAME,                \
                      "shmem_" #NAME "_" #op "_reduce");                                 \
    }
#define ORDERED(NAME, C, KIND) REDUCE(NAME, C, max) REDUCE(NAME, C, min)
#define NUMERIC(NAME, C, KIND) REDUCE(NAME, C, sum)
SHMEM_TYPES_REDUCE_ORD(ORDERED)
SHMEM_TYPES_REDUCE_NUM(NUMERIC)
