/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodeseg.h - open or make the node segment of node.h and meet the node's PEs in it.
 * Uses: pgas.h, boot, segment, block, log.  Used by: init.
 */
#ifndef PGAS_CORE_NODESEG_H
#define PGAS_CORE_NODESEG_H

#include "pgas/core/boot/boot.h"
#include "pgas/core/boot/node.h"

/* Map the segment, once: oshrun's if there is one, else the one that local rank 0 makes.
 * Ends the process with a sentence on failure. */
void nodeseg_open(const struct boot *b);

/* Fill this PE's record, then wait until all PEs of the node have filled theirs.  Ends
 * the process with a sentence if one of them has ended since the generation before. */
void nodeseg_join(void);

/* Say that this PE needs nobody any more, having begun so many barriers of the world
 * team, and wait until all PEs of the node have said so. */
void nodeseg_leave(uint32_t barriers);

/* Say that this PE has disconnected from the launcher / wait until all PEs of the node
 * have, before one of them connects again for the next generation: PMIx counts a PE that
 * disconnects out of what the new ones wait for. */
void nodeseg_part(void);
void nodeseg_await_detached(void);

/* Has the process of a PE of this node ended?  One that is ending may refuse access to
 * its memory a little before its end can be seen, so this waits a moment for that. */
bool nodeseg_await_end(int pe);

/* Where oshrun's segment of this job is; NULL under another launcher. */
const char *nodeseg_path(void);

/* Note that this PE has reached a stage now.  Before nodeseg_open it is remembered.
 * NODE_STAGE_ENTER forgets the later stages, which were of the generation before. */
void nodeseg_stage(enum node_stage stage);

#endif
