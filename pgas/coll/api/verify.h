/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verify.h - verification of collective arguments across PEs (SHMEM_DEBUG=2).
 * Uses: barrier, core/check.  Used by: life.
 */
#ifndef PGAS_COLL_VERIFY_H
#define PGAS_COLL_VERIFY_H

#include <stdint.h>

/* On each PE: the arguments of its collective call. */
enum { VERIFY_FN_MAX = 48, VERIFY_VALUES_MAX = 10 };
struct verify_call {
    char fn[VERIFY_FN_MAX];
    uint64_t value[VERIFY_VALUES_MAX];
};

/* Register the comparison function with core/check. */
void verify_init(void);

#endif
