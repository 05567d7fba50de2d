/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_kill.h - options with which the ft_ examples kill PEs, to show that they survive:
 *   --kill PE@N         PE kills itself in its step N
 *   --kill-node PE@N    in its step N, PE kills the daemon of its node, which ends the
 * node
 *   --kill-locked PE@N  PE kills itself in its step N while it holds a lock
 * All can be given several times. */
#ifndef FT_KILL_H
#define FT_KILL_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kill_kind { KILL_PE, KILL_NODE, KILL_LOCKED, KILL_KINDS };
enum { KILLS = 64 };

static struct kill {
    int pe;
    long step;
    enum kill_kind kind;
} kills[KILLS];
static int nkills;

/* True, or false after an error message. */
static inline bool kill_options(int argc, char **argv)
{
    static const char *const name[] = {"--kill", "--kill-node", "--kill-locked"};

    for (int i = 1; i < argc; i += 2) {
        struct kill *k = &kills[nkills++];
        while (k->kind < KILL_KINDS && strcmp(argv[i], name[k->kind]) != 0)
            k->kind++;
        if (k->kind == KILL_KINDS || nkills == KILLS || i + 1 == argc ||
            sscanf(argv[i + 1], "%d@%ld", &k->pe, &k->step) != 2) {
            fprintf(stderr, "usage: %s [--kill[-node|-locked] PE@STEP]...\n", argv[0]);
            return false;
        }
    }
    return true;
}

/* Step `step` of this PE: ends it, or its node, if that was asked for. */
static inline void kill_at(int me, long step, bool locked)
{
    for (int i = 0; i < nkills; i++) {
        const struct kill *k = &kills[i];
        if (k->pe != me || k->step != step || (k->kind == KILL_LOCKED) != locked)
            continue;
        if (k->kind == KILL_NODE) {
            kill(getppid(), SIGKILL); /* its PEs then get the same signal */
            sleep(10);
        }
        kill(getpid(), SIGKILL);
    }
}

#endif
