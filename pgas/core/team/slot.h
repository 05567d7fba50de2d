/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slot.h - allocates team slots on this PE.
 *
 * A slot is the index of a team's sync area in every PE's heap (team_slot_offset).  The
 * first slots belong to the predefined teams; the PEs of a user team agree on a slot that
 * is free on all of them (coll/api/split.c).
 * Thread-safe.  A leaf.  Used by: team, coll/split.
 */
#ifndef PGAS_CORE_SLOT_H
#define PGAS_CORE_SLOT_H

#include <stdbool.h>
#include <stdint.h>

enum { SLOT_WORLD, SLOT_SHARED, SLOT_USER };

#define SLOT_NONE UINT32_MAX
#define SLOT_MAX  (SLOT_NONE - 1) /* maximum number of slots */

/* Creates slots 0 .. end - 1; those below SLOT_USER are allocated. */
void slot_init(uint32_t end);
void slot_fini(void);

/* Allocates the lowest free slot >= from; SLOT_NONE if there is none. */
uint32_t slot_alloc(uint32_t from);
void slot_free(uint32_t slot);

/* True at the first call for a slot: this PE has not used the slot before, so its memory
 * is still zero. */
bool slot_first_use(uint32_t slot);

#endif
