/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place.h - where a PE starts among the processors when there are fewer of them than PEs.
 * Uses: pgas.h.  Used by: init, coll/barrier.
 */
#ifndef PGAS_CORE_PLACE_H
#define PGAS_CORE_PLACE_H

#include <stdbool.h>

/* Move this PE to processor (local rank modulo processors) of its affinity mask and let
 * it go again: the PEs begin evenly spread, and bound to nothing.  The kernel alone may
 * leave 3 and 1 of 4 PEs on two processors for seconds, which makes each barrier twice as
 * long. */
void place_spread(void);

/* May this PE run on that processor?  False for all before place_spread moved it. */
bool place_allowed(int cpu);

/* Move to that processor, bound to nothing afterwards.  For place_allowed ones. */
void place_move(int cpu);

#endif
