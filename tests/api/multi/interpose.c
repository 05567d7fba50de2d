/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interpose.c - profiling interface: a tool defines shmem_ functions that call the
 * pshmem_ ones.  The program's calls go to the tool; the library itself never calls
 * shmem_ functions.
 */
#include "config.h"

#include <pshmem.h>

#include "tests/api/multi/check.h"

static int puts_seen, barriers_seen, inits_seen, adds_seen;

void shmem_init(void)
{
    inits_seen++;
    pshmem_init();
}

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
    puts_seen++;
    pshmem_long_put(dest, source, nelems, pe);
}

long shmem_long_atomic_fetch_add(long *dest, long value, int pe)
{
    adds_seen++;
    return pshmem_long_atomic_fetch_add(dest, value, pe);
}

void shmem_barrier_all(void)
{
    barriers_seen++;
    pshmem_barrier_all();
}

static long target[3], counter;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long source[3] = {me, me + 1, me + 2};
    shmem_barrier_all();
    shmem_long_put(target, source, 3, (me + 1) % npes);
    shmem_put(target, source, 3, (me + 1) % npes); /* C11 generic: calls shmem_long_put */
    shmem_long_atomic_fetch_add(&counter, 1, 0);
    shmem_barrier_all();
    int from = (me - 1 + npes) % npes;
    CHECK_EQ(target[2], from + 2);
    CHECK_EQ(shmem_long_g(&counter, 0), npes);
    void *block = shmem_malloc(100); /* contains a barrier, but no shmem_ call */
    shmem_free(block);
    CHECK_EQ(inits_seen, 1);
    CHECK_EQ(puts_seen, 2);
    CHECK_EQ(adds_seen, 1);
    CHECK_EQ(barriers_seen, 2);
    shmem_finalize();
    return 0;
}
