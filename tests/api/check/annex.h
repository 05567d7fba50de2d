/* SPDX-License-Identifier: BSD-3-Clause */
/* annex.h - shared by the cases of annex.c and annex_verify.c. */
#ifndef TESTS_CHECK_ANNEX_H
#define TESTS_CHECK_ANNEX_H

#include <mpp/shmem.h>
#include <shmemx.h>

#include "tests/api/multi/check.h"

struct annex_case {
    const char *name, *message;
    void (*run)(void);
};

/* Symmetric arrays for the cases. */
extern long word[64], other[64], psync[SHMEM_SYNC_SIZE], pwrk[SHMEM_SYNC_SIZE];
extern int me, npes;

/* shmem_init; sets me and npes. */
void start(void);

/* Cases in which the PEs of a collective pass different arguments; ends with name NULL.
 */
extern const struct annex_case annex_verify_cases[];

#endif
