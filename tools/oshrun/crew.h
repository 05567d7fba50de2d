/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crew.h - the daemons of several nodes: gets them started, takes their calls, knows what
 * each of them does, and what its PEs do.
 *
 * Uses starter.h, door.h, route.h, gather.h.  Used by nodes.c.
 *
 * A daemon that has been started calls the front (HELLO), is told its place in the tree
 * (PLACE), and gets the job from its parent.  The front's own children keep the link they
 * called on; the others call their parent, and hang up here when they have the job.
 */
#ifndef OSHRUN_CREW_H
#define OSHRUN_CREW_H

#include "tools/oshrun/nodes.h"

struct crew;

/* As nodes_* (nodes.h). */
int crew_start(struct crew **c, const struct job *job, const struct plan *plan,
               const struct options *o, const struct nodes_events *events, void *front,
               struct loop *loop, const struct janitor *janitor, struct rlimit files);
void crew_signal(struct crew *c, int sig);
void crew_control(struct crew *c, int sig, const uint32_t *rank, uint32_t count);
void crew_flow(struct crew *c, enum daemon_stream s, bool go);
void crew_close_output(struct crew *c, enum daemon_stream s);
void crew_input(struct crew *c, const char *text, size_t len);
void crew_report(struct crew *c, bool stacks);
void crew_stop(struct crew *c, bool good);

#endif
