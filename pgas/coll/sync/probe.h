/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe.h - liveness probe: during a long wait for a remote PE, the waiting PE reads a
 * word of that PE at intervals to detect that it has departed.
 * Uses: core/net, rma.  Used by: internode, active.
 */
#ifndef PGAS_COLL_PROBE_H
#define PGAS_COLL_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/* The probes of one wait; initialised to zero. */
struct probe_timer {
    uint64_t next_ns; /* time of the next probe; 0 = the wait has just started */
    uint32_t probes;  /* number of probes, used to probe the PEs in turn */
};

/* If a probe is due, counts it and returns true. Probes are rare, because each costs a
 * round trip.  (The liveness of nodes is checked by block_until through net_watch.) */
bool probe_due(struct probe_timer *timer);

/* Read a symmetric word of remote PE `pe` of the world. */
uint64_t probe_pe(const uint64_t *word, int pe, const char *fn);

#endif
