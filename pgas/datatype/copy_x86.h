/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_x86.h - copy kernels of x86-64: wide registers (AVX2), and non-temporal stores.
 * Other processors get memcpy.
 *
 * Direction: a load waits for earlier stores of which the low 12 bits of the address
 * overlap it in part.  In a copy upwards these are the stores of the last few KiB if
 * (d - s) % 4096 is small, and in a copy downwards if it is large; measured on Zen 5 at
 * 4 KiB: 128 GB/s instead of 185.  The end of the destination is stored last in both
 * directions: OpenSHMEM does not order the words of a put, but programs that poll the
 * last one exist.
 *
 * A leaf.  Used by: copy, copy_isas, op.
 */
#ifndef PGAS_DATATYPE_COPY_X86_H
#define PGAS_DATATYPE_COPY_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define COPY_NT_STEP 64 /* bytes per iteration: one cache line */

static inline void copy_nt_line(char *d, const char *s)
{
    __m128i a = _mm_loadu_si128((const __m128i *)(const void *)s);
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(s + 16));
    __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(s + 32));
    __m128i e = _mm_loadu_si128((const __m128i *)(const void *)(s + 48));

    _mm_stream_si128((__m128i *)(void *)d, a);
    _mm_stream_si128((__m128i *)(void *)(d + 16), b);
    _mm_stream_si128((__m128i *)(void *)(d + 32), c);
    _mm_stream_si128((__m128i *)(void *)(d + 48), e);
}

/* Non-temporal stores are weakly ordered; copy_nt_end orders them before later stores. */
static inline void copy_nt_end(void)
{
    _mm_sfence();
}

/* Without the closing fence, so that several calls can share one copy_nt_end */
static inline void copy_nt_lines(char *d, const char *s, size_t n)
{
    size_t head = (COPY_NT_STEP - (uintptr_t)d % COPY_NT_STEP) % COPY_NT_STEP;

    if (head > n)
        head = n;
    memcpy(d, s, head);
    size_t at = head;
    for (; at + COPY_NT_STEP <= n; at += COPY_NT_STEP)
        copy_nt_line(d + at, s + at);
    memcpy(d + at, s + at, n - at);
}

#define COPY_WIDE 32 /* bytes of a register */

__attribute__((target("avx2"))) static inline __m256i copy_load(const char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

__attribute__((target("avx2"))) static inline void copy_store(char *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}

static inline bool copy_is_better_down(const char *d, const char *s)
{
    const uintptr_t beyond = ((uintptr_t)d - (uintptr_t)s) % 4096;

    return beyond - 1 < 2048;
}

/* Keeps the compiler from moving a store; the processor keeps the order of stores. */
static inline void copy_order_stores(void)
{
    __asm__ __volatile__("" ::: "memory");
}

/* n > COPY_SMALL_MAX.  The last register may overlap the one before; lengths under one
 * register are two halves that may overlap. */
__attribute__((target("avx2"))) static inline void copy_wide(char *d, const char *s,
                                                             size_t n)
{
    if (n < COPY_WIDE) {
        __m128i head = _mm_loadu_si128((const __m128i *)(const void *)s);
        __m128i tail = _mm_loadu_si128((const __m128i *)(const void *)(s + n - 16));
        _mm_storeu_si128((__m128i *)(void *)d, head);
        _mm_storeu_si128((__m128i *)(void *)(d + n - 16), tail);
        return;
    }
    size_t at = 0;
    for (; at + 4 * COPY_WIDE <= n; at += 4 * COPY_WIDE) {
        __m256i a = copy_load(s + at), b = copy_load(s + at + COPY_WIDE);
        __m256i c = copy_load(s + at + 2 * COPY_WIDE),
                e = copy_load(s + at + 3 * COPY_WIDE);
        copy_store(d + at, a);
        copy_store(d + at + COPY_WIDE, b);
        copy_store(d + at + 2 * COPY_WIDE, c);
        copy_store(d + at + 3 * COPY_WIDE, e);
    }
    for (; at + COPY_WIDE < n; at += COPY_WIDE)
        copy_store(d + at, copy_load(s + at));
    if (at < n)
        copy_store(d + n - COPY_WIDE, copy_load(s + n - COPY_WIDE));
}

/* n >= COPY_WIDE.  The last register may overlap the one before, as in copy_wide. */
__attribute__((target("avx2"))) static inline void copy_wide_down(char *d, const char *s,
                                                                  size_t n)
{
    size_t at = (n - 1) / COPY_WIDE * COPY_WIDE;

    for (; at >= 4 * COPY_WIDE; at -= 4 * COPY_WIDE) {
        __m256i a = copy_load(s + at - COPY_WIDE), b = copy_load(s + at - 2 * COPY_WIDE);
        __m256i c = copy_load(s + at - 3 * COPY_WIDE),
                e = copy_load(s + at - 4 * COPY_WIDE);
        copy_store(d + at - COPY_WIDE, a);
        copy_store(d + at - 2 * COPY_WIDE, b);
        copy_store(d + at - 3 * COPY_WIDE, c);
        copy_store(d + at - 4 * COPY_WIDE, e);
    }
    for (; at > 0; at -= COPY_WIDE)
        copy_store(d + at - COPY_WIDE, copy_load(s + at - COPY_WIDE));
    copy_order_stores();
    copy_store(d + n - COPY_WIDE, copy_load(s + n - COPY_WIDE));
}
#else
#define COPY_NT_STEP 64

static inline void copy_wide(char *d, const char *s, size_t n)
{
    memcpy(d, s, n);
}
static inline void copy_nt_lines(char *d, const char *s, size_t n)
{
    memcpy(d, s, n);
}
static inline void copy_nt_end(void) {}
#endif

#endif
