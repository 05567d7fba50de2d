/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timing.h - time taken by the stages of start and end: the tables of oshrun -v.
 *
 * Uses daemon.h (stages), pgas/core/boot/node.h.  Used by front.c.
 */
#ifndef OSHRUN_FRONT_TIMING_H
#define OSHRUN_FRONT_TIMING_H

#include "tools/oshrun/daemon/daemon.h"

#include <stdio.h>

struct timing {
    uint64_t start_ns;
    uint64_t daemon_ns[DAEMON_STAGES]; /* 0 = not reached */
    uint32_t npes;
    uint64_t *pe_ns[NODE_STAGES];   /* since the fork, for PEs that reached it */
    uint64_t *took_ns[NODE_STAGES]; /* since the previous stage of this PE */
    uint32_t count[NODE_STAGES];
};

void timing_open(struct timing *t, uint32_t npes, uint64_t start_ns);
void timing_free(struct timing *t);
void timing_stage(struct timing *t, enum daemon_stage stage);
void timing_pe(struct timing *t, const struct daemon_end *end);
void timing_print(const struct timing *t, FILE *f);

#endif
