/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemons.h - the daemons of several nodes: gets them started, takes their calls, knows
 * what each of them does, and what its PEs do.
 *
 * Uses starter.h, listener.h, route.h, gather.h.  Used by nodes.c.
 *
 * A daemon that has been started calls the front (HELLO), is told its place in the tree
 * (PLACE), and gets the job from its parent.  The front's own children keep the link they
 * called on; the others call their parent, and hang up here when they have the job.
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
void daemons_report(struct daemons *ds, bool stacks);
void daemons_stop(struct daemons *ds, bool good);

#endif
