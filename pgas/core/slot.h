/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slot.h - which places for the words of a team (team.h) this PE has in use.
 *
 * A slot is a number; where its words are in every PE's heap says team_slot_offset.  The
 * first ones belong to the predefined teams, the others to teams of the user, whose PEs
 * agree on one that all of them have free (coll/split.c).  Thread-safe.
 * Uses: nothing of ours.  Used by: team, coll/split.
 */
#ifndef PGAS_CORE_SLOT_H
#define PGAS_CORE_SLOT_H

#include <stdbool.h>
#include <stdint.h>

enum { SLOT_WORLD, SLOT_SHARED, SLOT_USER };

#define SLOT_NONE UINT32_MAX
#define SLOT_MAX  (SLOT_NONE - 1) /* as many there may be at most */

/* Slots 0 .. end - 1 exist from now on, and those below SLOT_USER are in use. */
void slot_init(uint32_t end);
void slot_fini(void);

/* Take the lowest free slot that is not below `from`; SLOT_NONE if there is none. */
uint32_t slot_take(uint32_t from);
void slot_give(uint32_t slot);

/* This PE has never used the slot's words before: they are zero.  Says so once. */
bool slot_fresh(uint32_t slot);

#endif
