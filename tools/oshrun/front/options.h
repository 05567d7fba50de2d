/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h - the command line of oshrun.
 *
 * Uses job.h, map.h.  Used by main.c, front*.c, plan.c and launcher.c.
 */
#ifndef OSHRUN_FRONT_OPTIONS_H
#define OSHRUN_FRONT_OPTIONS_H

#include "tools/oshrun/util/job.h"
#include "tools/oshrun/map/map.h"

#define OPTIONS_NPES_MAX         MAP_NPES_MAX
#define OPTIONS_VNODES_MAX       65536
#define OPTIONS_FANOUT           32
#define OPTIONS_TIMEOUT_MS       60000
#define OPTIONS_START_TIMEOUT_MS 30000

/* A program of the job: "-n 2 ./a x : -n 4 ./b" has two. */
struct options_app {
    uint32_t npes; /* 0 = not given */
    char **argv;   /* program and its arguments, NULL-terminated */
    char **env;    /* NAME=value of its own -x, NULL-terminated */
    const char *wdir;
};

struct options {
    uint32_t npes; /* of all programs; 0 = not given */
    char **argv;   /* the first program, its arguments, and with --launcher the rest */
    char **env;    /* NAME=value of -x before the first program, NULL-terminated */
    const char *wdir;
    struct options_app *app;
    uint32_t napps;
    enum job_bind bind;
    uint32_t timeout_s; /* 0 = none */
    uint32_t gdb_pe;    /* JOB_NO_PE = none */
    bool tag_output;
    bool report_bindings;
    bool valgrind;
    bool dry_run;
    bool verbose;
    bool report; /* print the map */

    /* Hosts; each can also be given by a variable SHMEM_LAUNCH_* */
    const char *hosts;     /* --host a:4,b:4 */
    const char *host_file; /* --hostfile */
    uint32_t vnodes;       /* --vnodes; 0 = none */
    const char *where;     /* source: "--host", "SHMEM_LAUNCH_HOSTS"; NULL = none */
    struct map_order order;

    /* Start of the daemons and their network */
    const char *launcher;      /* --launcher: exec this one instead; NULL = none */
    const char *agent;         /* --launch-agent; NULL = ssh */
    const char *interface;     /* --if; NULL = all */
    const char *daemon_path;   /* of oshrun on the hosts; NULL = the path of this one */
    uint32_t fanout;           /* of the tree of daemons */
    uint32_t timeout_ms;       /* a daemon that is silent for so long counts as dead */
    uint32_t start_timeout_ms; /* for a daemon to connect after its agent was started */
};

enum options_result { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_WRONG };

/* Reads argv.  OPTIONS_DONE: --help or --version was printed.  OPTIONS_WRONG: an error
 * message was printed.  Call options_free after any result. */
enum options_result options_read(struct options *o, char **argv);
void options_free(struct options *o);

#endif
