/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodeseg.h - maps the node segment (node.h) and synchronises the PEs of the node.
 * Uses: pgas.h, boot, segment, block, log.  Used by: coll/life.
 */
#ifndef PGAS_CORE_NODESEG_H
#define PGAS_CORE_NODESEG_H

#include "pgas/core/boot/boot.h"
#include "pgas/core/boot/node.h"

/* Maps the segment in the first generation: oshrun's if it exists, else the one that
 * local rank 0 creates.  Ends the process with an error message on failure. */
void nodeseg_open(const struct boot *b);

/* Fills in this PE's record and waits until all PEs of the node have filled in theirs.
 * Ends the process with an error message if a PE has exited since the previous
 * generation. */
void nodeseg_join(void);

/* Marks this PE as departed after it has begun this number of barriers of the world team,
 * and waits until all PEs of the node have departed. */
void nodeseg_leave(uint64_t barriers);

/* nodeseg_part marks this PE as disconnected from the launcher; nodeseg_await_detached
 * waits until all PEs of the node are.  Only then may a PE connect for the next
 * generation: PMIx removes a disconnecting PE from the operations of connected PEs. */
void nodeseg_part(void);
void nodeseg_await_detached(void);

/* True if the process of a PE of this node has exited.  Waits briefly, because the memory
 * of an exiting process becomes inaccessible before its exit is visible. */
bool nodeseg_await_end(int pe);

/* True if a PE of the job is known to have failed; likewise, with the end of shmem_init
 * and a message. */
bool nodeseg_knows_failure(void);
void nodeseg_check_failures(void);

/* Path of oshrun's segment for this job; NULL under another launcher. */
const char *nodeseg_path(void);

/* Records the time at which this PE reached a stage; may be called before nodeseg_open.
 * NODE_STAGE_ENTER resets the later stages, which belong to the previous generation. */
void nodeseg_stage(enum node_stage stage);

#endif
