/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_put.h - the members of `coll_lib` other than collectives, which both OpenSHMEM
 * backends (coll_shmem.c, coll_active.c) share.
 */
#ifndef BENCH_COLL_PUT_H
#define BENCH_COLL_PUT_H

#include <stddef.h>

extern int coll_put_level; /* thread level that coll_put_init requests */
void coll_put_init(void);
void *coll_put_alloc(size_t bytes);
void coll_put_gather(double *all, const double *mine, size_t n);
void coll_put_pingpong(void *dest, const void *src, size_t bytes, long n);

#endif
