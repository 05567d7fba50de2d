/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemons.h - the daemons of the job: one in this process (one node), or one on each of
 * several nodes.
 *
 * Uses daemon.h, starter.h, listener.h, route.h, gather.h.  Used by front*.c.
 *
 * Commands go to the daemons, and events come from them, as frames (wire.def).  Here they
 * are packed and unpacked; events are passed to the front end (front_on_*, front_int.h),
 * as if one daemon had all PEs.
 *
 * A daemon on another node connects to the front end and sends HELLO, receives its
 * position in the tree (PLACE), and receives the job from its parent.  Children of the
 * front end keep this link.  Other daemons connect to their parent and close the link to
 * the front end when they have received the job.
 */
#ifndef OSHRUN_START_DAEMONS_H
#define OSHRUN_START_DAEMONS_H

#include "tools/oshrun/daemon/daemon.h"

struct daemons;
struct front;

/* 0, or the exit status for oshrun after an error message. */
int daemons_start(struct daemons **ds, struct front *f, const struct reaper *reaper,
                  struct rlimit files);

/* Sends sig to the process groups of all PEs. */
void daemons_signal(struct daemons *ds, int sig);

/* Pauses or resumes reading the output of the PEs. */
void daemons_flow(struct daemons *ds, enum daemon_stream s, bool go);

/* Closes a stream: PEs that write to it get EPIPE. */
void daemons_close_output(struct daemons *ds, enum daemon_stream s);

/* Input for PE job->stdin_pe; call only after event front_on_input(open = true).
 * len = 0: end of file. */
void daemons_input(struct daemons *ds, const char *text, size_t len);

/* Reports where the PEs are and, if `verbose`, their states and stacks, by
 * front_report_add, then front_on_reported.  Call again only after that. */
void daemons_report(struct daemons *ds, bool verbose);

/* With SHMEM_FT=continue: */

/* Tells all daemons that these PEs have failed; lost: the node that was lost with them,
 * or WIRE_NONE.  Pending collectives of PMIx complete without them. */
void daemons_tell_failed(struct daemons *ds, uint32_t lost, const uint32_t *rank,
                         uint32_t count);
/* Kills these PEs. */
void daemons_kill(struct daemons *ds, const uint32_t *rank, uint32_t count);
/* Drops the link to a node, whose daemon then ends its PEs.  why: as of daemons_lost. */
void daemons_drop(struct daemons *ds, uint32_t node, const char *why);

/* Ends the remaining processes on all nodes, waits for a limited time until they are
 * gone, and frees ds.  good: the job ended normally; processes that left their groups are
 * not killed. */
void daemons_stop(struct daemons *ds, bool good);

#endif
