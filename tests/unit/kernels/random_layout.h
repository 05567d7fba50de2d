/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random_layout.h - layouts of random shape, each with the list of its bytes in stream
 * order, which naive loops make from the arguments of the constructors. Used by:
 * layout_test, check_layouts, check_pack.
 */
#ifndef PGAS_TESTS_RANDOM_LAYOUT_H
#define PGAS_TESTS_RANDOM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "pgas/datatype/layout/layout.h"
#include "pgas/datatype/pack/pack_choice.h"

enum { RANDOM_BYTES_MAX = 20000, RANDOM_SMALL_BYTES = 2000, RANDOM_SMALL_RANGE = 40000 };

struct random_layout {
    struct layout *l; /* the caller frees it with layout_free */
    bool small;       /* set by the caller: limits the stream to about
                       * RANDOM_SMALL_BYTES, and the range of most layouts */
    size_t bytes;
    ptrdiff_t at[RANDOM_BYTES_MAX];
    char text[160];
};

/* A pseudo-random number from 0 to n - 1 */
size_t random_below(uint64_t *state, size_t n);

/* Fills *r.  Returns 0, or -1 if the constructor failed. */
int random_layout_make(struct random_layout *r, uint64_t *state);
/* Only vectors of one level */
int random_layout_vector(struct random_layout *r, uint64_t *state);

/* True if the kernel (PACK_KERNELS: any) packs the innermost vectors of the layout. */
bool random_layout_uses(const struct layout *l, enum pack_kernel k);

/* True if two bytes of the list have the same address. */
int random_layout_overlaps(const struct random_layout *r);

#endif
