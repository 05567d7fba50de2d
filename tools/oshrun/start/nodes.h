/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodes.h - the nodes of the job for the front end: one, in this process, or several
 * with a daemon each.
 *
 * Uses daemon.h; for several: daemons.h.  Used by front.c.
 */
#ifndef OSHRUN_START_NODES_H
#define OSHRUN_START_NODES_H

#include "tools/oshrun/map/plan.h"
#include "tools/oshrun/daemon/daemon.h"
#include "tools/oshrun/daemon/reaper.h"

#include <sys/resource.h>

/* Events of the nodes. */
struct nodes_events {
    /* As if one daemon had all PEs: stage, reported, drained and failed occur once. */
    struct daemon_events pe;
    /* A node is lost, on which `own` PEs had not ended; `pes` includes those of the
     * nodes that were connected through it. */
    void (*lost)(void *front, uint32_t own, uint32_t pes, const char *error_text);
};

struct nodes;

/* 0, or the exit status for oshrun after an error message. */
int nodes_start(struct nodes **n, const struct job *job, const struct plan *plan,
                const struct options *o, const struct nodes_events *events, void *front,
                struct loop *loop, const struct reaper *reaper, struct rlimit files);

/* As daemon_* (daemon.h), for all nodes. */
void nodes_signal(struct nodes *n, int sig);
void nodes_control(struct nodes *n, int sig, const uint32_t *rank, uint32_t count);
void nodes_flow(struct nodes *n, enum daemon_stream s, bool go);
void nodes_close_output(struct nodes *n, enum daemon_stream s);
void nodes_input(struct nodes *n, const char *text, size_t len);
/* Call again only after event reported. */
void nodes_report(struct nodes *n, bool verbose);

/* Ends the remaining processes on all nodes, waits for a limited time until they are
 * gone, and frees n.  good: the job ended normally; processes that left their groups are
 * not killed. */
void nodes_stop(struct nodes *n, bool good);

/* Prints what would be started where. */
int nodes_dry_run(const struct job *job);

#endif
