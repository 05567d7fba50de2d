/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * oshrun-client.c - a PMIx client that ends in the way that its arguments select.
 *
 * Uses libpmix, pgas/core/boot/node.h.  Used by oshrun-*.sh, to test the launcher without
 * the library.
 *
 *   oshrun-client HOW [RANK] [NUMBER]: after init and a barrier, PE RANK (default 0) ends
 *   by HOW; the others finalize at once (HOW = good, late, leave-all), or hang until they
 *   are killed.  HOW = claim: publishes NUMBER (0: its own pid) as its pid in the node
 *   segment, as the library does.
 */
#include "config.h"

#include "pgas/core/boot/node.h"
#include "tools/oshrun/pmix/pmix_api.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* Stores pid in the own record of the node segment; local ranks equal ranks here. */
static void claim(pid_t pid)
{
    const char *place = getenv(NODE_ENV);
    int fd = place != NULL ? open(place, O_RDWR) : -1;
    size_t len = node_bytes(me.rank + 1);
    struct node *node = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (node == MAP_FAILED)
        exit(99);
    node->pe[me.rank].pid = pid != 0 ? pid : getpid();
}

/* Ends PE RANK by HOW. */
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
    alarm(2 * HANG_S); /* in case the launcher has died */
    unsigned long rank = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    int number = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        fprintf(stderr, "oshrun-client: PMIx_Init failed\n");
        return 99;
    }
    barrier();
    if (me.rank == rank && strcmp(how, "claim") == 0)
        claim(number);
    printf("PE %u is there\n", me.rank);
    fflush(stdout);
    if (strcmp(how, "leave-all") == 0)
        _exit(0);
    if (me.rank == rank)
        act(how, number);
    if (strcmp(how, "finalized-exit") == 0)
        usleep(300000); /* the others run for a while */
    else if (strcmp(how, "good") != 0)
        sleep(HANG_S);
    finalize();
    return 0;
}
