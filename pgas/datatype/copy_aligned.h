/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_aligned.h - the source of the copies that align their destination, because a store
 * that crosses a cache line costs two.  copy_isas.h includes it once per instruction set
 * and defines
 *
 * - COPY_VECTOR: bytes of a register,
 * - COPY_ALIGNED: the least number of bytes with which alignment pays,
 * - COPY_TARGET: the attribute that allows these registers,
 * - COPY_NAME(f): the name of function f for this instruction set.
 *
 * Uses: copy_isas.  Used by: copy_isas.
 */

#define COPY_INLINE COPY_TARGET static inline __attribute__((always_inline))
typedef char COPY_NAME(vector)
    __attribute__((vector_size(COPY_VECTOR), aligned(1), may_alias));

COPY_INLINE void COPY_NAME(one)(char *d, const char *s)
{
    COPY_STORED(d, COPY_VECTOR);
    *(COPY_NAME(vector) *)d = *(const COPY_NAME(vector) *)s;
}

/* Loads all four registers before it stores one. */
COPY_INLINE void COPY_NAME(four)(char *d, const char *s)
{
    COPY_NAME(vector) *to = (COPY_NAME(vector) *)d;
    const COPY_NAME(vector) *from = (const COPY_NAME(vector) *)s;
    const COPY_NAME(vector) w = from[0], x = from[1], y = from[2], z = from[3];

    for (size_t i = 0; i < 4; i++)
        COPY_STORED(d + i * COPY_VECTOR, COPY_VECTOR);
    to[0] = w;
    to[1] = x;
    to[2] = y;
    to[3] = z;
}

/* n: a multiple of COPY_VECTOR, here and below */
COPY_INLINE void COPY_NAME(up)(char *d, const char *s, size_t n)
{
    size_t at = 0;

    for (; at + 4 * COPY_VECTOR <= n; at += 4 * COPY_VECTOR)
        COPY_NAME(four)(d + at, s + at);
    for (; at < n; at += COPY_VECTOR)
        COPY_NAME(one)(d + at, s + at);
}

COPY_INLINE void COPY_NAME(down)(char *d, const char *s, size_t n)
{
    const size_t last = n - COPY_VECTOR;

    for (n = last; n >= 4 * COPY_VECTOR; n -= 4 * COPY_VECTOR)
        COPY_NAME(four)(d + n - 4 * COPY_VECTOR, s + n - 4 * COPY_VECTOR);
    for (; n > 0; n -= COPY_VECTOR)
        COPY_NAME(one)(d + n - COPY_VECTOR, s + n - COPY_VECTOR);
    copy_order_stores();
    COPY_NAME(one)(d + last, s + last);
}

/* n >= 2 * COPY_VECTOR */
COPY_INLINE void COPY_NAME(aligned)(char *d, const char *s, size_t n)
{
    const size_t head = -(uintptr_t)d % COPY_VECTOR, tail = (n - head) % COPY_VECTOR;

    if (head > 0)
        copy_head(d, s, head);
    d += head;
    s += head;
    n -= head + tail;
    if (copy_is_better_down(d, s))
        COPY_NAME(down)(d, s, n);
    else
        COPY_NAME(up)(d, s, n);
    if (tail > 0)
        copy_tail(d + n, s + n, tail);
}

COPY_TARGET static void COPY_NAME(long)(char *d, const char *s, size_t n)
{
    if (n >= COPY_ALIGNED)
        COPY_NAME(aligned)(d, s, n);
    else if (copy_is_better_down(d, s))
        copy_wide_down(d, s, n);
    else
        copy_wide(d, s, n);
}

#undef COPY_INLINE
