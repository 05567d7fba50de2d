/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_tune.c - see pack_tune.h.  Uses: pack_ticks. */
#include "config.h"

#include "pgas/datatype/pack/pack_ticks.h"
#include "pgas/datatype/pack/pack_tune.h"
#include "pgas/threads/atomic.h"

enum {
    PART_MIN = 64 << 10, /* bytes of the parts of a long copy that are measured */
    PARTS_MAX = 64,      /* of a longer copy; most shapes take fewer turns */
    TURNS = 12,          /* measurements of each candidate that is not dropped */
};

static void tune_begin(struct pack_tune_cell *c, const struct pack_tune_kernels *with,
                       const struct vector_copy *v, uint64_t key)
{
    store_release_u64(&c->learned, 0);
    c->key = key;
    c->turn = c->next = 0;
    c->candidates = 0;
    for (enum pack_kernel k = 0; k < PACK_KERNELS; k++) {
        c->cost[k] = UINT32_MAX;
        c->candidates |= (uint32_t)with->can(k, v) << k;
    }
}

static enum pack_kernel tune_best(const struct pack_tune_cell *c)
{
    enum pack_kernel best = PACK_SCALAR;

    for (enum pack_kernel k = 0; k < PACK_KERNELS; k++)
        if (c->cost[k] < c->cost[best])
            best = k;
    return best;
}

/* After each turn candidates are dropped that cost more than twice as much as the best
 * one, later those that cost 1/4 and then 1/16 more. */
static void tune_end_turn(struct pack_tune_cell *c)
{
    uint32_t least = c->cost[tune_best(c)];
    uint32_t more = c->turn < 2 ? least : c->turn < 4 ? least / 4 : least / 16;

    for (enum pack_kernel k = 0; c->turn > 0 && k < PACK_KERNELS; k++)
        if (c->cost[k] - least > more)
            c->candidates &= ~(1u << k);
    c->next = 0;
    if (++c->turn == TURNS || (c->candidates & (c->candidates - 1)) == 0)
        store_release_u64(&c->learned,
                          c->key >> PACK_TUNE_KERNEL_BITS << PACK_TUNE_KERNEL_BITS |
                              (uint64_t)(tune_best(c) + 1));
}

/* Copies the vector with the next candidate. */
static void tune_measure(struct pack_tune_cell *c, const struct pack_tune_kernels *with,
                         const struct vector_copy *v)
{
    enum pack_kernel k = c->next;

    while ((c->candidates >> k & 1) == 0)
        k++;
    if (!with->can(k, v)) {
        with->run(with->first(v), v);
        return;
    }
    uint64_t begin = pack_ticks();
    with->run(k, v);
    uint64_t cost = ((pack_ticks() - begin) << 12) / (v->block * v->count);
    if (cost < c->cost[k])
        c->cost[k] = (uint32_t)cost;
    c->next = (uint8_t)(k + 1);
    if (c->candidates >> c->next == 0)
        tune_end_turn(c);
}

/* Measures parts until the cell has learned, and copies the rest. */
static void tune_copy_parts(struct pack_tune_cell *c,
                            const struct pack_tune_kernels *with, struct vector_copy v)
{
    size_t bytes = v.block * v.count / PARTS_MAX, left = v.count;
    size_t part = (bytes < PART_MIN ? PART_MIN : bytes) / v.block + 1;

    while (left > 0 && pack_tune_cell_found(c, c->key) == PACK_KERNELS) {
        v.count = left < 2 * part ? left : part;
        tune_measure(c, with, &v);
        v.to += (ptrdiff_t)v.count * v.to_stride;
        v.from += (ptrdiff_t)v.count * v.from_stride;
        left -= v.count;
    }
    v.count = left;
    if (left == 0)
        return;
    /* Another shape with the same key may have a kernel that this one cannot use. */
    enum pack_kernel found = pack_tune_cell_found(c, c->key);
    with->run(found < PACK_KERNELS && with->can(found, &v) ? found : with->first(&v), &v);
}

void pack_tune_measure(struct pack_tune *t, const struct pack_tune_kernels *with,
                       uint64_t key, const struct vector_copy *v)
{
    struct pack_tune_cell *c = &t->cell[key % PACK_TUNE_CELLS];

    if (cas_acq_rel_u32(&c->busy, 0, 1) != 0) {
        with->run(with->first(v), v);
        return;
    }
    if (c->key != key)
        tune_begin(c, with, v, key);
    tune_copy_parts(c, with, *v);
    store_release_u32(&c->busy, 0);
}
