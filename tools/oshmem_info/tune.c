/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune.c - oshmem_info --tune: measures the algorithms of the collectives on this machine
 * or between nodes, and writes a table file of those that are better than the built-in
 * choice.
 * Uses: tune_run, tune.  Used by: main.
 */
#include "config.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tools/oshmem_info/tune.h"
#include "tools/oshmem_info/tune_run.h"

enum { NS_PER_US = 1000 };

static struct tune_options options;
static struct tune_range *ranges;
static int range_count;

int tune_processors(void)
{
    cpu_set_t mine;

    return sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
}

/* ---- the summary ----------------------------------------------------------------- */

static void tune_print_heading(const struct tune_job *job)
{
    int pes = job->step.pes, nodes = job->step.nodes;
    int processors = options.vnodes != NULL ? tune_processors() : nodes * job->processors;

    if (nodes > 1)
        printf("%d PEs on %d %s", pes, nodes,
               options.vnodes != NULL ? "virtual nodes" : "nodes");
    else
        printf("%d PEs on %d processors", pes, processors);
    printf("%s\n", pes > processors ? ": more PEs than processors, so times include the "
                                      "scheduler"
                                    : "");
    printf("  %-19s %-18s %-9s %-9s %11s  %s\n", "collective", "bytes of a block",
           "built-in", "best", "time", "times as fast");
}

static void tune_print_range(const struct tune_range *r)
{
    char bytes[TUNE_TEXT_MAX];

    printf("  %-19s %-18s %-9s ", select_name(r->what),
           tune_range_text(r->from, r->to, bytes), select_info(r->builtin)->name);
    if (r->best == r->builtin)
        printf("%-9s %8.2f us  -\n", "the same", r->ns / NS_PER_US);
    else
        printf("%-9s %8.2f us  %.2f\n", select_info(r->best)->name, r->ns / NS_PER_US,
               r->factor);
}

static int tune_count_rows(void)
{
    int rows = 0;

    for (int i = 0; i < range_count; i++)
        rows += ranges[i].best != ranges[i].builtin;
    return rows;
}

/* ---- the measurement ------------------------------------------------------------- */

/* A job on all nodes that measures nothing: an error ends the tuner before it has spent
 * minutes on one node.  Reports the processors of a host. */
static bool tune_probe(int *processors)
{
    static struct tune_job job;
    int nodes = options.nodes.n > 0 ? options.nodes.number[options.nodes.n - 1] : 1;

    if (!tune_run(&(struct tune_step){.nodes = nodes, .pes = nodes}, &options, TUNE_PROBE,
                  &job))
        return false;
    if (options.hosts != NULL)
        *processors = job.processors;
    if (nodes > 1)
        printf("Network transport: %s\n", job.network);
    fflush(stdout);
    if (nodes > 1 && options.vnodes != NULL)
        fputs("oshmem_info: --tune: virtual nodes measure the network stack of this "
              "machine only; do not use their table on a cluster\n",
              stderr);
    return true;
}

static bool tune_measure(const struct tune_step *step)
{
    static struct tune_job job;

    if (!tune_run(step, &options, options.how, &job))
        return false;
    struct tune_range *more =
        realloc(ranges, (size_t)(range_count + TUNE_RANGES_MAX) * sizeof *more);
    if (more == NULL) {
        tune_wrong("no memory for the results");
        return false;
    }
    ranges = more;
    int n = tune_ranges(&job, ranges + range_count);
    tune_print_heading(&job);
    for (int k = 0; k < n; k++)
        tune_print_range(&ranges[range_count + k]);
    fflush(stdout);
    range_count += n;
    return true;
}

/* Checks the plan before the first job runs. */
static int tune_make_plan(int processors, struct tune_step step[TUNE_STEPS_MAX])
{
    bool virtual = options.vnodes != NULL;
    int nodes, n = tune_plan(&options, processors, step, &nodes);

    if (n < 0)
        tune_wrong("%s '%s' needs numbers of PEs that are multiples of the nodes, but "
                   "--pes has none for %d nodes; add %d to --pes%s",
                   virtual ? "--vnodes" : "--hosts",
                   virtual ? options.vnodes : options.hosts, nodes, nodes,
                   virtual ? ", or choose fewer nodes" : "");
    return n;
}

static bool tune_measure_all(void)
{
    static struct tune_step step[TUNE_STEPS_MAX];
    int processors = tune_processors();

    if ((options.nodes.n > 0 || options.hosts != NULL) && !tune_probe(&processors))
        return false;
    int n = tune_make_plan(processors, step);
    for (int i = 0; i < n; i++)
        if (!tune_measure(&step[i]))
            return false;
    return true;
}

/* Ends the process by the signal that was caught. */
static int tune_end_stopped(void)
{
    fputs("oshmem_info: --tune: stopped; no table was written\n", stderr);
    signal(tune_stopped(), SIG_DFL);
    raise(tune_stopped());
    return 1;
}

/* Warns if more processes than processors were runnable before the start. */
static void tune_warn_if_busy(void)
{
    double load;

    if (getloadavg(&load, 1) == 1 && load > tune_processors())
        fprintf(stderr,
                "oshmem_info: --tune: the machine is busy (load %.1f, %d processors), "
                "which distorts the results\n",
                load, tune_processors());
}

int tune_main(int argc, char **argv)
{
    static struct tune_step step[TUNE_STEPS_MAX];
    char path[PATH_MAX];
    int status = tune_read_options(argc, argv, &options);

    if (status != 0)
        return status;
    if (tune_make_plan(tune_processors(), step) < 0)
        return 2;
    if (!tune_table_choose_path(options.out, path, sizeof path))
        return 1;
    tune_warn_if_busy();
    tune_watch();
    bool good = tune_measure_all() && tune_table_save(path, ranges, range_count);
    if (tune_stopped() != 0)
        return tune_end_stopped();
    if (!good)
        return 1;
    printf("%s has %d rows; %s\n", path, tune_count_rows(),
           options.out == NULL ? "programs read it from now on"
                               : "programs read it if SHMEM_COLL_TABLE names it");
    free(ranges);
    return 0;
}
