/* SPDX-License-Identifier: BSD-3-Clause */
/* sim_pe.c - implements sim_pe.h.  Uses: sim, hook. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/transport/test/hook.h"
#include "pgas/transport/test/sim.h"
#include "tests/transport/sim_pe.h"

enum { STACK = 256 << 10, LATENCY_NS = 1500, JITTER_NS = 3000, STUCK_MAX = 8 };

static const double bytes_per_ns = 10;
static struct sim *sim;

void sim_pe_sleep(uint64_t ns)
{
    sim_sleep_ns(ns);
}

void sim_pe_kill(int pe, bool silent)
{
    sim_kill(sim, pe, silent);
}

static void print_stuck(int status)
{
    int pes[STUCK_MAX];
    const int n = sim_stuck(sim, pes, STUCK_MAX);

    fprintf(stderr, "suite: sim_run: %s; waiting PEs:", strerror(-status));
    for (int i = 0; i < n && i < STUCK_MAX; i++)
        fprintf(stderr, " %d", pes[i]);
    fprintf(stderr, "%s\n", n > STUCK_MAX ? " ..." : "");
}

int sim_pe_run(int npes, void (*fn)(int pe, void *arg), void *arg)
{
    const struct sim_config config = {.npes = npes,
                                      .seed = 1,
                                      .latency_ns = LATENCY_NS,
                                      .jitter_ns = JITTER_NS,
                                      .bytes_per_ns = bytes_per_ns,
                                      .stack = STACK};
    int status;

    sim = sim_new(&config);
    if (!sim) {
        fprintf(stderr, "suite: no memory for %d fibers\n", npes);
        return -1;
    }
    hook_clock(sim_now_ns);
    hook_alarm(sim_alarm_ns);
    status = sim_run(sim, fn, arg);
    if (status != 0)
        print_stuck(status);
    sim_free(sim);
    return status;
}
