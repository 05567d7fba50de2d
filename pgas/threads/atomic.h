/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomic.h - atomic accesses to plain integers, with the memory order in the name.
 *
 * Shared words are in memory that other processes map and that users see as plain C
 * objects; the functions therefore take plain pointers (GCC's __atomic builtins) instead
 * of _Atomic ones.  A leaf: includes no other header of the project.
 */
#ifndef PGAS_THREADS_ATOMIC_H
#define PGAS_THREADS_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* For functions that must be inlined into every routine on the fast path; but into
 * thousands of routines without optimization, they would take most of the time of a
 * build. */
#ifdef __OPTIMIZE__
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE static inline
#endif

/* For the functions that every put and get calls: their speed varies by 10 % with their
 * position relative to cache lines. */
#define LINE_ALIGNED __attribute__((aligned(64)))

/* clang-format off */
#define LOAD(T, SUFFIX, ORDER, ORDER_NAME)                                               \
    static inline T load_##ORDER_NAME##_##SUFFIX(const T *p)                             \
    { return __atomic_load_n(p, ORDER); }
#define STORE(T, SUFFIX, ORDER, ORDER_NAME)                                              \
    static inline void store_##ORDER_NAME##_##SUFFIX(T *p, T v)                          \
    { __atomic_store_n(p, v, ORDER); }
#define MODIFY(T, SUFFIX, NAME, BUILTIN)                                                 \
    static inline T NAME##_acq_rel_##SUFFIX(T *p, T v)                                   \
    { return BUILTIN(p, v, __ATOMIC_ACQ_REL); }
/* Compare and swap; returns the old value. */
#define CAS(T, SUFFIX)                                                                   \
    static inline T cas_acq_rel_##SUFFIX(T *p, T expected, T desired)                    \
    {                                                                                    \
        __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL,      \
                                    __ATOMIC_ACQUIRE);                                   \
        return expected;                                                                 \
    }
#define ACCESS(T, SUFFIX)                                                                \
    LOAD(T, SUFFIX, __ATOMIC_RELAXED, relaxed)                                           \
    LOAD(T, SUFFIX, __ATOMIC_ACQUIRE, acquire)                                           \
    STORE(T, SUFFIX, __ATOMIC_RELAXED, relaxed)                                          \
    STORE(T, SUFFIX, __ATOMIC_RELEASE, release)                                          \
    CAS(T, SUFFIX)
#define UPDATE(T, SUFFIX)                                                                \
    MODIFY(T, SUFFIX, swap, __atomic_exchange_n)                                         \
    MODIFY(T, SUFFIX, fetch_add, __atomic_fetch_add)                                     \
    MODIFY(T, SUFFIX, fetch_and, __atomic_fetch_and)                                     \
    MODIFY(T, SUFFIX, fetch_or, __atomic_fetch_or)                                       \
    MODIFY(T, SUFFIX, fetch_xor, __atomic_fetch_xor)

ACCESS(uint32_t, u32) UPDATE(uint32_t, u32)
ACCESS(uint64_t, u64) UPDATE(uint64_t, u64)
/* clang-format on */

#undef LOAD
#undef STORE
#undef MODIFY
#undef CAS
#undef ACCESS
#undef UPDATE

    /* Orders earlier accesses before later ones, except store -> load. */
    static inline void fence_acq_rel(void)
{
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
}

/* Full fence: an earlier store is visible before a later load executes. */
static inline void fence_full(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Compiler barrier; the other side calls membarrier() (see core/progress/block_sleep.c).
 */
static inline void fence_compiler(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#endif
