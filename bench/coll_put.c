/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_put.c - symmetric memory, exchange of results and messages with puts, for the
 * OpenSHMEM backends of the benchmarks of collectives.
 */
#include "coll_put.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

int coll_put_level = SHMEM_THREAD_SINGLE;

static long *flag; /* symmetric: the number of the last message */

void coll_put_init(void)
{
    int provided;
    if (shmem_init_thread(coll_put_level, &provided) != 0 || provided < coll_put_level) {
        fprintf(stderr, "thread level %d is not provided, only %d\n", coll_put_level,
                provided);
        shmem_global_exit(1);
    }
    flag = shmem_malloc(sizeof(*flag));
    if (flag == NULL)
        shmem_global_exit(1);
    *flag = 0;
    shmem_barrier_all();
}

void *coll_put_alloc(size_t bytes)
{
    return shmem_align(4096, bytes);
}

void coll_put_gather(double *all, const double *mine, size_t n)
{
    int me = shmem_my_pe();
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        shmem_double_put(all + (size_t)me * n, mine, n, pe);
    shmem_barrier_all();
}

static void message(void *dest, const void *src, size_t bytes, long number, int pe)
{
    shmem_putmem(dest, src, bytes, pe);
    shmem_fence();
    shmem_long_p(flag, number, pe);
}

void coll_put_pingpong(void *dest, const void *src, size_t bytes, long n)
{
    static long number;
    int me = shmem_my_pe();
    for (long i = 0; me < 2 && i < n; i++) {
        number++;
        if (me == 0)
            message(dest, src, bytes, number, 1);
        shmem_long_wait_until(flag, SHMEM_CMP_GE, number);
        if (me == 1)
            message(dest, src, bytes, number, 0);
    }
}
