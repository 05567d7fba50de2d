/* SPDX-License-Identifier: BSD-3-Clause */
/* tune_run.h - the jobs of the tuner.  Uses: tune.  Used by: tune.c. */
#ifndef OSHMEM_INFO_TUNE_RUN_H
#define OSHMEM_INFO_TUNE_RUN_H

#include "tools/oshmem_info/tune.h"

/* From now on SIGINT and the like end the job that runs, if any, and are remembered: */
void tune_watch(void);
int tune_stopped(void); /* which, or 0 */

/* Measure with so many PEs on this machine.  False after a sentence, or when stopped. */
bool tune_run(int pes, bool quick, struct tune_job *job);

#endif
