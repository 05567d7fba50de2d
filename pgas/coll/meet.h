/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meet.h - SHMEM_DEBUG=2: the PEs that do a collective compare their arguments before it.
 * Uses: barrier, core/check.  Used by: life.
 */
#ifndef PGAS_COLL_MEET_H
#define PGAS_COLL_MEET_H

/* Give core/check the function that compares. */
void meet_init(void);

#endif
