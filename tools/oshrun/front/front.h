/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.h - the front end: the user interface of oshrun.
 *
 * Uses options.h, reaper.h.  Used by main.c.
 */
#ifndef OSHRUN_FRONT_FRONT_H
#define OSHRUN_FRONT_FRONT_H

#include "tools/oshrun/reaper/reaper.h"
#include "tools/oshrun/front/options.h"

#include <stdint.h>
#include <sys/resource.h>

/* Runs the job.  Returns the exit status of oshrun. */
int front_run(const struct options *o, const struct reaper *reaper, struct rlimit files,
              uint64_t start_ns);

/* --dry-run. */
int front_dry_run(const struct options *o);

#endif
