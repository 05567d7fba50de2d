/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * look.h - who waits long for a far PE looks now and then whether it is still there.
 * Uses: core/net, rma.  Used by: bridge, active.
 */
#ifndef PGAS_COLL_LOOK_H
#define PGAS_COLL_LOOK_H

#include <stdbool.h>
#include <stdint.h>

/* The looks of one wait; all zero at first. */
struct look {
    uint64_t next_ns; /* when to look again; 0 = the wait has just begun */
    uint32_t looks;   /* how many there have been, to look at one PE after the other */
};

/* Is it time to look at a far PE?  Seldom, as that costs a round trip.  If so, it has
 * been counted.  (block_until looks at the nodes, net_watch.) */
bool look_due(struct look *look);

/* A symmetric word of far PE pe of the world. */
uint32_t look_at(const uint32_t *word, int pe, const char *fn);

#endif
