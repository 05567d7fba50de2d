/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_ticks.h - a clock for short intervals: a counter of constant but unknown
 * frequency, read when all earlier instructions are done and their stores have reached
 * the cache.  It may advance in steps (of 10 ns on virtual machines with AMD processors).
 * A leaf.  Used by: pack_choice.
 */
#ifndef PGAS_DATATYPE_PACK_TICKS_H
#define PGAS_DATATYPE_PACK_TICKS_H

#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>

static inline uint64_t pack_ticks(void)
{
    _mm_mfence();
    _mm_lfence();
    uint64_t ticks = __builtin_ia32_rdtsc();
    _mm_lfence();
    return ticks;
}
#elif defined(__aarch64__)
static inline uint64_t pack_ticks(void)
{
    uint64_t ticks;

    __asm__ __volatile__("dsb sy; isb; mrs %0, cntvct_el0; isb" : "=r"(ticks)::"memory");
    return ticks;
}
#else
#include <time.h>

static inline uint64_t pack_ticks(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#endif

#endif
