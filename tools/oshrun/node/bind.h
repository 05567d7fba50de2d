/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bind.h - which PE runs on which processors.
 *
 * Uses job.h and hwloc.  Used by daemon.c.
 */
#ifndef OSHRUN_BIND_H
#define OSHRUN_BIND_H

#include "tools/oshrun/job.h"

#include <sched.h>

#define BIND_TEXT 48

struct bind_place {
    cpu_set_t cpus;
    char text[BIND_TEXT]; /* "core 1 (processors 2,3)" */
};

struct bind_plan {
    struct bind_place *place; /* one per PE of the node; NULL = nobody is bound */
};

/* Processors in oshrun's own affinity mask. */
uint32_t bind_cpu_count(void);

/* 0, or -1 after a sentence. */
int bind_make(struct bind_plan *plan, enum job_bind how, uint32_t npes);
void bind_free(struct bind_plan *plan);

#endif
