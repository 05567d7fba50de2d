/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_heat.c - what hot caching is worth: between two pairs of a post and an arrival
 * behind N entries, the thread sweeps over a buffer, as a computation does that evicts
 * the queue from its caches.  Pairs with a heater that runs and with one that is paused
 * take turns.  Prints a line per figure: MiB of the sweep, N, engine, heater, ns of a
 * pair, us of a sweep.  Uses: compat/mpi/match.
 */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat/mpi/match/match.h"
#include "compat/mpi/match/match_heater.h"
#include "pgas/core/base/clock.h"

enum { DEPTH_MAX = 8192, SAMPLES_MAX = 1000, SWEEP_MAX = 64, MIB = 1 << 20 };

struct cell {
    struct matcher m;
    struct match_entry receives[DEPTH_MAX + 1], message;
    int n;
    double pair_ns[SAMPLES_MAX], sweep_us[SAMPLES_MAX];
};

static int cell_open(struct cell *c, enum match_engine engine, int n,
                     struct match_regions *regions)
{
    struct match_options o = match_options_default();

    o.engine = engine;
    o.regions = regions;
    c->n = n;
    if (match_init(&c->m, &o) != 0)
        return -1;
    for (int i = 0; i < n; i++) {
        c->receives[i] = (struct match_entry){.key = {0, 1, 1000 + i}};
        if (match_post(&c->m, &c->receives[i]) != NULL)
            return -1;
    }
    return 0;
}

static void cell_pair(struct cell *c)
{
    c->receives[c->n] = (struct match_entry){.key = {0, 1, 1000 + c->n}};
    c->message = c->receives[c->n];
    if (match_post(&c->m, &c->receives[c->n]) != NULL ||
        match_arrive(&c->m, &c->message) != &c->receives[c->n])
        abort();
}

static uint64_t cell_sweep(const uint64_t *buffer, int mib)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < (size_t)mib * MIB / sizeof *buffer; i++)
        sum += buffer[i];
    return sum;
}

static void cell_sample(struct cell *c, int k, const uint64_t *buffer, int mib)
{
    uint64_t began = clock_ns(), swept, sum = cell_sweep(buffer, mib);

    __asm__ __volatile__("" : : "r"(sum));
    swept = clock_ns();
    cell_pair(c);
    c->pair_ns[k] = (double)(clock_ns() - swept);
    c->sweep_us[k] = (double)(swept - began) * 1e-3;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, compare_doubles);
    return values[n / 2];
}

static void bench_cell(struct match_heater *h, enum match_engine engine, int n,
                       const uint64_t *buffer, int mib, int samples)
{
    static struct cell cells[2]; /* without and with heater */

    for (int on = 0; on < 2; on++)
        if (cell_open(&cells[on], engine, n, on ? &h->regions : NULL) != 0)
            abort();
    for (int k = 0; k < samples; k++)
        for (int on = 0; on < 2; on++) {
            (on ? match_heater_resume : match_heater_pause)(h);
            cell_sample(&cells[on], k, buffer, mib);
        }
    for (int on = 0; on < 2; on++) {
        printf("%d %d %s %s %.1f %.1f\n", mib, n, match_engine_name(engine),
               on ? "heater" : "none", median_of(cells[on].pair_ns, samples),
               median_of(cells[on].sweep_us, samples));
        match_free(&cells[on].m);
    }
    fflush(stdout);
}

/* The heater's CPU, and binds this thread.  Virtual machines hide shared caches: then any
 * other CPU is taken, and it is said. */
static int bench_place(int wanted)
{
    cpu_set_t allowed, own;
    int cpu = sched_getcpu(), heater = wanted;

    if (cpu < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return -1;
    if (heater < 0)
        heater = match_heater_place(cpu, &allowed);
    for (int i = 0; i < CPU_SETSIZE && heater < 0; i++)
        if (i != cpu && CPU_ISSET((size_t)i, &allowed)) {
            heater = i;
            fprintf(stderr, "match_heat: hwloc sees no cache that another core shares\n");
        }
    CPU_ZERO(&own);
    CPU_SET((size_t)cpu, &own);
    sched_setaffinity(0, sizeof own, &own);
    fprintf(stderr, "match_heat: CPU %d, heater on CPU %d\n", cpu, heater);
    return heater;
}

int main(int argc, char **argv)
{
    static const int depths[] = {256, 1024, DEPTH_MAX}, sweeps[] = {2, 16, SWEEP_MAX};
    static const enum match_engine engines[] = {MATCH_ARRAY, MATCH_FUZZY};
    struct match_heater_options o = match_heater_options_default();
    static struct match_heater heater;
    int samples = 200, only = 0, cpu = MATCH_HEATER_CHOOSE;

    for (int option; (option = getopt(argc, argv, "c:n:p:t:")) != -1;)
        if (option == 'c')
            cpu = atoi(optarg);
        else if (option == 'n')
            only = atoi(optarg);
        else if (option == 'p')
            o.period_us = (uint32_t)atoi(optarg);
        else if (option == 't')
            samples = atoi(optarg);
        else
            return fprintf(stderr, "usage: match_heat [-c CPU] [-n N] [-p PERIOD_US] "
                                   "[-t SAMPLES]\n") > 0;
    if (samples < 1 || samples > SAMPLES_MAX)
        return 2;
    uint64_t *buffer = malloc((size_t)SWEEP_MAX * MIB);
    o.cpu = bench_place(cpu);
    match_heater_init(&heater);
    if (buffer == NULL || o.cpu < 0 || match_heater_start(&heater, &o) != 0)
        return fprintf(stderr, "match_heat: no heater can be started\n") > 0;
    memset(buffer, 1, (size_t)SWEEP_MAX * MIB);
    for (size_t s = 0; s < sizeof sweeps / sizeof sweeps[0]; s++)
        for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++)
            for (size_t d = 0; d < sizeof depths / sizeof depths[0]; d++)
                if (only == 0 || only == depths[d])
                    bench_cell(&heater, engines[e], depths[d], buffer, sweeps[s],
                               samples);
    match_heater_stop(&heater);
    free(buffer);
    return 0;
}
