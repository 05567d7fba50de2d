/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verdict.h - what the end of a PE means for the job.  Pure: no clock, no I/O.
 *
 * Uses daemon.h (struct daemon_end).  Used by front.c.
 */
#ifndef OSHRUN_VERDICT_H
#define OSHRUN_VERDICT_H

#include "tools/oshrun/node/daemon.h"

#include <stdbool.h>
#include <stddef.h>

enum verdict {
    VERDICT_GOOD,   /* the PE did its part */
    VERDICT_COUNTS, /* its status counts, the others go on */
    VERDICT_WAIT,   /* left without finalizing: bad unless all others leave soon */
    VERDICT_ABSENT, /* never connected to PMIx: the same once another has connected */
    VERDICT_END,    /* the others are to be ended */
};

enum verdict verdict_of(const struct daemon_end *end);

/* Exit status of oshrun if this is what decides. */
int verdict_status(const struct daemon_end *end);

/* "PE 3 (pid 812) was killed by signal 11 (Segmentation fault)" */
void verdict_sentence(const struct daemon_end *end, char *buf, size_t len);

#endif
