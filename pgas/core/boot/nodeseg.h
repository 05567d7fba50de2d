/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodeseg.h - the node segment (node.h): mapping, and synchronisation of the node's PEs.
 * Uses: pgas.h, boot, segment, block, log.  Used by: coll/life.
 */
#ifndef PGAS_CORE_NODESEG_H
#define PGAS_CORE_NODESEG_H

#include "pgas/core/boot/boot.h"
#include "pgas/core/boot/node.h"

/* Maps the segment, once: that of oshrun if it exists, else the one that local rank 0
 * creates.  A failure is reported and ends the process. */
void nodeseg_open(const struct boot *b);

/* Fills this PE's record and waits until all PEs of the node have filled theirs.  A PE
 * that has ended since the previous generation is reported and ends the process. */
void nodeseg_join(void);

/* Marks this PE as departed after this number of barriers of the world team, and waits
 * until all PEs of the node have departed. */
void nodeseg_leave(uint32_t barriers);

/* nodeseg_part marks this PE as disconnected from the launcher; nodeseg_await_detached
 * waits for that of all PEs of the node.  No PE may connect for the next generation
 * before: PMIx removes a PE that disconnects from the operations of the new ones. */
void nodeseg_part(void);
void nodeseg_await_detached(void);

/* True if the process of a PE of this node has ended.  The memory of a process becomes
 * inaccessible a little before its end is visible, hence a short wait. */
bool nodeseg_await_end(int pe);

/* Path of oshrun's segment of this job; NULL under another launcher. */
const char *nodeseg_path(void);

/* Records the time at which this PE reached a stage, also before nodeseg_open.
 * NODE_STAGE_ENTER resets the later stages, which belong to the previous generation. */
void nodeseg_stage(enum node_stage stage);

#endif
