/* SPDX-License-Identifier: BSD-3-Clause */
/* patience.c - stall detection of operations on remote PEs (net_int.h). */
#include "config.h"

#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/progress/net_int.h"

bool net_patience_ends(struct net_patience *p, uint64_t now_ns, uint64_t done, bool one,
                       uint64_t limit_ns)
{
    uint64_t passed = p->checked_ns != 0 ? now_ns - p->checked_ns : 0;
    bool moved = p->checked_ns != 0 && (int64_t)(done - p->done) > 0;

    PGAS_ASSERT(now_ns >= p->checked_ns);
    if (passed > TIMING_CHECK_MAX) /* this process was stopped */
        passed = TIMING_CHECK_MAX;
    p->silent_ns = moved ? 0 : p->silent_ns + passed;
    p->waited_ns += passed;
    p->checked_ns = now_ns;
    p->done = done;
    return limit_ns > 0 &&
           (p->silent_ns > limit_ns || (one && p->waited_ns > NET_LIMIT_BUSY * limit_ns));
}
