/* SPDX-License-Identifier: BSD-3-Clause */
/* probe.c - see probe.h.  Uses: core/clock, core/net, rma. */
#include "config.h"

#include "pgas/core/base/timing.h"
#include "pgas/coll/sync/probe.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/progress/net.h"
#include "pgas/rma/rma.h"

bool probe_due(struct look *look)
{
    uint64_t now = clock_ns();

    if (look->next_ns == 0)
        look->next_ns = now + TIMING_LOOK_FIRST;
    if (now < look->next_ns)
        return false;
    look->next_ns = now + TIMING_LOOK_EVERY;
    look->looks++;
    return true;
}

uint32_t probe_pe(const uint32_t *word, int pe, const char *fn)
{
    uint32_t value;

    rma_get(SHMEM_CTX_DEFAULT, &value, word, sizeof value, pe, fn);
    return value;
}
