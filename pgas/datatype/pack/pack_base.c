/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_base.c - the kernels for the compiler's default instruction set. */
#include "config.h"

#define PACK_FIXED_FNS pack_fixed
#include "pgas/datatype/copy.h"
#include "pgas/datatype/pack/pack_fixed.h"

static bool pack_any_can(const struct vector_copy *v)
{
    (void)v;
    return true;
}

/* From this size on copy_bytes has loops that are faster than memcpy. */
enum { PACK_BLOCK_LONG = 4096 };

static void pack_block_run(const struct vector_copy *v)
{
    const bool plain = v->block < PACK_BLOCK_LONG;
    char *to = v->to;
    const char *from = v->from;

    for (size_t i = v->count; i > 0; i--) {
        if (plain)
            memcpy(to, from, v->block);
        else
            copy_bytes(to, from, v->block);
        to += v->to_stride;
        from += v->from_stride;
    }
}

/* unit is a constant. */
PACK_INLINE void pack_units(const struct vector_copy *v, size_t unit)
{
    char *restrict to = v->to;
    const char *restrict from = v->from;

    for (size_t i = v->count; i > 0; i--) {
        for (size_t at = 0; at < v->block; at += unit)
            memcpy(to + at, from + at, unit);
        to += v->to_stride;
        from += v->from_stride;
    }
}

static void pack_scalar_run(const struct vector_copy *v)
{
    switch (pack_unit(v)) {
    case 16:
        pack_units(v, 16);
        break;
    case 8:
        pack_units(v, 8);
        break;
    case 4:
        pack_units(v, 4);
        break;
    case 2:
        pack_units(v, 2);
        break;
    default:
        pack_units(v, 1);
        break;
    }
}

const struct pack_kernel_fns pack_scalar = {.can = pack_any_can, .run = pack_scalar_run};
const struct pack_kernel_fns pack_block = {.can = pack_any_can, .run = pack_block_run};
