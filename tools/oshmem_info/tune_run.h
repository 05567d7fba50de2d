/* SPDX-License-Identifier: BSD-3-Clause */
/* tune_run.h - the jobs of the tuner.  Uses: tune.  Used by: tune.c, tune_table.c. */
#ifndef OSHMEM_INFO_TUNE_RUN_H
#define OSHMEM_INFO_TUNE_RUN_H

#include "tools/oshmem_info/tune.h"

/* Installs handlers of SIGINT and the like, which end the running job, if any, and record
 * the signal: */
void tune_watch(void);
int tune_stopped(void); /* the signal, or 0 */

/* Runs the job of a step with PEs that measure `how`, on this machine, the hosts or
 * virtual nodes.  False after an error message, or when stopped. */
bool tune_run(const struct tune_step *step, const struct tune_options *o, const char *how,
              struct tune_job *job);

#endif
