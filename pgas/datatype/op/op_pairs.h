/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_pairs.h - vectorised maxloc and minloc; part of op_kernels.h, whose macros it uses.
 * op_rest.c has the plain C form and the pairs of long double.
 *
 * A pair has its value in one half and its index in the low bits of the other half; the
 * padding beside the index is copied with the winning pair.  A pair of 32-bit integers
 * needs one 64-bit comparison: it is treated as a number with the value above the index.
 * Without 64-bit vector comparisons (SSE2), pairs of other sizes are left to op_rest.
 * Uses: op_kernels.  Used by: op_kernels.
 */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "values are in the low bits");

/* clang-format off */
/* ---- in two halves --------------------------------------------------------------- */

enum { PAIRS = 32, PARTS = 2 * PAIRS }; /* pairs of a piece, and their halves */
#define PAIRS_HEAD(n, T) HEAD(n, T, OP_ALIGNED_PIECES)

/* The index, from its half */
#define INDEX_u32(x) ((s32)(x))
#define INDEX_u64(x) ((s64)((x) << 32))

/* All ones if b's pair wins */
#define BETTER_PAIR(F, T, H, BETTER)                                                     \
    INLINE H F##_better(const T *a, const T *b, H x, H y)                                \
    {                                                                                    \
        bool same = (*b == *a) & (INDEX_##H(y) < INDEX_##H(x));                          \
        return -(H)((*b BETTER *a) | same);                                              \
    }
#define WINS(F, T, H)                                                                    \
    INLINE void F##_wins(H *wins, const H *a, const H *b, size_t m)                      \
    {                                                                                    \
        INDEPENDENT                                                                      \
        for (size_t i = 0; i < m; i++)                                                   \
            wins[i] = F##_better((const T *)a + 2 * i, (const T *)b + 2 * i,             \
                                 a[2 * i + 1], b[2 * i + 1]);                            \
    }
#define SELECT(H, k) out[k] = (b[k] & wins[i]) | (a[k] & ~wins[i])
#define PIECE_OF_PAIRS(F, H)                                                             \
    INLINE void F##_piece(H *out, const H *a, const H *b, size_t m)                      \
    {                                                                                    \
        H wins[PAIRS];                                                                   \
        F##_wins(wins, a, b, m);                                                         \
        INDEPENDENT                                                                      \
        for (size_t i = 0; i < m; i++) { SELECT(H, 2 * i); SELECT(H, 2 * i + 1); }       \
    }
#define RUN_PAIRS(F, H)                                                                  \
    static void F##_run(void *out, const void *a, const void *b, size_t n)               \
    {                                                                                    \
        H *o = out; const H *x = a, *y = b; size_t i = 2 * PAIRS_HEAD(n, H##_pair);      \
        if (i > 0) F##_piece(o, x, y, i / 2);                                            \
        for (; i + PARTS <= 2 * n; i += PARTS) F##_piece(o + i, x + i, y + i, PAIRS);    \
        F##_piece(o + i, x + i, y + i, n - i / 2);                                       \
    }
#define HALVES(F, T, H, BETTER)                                                          \
    BETTER_PAIR(F, T, H, BETTER) WINS(F, T, H) PIECE_OF_PAIRS(F, H) RUN_PAIRS(F, H)      \
    OP_FORMS(F, H##_pair)

/* ---- as one number --------------------------------------------------------------- */

/* The low bits of a key: an unsigned number that rises, or falls, with the index. */
#define RISING(x)  ((x) >> 32 ^ 0x80000000u)
#define FALLING(x) ((x) >> 32 ^ 0x7fffffffu)

#define KEY_ps16(x, INDEX) ((s64)((x) << 48 | INDEX(x) << 16))
#define KEY_ps32(x, INDEX) ((s64)((x) << 32 | INDEX(x)))

#define ONE_NUMBER(T)                                                                    \
    KERNEL(maxloc_##T, u64, KEY_##T(b, FALLING) > KEY_##T(a, FALLING) ? b : a)           \
    KERNEL(minloc_##T, u64, KEY_##T(b, RISING) < KEY_##T(a, RISING) ? b : a)

/* ---- kernels --------------------------------------------------------------------- */

typedef struct { u32 half[2]; } u32_pair;
typedef struct { u64 half[2]; } u64_pair;

HALVES(maxloc_pf32, f32, u32, >) HALVES(minloc_pf32, f32, u32, <)
#ifdef OP_COMPARE64
ONE_NUMBER(ps16) ONE_NUMBER(ps32)
HALVES(maxloc_ps64, s64, u64, >) HALVES(minloc_ps64, s64, u64, <)
HALVES(maxloc_pf64, f64, u64, >) HALVES(minloc_pf64, f64, u64, <)
#define PAIRS_SINT(NAME)                                                                 \
    {[1] = FNS(NAME##_ps16), [2] = FNS(NAME##_ps32), [3] = FNS(NAME##_ps64)}
#define PAIRS_FLT(NAME) {[2] = FNS(NAME##_pf32), [3] = FNS(NAME##_pf64)}
#else
HALVES(maxloc_ps32, s32, u32, >) HALVES(minloc_ps32, s32, u32, <)
#define PAIRS_SINT(NAME) {[2] = FNS(NAME##_ps32)}
#define PAIRS_FLT(NAME)  {[2] = FNS(NAME##_pf32)}
#endif
#define OP_PAIRS                                                                         \
    [OP_PAIR_SINT] = {[OP_MAXLOC] = PAIRS_SINT(maxloc),                                  \
                      [OP_MINLOC] = PAIRS_SINT(minloc)},                                 \
    [OP_PAIR_FLT] = {[OP_MAXLOC] = PAIRS_FLT(maxloc), [OP_MINLOC] = PAIRS_FLT(minloc)},
    /* clang-format on */
