/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_settings.h - SHMEM_FT and its parameters, for the launcher.
 *
 * Uses job.h.  Used by front.c.
 */
#ifndef OSHRUN_FRONT_FT_SETTINGS_H
#define OSHRUN_FRONT_FT_SETTINGS_H

#include "tools/oshrun/util/job.h"

/* Fills job->ft with what the PEs will see: job->app[].env and job->env (options -x) take
 * precedence over the environment of oshrun.  The programs of a job must agree.  0, or
 * the exit status after an error message. */
int ft_settings_read(struct job *job, const char *interfaces);

#endif
