/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exit_status.h - exit status policy: how the exit of a PE affects the job.  Pure: no
 * clock, no I/O.
 *
 * Uses daemon.h (struct daemon_end).  Used by front_events.c.
 */
#ifndef OSHRUN_FRONT_EXIT_STATUS_H
#define OSHRUN_FRONT_EXIT_STATUS_H

#include "tools/oshrun/daemon/daemon.h"

#include <stdbool.h>
#include <stddef.h>

enum exit_status {
    EXIT_STATUS_GOOD,   /* finalized and exited with 0 */
    EXIT_STATUS_COUNTS, /* its status is the job's; other PEs continue */
    EXIT_STATUS_WAIT,   /* not finalized: an error unless all others exit soon */
    EXIT_STATUS_ABSENT, /* never connected to PMIx: as WAIT once another PE has */
    EXIT_STATUS_END,    /* the other PEs must be terminated */
};

enum exit_status exit_status_classify(const struct daemon_end *end);

/* Exit status of oshrun if this PE determines it. */
int exit_status_code(const struct daemon_end *end);

/* What a PE has not done that exited with status 0; `left`: it has left shmem_finalize.
 */
const char *exit_status_missing(bool connected, bool left);

/* "PE 3 (pid 812) was killed by signal 11 (Segmentation fault)" */
void exit_status_text(const struct daemon_end *end, char *buf, size_t len);

#endif
