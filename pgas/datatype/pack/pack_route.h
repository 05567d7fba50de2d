/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_route.h - the shortest way from a vector to the code that copies it, once the
 * kernel of its shape is found: the loop for its block, or the plan for its alignment.
 *
 * A copy of 8 KiB in the L1 cache takes 40 ns, and the selection of its kernel, loop and
 * plan 5.  A route stays until the process ends, so that readers need no lock.  A shape
 * has one of two slots; if both are taken, it has no route and is selected each time.
 * There are 16 slots for the shapes of a pair of cells of pack_tune.h, which forgets the
 * kernel of a shape when another one of the pair is measured.
 *
 * Invariant: two vectors with equal shapes and equal tags have the same binary logarithm
 * of the size and the same settings, since bits 0..14 of a key (pack_tune.h) depend on
 * the shape alone; so a tag needs one of them to tell a route from a slot in use.
 * Uses: pack_table, threads/atomic.  Used by: pack_choice.
 */
#ifndef PGAS_DATATYPE_PACK_ROUTE_H
#define PGAS_DATATYPE_PACK_ROUTE_H

#include "pgas/datatype/pack/pack_table.h"
#include "pgas/threads/atomic.h"

enum { PACK_ROUTE_BITS = 11, PACK_ROUTES = 1 << PACK_ROUTE_BITS, PACK_ROUTE_BUSY = 2 };

/* `tag`: 0, PACK_ROUTE_BUSY while a thread fills the slot, then the key | 1.  With a
 * plan: plan_run, for this alignment only; else run. */
struct pack_route {
    _Alignas(PACK_LINE) uint64_t tag;
    size_t block;
    ptrdiff_t to_stride, from_stride;
    const void *plan;
    pack_run run;
    void (*plan_run)(const void *plan, const struct vector_copy *v);
    uint64_t alignment;
};

struct pack_routes {
    struct pack_route slot[PACK_ROUTES];
};

static inline uint64_t pack_route_alignment(const struct vector_copy *v)
{
    return (uintptr_t)v->to % PACK_LINE * PACK_LINE + (uintptr_t)v->from % PACK_LINE;
}

/* The first slot of a key, or its second one */
static inline struct pack_route *pack_route_slot(struct pack_routes *r, uint64_t key,
                                                 unsigned second)
{
    return &r->slot[key >> (64 - PACK_ROUTE_BITS) ^ second];
}

/* True if the slot has the route of the vector. */
static inline bool pack_route_fits(const struct pack_route *r, uint64_t key,
                                   const struct vector_copy *v)
{
    return load_acquire_u64(&r->tag) == (key | 1) && r->block == v->block &&
           r->to_stride == v->to_stride && r->from_stride == v->from_stride &&
           (r->plan == NULL || r->alignment == pack_route_alignment(v));
}

static inline void pack_route_run(const struct pack_route *r, const struct vector_copy *v)
{
    if (r->plan != NULL)
        r->plan_run(r->plan, v);
    else
        r->run(v);
}

/* Stores a route in a slot.  True, too, if another thread has stored the route of the
 * vector there, or is filling the slot, perhaps with it: a route in the second slot could
 * be a duplicate.  False: another route is there. */
static inline bool pack_route_add(struct pack_route *r, uint64_t key,
                                  const struct pack_kernel_fns *kernel, const void *plan,
                                  const struct vector_copy *v)
{
    uint64_t tag = load_acquire_u64(&r->tag);

    if (tag == 0)
        tag = cas_acq_rel_u64(&r->tag, 0, PACK_ROUTE_BUSY);
    if (tag != 0)
        return tag == PACK_ROUTE_BUSY || pack_route_fits(r, key, v);
    r->block = v->block;
    r->to_stride = v->to_stride;
    r->from_stride = v->from_stride;
    r->plan = plan;
    r->run = kernel->loop != NULL ? kernel->loop(v) : kernel->run;
    r->plan_run = kernel->plan_run;
    r->alignment = pack_route_alignment(v);
    store_release_u64(&r->tag, key | 1);
    return true;
}

#endif
