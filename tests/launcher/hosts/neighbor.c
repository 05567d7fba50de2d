/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbor.c - PE 1 and PE 2 are on two nodes of one host, PE 0 on another host.  The
 * node of PE 1 dies: PE 0 cuts its connections, but not that of PE 2, to which it has
 * never sent and whose address it therefore does not know.  Run by neighbor.sh.
 */
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { TARGET, VICTIM, NEIGHBOR, PES, ROUNDS = 500 };

static long known, cell, go;

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "neighbor: PE %d: %s\n", shmem_my_pe(), what);
    shmem_global_exit(1);
}

static void target(void)
{
    shmem_long_p(&cell, 1, VICTIM);
    shmem_quiet();
    while (!shmemx_pe_failed(VICTIM))
        shmem_test(&cell, SHMEM_CMP_EQ, ROUNDS); /* serves the others */
    shmem_barrier_all(); /* returns when the transport knows of the failure */
    known = 1;
    while (!shmem_test(&cell, SHMEM_CMP_EQ, ROUNDS))
        ;
}

static void victim(void)
{
    shmem_long_wait_until(&cell, SHMEM_CMP_EQ, 1);
    shmem_long_wait_until(&go, SHMEM_CMP_EQ, 1);
    kill(getppid(), SIGKILL); /* the node daemon */
    raise(SIGKILL);
}

static void neighbor(void)
{
    shmem_long_p(&cell, 1, TARGET); /* opens the connection */
    shmem_quiet();
    shmem_long_p(&go, 1, VICTIM);
    shmem_quiet();
    while (shmem_long_g(&known, TARGET) == 0)
        ;
    for (long i = 1; i <= ROUNDS; i++) {
        shmem_long_p(&cell, i, TARGET);
        shmem_quiet();
        check(shmem_long_g(&cell, TARGET) == i, "a put to PE 0 is lost");
    }
    puts("passed");
}

int main(void)
{
    shmem_init();
    check(shmem_n_pes() == PES, "3 PEs are needed");
    if (shmem_my_pe() == TARGET)
        target();
    else if (shmem_my_pe() == VICTIM)
        victim();
    else
        neighbor();
    shmem_finalize();
    return 0;
}
