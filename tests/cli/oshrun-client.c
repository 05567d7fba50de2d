/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * oshrun-client.c - a PMIx client that ends in the way its arguments say.
 *
 * Uses libpmix.  Used by oshrun-*.sh, to test the launcher without the library.
 *
 *   oshrun-client HOW [RANK] [NUMBER]: after init and a barrier, PE RANK (default 0) ends
 *   by HOW; the others finalize at once (HOW = good, late, leave-all), or hang until they
 *   are ended.
 */
#include "config.h"

#include "tools/oshrun/pmix_api.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANG_S 60

static pmix_proc_t me;

static void barrier(void)
{
    pmix_info_t collect;
    bool yes = true;
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    if (PMIx_Fence(NULL, 0, &collect, 1) != PMIX_SUCCESS)
        exit(99);
}

static void finalize(void)
{
    if (PMIx_Finalize(NULL, 0) != PMIX_SUCCESS)
        exit(99);
}

/* The PE that was chosen does this. */
static void act(const char *how, int number)
{
    if (strcmp(how, "abort") == 0)
        PMIx_Abort(number, "", NULL, 0);
    else if (strcmp(how, "exit") == 0 || strcmp(how, "leave") == 0)
        _exit(number);
    else if (strcmp(how, "signal") == 0)
        kill(getpid(), number);
    if (strcmp(how, "finalized-exit") == 0) {
        finalize();
        _exit(number);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "good";
    unsigned long rank = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    int number = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        fprintf(stderr, "oshrun-client: PMIx_Init failed\n");
        return 99;
    }
    barrier();
    printf("PE %u is there\n", me.rank);
    fflush(stdout);
    if (strcmp(how, "leave-all") == 0)
        _exit(0);
    if (me.rank == rank)
        act(how, number);
    if (strcmp(how, "finalized-exit") == 0)
        usleep(300000); /* others are at work for a while */
    else if (strcmp(how, "good") != 0)
        sleep(HANG_S);
    finalize();
    return 0;
}
