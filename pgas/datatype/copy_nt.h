/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_nt.h - copy with non-temporal stores, where the processor has them.
 * A leaf.  Used by: copy.
 */
#ifndef PGAS_DATATYPE_COPY_NT_H
#define PGAS_DATATYPE_COPY_NT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>

#define COPY_NT_STEP 64 /* bytes per turn: one line */

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

static inline void copy_nt(void *dst, const void *src, size_t n)
{
    char *d = dst;
    const char *s = src;
    size_t head = (COPY_NT_STEP - (uintptr_t)d % COPY_NT_STEP) % COPY_NT_STEP;

    if (head > n)
        head = n;
    memcpy(d, s, head);
    size_t at = head;
    for (; at + COPY_NT_STEP <= n; at += COPY_NT_STEP)
        copy_nt_line(d + at, s + at);
    memcpy(d + at, s + at, n - at);
    _mm_sfence(); /* streamed stores are weakly ordered: order them before later ones */
}
#else
static inline void copy_nt(void *dst, const void *src, size_t n)
{
    memcpy(dst, src, n);
}
#endif

#endif
