/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h - the command line of oshrun.
 *
 * Uses job.h.  Used by main.c and front.c.
 */
#ifndef OSHRUN_OPTIONS_H
#define OSHRUN_OPTIONS_H

#include "tools/oshrun/job.h"
#include "tools/oshrun/map/map.h"

#define OPTIONS_NPES_MAX 65536 /* more than any node starts; PMIx ranks on it are u16 */

struct options {
    uint32_t npes; /* 0 = not said */
    char **argv;   /* program and its arguments */
    char **env;    /* NAME=value of -x, NULL-terminated */
    const char *wdir;
    enum job_bind bind;
    uint32_t timeout_s; /* 0 = none */
    uint32_t gdb_pe;    /* JOB_NO_PE = none */
    bool tag_output;
    bool report_bindings;
    bool valgrind;
    bool dry_run;
    bool verbose;
    bool report; /* the map */

    /* Where the nodes are; each also by a variable SHMEM_LAUNCH_* */
    const char *hosts;     /* --host a:4,b:4 */
    const char *host_file; /* --hostfile */
    uint32_t vnodes;       /* --vnodes; 0 = none */
    struct map_order order;

    /* How daemons get there and talk */
    const char *launcher;      /* --launcher: exec this one instead; NULL = none */
    const char *agent;         /* --launch-agent; NULL = ssh */
    const char *interface;     /* --if; NULL = all */
    const char *daemon_path;   /* of oshrun on the hosts; NULL = where this one is */
    uint32_t fanout;           /* of the tree of daemons */
    uint32_t timeout_ms;       /* silence after which a daemon counts as dead */
    uint32_t start_timeout_ms; /* for a daemon to call after its agent was started */
};

enum options_result { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_WRONG };

/* Reads argv.  OPTIONS_DONE: --help or --version was printed.  OPTIONS_WRONG: a
 * sentence was. */
enum options_result options_read(struct options *o, char **argv);
void options_free(struct options *o);

#endif
