/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher.h - hands the whole job to another launcher: --launcher.
 *
 * Uses options.h, hosts.h.  Used by main.c.
 */
#ifndef OSHRUN_START_LAUNCHER_H
#define OSHRUN_START_LAUNCHER_H

#include "tools/oshrun/front/options.h"

/* Translates o to the options of o->launcher and executes it, or prints the command if
 * o->dry_run.  Returns only the exit status for oshrun: after an error message, or 0. */
int launcher_exec(const struct options *o);

#endif
