/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exits.c - ways to end a job, selected by the argument; exits.sh checks the status and
 * the output.
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum { FAILING_STATUS = 3, GLOBAL_STATUS = 42, LONG_S = 30 };
static long never;

static void at_end(void)
{
    printf("at exit of PE %d\n", shmem_my_pe());
}

static void say_after(void)
{
    int initialized = -1;
    shmem_query_initialized(&initialized);
    printf("after finalize: initialized %d\n", initialized);
}

/* One PE ends the job; the others wait for a word that is never written. */
static void exit_globally(int who, int status)
{
    if (shmem_my_pe() == who)
        shmem_global_exit(status);
    shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
}

static void compute_while_exited(void)
{
    if (shmem_my_pe() == shmem_n_pes() - 1)
        shmem_global_exit(GLOBAL_STATUS);
    double end = check_now() + LONG_S;
    while (check_now() < end)
        continue;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "return";
    if (strcmp(way, "no-init") == 0)
        return 0;
    shmem_init();
    int last = shmem_n_pes() - 1, me = shmem_my_pe();
    if (strcmp(way, "return") == 0) {
        /* The library finalizes at exit. */
        printf("PE %d returns without finalize\n", me);
    } else if (strcmp(way, "exit") == 0) {
        exit(0);
    } else if (strcmp(way, "atexit") == 0) {
        atexit(at_end); /* runs before the library's handler */
    } else if (strcmp(way, "finalize") == 0) {
        shmem_finalize();
        say_after();
    } else if (strcmp(way, "status") == 0) {
        shmem_finalize();
        return me == last ? FAILING_STATUS : 0;
    } else if (strcmp(way, "global") == 0) {
        exit_globally(last, GLOBAL_STATUS);
    } else if (strcmp(way, "global-0") == 0) {
        exit_globally(0, 0);
    } else if (strcmp(way, "global-busy") == 0) {
        compute_while_exited();
    } else {
        fprintf(stderr, "exits: unknown way %s\n", way);
        return 2;
    }
    return 0;
}
