/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * again_fail.c - the library is finalized and initialized again, and PE 1 fails, exits or
 * is late between the two or afterwards, selected by the argument.  again_fail.sh checks
 * how the job ends.
 */
#include "config.h"

#include <sys/resource.h>

#include "tests/api/multi/check.h"

enum { ODD_ONE = 1, STATUS = 3, NO_PE = 99, LATE_US = 1200000, HANG_US = 60000000 };

static long word;

static void hang(void)
{
    puts("hangs");
    fflush(stdout);
    check_sleep_us(HANG_US);
}

/* Between shmem_finalize and the second shmem_init. */
static void between(const char *way)
{
    if (strcmp(way, "early") == 0)
        exit(0);
    if (strcmp(way, "early-status") == 0)
        exit(STATUS);
    if (strcmp(way, "late") == 0)
        check_sleep_us(LATE_US);
    if (strcmp(way, "hang-between") == 0)
        hang();
}

static void crash(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* no core file */
    abort();
}

/* After the second shmem_init. */
static void inside(const char *way)
{
    if (strcmp(way, "status") == 0)
        exit(STATUS);
    if (strcmp(way, "global-0") == 0)
        shmem_global_exit(0);
    if (strcmp(way, "global-status") == 0)
        shmem_global_exit(STATUS);
    if (strcmp(way, "no-pe") == 0)
        shmem_long_p(&word, 1, NO_PE);
    if (strcmp(way, "abort") == 0)
        crash();
    if (strcmp(way, "vanish") == 0)
        _Exit(0);
    if (strcmp(way, "leave") == 0)
        exit(0);
    if (strcmp(way, "hang-inside") == 0)
        hang();
}

/* Maps the heaps of all peers.  A PE that maps a peer's heap later may detect its exit
 * before the launcher does, which is not the case under test. */
static void barrier_all_pes(void)
{
    long *block = check_alloc(sizeof *block);
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        shmem_long_p(block, pe, pe);
    shmem_barrier_all();
    CHECK_EQ(*block, shmem_my_pe());
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    shmem_init();
    int me = shmem_my_pe();
    shmem_barrier_all();
    shmem_finalize();
    if (me == ODD_ONE)
        between(way);
    shmem_init();
    barrier_all_pes();
    if (me == ODD_ONE)
        inside(way);
    for (int i = 0; i < 3; i++)
        shmem_barrier_all();
    shmem_finalize();
    if (strcmp(way, "end-status") == 0 && me == ODD_ONE)
        return STATUS;
    return 0;
}
