/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern_put.h - teams and halo exchange by puts, shared by both OpenSHMEM forms of the
 * kernels.
 * Used by: kern_shmem.c, kern_shared.c.
 */
#ifndef BENCH_KERN_PUT_H
#define BENCH_KERN_PUT_H

#include <shmem.h>

#include "kern.h"

shmem_team_t kern_put_team(enum kern_team team);
void kern_put_grid(int columns);
void kern_put_exchange(double *halo, const double *first, const double *last, size_t n);

#endif
