/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_index.h - the lanes of gather, scatter and permute kernels.
 *
 * In units: a block has E, blocks are S apart, a register has L lanes.  Unit p of the
 * packed stream is at off(p) = p / E * S + p % E of the strided memory.  Register k of
 * the stream needs off(k L) ... off(k L + L - 1); this pattern repeats after E / gcd(E,
 * L) registers, with all offsets increased by L / gcd(E, L) * S. Uses: pack_table.  Used
 * by: pack_avx2, pack_avx512.
 */
#ifndef PGAS_DATATYPE_PACK_INDEX_H
#define PGAS_DATATYPE_PACK_INDEX_H

#include "pgas/datatype/pack/pack_table.h"

enum {
    PACK_LANES_MAX = 16,
    PACK_PERIOD_MAX = 16, /* registers: E <= L <= 16 */
};

struct pack_index {
    size_t registers;  /* of a period */
    ptrdiff_t advance; /* units of the strided memory in a period */
    _Alignas(64) int32_t lane[PACK_PERIOD_MAX][PACK_LANES_MAX];
};

static inline size_t pack_gcd_lanes(size_t n, size_t lanes)
{
    size_t low = n & -n; /* lanes is a power of two */

    return low < lanes ? low : lanes;
}

/* Offsets of one period fit int32_t, and a period fits struct pack_index. */
static inline bool pack_index_can(size_t units, ptrdiff_t stride, size_t lanes)
{
    ptrdiff_t limit = INT32_MAX / (2 * PACK_LANES_MAX);

    return units <= lanes && stride <= limit && stride >= -limit;
}

/* Only the registers that `count` blocks need */
static inline void pack_index_make(struct pack_index *x, size_t units, ptrdiff_t stride,
                                   size_t count, size_t lanes)
{
    size_t gcd = pack_gcd_lanes(units, lanes), in = 0;
    int32_t block = 0, step = (int32_t)stride;

    x->registers = units / gcd;
    x->advance = (ptrdiff_t)(lanes / gcd) * stride;
    size_t needed = (units * count + lanes - 1) / lanes;
    for (size_t r = 0; r < x->registers && r < needed; r++)
        for (size_t i = 0; i < lanes; i++) {
            x->lane[r][i] = block + (int32_t)in;
            if (++in == units) {
                in = 0;
                block += step;
            }
        }
}

#endif
