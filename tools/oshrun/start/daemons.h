/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemons.h - starts the daemons of several nodes, holds the connections to them, and
 * tracks the state of each daemon and of its PEs.
 *
 * Uses starter.h, listener.h, route.h, gather.h.  Used by nodes.c.
 *
 * A daemon connects to the front end and sends HELLO, receives its position in the tree
 * (PLACE), and receives the job from its parent.  Children of the front end keep this
 * link.  Other daemons connect to their parent and close the link to the front end when
 * they have received the job.
 */
#ifndef OSHRUN_START_DAEMONS_H
#define OSHRUN_START_DAEMONS_H

#include "tools/oshrun/start/nodes.h"

struct daemons;

/* As nodes_* (nodes.h). */
int daemons_start(struct daemons **ds, const struct job *job, const struct plan *plan,
                  const struct options *o, const struct nodes_events *events, void *front,
                  struct loop *loop, const struct reaper *reaper, struct rlimit files);
void daemons_signal(struct daemons *ds, int sig);
void daemons_control(struct daemons *ds, int sig, const uint32_t *rank, uint32_t count);
void daemons_flow(struct daemons *ds, enum daemon_stream s, bool go);
void daemons_close_output(struct daemons *ds, enum daemon_stream s);
void daemons_input(struct daemons *ds, const char *text, size_t len);
void daemons_report(struct daemons *ds, bool verbose);
void daemons_stop(struct daemons *ds, bool good);

#endif
