/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hook_chaos.h - SHMEM_CHAOS, read.  What the words mean: hook.h.
 * Uses: transport.h.  Used by: hook, unit tests.
 */
#ifndef PGAS_TRANSPORT_HOOK_CHAOS_H
#define PGAS_TRANSPORT_HOOK_CHAOS_H

#include <stdbool.h>
#include <stdint.h>

#include "pgas/transport/transport.h"

enum { CHAOS_RULES_MAX = 16, CHAOS_PATH_MAX = 512 };

enum chaos_fate { CHAOS_DROP, CHAOS_FAIL, CHAOS_KILL };

/* From the at-th operation of this PE on: those to PE pe are dropped or fail; or, for
 * CHAOS_KILL, PE pe is this one. */
struct chaos_rule {
    enum chaos_fate fate;
    int pe;
    uint64_t at;
    uint32_t begun, told; /* FAIL: one was accepted; world->failed was called (atomic) */
};

struct chaos {
    uint64_t seed, delay_ns;
    unsigned eagain; /* percent */
    bool reorder;
    int rules;
    struct chaos_rule rule[CHAOS_RULES_MAX];
    char trace[CHAOS_PATH_MAX]; /* "" = none; %p has been replaced */
    bool trace_alone;           /* the file is this PE's own */
};

/* Read text (NULL = "") for PE me of npes.  0; or -EINVAL and a sentence. */
int chaos_parse(const char *text, int me, int npes, struct chaos *chaos,
                char why[TRANSPORT_TEXT_MAX]);

#endif
