/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomic.h - atomic access with the memory order in the name, on plain integers.
 *
 * Shared words live in memory that other processes map and that users see as plain C
 * objects, so these take plain pointers (GCC's __atomic builtins) and not _Atomic ones.
 * A leaf: includes nothing of ours.
 */
#ifndef PGAS_THREADS_ATOMIC_H
#define PGAS_THREADS_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define ATOMIC_ROWS(T, NAME)                                                             \
    static inline T load_relaxed_##NAME(const T *p)                                      \
    {                                                                                    \
        return __atomic_load_n(p, __ATOMIC_RELAXED);                                     \
    }                                                                                    \
    static inline T load_acquire_##NAME(const T *p)                                      \
    {                                                                                    \
        return __atomic_load_n(p, __ATOMIC_ACQUIRE);                                     \
    }                                                                                    \
    static inline void store_relaxed_##NAME(T *p, T v)                                   \
    {                                                                                    \
        __atomic_store_n(p, v, __ATOMIC_RELAXED);                                        \
    }
#define ATOMIC_ROWS_2(T, NAME)                                                           \
    static inline void store_release_##NAME(T *p, T v)                                   \
    {                                                                                    \
        __atomic_store_n(p, v, __ATOMIC_RELEASE);                                        \
    }                                                                                    \
    static inline T swap_acq_rel_##NAME(T *p, T v)                                       \
    {                                                                                    \
        return __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL);                              \
    }                                                                                    \
    static inline T fetch_add_acq_rel_##NAME(T *p, T v)                                  \
    {                                                                                    \
        return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL);                               \
    }
#define ATOMIC_ROWS_3(T, NAME)                                                           \
    static inline T fetch_and_acq_rel_##NAME(T *p, T v)                                  \
    {                                                                                    \
        return __atomic_fetch_and(p, v, __ATOMIC_ACQ_REL);                               \
    }                                                                                    \
    static inline T fetch_or_acq_rel_##NAME(T *p, T v)                                   \
    {                                                                                    \
        return __atomic_fetch_or(p, v, __ATOMIC_ACQ_REL);                                \
    }                                                                                    \
    static inline T fetch_xor_acq_rel_##NAME(T *p, T v)                                  \
    {                                                                                    \
        return __atomic_fetch_xor(p, v, __ATOMIC_ACQ_REL);                               \
    }
/* Compare and swap; returns the value that was there before. */
#define ATOMIC_ROWS_4(T, NAME)                                                           \
    static inline T cas_acq_rel_##NAME(T *p, T expected, T desired)                      \
    {                                                                                    \
        __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_ACQ_REL,      \
                                    __ATOMIC_ACQUIRE);                                   \
        return expected;                                                                 \
    }

/* clang-format off */
ATOMIC_ROWS(uint32_t, u32) ATOMIC_ROWS_2(uint32_t, u32) ATOMIC_ROWS_3(uint32_t, u32)
ATOMIC_ROWS_4(uint32_t, u32)
ATOMIC_ROWS(uint64_t, u64) ATOMIC_ROWS_2(uint64_t, u64) ATOMIC_ROWS_3(uint64_t, u64)
ATOMIC_ROWS_4(uint64_t, u64)
/* clang-format on */

#undef ATOMIC_ROWS
#undef ATOMIC_ROWS_2
#undef ATOMIC_ROWS_3
#undef ATOMIC_ROWS_4

    /* Orders earlier accesses before later ones, all but store -> load. */
    static inline void fence_acq_rel(void)
{
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
}

/* Orders everything: a store before it is visible before a load after it runs. */
static inline void fence_full(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Stops the compiler only; the partner pays with membarrier() (see core/block.c). */
static inline void fence_compiler(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#endif
