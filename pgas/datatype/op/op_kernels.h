/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_kernels.h - the source of all kernels that can be vectorised.  One file per
 * instruction set includes it, is compiled with its own flags, and defines
 *
 * - OP_TABLE: the name of the table,
 * - OP_REGISTER: bytes of a register; if undefined, the compiler handles remainders,
 * - OP_SCALAR: disables vectorisation,
 * - OP_COMPARE64: the processor compares vectors of 64-bit integers.
 *
 * An operation is one expression of two elements; the compiler vectorises the loop over
 * it. Compilers handle whole registers well but process the remainder element by element:
 * 63 bytes took 12 to 24 ns with AVX-512.  The AVX loops therefore process whole
 * registers only, and the last register overlaps the one before: 5 ns.  This gains
 * nothing with SSE2, and SVE has predication.
 *
 * A load or store that crosses a cache line costs two.  With AVX-512 every access of a
 * misaligned operand does: sums of 4 KiB ran at 80 instead of 137 GB/s.  The AVX loops
 * therefore begin where most operands are aligned (op_head); the register in front of
 * that overlaps the first one of the loop.  Operands that are misaligned relative to each
 * other remain slower in the L1 cache, since a processor has two loads per cycle.  With
 * SSE2, one access in four crosses a line, which costs little.
 * Uses: op_table.  Used by: op_base, op_avx2, op_avx512, op_sve, op_scalar.
 */
#include "config.h"

#include <complex.h>
#include <string.h>

#include "pgas/datatype/op/op_table.h"

/* gcc vectorises at -O3 only.  INDEPENDENT: out may alias a or b, but no element depends
 * on another one.  ROLLED keeps gcc from unrolling a short loop before it is vectorised.
 */
#if defined(OP_SCALAR) && defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(disable)")
#elif defined(OP_SCALAR)
#pragma GCC optimize("O3", "no-tree-vectorize")
#define INDEPENDENT
#elif defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define ROLLED      _Pragma("clang loop vectorize(enable)")
#else
#pragma GCC optimize("O3")
#define INDEPENDENT _Pragma("GCC ivdep")
#define ROLLED      _Pragma("GCC unroll 1")
#endif

#define INLINE   static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))

/* The representations, unaligned.  The user's type may be another one of the same size.
 */
#define REPRESENTATION(NAME, C) typedef C __attribute__((may_alias, aligned(1))) NAME;
/* clang-format off */
REPRESENTATION(s8, int8_t)   REPRESENTATION(u8, uint8_t)
REPRESENTATION(s16, int16_t) REPRESENTATION(u16, uint16_t)
REPRESENTATION(s32, int32_t) REPRESENTATION(u32, uint32_t)
REPRESENTATION(s64, int64_t) REPRESENTATION(u64, uint64_t)
REPRESENTATION(f32, float)   REPRESENTATION(c32, float _Complex)
REPRESENTATION(f64, double)  REPRESENTATION(c64, double _Complex)

/* ---- alignment ------------------------------------------------------------------- */

/* The least bytes of a result with which alignment pays: of loops over registers, and of
 * loops over pieces, whose head is a short piece */
enum { OP_ALIGNED = 512, OP_ALIGNED_PIECES = 2048 };

#ifdef OP_REGISTER
/* The element, less than a register from the first one, at which two or three operands
 * are at a multiple of the register size and no other one was there before; or else a and
 * b are, because two loads that cross lines cost more than a store.  0 if there is none.
 */
INLINE size_t op_head(const void *out, const void *a, const void *b, size_t size)
{
    const size_t x = -(uintptr_t)out % OP_REGISTER, y = -(uintptr_t)a % OP_REGISTER;
    const size_t z = -(uintptr_t)b % OP_REGISTER;
    const bool with_out = (x == y && z > 0) || (x == z && y > 0);
    const size_t bytes = y == z ? y : with_out ? x : 0;

    return bytes % size != 0 ? 0 : bytes / size;
}
#else
#define op_head(out, a, b, size) ((size_t)0)
#endif

/* Of n elements T from out, a and b; short results have none */
#define HEAD(n, T, LEAST) \
    ((n) * sizeof(T) < (LEAST) ? 0 : op_head(out, a, b, sizeof(T)))

/* ---- loops ----------------------------------------------------------------------- */

/* Elements 0 .. n - 1, where out equals a, equals b, or overlaps neither */
#define LOOP(F, T)                                                                       \
    INLINE void F##_loop(T *out, const T *a, const T *b, size_t n)                       \
    {                                                                                    \
        INDEPENDENT                                                                      \
        for (size_t i = 0; i < n; i++)                                                   \
            out[i] = F##_one(a[i], b[i]);                                                \
    }

#ifdef OP_REGISTER
#define LANES(T) (OP_REGISTER / sizeof(T))

/* A part of m elements, a constant, into memory that does not alias the operands */
#define PART(F, T)                                                                       \
    INLINE void F##_part(T *part, const T *a, const T *b, size_t m)                      \
    {                                                                                    \
        ROLLED                                                                           \
        for (size_t i = 0; i < m; i++)                                                   \
            part[i] = F##_one(a[i], b[i]);                                               \
    }

/* m <= n <= 2 m elements: two parts that overlap, both read before one is written */
#define ENDS(F, T)                                                                       \
    INLINE void F##_ends(T *out, const T *a, const T *b, size_t n, size_t m)             \
    {                                                                                    \
        T head[LANES(T)], tail[LANES(T)];                                                \
        F##_part(head, a, b, m); F##_part(tail, a + n - m, b + n - m, m);                \
        memcpy(out, head, m * sizeof(T)); memcpy(out + n - m, tail, m * sizeof(T));      \
    }

/* Less than one register: two halves of it, or two quarters, ... */
#define IF_ENDS(F, T, BYTES)                                                             \
    if (OP_REGISTER > (BYTES) && sizeof(T) <= (BYTES) && n * sizeof(T) >= (BYTES))       \
        F##_ends(out, a, b, n, (BYTES) / sizeof(T));                                     \
    else
#define SHORT(F, T)                                                                      \
    INLINE void F##_short(T *out, const T *a, const T *b, size_t n)                      \
    {                                                                                    \
        IF_ENDS(F, T, 32) IF_ENDS(F, T, 16) IF_ENDS(F, T, 8)                             \
        IF_ENDS(F, T, 4) IF_ENDS(F, T, 2) IF_ENDS(F, T, 1) return;                       \
    }

#define WHOLE(F, T)                                                                      \
    INLINE void F##_whole(T *out, const T *a, const T *b, size_t n)                      \
    {                                                                                    \
        T last[LANES(T)];                                                                \
        F##_part(last, a + n - LANES(T), b + n - LANES(T), LANES(T));                    \
        F##_loop(out, a, b, n / LANES(T) * LANES(T));                                    \
        memcpy(out + n - LANES(T), last, sizeof last);                                   \
    }

/* The first register is computed before an element is written, since out may be an
 * operand; `head` elements of it are not in the loop. */
#define ALIGNED(F, T)                                                                    \
    NOINLINE void F##_aligned(T *out, const T *a, const T *b, size_t n, size_t head)     \
    {                                                                                    \
        T first[LANES(T)]; F##_part(first, a, b, LANES(T));                              \
        F##_whole(out + head, a + head, b + head, n - head);                             \
        memcpy(out, first, sizeof first);                                                \
    }
#define WHOLE_OR_ALIGNED(F, T)                                                           \
    INLINE void F##_long(T *out, const T *a, const T *b, size_t n)                       \
    {                                                                                    \
        size_t head = HEAD(n, T, OP_ALIGNED);                                            \
        if (head == 0) F##_whole(out, a, b, n);                                          \
        else F##_aligned(out, a, b, n, head);                                            \
    }
#define RUN(F, T)                                                                        \
    LOOP(F, T) PART(F, T) ENDS(F, T) SHORT(F, T)                                         \
    WHOLE(F, T) ALIGNED(F, T) WHOLE_OR_ALIGNED(F, T)                                     \
    static void F##_run(void *out, const void *a, const void *b, size_t n)               \
    {                                                                                    \
        if (n < LANES(T)) F##_short(out, a, b, n);                                       \
        else F##_long(out, a, b, n);                                                     \
    }
#else
#define RUN(F, T)                                                                        \
    LOOP(F, T)                                                                           \
    static void F##_run(void *out, const void *a, const void *b, size_t n)               \
    {                                                                                    \
        F##_loop(out, a, b, n);                                                          \
    }
#endif

#define KERNEL(F, T, EXPRESSION)                                                         \
    INLINE T F##_one(T a, T b) { return (T)(EXPRESSION); }                               \
    RUN(F, T)                                                                            \
    OP_FORMS(F, T)

/* An element of F is TIMES elements of BASE */
#define MULTIPLE_TWO(F, BASE, TIMES)                                                     \
    static void F##_two(void *acc, const void *in, size_t n)                             \
    {                                                                                    \
        BASE##_two(acc, in, n * (TIMES));                                                \
    }
#define MULTIPLE_THREE(F, BASE, TIMES)                                                   \
    static void F##_three(void *out, const void *a, const void *b, size_t n)             \
    {                                                                                    \
        BASE##_three(out, a, b, n * (TIMES));                                            \
    }
#define MULTIPLE(F, BASE, TIMES)                                                         \
    MULTIPLE_TWO(F, BASE, TIMES) MULTIPLE_THREE(F, BASE, TIMES)

/* ---- integers and reals ---------------------------------------------------------- */

#define UNSIGNED(T)                                                                      \
    KERNEL(sum_##T, T, a + b)                                                            \
    KERNEL(land_##T, T, (a != 0) & (b != 0))                                             \
    KERNEL(lor_##T, T, (a | b) != 0)                                                     \
    KERNEL(lxor_##T, T, (a != 0) ^ (b != 0))
#define ORDERED(T)                                                                       \
    KERNEL(max_##T, T, b > a ? b : a)                                                    \
    KERNEL(min_##T, T, b < a ? b : a)
/* 1u keeps the product of two 16-bit numbers, which C promotes to int, from overflowing.
 */
#define PRODUCT(T) KERNEL(prod_##T, T, 1u * a * b)
#define REAL(T)                                                                          \
    KERNEL(sum_##T, T, a + b)                                                            \
    KERNEL(prod_##T, T, a * b)
#define BITS(NAME, EXPRESSION)                                                           \
    KERNEL(NAME##_u8, u8, EXPRESSION)                                                    \
    MULTIPLE(NAME##_u16, NAME##_u8, 2)                                                   \
    MULTIPLE(NAME##_u32, NAME##_u8, 4)                                                   \
    MULTIPLE(NAME##_u64, NAME##_u8, 8)

BITS(and, a & b) BITS(or, a | b) BITS(xor, a ^ b)
UNSIGNED(u8) UNSIGNED(u16) UNSIGNED(u32) UNSIGNED(u64)
PRODUCT(u16) PRODUCT(u32)  PRODUCT(u64)
ORDERED(u8)  ORDERED(u16)  ORDERED(u32)  ORDERED(u64)
ORDERED(s8)  ORDERED(s16)  ORDERED(s32)  ORDERED(s64)
ORDERED(f32) ORDERED(f64)
REAL(f32)    REAL(f64)

#ifdef OP_SCALAR
PRODUCT(u8)
#else
/* No instruction multiplies bytes: two at a time, in the halves of 16 bits. */
INLINE u16 products_one(u16 a, u16 b)
{
    return (u16)((1u * a * b & 0xff) | (a & 0xff00u) * (b >> 8));
}
RUN(products, u16)

static void prod_u8_run(void *out, const void *a, const void *b, size_t n)
{
    products_run(out, a, b, n / 2);
    if (n % 2 != 0)
        ((u8 *)out)[n - 1] = (u8)(1u * ((const u8 *)a)[n - 1] * ((const u8 *)b)[n - 1]);
}
OP_FORMS(prod_u8, u8)
#endif

/* ---- complex numbers ------------------------------------------------------------- */

MULTIPLE(sum_c32, sum_f32, 2) MULTIPLE(sum_c64, sum_f64, 2)

#ifdef OP_SCALAR
KERNEL(prod_c32, c32, a * b) KERNEL(prod_c64, c64, a * b)
#else
enum { PIECE = 32 }; /* elements */

/* Textbook complex product without the special cases of Annex G.  T is the real type, M
 * an integer of its size.  F_odd: both parts are NaN, where Annex G may require an
 * infinity. */
#define BOOK(F, T, M)                                                                    \
    INLINE T F##_re(const T *a, const T *b) { return a[0] * b[0] - a[1] * b[1]; }        \
    INLINE T F##_im(const T *a, const T *b) { return a[0] * b[1] + a[1] * b[0]; }        \
    INLINE M F##_odd(T re, T im) { return (M)((re != re) & (im != im)); }

/* Products of one piece; nonzero if one of them is odd.  The parts go to separate arrays:
 * for interleaved - and + gcc 12 emits fused multiply-adds regardless of the flags. */
#define BOOK_PIECE(F, T, M)                                                              \
    INLINE M F##_book(T *re, T *im, const T *a, const T *b, size_t m)                    \
    {                                                                                    \
        M odd = 0;                                                                       \
        for (size_t i = 0; i < m; i++) re[i] = F##_re(a + 2 * i, b + 2 * i),             \
            im[i] = F##_im(a + 2 * i, b + 2 * i), odd |= F##_odd(re[i], im[i]);          \
        return odd;                                                                      \
    }
#define CORRECT(F, T, C)                                                                 \
    NOINLINE void F##_correct(T *re, T *im, const C *a, const C *b, size_t m)            \
    {                                                                                    \
        for (size_t i = 0; i < m; i++) {                                                 \
            C p = a[i] * b[i];                                                           \
            if (F##_odd(re[i], im[i])) re[i] = __real__ p, im[i] = __imag__ p;           \
        }                                                                                \
    }
#define JOIN(F, T)                                                                       \
    INLINE void F##_join(T *out, const T *re, const T *im, size_t m)                     \
    {                                                                                    \
        for (size_t i = 0; i < m; i++) out[2 * i] = re[i], out[2 * i + 1] = im[i];       \
    }
#define COMPLEX_PIECE(F, T, C, M)                                                        \
    INLINE void F##_piece(C *out, const C *a, const C *b, size_t m)                      \
    {                                                                                    \
        T re[PIECE], im[PIECE];                                                          \
        M odd = F##_book(re, im, (const T *)a, (const T *)b, m);                         \
        if (odd) F##_correct(re, im, a, b, m);                                           \
        F##_join((T *)out, re, im, m);                                                   \
    }
#define COMPLEX_RUN(F, C)                                                                \
    static void F##_run(void *out, const void *a, const void *b, size_t n)               \
    {                                                                                    \
        C *to = out; const C *x = a, *y = b; size_t i = HEAD(n, C, OP_ALIGNED_PIECES);   \
        if (i > 0) F##_piece(to, x, y, i);                                               \
        for (; i + PIECE <= n; i += PIECE) F##_piece(to + i, x + i, y + i, PIECE);       \
        F##_piece(to + i, x + i, y + i, n - i);                                          \
    }
#define COMPLEX(F, T, C, M)                                                              \
    BOOK(F, T, M) BOOK_PIECE(F, T, M) CORRECT(F, T, C) JOIN(F, T)                        \
    COMPLEX_PIECE(F, T, C, M) COMPLEX_RUN(F, C) OP_FORMS(F, C)
COMPLEX(prod_c32, f32, c32, uint32_t)
COMPLEX(prod_c64, f64, c64, uint64_t)
#endif

/* ---- pairs ----------------------------------------------------------------------- */

#ifdef OP_SCALAR
#define OP_PAIRS /* op_rest has them */
#else
#include "pgas/datatype/op/op_pairs.h"
#endif

/* ---- table ----------------------------------------------------------------------- */

#define FNS(F)           {F##_two, F##_three}
#define BY_SIZE(NAME, T)                                                                 \
    {FNS(NAME##_##T##8), FNS(NAME##_##T##16), FNS(NAME##_##T##32), FNS(NAME##_##T##64)}
#define INTEGERS(T)                                                                      \
    {[OP_AND] = BY_SIZE(and, u), [OP_OR] = BY_SIZE(or, u), [OP_XOR] = BY_SIZE(xor, u),   \
     [OP_MAX] = BY_SIZE(max, T), [OP_MIN] = BY_SIZE(min, T),                             \
     [OP_SUM] = BY_SIZE(sum, u), [OP_PROD] = BY_SIZE(prod, u),                           \
     [OP_LAND] = BY_SIZE(land, u), [OP_LOR] = BY_SIZE(lor, u),                           \
     [OP_LXOR] = BY_SIZE(lxor, u)}
#define REALS(NAME)     {[2] = FNS(NAME##_f32), [3] = FNS(NAME##_f64)}
#define COMPLEXES(NAME) {[3] = FNS(NAME##_c32), [4] = FNS(NAME##_c64)}

const op_table OP_TABLE = {
    [OP_SINT] = INTEGERS(s),
    [OP_UINT] = INTEGERS(u),
    [OP_FLT] = {[OP_MAX] = REALS(max), [OP_MIN] = REALS(min),
                [OP_SUM] = REALS(sum), [OP_PROD] = REALS(prod)},
    [OP_CPLX] = {[OP_SUM] = COMPLEXES(sum), [OP_PROD] = COMPLEXES(prod)},
    OP_PAIRS
};
/* clang-format on */
