/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern_put.h - what both forms of the kernels on OpenSHMEM have in common: the teams, and
 * the halos by puts.
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
