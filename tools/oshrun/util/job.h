/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job.h - what the front end tells a node daemon to run.
 *
 * Data only, so that it can be sent to a daemon on another node.  Used by front.c and
 * map.c (which fill it), nodes.c, daemon.c, pmix_host.c, child.c and bind.c.
 */
#ifndef OSHRUN_UTIL_JOB_H
#define OSHRUN_UTIL_JOB_H

#include <stdbool.h>
#include <stdint.h>

#define JOB_NSPACE_MAX 64
#define JOB_NO_PE      UINT32_MAX

enum job_bind { JOB_BIND_AUTO, JOB_BIND_NONE, JOB_BIND_CORE, JOB_BIND_NUMA };

/* One node of the job and the PEs on it, in ascending order. */
struct job_node {
    const char *name;
    uint32_t npes;
    uint32_t *rank;
    char **cpus; /* per PE: list of processors ("0-3,8") or NULL; NULL: none has one */
};

struct job {
    char nspace[JOB_NSPACE_MAX]; /* PMIx name space: unique among the jobs of a user */
    uint32_t npes;
    uint32_t nnodes;
    uint32_t here; /* index of the daemon's own node in node[] */
    struct job_node *node;
    char *const *argv; /* the program, NULL-terminated */
    char *const *env;  /* NAME=value to be added for every PE, NULL-terminated */
    const char *wdir;  /* NULL: where the daemon is */
    enum job_bind bind;
    bool bind_report;
    bool valgrind;
    bool whole_lines;   /* do not split the lines of different PEs */
    uint32_t stdin_pe;  /* gets the standard input; JOB_NO_PE = nobody */
    uint32_t gdb_pe;    /* runs under gdb on the terminal; JOB_NO_PE = nobody */
    bool virtual_nodes; /* all nodes are on one machine and share its processors */
};

struct pack;
struct unpack;

/* For a daemon on another node.  `here` is not packed: the daemon knows its place. */
void job_pack(struct pack *p, const struct job *job);

/* Makes a job that points into the bytes that u reads, which must stay.  NULL: they are
 * no job, or there is no memory.  Free with job_free. */
struct job *job_unpack(struct unpack *u, uint32_t here);
void job_free(struct job *job);

#endif
