/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h - the command line of oshrun.
 *
 * Uses job.h.  Used by main.c and front.c.
 */
#ifndef OSHRUN_OPTIONS_H
#define OSHRUN_OPTIONS_H

#include "tools/oshrun/job.h"

#define OPTIONS_NPES_MAX 65536 /* more than any node starts; PMIx ranks on it are u16 */

struct options {
    uint32_t npes;
    char **argv; /* program and its arguments */
    char **env;  /* NAME=value of -x, NULL-terminated */
    const char *wdir;
    enum job_bind bind;
    uint32_t timeout_s; /* 0 = none */
    uint32_t gdb_pe;    /* JOB_NO_PE = none */
    bool tag_output;
    bool report_bindings;
    bool valgrind;
    bool dry_run;
    bool verbose;
};

enum options_result { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_WRONG };

/* Reads argv.  OPTIONS_DONE: --help or --version was printed.  OPTIONS_WRONG: a
 * sentence was. */
enum options_result options_read(struct options *o, char **argv);
void options_free(struct options *o);

#endif
