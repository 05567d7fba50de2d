/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - see nodes.h: one node in this process, or the crew of several. */
#include "config.h"

#include "tools/oshrun/complain.h"
#include "tools/oshrun/crew.h"
#include "tools/oshrun/nodes.h"

#include <stdlib.h>

#define EXIT_ERROR 1

/* One of the two. */
struct nodes {
    struct daemon *d;
    struct crew *crew;
};

int nodes_start(struct nodes **out, const struct job *job, const struct plan *plan,
                const struct options *o, const struct nodes_events *events, void *front,
                struct loop *loop, const struct janitor *janitor, struct rlimit files)
{
    struct nodes *n = calloc(1, sizeof *n);
    *out = n;
    if (n == NULL) {
        complain("no memory for the nodes of the job");
        return EXIT_ERROR;
    }
    if (plan->kind == PLAN_HERE)
        return daemon_start(&n->d, job, &events->pe, front, loop, janitor, files, NULL);
    return crew_start(&n->crew, job, plan, o, events, front, loop, janitor, files);
}

void nodes_signal(struct nodes *n, int sig)
{
    if (n->crew != NULL)
        crew_signal(n->crew, sig);
    else
        daemon_signal(n->d, sig);
}

void nodes_control(struct nodes *n, int sig, const uint32_t *rank, uint32_t count)
{
    if (n->crew != NULL)
        crew_control(n->crew, sig, rank, count);
    else
        daemon_control(n->d, sig, rank, count);
}

void nodes_flow(struct nodes *n, enum daemon_stream s, bool go)
{
    if (n->crew != NULL)
        crew_flow(n->crew, s, go);
    else
        daemon_flow(n->d, s, go);
}

void nodes_close_output(struct nodes *n, enum daemon_stream s)
{
    if (n->crew != NULL)
        crew_close_output(n->crew, s);
    else
        daemon_close_output(n->d, s);
}

void nodes_input(struct nodes *n, const char *text, size_t len)
{
    if (n->crew != NULL)
        crew_input(n->crew, text, len);
    else
        daemon_input(n->d, text, len);
}

void nodes_report(struct nodes *n, bool stacks)
{
    if (n->crew != NULL)
        crew_report(n->crew, stacks);
    else
        daemon_report(n->d, stacks);
}

void nodes_stop(struct nodes *n, bool good)
{
    if (n == NULL)
        return;
    daemon_stop(n->d);
    crew_stop(n->crew, good);
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
