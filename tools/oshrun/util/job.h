/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job.h - the job that a node daemon gets from the front end.
 *
 * Data only, so that it can be sent to a daemon on another node.  Used by front.c and
 * map.c (which fill it), daemons*.c, daemon.c, daemon_main.c, launch.c, bind.c
 * and pmix_*.c.
 */
#ifndef OSHRUN_UTIL_JOB_H
#define OSHRUN_UTIL_JOB_H

#include <stdbool.h>
#include <stdint.h>

#define JOB_NSPACE_MAX 64
#define JOB_NO_PE      UINT32_MAX

enum job_bind { JOB_BIND_AUTO, JOB_BIND_NONE, JOB_BIND_CORE, JOB_BIND_NUMA };

/* One node of the job and its PEs, in ascending order of rank. */
struct job_node {
    const char *name;
    uint32_t npes;
    uint32_t *rank;
    char **cpus; /* per PE: processors ("0-3,8") or NULL; NULL: no PE has a list */
};

/* A program of the job, run by PEs with consecutive ranks. */
struct job_app {
    uint32_t first, npes;
    char *const *argv; /* NULL-terminated */
    char *const *env;  /* NAME=value, added to job.env for its PEs, NULL-terminated */
    const char *wdir;  /* NULL: that of the daemon */
};

/* Survival of failures: SHMEM_FT and its parameters, as the PEs see them. */
struct job_ft {
    bool on; /* SHMEM_FT=continue */
    uint32_t period_ms, timeout_ms;
    const char *domains;    /* SHMEM_FT_DOMAINS */
    const char *interfaces; /* --if; NULL: all */
};

struct job {
    char nspace[JOB_NSPACE_MAX]; /* PMIx name space: unique among the jobs of a user */
    uint32_t npes;
    uint32_t nnodes;
    uint32_t here; /* index of the daemon's own node in node[] */
    struct job_node *node;
    uint32_t napps;
    struct job_app *app; /* in the order of their ranks, which are all of the job's */
    char *const *env;    /* NAME=value, added for every PE, NULL-terminated */
    enum job_bind bind;
    bool bind_report;
    bool valgrind;
    bool whole_lines;   /* forward whole lines, so that lines of PEs do not mix */
    uint32_t stdin_pe;  /* receives standard input; JOB_NO_PE = none */
    uint32_t gdb_pe;    /* runs under gdb on the terminal; JOB_NO_PE = none */
    bool virtual_nodes; /* all nodes are on one machine and share its processors */
    struct job_ft ft;
};

/* Index of the program of PE rank. */
uint32_t job_app_of(const struct job *job, uint32_t rank);

/* The index of the node of each PE, for free. */
uint32_t *job_node_of_pes(const struct job *job);

struct pack;
struct unpack;

/* Packs a job for a daemon on another node, except `here`, which the daemon knows. */
void job_pack(struct pack *p, const struct job *job);

/* Creates a job whose strings point into the buffer of u, which must outlive the job.
 * NULL: malformed, or out of memory.  Free with job_free. */
struct job *job_unpack(struct unpack *u, uint32_t here);
void job_free(struct job *job);

#endif
