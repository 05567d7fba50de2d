/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_plan.c - see pack_plan.h. */
#include "config.h"

#include "pgas/datatype/pack/pack_plan.h"

const void *pack_plan_make(struct pack_plans *p, const struct pack_kernel_fns *kernel,
                           uint64_t id, const struct vector_copy *v)
{
    for (size_t probe = 0; id != 0 && probe < PACK_PLAN_PROBES; probe++) {
        struct pack_plan_slot *s = &p->slot[pack_plan_slot_of(id, probe)];
        uint64_t found = load_acquire_u64(&s->id); /* a failed cas would take the line */
        if (found == id)                           /* another thread has made it */
            return s->plan;
        if (found == 0 && cas_acq_rel_u64(&s->id, 0, PACK_PLAN_BUSY) == 0) {
            kernel->plan_make(s->plan, v);
            store_release_u64(&s->id, id);
            return s->plan;
        }
    }
    return NULL;
}
