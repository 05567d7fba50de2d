/* SPDX-License-Identifier: BSD-3-Clause */
/* probe.c - see probe.h.  Uses: core/clock, core/net, rma. */
#include "config.h"

#include "pgas/core/base/timing.h"
#include "pgas/coll/sync/probe.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/progress/net.h"
#include "pgas/rma/rma.h"

bool probe_due(struct probe_timer *timer)
{
    uint64_t now = clock_ns();

    if (timer->next_ns == 0)
        timer->next_ns = now + TIMING_DEPARTURE_FIRST;
    if (now < timer->next_ns)
        return false;
    timer->next_ns = now + TIMING_DEPARTURE_EVERY;
    timer->probes++;
    return true;
}

uint64_t probe_pe(const uint64_t *word, int pe, const char *fn)
{
    uint64_t value;

    rma_get(CTX_LIBRARY, &value, word, sizeof value, pe, fn);
    return value;
}
