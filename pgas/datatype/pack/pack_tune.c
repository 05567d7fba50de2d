/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_tune.c - see pack_tune.h. */
#include "config.h"

#include "pgas/datatype/pack/pack_tune.h"
#include "pgas/threads/atomic.h"

enum {
    LONG_MIN = 512 << 10, /* bytes: longer copies are measured in parts */
    PART_MIN = 64 << 10,
    COLD_MAX = 32 << 20, /* bytes: a shorter copy may find its data in the cache again */
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
    return c->is_long ? (struct tune_turns){1, 5, 16}
                      : (struct tune_turns){2, 6, 2 + PACK_TUNE_SAMPLES};
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
    c->is_long = v->block * v->count >= LONG_MIN;
    c->is_cold = c->is_long && v->block * v->count < COLD_MAX;
    c->candidates = 0;
    for (enum pack_kernel k = 0; k < PACK_KERNELS; k++) {
        c->samples[k].count = 0;
        c->candidates |= (uint32_t)with->can(k, v) << k;
    }
}

/* The mean of the middle half, because a clock may tick less often than once in a short
 * copy. */
static uint64_t tune_cost(const struct pack_tune_cell *c, enum pack_kernel k)
{
    const struct pack_tune_samples *s = &c->samples[k];
    uint32_t begin = s->count / 4, end = s->count - s->count / 4;
    uint64_t sum = 0;

    for (uint32_t i = begin; i < end; i++)
        sum += s->ticks[i];
    return s->count == 0 ? UINT64_MAX : sum / (end - begin);
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

static void tune_add_sample(struct pack_tune_samples *s, uint64_t cost)
{
    uint32_t now = cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX, i = s->count;

    if (s->count == PACK_TUNE_SAMPLES)
        return;
    for (; i > 0 && s->ticks[i - 1] > now; i--)
        s->ticks[i] = s->ticks[i - 1];
    s->ticks[i] = now;
    s->count++;
}

/* Turns alternate between the ascending and the descending order, so that candidates
 * differ neither in their part of a copy nor in what was copied before. */
static enum pack_kernel tune_kernel_at(const struct pack_tune_cell *c, unsigned at)
{
    return (enum pack_kernel)(c->turn % 2 == 0 ? at : PACK_KERNELS - 1 - at);
}

/* Moves c->next to the next candidate at or behind it.  False at the end of the turn. */
static bool tune_seek(struct pack_tune_cell *c)
{
    while (c->next < PACK_KERNELS &&
           (c->candidates >> tune_kernel_at(c, c->next) & 1) == 0)
        c->next++;
    return c->next < PACK_KERNELS;
}

/* Copies the vector with the next candidate. */
static void tune_measure(struct pack_tune_cell *c, const struct pack_tune_kernels *with,
                         const struct vector_copy *v)
{
    (void)tune_seek(c);
    enum pack_kernel k = tune_kernel_at(c, c->next);
    if (!with->can(k, v)) {
        with->run(with->first(v), v);
        return;
    }
    uint64_t begin = with->ticks();
    with->run(k, v);
    uint64_t ticks = with->ticks() - begin;
    if (c->turn >= tune_turns_of(c).cold)
        tune_add_sample(&c->samples[k], (ticks << 16) / (v->block * v->count));
    c->next++;
    if (!tune_seek(c))
        tune_end_turn(c);
}

/* Measures parts until the cell has learned, and copies the rest.  The first one of long
 * copies is not measured: memory that is not in a cache limits all kernels alike. */
static void tune_copy_parts(struct pack_tune_cell *c,
                            const struct pack_tune_kernels *with, struct vector_copy v)
{
    size_t bytes = v.block * v.count / PARTS_MAX, left = v.count;
    size_t part = (bytes < PART_MIN ? PART_MIN : bytes) / v.block;

    part += PART_ALIGN - part % PART_ALIGN;
    if (c->is_cold) {
        c->is_cold = false;
        with->run(with->first(&v), &v);
        return;
    }
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

static bool tune_lock(struct pack_tune_cell *c)
{
    return cas_acq_rel_u32(&c->busy, 0, 1) == 0;
}

static void tune_unlock(struct pack_tune_cell *c)
{
    store_release_u32(&c->busy, 0);
}

/* True if another shape may have the cell. */
static bool tune_may_replace(const struct pack_tune_cell *c)
{
    return c->learned != 0 || c->key == 0 || c->idle >= PACK_TUNE_IDLE;
}

/* Locks the cell of the key, or the one that it may replace; NULL: none. */
static struct pack_tune_cell *tune_lock_cell(struct pack_tune *t, uint64_t key)
{
    struct pack_tune_cell *c = &t->cell[pack_tune_cell_of(key)];
    struct pack_tune_cell *other = &t->cell[pack_tune_cell_of(key) ^ 1];

    if (!tune_lock(c))
        return NULL;
    if (c->key == key)
        return c;
    if (!tune_lock(other)) {
        tune_unlock(c);
        return NULL;
    }
    if (other->key != key && tune_may_replace(c)) {
        tune_unlock(other);
        return c;
    }
    if (other->key == key || tune_may_replace(other)) {
        tune_unlock(c);
        return other;
    }
    c->idle++;
    other->idle++;
    tune_unlock(c);
    tune_unlock(other);
    return NULL;
}

enum pack_kernel pack_tune_measure(struct pack_tune *t,
                                   const struct pack_tune_kernels *with, uint64_t key,
                                   const struct vector_copy *v)
{
    struct pack_tune_cell *c = tune_lock_cell(t, key);

    if (c == NULL) {
        with->run(with->first(v), v);
        return PACK_KERNELS;
    }
    if (c->key != key)
        tune_begin(c, with, v, key);
    c->idle = 0;
    tune_copy_parts(c, with, *v);
    enum pack_kernel found = pack_tune_cell_found(c, key);
    tune_unlock(c);
    return found;
}

size_t pack_tune_rows(struct pack_tune *t, struct pack_row row[PACK_TUNE_CELLS])
{
    size_t n = 0;

    for (size_t i = 0; i < PACK_TUNE_CELLS; i++) {
        struct pack_tune_cell *c = &t->cell[i];
        if (!tune_lock(c))
            continue;
        enum pack_kernel k = pack_tune_cell_found(c, c->key);
        if (k != PACK_KERNELS)
            row[n++] = (struct pack_row){c->shape, k};
        tune_unlock(c);
    }
    return n;
}
