/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strided_bench.c - runs applications that exchange non-contiguous data; prints lines
 * `name form size value unit`.
 *   oshrun -n 2 strided_bench [-t S] [-r N] [-w] [application[=SIZES]...]
 * The forms of an application alternate in batches of steps within the job.  NAME is the
 * median over the batches of the time of a step on the slowest PE; NAME.comm is the mean
 * over PEs of the time in exchanges, waiting for other PEs included.  The result of each
 * form is compared with a serial one first; a wrong result ends the job with status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strided.h"

enum { BATCHES = 11, JOBS_MAX = 64, APPS = 2, FORMS_MAX = 8, STEPS_MAX = 1 << 20 };

static const char usage_text[] =
    "[option...] [application[=SIZES]...]\n"
    "applications: stencil (points per side of the tile of a PE; 64,256,1K), fft (order\n"
    "              of the matrix; 256,1K); SIZES like 64,1K\n"
    "  -t S     seconds for each form, size and radius (0.5)\n"
    "  -w       corrupt one element of the result of PE 0, which must be detected\n";

static const struct strided_app *const apps[APPS] = {&strided_stencil, &strided_fft};
static const char *const usual[APPS] = {"64,256,1K", "256,1K"};

static struct coll_options common = {.seconds = 0.5};
static struct {
    const struct strided_app *app;
    size_t n;
} jobs[JOBS_MAX];
static int job_count, bench_me, bench_npes;
static bool spoil;
static double *all; /* symmetric */

double strided_waited;

struct form_times {
    double step_s[BATCHES], comm_s[BATCHES];
};

/* Seconds for `steps` steps on the slowest PE, equal on all PEs */
static double run_batch(const struct strided_app *app, const struct strided_form *form,
                        long steps, double *comm_s)
{
    app->begin(form);
    coll_lib.barrier();
    app->run(form, 1); /* after the barrier PEs begin at different times */
    strided_waited = 0;
    double start = coll_now();
    app->run(form, steps);
    double seconds = coll_now() - start;
    double waited = strided_waited;
    double most = coll_most(all, seconds);
    *comm_s = coll_total(all, waited) / bench_npes;
    form->close();
    return most;
}

static bool form_has(const struct strided_app *app, const struct strided_form *form)
{
    return app != &strided_stencil || form->halo != NULL;
}

/* Steps for a batch of the slowest form; also the warm-up */
static long count_steps(const struct strided_app *app)
{
    double slowest = 0, comm;
    for (int f = 0; f < strided_forms_count; f++) {
        double s = form_has(app, &strided_forms[f])
                       ? run_batch(app, &strided_forms[f], 2, &comm) / 2
                       : 0;
        slowest = s > slowest ? s : slowest;
    }
    double steps = common.seconds / BATCHES / slowest;
    return steps < 1 ? 1 : steps > STEPS_MAX ? STEPS_MAX : (long)steps;
}

static void print_form(const struct strided_app *app, const char *form, size_t n,
                       size_t variant, struct form_times *t)
{
    char name[32];
    if (bench_me != 0)
        return;
    if (app->variants > 1)
        snprintf(name, sizeof(name), "%s.r%zu", app->name, variant + 1);
    else
        snprintf(name, sizeof(name), "%s", app->name);
    printf("%s %s %zu %.4g us\n", name, form, n, coll_median(t->step_s, BATCHES) * 1e6);
    printf("%s.comm %s %zu %.4g us\n", name, form, n,
           coll_median(t->comm_s, BATCHES) * 1e6);
    fflush(stdout);
}

static void measure(const struct strided_app *app, size_t n, size_t variant)
{
    static struct form_times times[FORMS_MAX];
    app->open(n, variant, bench_me, bench_npes);
    for (int f = 0; f < strided_forms_count; f++)
        if (form_has(app, &strided_forms[f])) {
            app->begin(&strided_forms[f]);
            app->verify(&strided_forms[f], spoil);
            strided_forms[f].close();
        }
    long steps = count_steps(app);
    for (int b = 0; b < BATCHES; b++)
        for (int f = 0; f < strided_forms_count; f++)
            if (form_has(app, &strided_forms[f])) {
                double comm;
                double s = run_batch(app, &strided_forms[f], steps, &comm);
                times[f].step_s[b] = s / (double)steps;
                times[f].comm_s[b] = comm / (double)steps;
            }
    for (int f = 0; f < strided_forms_count; f++)
        if (form_has(app, &strided_forms[f]))
            print_form(app, strided_forms[f].name, n, variant, &times[f]);
    coll_lib.barrier();
    app->close();
}

static void set_option(int option, const char *text)
{
    (void)text;
    if (option == 'w')
        spoil = true;
    else
        coll_no_option();
}

static void add_jobs(int a, const char *text)
{
    size_t size[COLL_SIZES_MAX] = {0};
    int n = coll_sizes(text, size);
    for (int i = 0; i < n && coll_problem() == NULL; i++) {
        apps[a]->check_size(size[i], bench_npes);
        if (job_count == JOBS_MAX) {
            coll_wrong("there are more than %d sizes", JOBS_MAX);
            return;
        }
        jobs[job_count].app = apps[a];
        jobs[job_count++].n = size[i];
    }
}

/* `word` is like fft or fft=512,1K. */
static void parse_word(const char *word)
{
    size_t length = strcspn(word, "=");
    for (int a = 0; a < APPS; a++)
        if (strlen(apps[a]->name) == length && memcmp(apps[a]->name, word, length) == 0) {
            add_jobs(a, word[length] == '=' ? word + length + 1 : usual[a]);
            return;
        }
    coll_wrong("'%s' is none of the applications stencil, fft", word);
}

int main(int argc, char **argv)
{
    coll_lib.init(&argc, &argv);
    bench_me = coll_lib.me();
    bench_npes = coll_lib.npes();
    if (bench_npes > STRIDED_PES_MAX)
        coll_wrong("%d PEs are more than the maximum of %d", bench_npes, STRIDED_PES_MAX);
    int first = coll_parse(&common, argc, argv, "hr:t:w", set_option);
    for (int i = first; i < argc; i++)
        parse_word(argv[i]);
    for (int a = 0; first == argc && a < APPS; a++)
        parse_word(apps[a]->name);
    coll_begin("strided_bench", usage_text, common.help);
    all = coll_need("strided_bench", (size_t)bench_npes * sizeof(*all));
    if (bench_me == 0)
        printf("# strided_bench with %s: %d PEs\n", strided_library, bench_npes);
    for (int j = 0; j < job_count; j++)
        for (size_t v = 0; v < jobs[j].app->variants; v++)
            measure(jobs[j].app, jobs[j].n, v);
    coll_lib.fini();
    return 0;
}
