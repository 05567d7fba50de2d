/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_tune.c - see pack_tune.h.  Uses: pack_ticks. */
#include "config.h"

#include "pgas/datatype/pack/pack_ticks.h"
#include "pgas/datatype/pack/pack_tune.h"
#include "pgas/threads/atomic.h"

enum {
    PART_MIN = 64 << 10, /* bytes of the parts of a long copy that are measured */
    PART_ALIGN = 64,     /* blocks: so that all parts have the same alignment */
    PARTS_MAX = 64,      /* of a longer copy; most shapes take fewer turns */
};

/* The turns of the candidates: some do not count, because code, plan and page tables are
 * cold; then come some before any candidate is dropped.  Long parts need fewer samples.
 */
struct tune_turns {
    unsigned cold, first, all;
};

static struct tune_turns tune_turns_of(const struct pack_tune_cell *c)
{
    return c->is_long ? (struct tune_turns){1, 3, 12} : (struct tune_turns){2, 6, 28};
}

int pack_shape_compare(const struct pack_shape *a, const struct pack_shape *b)
{
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    if (a->to_stride != b->to_stride)
        return a->to_stride < b->to_stride ? -1 : 1;
    if (a->from_stride != b->from_stride)
        return a->from_stride < b->from_stride ? -1 : 1;
    return (a->size_log > b->size_log) - (a->size_log < b->size_log);
}

static void tune_learn(struct pack_tune_cell *c, enum pack_kernel k)
{
    store_release_u64(&c->learned,
                      c->key >> PACK_TUNE_KERNEL_BITS << PACK_TUNE_KERNEL_BITS |
                          (uint64_t)(k + 1));
}

static void tune_begin(struct pack_tune_cell *c, const struct pack_tune_kernels *with,
                       const struct vector_copy *v, uint64_t key)
{
    store_release_u64(&c->learned, 0);
    c->key = key;
    c->shape = pack_shape_of(v);
    enum pack_kernel known = with->known(&c->shape);
    if (known != PACK_KERNELS && with->can(known, v)) {
        tune_learn(c, known);
        return;
    }
    c->turn = c->next = 0;
    c->is_long = v->block * v->count >= PART_MIN;
    c->candidates = 0;
    for (enum pack_kernel k = 0; k < PACK_KERNELS; k++) {
        c->sample[k] = (struct pack_tune_sample){UINT32_MAX, 0, 0};
        c->candidates |= (uint32_t)with->can(k, v) << k;
    }
}

/* The mean, because a clock may tick less often than once in a short copy. */
static uint64_t tune_cost(const struct pack_tune_cell *c, enum pack_kernel k)
{
    const struct pack_tune_sample *s = &c->sample[k];

    return s->count == 0 ? UINT64_MAX : s->sum / s->count;
}

static enum pack_kernel tune_best(const struct pack_tune_cell *c)
{
    enum pack_kernel best = PACK_SCALAR;

    for (enum pack_kernel k = 0; k < PACK_KERNELS; k++)
        if (tune_cost(c, k) < tune_cost(c, best))
            best = k;
    return best;
}

/* Candidates are dropped that cost more than 3/2 of the best one, later those that cost
 * 1/8 and then 1/16 more. */
static void tune_end_turn(struct pack_tune_cell *c)
{
    struct tune_turns turns = tune_turns_of(c);
    uint64_t least = tune_cost(c, tune_best(c));

    c->next = 0;
    c->turn++;
    unsigned shift = c->turn <= turns.first ? 1 : c->turn <= turns.all / 2 ? 3 : 4;
    for (enum pack_kernel k = 0; c->turn >= turns.first && k < PACK_KERNELS; k++)
        if (tune_cost(c, k) - least > least >> shift)
            c->candidates &= ~(1u << k);
    if (c->turn == turns.all || (c->candidates & (c->candidates - 1)) == 0)
        tune_learn(c, tune_best(c));
}

/* Samples of more than 5/4 of the least one are disturbed, unless the difference may come
 * from the steps of the clock, of which the begin and the end each miss up to one. */
static void tune_add_sample(struct pack_tune_sample *s, uint64_t cost, uint64_t step)
{
    uint32_t now = cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
    uint64_t slack = now / 4 > 2 * step ? now / 4 : 2 * step;

    if (now < s->least) {
        if (now + slack < s->least)
            s->sum = s->count = 0;
        s->least = now;
    }
    slack = s->least / 4 > 2 * step ? s->least / 4 : 2 * step;
    if (now <= s->least + slack) {
        s->sum += now;
        s->count++;
    }
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
    uint64_t ticks = pack_ticks() - begin;
    if (c->turn >= tune_turns_of(c).cold)
        tune_add_sample(&c->sample[k], (ticks << 16) / (v->block * v->count),
                        ((uint64_t)PACK_TICKS_STEP << 16) / (v->block * v->count));
    c->next = (uint8_t)(k + 1);
    if (c->candidates >> c->next == 0)
        tune_end_turn(c);
}

/* Measures parts until the cell has learned, and copies the rest. */
static void tune_copy_parts(struct pack_tune_cell *c,
                            const struct pack_tune_kernels *with, struct vector_copy v)
{
    size_t bytes = v.block * v.count / PARTS_MAX, left = v.count;
    size_t part = (bytes < PART_MIN ? PART_MIN : bytes) / v.block;

    part += PART_ALIGN - part % PART_ALIGN;

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
    struct pack_tune_cell *c = &t->cell[pack_tune_cell_of(key)];

    if (cas_acq_rel_u32(&c->busy, 0, 1) != 0) {
        with->run(with->first(v), v);
        return;
    }
    if (c->key != key)
        tune_begin(c, with, v, key);
    tune_copy_parts(c, with, *v);
    store_release_u32(&c->busy, 0);
}

size_t pack_tune_rows(struct pack_tune *t, struct pack_row row[PACK_TUNE_CELLS])
{
    size_t n = 0;

    for (size_t i = 0; i < PACK_TUNE_CELLS; i++) {
        struct pack_tune_cell *c = &t->cell[i];
        if (cas_acq_rel_u32(&c->busy, 0, 1) != 0)
            continue;
        enum pack_kernel k = pack_tune_cell_found(c, c->key);
        if (k != PACK_KERNELS)
            row[n++] = (struct pack_row){c->shape, k};
        store_release_u32(&c->busy, 0);
    }
    return n;
}
