/* SPDX-License-Identifier: BSD-3-Clause */
/* annex.h - what the cases of annex.c and annex_verify.c share. */
#ifndef TESTS_CHECK_ANNEX_H
#define TESTS_CHECK_ANNEX_H

#include <mpp/shmem.h>
#include <shmemx.h>

#include "tests/api/multi/check.h"

struct annex_case {
    const char *name, *sentence;
    void (*run)(void);
};

/* Symmetric, for whatever a case does with them */
extern long word[64], other[64], psync[SHMEM_SYNC_SIZE], pwrk[SHMEM_SYNC_SIZE];
extern int me, npes;

/* shmem_init, and who we are. */
void start(void);

/* What PEs do differently in a collective; ends with a name of NULL. */
extern const struct annex_case annex_verify_cases[];

#endif
