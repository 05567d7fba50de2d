/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - see nodes.h: one node in this process, or the daemons of several. */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/start/daemons.h"
#include "tools/oshrun/start/nodes.h"

#include <stdlib.h>

#define EXIT_ERROR 1

/* At most one of the two is set. */
struct nodes {
    struct daemon *d;
    struct daemons *daemons;
};

int nodes_start(struct nodes **out, const struct job *job, const struct plan *plan,
                const struct options *o, const struct nodes_events *events, void *front,
                struct loop *loop, const struct reaper *reaper, struct rlimit files)
{
    struct nodes *n = calloc(1, sizeof *n);
    *out = n;
    if (n == NULL) {
        error_report("no memory for the nodes of the job");
        return EXIT_ERROR;
    }
    if (plan->kind == PLAN_HERE)
        return daemon_start(&n->d, job, &events->pe, front, loop, reaper, files, NULL);
    return daemons_start(&n->daemons, job, plan, o, events, front, loop, reaper, files);
}

void nodes_signal(struct nodes *n, int sig)
{
    if (n->daemons != NULL)
        daemons_signal(n->daemons, sig);
    else
        daemon_signal(n->d, sig);
}

void nodes_control(struct nodes *n, int sig, const uint32_t *rank, uint32_t count)
{
    if (n->daemons != NULL)
        daemons_control(n->daemons, sig, rank, count);
    else
        daemon_control(n->d, sig, rank, count);
}

void nodes_flow(struct nodes *n, enum daemon_stream s, bool go)
{
    if (n->daemons != NULL)
        daemons_flow(n->daemons, s, go);
    else
        daemon_flow(n->d, s, go);
}

void nodes_close_output(struct nodes *n, enum daemon_stream s)
{
    if (n->daemons != NULL)
        daemons_close_output(n->daemons, s);
    else
        daemon_close_output(n->d, s);
}

void nodes_input(struct nodes *n, const char *text, size_t len)
{
    if (n->daemons != NULL)
        daemons_input(n->daemons, text, len);
    else
        daemon_input(n->d, text, len);
}

void nodes_report(struct nodes *n, bool verbose)
{
    if (n->daemons != NULL)
        daemons_report(n->daemons, verbose);
    else
        daemon_report(n->d, verbose);
}

void nodes_stop(struct nodes *n, bool good)
{
    if (n == NULL)
        return;
    daemon_stop(n->d);
    daemons_stop(n->daemons, good);
    free(n);
}

int nodes_dry_run(const struct job *job)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < job->nnodes; i++) {
        struct job one = *job;
        one.here = i;
        rc = daemon_dry_run(&one);
    }
    return rc;
}
