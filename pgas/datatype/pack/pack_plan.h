/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_plan.h - the prepared copies of kernels with a plan (pack_table.h), shared by all
 * threads.
 *
 * A plan stays until the process ends, so that readers need no lock: a slot whose id is
 * that of a copy has its plan.  A copy for which no slot is free prepares itself.
 * Uses: pack_table, threads/atomic.  Used by: pack_choice.
 */
#ifndef PGAS_DATATYPE_PACK_PLAN_H
#define PGAS_DATATYPE_PACK_PLAN_H

#include "pgas/datatype/pack/pack_table.h"
#include "pgas/threads/atomic.h"

enum { PACK_PLAN_BITS = 8, PACK_PLANS = 1 << PACK_PLAN_BITS, PACK_PLAN_PROBES = 4 };

/* `id`: 0, PACK_PLAN_BUSY while a thread makes the plan, then the id of the copies. */
struct pack_plan_slot {
    _Alignas(PACK_LINE) unsigned char plan[PACK_PLAN_BYTES];
    uint64_t id;
};

struct pack_plans {
    struct pack_plan_slot slot[PACK_PLANS];
};

enum { PACK_PLAN_BUSY = 1 };

/* Kernel, shape and alignment of a copy, in one word: equal ids are equal copies but for
 * the count.  0 if a part does not fit; kernels with plans accept no such vector. */
static inline uint64_t pack_plan_id(enum pack_kernel k, const struct vector_copy *v)
{
    uint64_t block = v->block, to = (uint64_t)v->to_stride;
    uint64_t from = (uint64_t)v->from_stride;

    if ((block >> 12 | to >> 16 | from >> 16) != 0)
        return 0;
    return from << 48 | to << 32 | block << 20 | ((uintptr_t)v->from % PACK_LINE) << 14 |
           ((uintptr_t)v->to % PACK_LINE) << 8 | (uint64_t)(k + 2);
}

static inline size_t pack_plan_slot_of(uint64_t id, size_t probe)
{
    return ((id * 0x9e3779b97f4a7c15u >> (64 - PACK_PLAN_BITS)) + probe) % PACK_PLANS;
}

/* The plan, or NULL */
static inline const void *pack_plan_find(const struct pack_plans *p, uint64_t id)
{
    for (size_t probe = 0; id != 0 && probe < PACK_PLAN_PROBES; probe++) {
        const struct pack_plan_slot *s = &p->slot[pack_plan_slot_of(id, probe)];
        if (load_acquire_u64(&s->id) == id)
            return s->plan;
    }
    return NULL;
}

/* Makes the plan that was not found for this id; NULL if there is no slot for it. */
const void *pack_plan_make(struct pack_plans *p, const struct pack_kernel_fns *kernel,
                           uint64_t id, const struct vector_copy *v);

#endif
