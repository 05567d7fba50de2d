/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern_bench.c - runs application kernels; prints lines `name size value unit`.
 *   oshrun -n 4 kern_bench [-t S] [-e EPS] [-r N] [-c] [-w] [kernel[=SIZES]...]
 * Output: NAME is the median over runs of the time of the slowest PE; NAME.comm the mean
 * over PEs of the time in collectives and halo exchanges in the same runs, NAME.comp the
 * difference; NAME.held the memory of the results of collectives on all nodes, NAME.pss
 * the sum of the PSS of all PEs.  Lines with the unit `=` must be equal with all
 * libraries.
 * The result of each run is verified, that of a small problem also with a serial model; a
 * wrong result ends the job with status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kern.h"

enum { RUNS_MIN = 3, RUNS_MAX = 1000, JOBS_MAX = 64, KERNELS = 3 };

static const char usage_text[] =
    "[option...] [kernel[=SIZES]...]\n"
    "kernels: summa (order; 256 per column of the grid of PEs), poisson (points per\n"
    "         side; 64), bpmf (items of each kind per PE; 1000); SIZES like 64,1K\n"
    "  -t S     seconds for each size of each kernel (1), after the first run\n"
    "  -e EPS   poisson iterates until the error is below EPS (0.001)\n"
    "  -c       compare large problems with the serial model, too\n"
    "  -w       corrupt one element that PE 0 receives, which must be detected\n"
    "  -r N     seed of the random numbers (1)\n";

static const struct kernel *const kernels[KERNELS] = {&kern_summa, &kern_poisson,
                                                      &kern_bpmf};

static struct coll_options common = {.seconds = 1, .seed = 1};
static struct {
    double eps;
    bool compare, spoil;
} options = {.eps = 1e-3};

/* The requested kernels and sizes. */
static struct {
    const struct kernel *kernel;
    size_t n;
} jobs[JOBS_MAX];
static int njobs;

static struct kern_job job = {.columns = 1};
static double *all; /* symmetric */
static double runs_s[RUNS_MAX], runs_comm_s[RUNS_MAX];

double kern_waited, kern_held;

/* -- functions for the kernels ------------------------------------------------------- */
int kern_columns(int npes)
{
    int rows = 1;
    for (int r = 1; r * r <= npes; r++)
        if (npes % (r * r) == 0)
            rows = r;
    return npes / rows;
}

void kern_open(struct kern_result *r, enum kern_team team, size_t bytes)
{
    *r = (struct kern_result){.team = team, .bytes = bytes};
    kern_held += (double)kern_lib.open(r);
}

/* With -w: corrupts the first result of the first run. */
static void spoil(const void *result)
{
    if (options.spoil && job.me == 0)
        *(double *)(uintptr_t)result += 1;
    options.spoil = false;
}

const void *kern_broadcast(struct kern_result *r, const void *src, size_t bytes, int root)
{
    double start = coll_now();
    const void *result = kern_lib.broadcast(r, src, bytes, root);
    kern_waited += coll_now() - start;
    spoil(result);
    return result;
}

void *kern_block(struct kern_result *r, size_t bytes)
{
    double start = coll_now();
    void *result = kern_lib.block(r, bytes);
    kern_waited += coll_now() - start;
    return result;
}

const void *kern_fcollect(struct kern_result *r, size_t bytes)
{
    double start = coll_now();
    const void *result = kern_lib.fcollect(r, bytes);
    kern_waited += coll_now() - start;
    spoil(result);
    return result;
}

double kern_max(struct kern_result *r, double mine)
{
    double start = coll_now(), result = kern_lib.max(r, mine);
    kern_waited += coll_now() - start;
    return result;
}

void kern_exchange(double *halo, const double *first, const double *last, size_t n)
{
    double start = coll_now();
    kern_lib.exchange(halo, first, last, n);
    kern_waited += coll_now() - start;
    spoil(halo + n + 1);
}

/* -- figures of all PEs -------------------------------------------------------------- */
/* The PSS in MiB: a page that k processes share counts 1 / k for each. */
static double own_pss(void)
{
    char row[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f != NULL && fgets(row, sizeof(row), f) != NULL)
        if (sscanf(row, "Pss: %lf kB", &kib) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return kib / 1024;
}

static void line(const struct kernel *k, const char *suffix, double value,
                 const char *unit)
{
    const char *format =
        unit[0] == '=' ? "%s%s%s %zu %.15g %s\n" : "%s%s%s %zu %.4g %s\n";
    if (job.me == 0)
        printf(format, k->name, suffix[0] != '\0' ? "." : "", suffix, job.n, value, unit);
    fflush(stdout);
}

/* -- runs ---------------------------------------------------------------------------- */
/* Returns the seconds of the slowest PE, the same on all PEs. */
static double run_once(const struct kernel *k, double *comm_s)
{
    k->begin();
    coll_lib.barrier();
    kern_waited = 0;
    double start = coll_now();
    k->run();
    double seconds = coll_most(all, coll_now() - start);
    *comm_s = coll_total(all, kern_waited) / job.npes;
    return seconds;
}

/* All runs must have the same answers. */
static void check_answers(const struct kernel *k, double *answers, bool first)
{
    double now[KERN_ANSWERS] = {0};
    k->verify(now);
    for (int i = 0; i < KERN_ANSWERS && k->answers[i] != NULL; i++)
        if (!first && now[i] != answers[i])
            kern_fail("%s: %s was %.17g in the first run and is now %.17g on PE %d",
                      k->name, k->answers[i], answers[i], now[i], job.me);
    memcpy(answers, now, sizeof(now));
}

static void print_job(const struct kernel *k, int runs, const double *answers)
{
    double seconds = coll_median(runs_s, runs), comm = coll_median(runs_comm_s, runs);
    double held = coll_total(all, kern_held), pss = coll_total(all, own_pss());
    line(k, "", seconds * 1e3, "ms");
    line(k, "comp", (seconds - comm) * 1e3, "ms");
    line(k, "comm", comm * 1e3, "ms");
    line(k, "held", held / 1048576, "MiB");
    line(k, "pss", pss, "MiB");
    for (int i = 0; i < KERN_ANSWERS && k->answers[i] != NULL; i++)
        line(k, k->answers[i], answers[i], "=");
}

static void measure(const struct kernel *k)
{
    double answers[KERN_ANSWERS] = {0}, spent = 0;
    int runs = 0;
    kern_held = 0;
    k->open(&job);
    run_once(k, &spent);
    check_answers(k, answers, true);
    if (options.compare || k->small(&job))
        k->model(answers);
    for (spent = 0; (spent < common.seconds || runs < RUNS_MIN) && runs < RUNS_MAX;
         runs++) {
        runs_s[runs] = run_once(k, &runs_comm_s[runs]);
        spent += runs_s[runs];
        check_answers(k, answers, false);
    }
    print_job(k, runs, answers);
    coll_lib.barrier();
    k->close();
}

/* -- options ------------------------------------------------------------------------- */
static void set_option(int option, const char *text)
{
    switch (option) {
    case 'c':
        options.compare = true;
        break;
    case 'e':
        options.eps = coll_number("-e", text, 1e-9, 1);
        break;
    case 'w':
        options.spoil = true;
        break;
    default:
        coll_no_option();
        break;
    }
}

static void add_job(const struct kernel *k, size_t n)
{
    job.n = n == 0 ? k->usual(&job) : n;
    k->check_size(&job);
    if (njobs == JOBS_MAX) {
        coll_wrong("there are more than %d sizes", JOBS_MAX);
        return;
    }
    jobs[njobs].kernel = k;
    jobs[njobs++].n = job.n;
}

/* `word` is like summa or summa=512,1K. */
static void add_jobs(const char *word)
{
    size_t length = strcspn(word, "="), size[COLL_SIZES_MAX] = {0};
    int k = 0, n = word[length] == '=' ? coll_sizes(word + length + 1, size) : 1;
    while (k < KERNELS && (strlen(kernels[k]->name) != length ||
                           memcmp(kernels[k]->name, word, length) != 0))
        k++;
    if (k == KERNELS)
        coll_wrong("'%s' is none of the kernels summa, poisson, bpmf", word);
    for (int i = 0; i < n && coll_problem() == NULL; i++)
        add_job(kernels[k], size[i]);
}

static void parse(int argc, char **argv)
{
    int first = coll_parse(&common, argc, argv, "ce:hr:t:w", set_option);
    for (int i = first; i < argc; i++)
        add_jobs(argv[i]);
    for (int k = 0; first == argc && k < KERNELS; k++)
        add_job(kernels[k], 0);
}

int main(int argc, char **argv)
{
    coll_lib.init(&argc, &argv);
    job.me = coll_lib.me();
    job.npes = coll_lib.npes();
    job.columns = kern_columns(job.npes);
    parse(argc, argv);
    coll_begin("kern_bench", usage_text, common.help);
    job.seed = common.seed;
    job.eps = options.eps;
    all = coll_need("kern_bench", (size_t)job.npes * sizeof(*all));
    kern_lib.grid(job.columns);
    if (job.me == 0)
        printf("# kern_bench with %s: %d PEs, a grid of %d x %d\n", kern_lib.form,
               job.npes, job.npes / job.columns, job.columns);
    for (int i = 0; i < njobs; i++) {
        job.n = jobs[i].n;
        measure(jobs[i].kernel);
    }
    coll_lib.barrier();
    coll_lib.fini();
    return 0;
}
