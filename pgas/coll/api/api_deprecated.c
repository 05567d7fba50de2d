/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_deprecated.c - deprecated API entry points: the names used before OpenSHMEM 1.2,
 * the atomics and waits used before 1.4, and the collectives over active sets used before
 * 1.5.
 * Uses: the modules of the replacement routines, and active.
 */
#include "config.h"

#include <string.h>

#include "pgas/rma/api.h" /* first: generic macros have names of deprecated routines */

#include "pgas/coll/api/active.h"
#include "pgas/coll/algorithms/alltoall.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/algorithms/bcast.h"
#include "pgas/coll/algorithms/collect.h"
#include "pgas/coll/api/life.h"
#include "pgas/coll/api/symheap.h"
#include "pgas/coll/algorithms/reduce.h"
#include "pgas/core/memory/heap.h"
#include "pgas/rma/amo_at.h"
#include "pgas/rma/rma.h"
#include "pgas/rma/wait.h"

/* clang-format off */

/* ---- names used before 1.2 (9.1.13, annex F) ------------------------------------ */
/* Repeated calls, and calls after shmem_init, have no effect. */
ROUTINE(void, start_pes, 0, ANYTIME, (int, npes, ANY))
{ (void)fn, (void)npes; if (pgas_self.life != LIFE_UP) life_start(SHMEM_THREAD_SINGLE); }
ROUTINE_0(int, _my_pe, ALONE)
{ (void)fn; return pgas_self.me; }
ROUTINE_0(int, _num_pes, ALONE)
{ (void)fn; return (int)pgas_self.npes; }

ROUTINE(void *, shmalloc, 1, BY_WORLD, (size_t, size, SAME_SIZE))
{ return symheap_malloc(size, sizeof(void *), fn); }
ROUTINE(void *, shmemalign, 1, BY_WORLD,
        (size_t, alignment, ALIGNMENT), (size_t, size, SAME_SIZE))
{ return symheap_malloc(size, alignment, fn); }
/* Old programs rely on a NULL result for a block that was already freed. */
ROUTINE(void *, shrealloc, 1, BY_WORLD, (void *, ptr, BLOCK), (size_t, size, SAME_SIZE))
{ return ptr != NULL && heap_size(ptr) == 0 ? NULL : symheap_realloc(ptr, size, fn); }
ROUTINE(void, shfree, 1, BY_WORLD, (void *, ptr, BLOCK))
{ symheap_free(ptr, fn); }

/* ---- atomics used before 1.4 (9.7.1) --------------------------------------------- */
#define BITS(NAME, C, KIND)                                                              \
    ALWAYS_INLINE uint64_t bits_##NAME(C value)                                          \
    { uint64_t bits = 0; memcpy(&bits, &value, sizeof value); return bits; }             \
    ALWAYS_INLINE C value_##NAME(uint64_t bits)                                          \
    { C value; memcpy(&value, &bits, sizeof value); return value; }
SHMEM_TYPES_OLD_SET(BITS)

/* Operation OP on the word of PE `pe`: fetching (OLD) and non-fetching (POST) */
#define OLD(NAME, C, OP, operand)                                                        \
    value_##NAME(amo_at(TRANSPORT_AMO_##OP, dest, sizeof(C), operand, pe, fn))
#define POST(OP, C, operand)                                                             \
    amo_post(SHMEM_CTX_DEFAULT, TRANSPORT_AMO_##OP, dest, sizeof(C), operand, pe, fn)
#define DEST(C)      (C *, dest, WORD)
#define VALUE(C)     (C, value, ANY)
#define ON_PE        (int, pe, PE)
#define SET(NAME, C, KIND)                                                               \
    ROUTINE(C, shmem_##NAME##_fetch, sizeof(C), ALONE, (const C *, source, WORD), ON_PE) \
    { void *dest = (void *)(uintptr_t)source; return OLD(NAME, C, FETCH, 0); }           \
    ROUTINE(void, shmem_##NAME##_set, sizeof(C), ALONE, DEST(C), VALUE(C), ON_PE)        \
    { POST(SET, C, bits_##NAME(value)); }                                                \
    ROUTINE(C, shmem_##NAME##_swap, sizeof(C), ALONE, DEST(C), VALUE(C), ON_PE)          \
    { return OLD(NAME, C, SWAP, bits_##NAME(value)); }
SHMEM_TYPES_OLD_SET(SET)

#define CSWAP(NAME, C, KIND)                                                             \
    ROUTINE(C, shmem_##NAME##_cswap, sizeof(C), ALONE, DEST(C), (C, cond, ANY),          \
            VALUE(C), ON_PE)                                                             \
    { return value_##NAME(amo_compare_swap_at(dest, sizeof(C), bits_##NAME(cond),        \
                                              bits_##NAME(value), pe, fn)); }
SHMEM_TYPES_OLD_AMO(CSWAP)

#define INCS(NAME, C, KIND)                                                              \
    ROUTINE(C, shmem_##NAME##_finc, sizeof(C), ALONE, DEST(C), ON_PE)                    \
    { return OLD(NAME, C, ADD, 1); }                                                     \
    ROUTINE(void, shmem_##NAME##_inc, sizeof(C), ALONE, DEST(C), ON_PE)                  \
    { POST(ADD, C, 1); }
#define ADDS(NAME, C, KIND)                                                              \
    ROUTINE(C, shmem_##NAME##_fadd, sizeof(C), ALONE, DEST(C), VALUE(C), ON_PE)          \
    { return OLD(NAME, C, ADD, bits_##NAME(value)); }                                    \
    ROUTINE(void, shmem_##NAME##_add, sizeof(C), ALONE, DEST(C), VALUE(C), ON_PE)        \
    { POST(ADD, C, bits_##NAME(value)); }
SHMEM_TYPES_OLD_AMO(INCS)
SHMEM_TYPES_OLD_AMO(ADDS)

/* ---- waits used before 1.4 (9.11.1) ----------------------------------------------- */
#define UNTIL(C, cmp)                                                                    \
    wait_until(ivar, sizeof(C), WAIT_SINT, cmp, (uint64_t)(int64_t)cmp_value, fn)
#define WAIT(X, C)                                                                       \
    ROUTINE(void, shmem_##X, sizeof(C), ALONE, (C *, ivar, WORD), (C, cmp_value, ANY))   \
    { UNTIL(C, SHMEM_CMP_NE); }
#define WAITS(NAME, C, KIND) WAIT(NAME##_wait, C)
WAIT(wait, long)
SHMEM_TYPES_OLD_WAIT(WAITS)
ROUTINE(void, shmem_wait_until, sizeof(long), ALONE,
        (long *, ivar, WORD), (int, cmp, CMP), (long, cmp_value, ANY))
{ UNTIL(long, cmp); }

/* ---- collectives over active sets, used before 1.5 (9.10) ------------------------- */
#define SET_ARGS                                                                         \
    (int, PE_start, SET_START), (int, logPE_stride, SET_STRIDE), (int, PE_size, SET_SIZE)
#define PSYNC_ARG (long *, pSync, PSYNC)
#define THE_SET                                                                          \
    struct shmem_team *set = active_team(PE_start, logPE_stride, PE_size, pSync, fn);    \
    if (set == NULL) return /* this PE is not a member */

ROUTINE(void, shmem_barrier, 0, BY_SET, SET_ARGS, PSYNC_ARG)
{ THE_SET; barrier(set, fn); }
ROUTINE(void, shmem_sync, 0, BY_SET, SET_ARGS, PSYNC_ARG)
{ THE_SET; barrier_sync(set, fn); }

#define BROADCAST(bits)                                                                  \
    ROUTINE(void, shmem_broadcast##bits, bits / 8, BY_SET, (void *, dest, SYM),          \
            (const void *, source, SYM), (size_t, nelems, COUNT), (int, PE_root, ROOT),  \
            SET_ARGS, PSYNC_ARG)                                                         \
    { THE_SET; bcast_set(set, dest, source, nelems, bits / 8, PE_root, fn); }
#define COLLECT(bits)                                                                    \
    ROUTINE(void, shmem_collect##bits, bits / 8, BY_SET, (void *, dest, SYM),            \
            (const void *, source, SYM), (size_t, nelems, COUNT_OWN),                    \
            SET_ARGS, PSYNC_ARG)                                                         \
    { THE_SET; collect(set, dest, source, nelems, bits / 8, fn); }
#define FCOLLECT(bits)                                                                   \
    ROUTINE(void, shmem_fcollect##bits, bits / 8, BY_SET, (void *, dest, SYM_EACH),      \
            (const void *, source, SYM), (size_t, nelems, COUNT), SET_ARGS, PSYNC_ARG)   \
    { THE_SET; fcollect(set, dest, source, nelems, bits / 8, fn); }
#define ALLTOALL(bits)                                                                   \
    ROUTINE(void, shmem_alltoall##bits, bits / 8, BY_SET, (void *, dest, SYM_EACH),      \
            (const void *, source, SYM_EACH), (size_t, nelems, COUNT),                   \
            SET_ARGS, PSYNC_ARG)                                                         \
    { THE_SET; alltoall(set, dest, source, nelems, bits / 8, fn); }
#define ALLTOALLS(bits)                                                                  \
    ROUTINE(void, shmem_alltoalls##bits, bits / 8, BY_SET, (void *, dest, SYM_EACH_DST), \
            (const void *, source, SYM_EACH_SST), (ptrdiff_t, dst, DST),                 \
            (ptrdiff_t, sst, SST), (size_t, nelems, COUNT), SET_ARGS, PSYNC_ARG)         \
    { THE_SET; alltoalls(set, dest, source,                                             \
                         (struct strides){dst, sst, nelems, bits / 8}, fn); }
SHMEM_SIZES_OLD(BROADCAST)
SHMEM_SIZES_OLD(COLLECT)
SHMEM_SIZES_OLD(FCOLLECT)
SHMEM_SIZES_OLD(ALLTOALL)
SHMEM_SIZES_OLD(ALLTOALLS)

/* The work array pWrk is not used. */
#define REDUCE(NAME, C, KIND, op, OP)                                                    \
    ROUTINE(void, shmem_##NAME##_##op##_to_all, sizeof(C), BY_SET,                       \
            (C *, dest, SYM_APART), (const C *, source, SYM), (int, nreduce, COUNT_INT), \
            SET_ARGS, (C *, pWrk, PWRK), PSYNC_ARG)                                      \
    { THE_SET; (void)pWrk;                                                               \
      reduce(set, dest, source, (size_t)nreduce, sizeof(C),                             \
             op_find(OP, OP_KIND_##KIND(C), sizeof(C)), fn); }
SHMEM_TYPES_OLD_REDUCE_BIT(REDUCE_BITWISE)
SHMEM_TYPES_OLD_REDUCE_ORD(REDUCE_ORDERED)
SHMEM_TYPES_OLD_REDUCE_NUM(REDUCE_NUMERIC)

/* ---- cache control, removed in 1.5: no operation ----------------------------------- */
ROUTINE_0(void, shmem_clear_cache_inv, ALONE) { (void)fn; }
ROUTINE_0(void, shmem_set_cache_inv, ALONE) { (void)fn; }
ROUTINE_0(void, shmem_udcflush, ALONE) { (void)fn; }
#define LINE(X)                                                                          \
    ROUTINE(void, shmem_##X, 1, ALONE, (void *, dest, ANY)) { (void)fn; (void)dest; }
LINE(clear_cache_line_inv)
LINE(set_cache_line_inv)
LINE(udcflush_line)

/* clang-format on */
