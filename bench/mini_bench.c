/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mini_bench.c - runs the mini-applications with threads; prints lines
 * `name threads context size value unit`.
 *   oshrun -n 2 mini_bench [-T threads] [-t S] [-r N] [-w] [application[=SIZES]...]
 * Runs with the default context (`default`) and with a context per thread (`private`)
 * alternate.  NAME is the median over the runs of the time of the slowest thread of all
 * PEs; NAME.comm is the mean over threads and PEs of the time in messages, sums and
 * barriers, waiting included.  The result of each run is verified; a wrong result ends
 * the job with status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll_put.h"
#include "mini.h"

enum { APPS = 4, JOBS_MAX = 64, RUNS_MIN = 1, RUNS_MAX = 200 };
enum mode { MODE_DEFAULT, MODE_PRIVATE, MODES };

static const char usage_text[] =
    "[option...] [application[=SIZES]...]\n"
    "applications: cg (points per side of a cube; 32), fe (elements per side; 24), md\n"
    "              (cells of 4 particles per side; 10), halo (bytes of a message;\n"
    "              8,4096); SIZES like 16,32\n"
    "  -T N     threads of each PE (1)\n"
    "  -t S     seconds for each size of each application (0.5), after the first runs\n"
    "  -r N     seed of the random numbers (1)\n"
    "  -w       corrupt a number that the last PE receives, which must be detected\n";

static const struct mini_app *const apps[APPS] = {&mini_cg, &mini_fe, &mini_md,
                                                  &mini_halo};
static const char *const mode_name[MODES] = {"default", "private"};

static struct coll_options common = {.seconds = 0.5, .seed = 1};
static struct mini_job job = {.threads = 1};
static bool spoil;
static double *all; /* symmetric */

static struct {
    const struct mini_app *app;
    size_t n;
} jobs[JOBS_MAX];
static int job_count;

struct times {
    double run_s[RUNS_MAX], comm_s[RUNS_MAX];
};

/* Returns the seconds of the slowest thread, equal on all PEs. */
static double run_once(const struct mini_app *app, enum mode mode, double *comm_s)
{
    double comm, seconds;

    app->begin();
    coll_lib.barrier();
    seconds = coll_most(all, mini_run(app, job.threads, mode == MODE_PRIVATE, &comm));
    *comm_s = coll_total(all, comm) / job.npes;
    app->verify();
    return seconds;
}

static void print_mode(const struct mini_app *app, enum mode mode, struct times *t, int n)
{
    const char *name = mode_name[mode];

    if (job.me != 0)
        return;
    printf("%s %d %s %zu %.4g ms\n", app->name, job.threads, name, job.n,
           coll_median(t->run_s, n) * 1e3);
    printf("%s.comm %d %s %zu %.4g ms\n", app->name, job.threads, name, job.n,
           coll_median(t->comm_s, n) * 1e3);
    fflush(stdout);
}

static void measure(const struct mini_app *app)
{
    static struct times times[MODES];
    double spent = 0, comm;
    int n = 0;

    app->open(&job);
    for (enum mode m = MODE_DEFAULT; m < MODES; m++)
        run_once(app, m, &comm);
    for (; (spent < common.seconds || n < RUNS_MIN) && n < RUNS_MAX; n++)
        for (enum mode m = MODE_DEFAULT; m < MODES; m++)
            spent += times[m].run_s[n] = run_once(app, m, &times[m].comm_s[n]);
    for (enum mode m = MODE_DEFAULT; m < MODES; m++)
        print_mode(app, m, &times[m], n);
    coll_lib.barrier();
    app->close();
}

/* -- the command line ---------------------------------------------------------------- */

static void set_option(int option, const char *text)
{
    if (option == 'T')
        job.threads = (int)coll_number("-T", text, 1, MINI_THREADS_MAX);
    else if (option == 'w')
        spoil = true;
    else
        coll_no_option();
}

/* Sizes are small: any whole number, unlike those of coll_sizes. */
static void add_jobs(const struct mini_app *app, const char *text)
{
    char *end;

    for (const char *rest = text;; rest = end + 1) {
        unsigned long n = strtoul(rest, &end, 10);
        if (*rest < '1' || *rest > '9' || n > 65536 || (*end != ',' && *end != '\0')) {
            coll_wrong("the sizes '%s' should be whole numbers up to 65536, like 16,32",
                       text);
            return;
        }
        if (job_count == JOBS_MAX) {
            coll_wrong("there are more than %d sizes", JOBS_MAX);
            return;
        }
        job.n = n;
        const char *problem = app->check_size(&job);
        if (problem != NULL)
            coll_wrong("%s=%lu with %d PEs of %d threads: %s", app->name, n, job.npes,
                       job.threads, problem);
        jobs[job_count].app = app;
        jobs[job_count++].n = n;
        if (*end == '\0')
            return;
    }
}

/* `word` is like fe or fe=16,32. */
static void parse_word(const char *word)
{
    size_t length = strcspn(word, "=");

    for (int a = 0; a < APPS; a++)
        if (strlen(apps[a]->name) == length && memcmp(apps[a]->name, word, length) == 0) {
            add_jobs(apps[a], word[length] == '=' ? word + length + 1 : apps[a]->usual);
            return;
        }
    coll_wrong("'%s' is none of the applications cg, fe, md, halo", word);
}

int main(int argc, char **argv)
{
    coll_put_level = SHMEM_THREAD_MULTIPLE;
    coll_lib.init(&argc, &argv);
    job.me = coll_lib.me();
    job.npes = coll_lib.npes();
    int first = coll_parse(&common, argc, argv, "hr:t:T:w", set_option);
    for (int i = first; i < argc; i++)
        parse_word(argv[i]);
    for (int a = 0; first == argc && a < APPS; a++)
        parse_word(apps[a]->name);
    coll_begin("mini_bench", usage_text, common.help);
    job.seed = common.seed;
    all = coll_need("mini_bench", (size_t)job.npes * sizeof(*all));
    mini_open(spoil);
    if (job.me == 0)
        printf("# mini_bench with %s: %d PEs of %d threads\n", coll_lib.name, job.npes,
               job.threads);
    for (int j = 0; j < job_count; j++) {
        job.n = jobs[j].n;
        measure(jobs[j].app);
    }
    mini_close();
    coll_lib.fini();
    return 0;
}
