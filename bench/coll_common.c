/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_common.c - the clock, the delays and the options of the benchmarks of collectives.
 */
#include "coll.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static char problem[256];

double coll_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* splitmix64: consecutive arguments have uncorrelated results. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

double coll_uniform(uint64_t seed, int pe, uint64_t k)
{
    uint64_t x = mix(mix(mix(seed) ^ (uint64_t)pe) ^ k);
    return (double)(x >> 11) * 0x1p-53;
}

double coll_most(double *all, double mine)
{
    double most = mine;
    coll_lib.gather(all, &mine, 1);
    for (int pe = 0; pe < coll_lib.npes(); pe++)
        most = all[pe] > most ? all[pe] : most;
    coll_lib.barrier();
    return most;
}

double coll_total(double *all, double mine)
{
    double sum = 0;
    coll_lib.gather(all, &mine, 1);
    for (int pe = 0; pe < coll_lib.npes(); pe++)
        sum += all[pe];
    coll_lib.barrier();
    return sum;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double coll_median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof(*x), compare_doubles);
    return x[n / 2];
}

static void sleep_until(double end)
{
    struct timespec t = {.tv_sec = (time_t)end};
    t.tv_nsec = (long)((end - (double)t.tv_sec) * 1e9);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

void coll_delay(double seconds, bool sleeping)
{
    static volatile double work = 1;
    double end = coll_now() + seconds;
    if (sleeping && seconds > 0) {
        prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
        sleep_until(end);
    }
    while (coll_now() < end)
        work = work * 0.999 + 0.001;
}

void coll_wrong(const char *format, ...)
{
    va_list arguments;
    if (problem[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(problem, sizeof(problem), format, arguments);
    va_end(arguments);
}

const char *coll_problem(void)
{
    return problem[0] == '\0' ? NULL : problem;
}

double coll_number(const char *option, const char *text, double least, double most)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end != '\0' || !(x >= least && x <= most))
        coll_wrong("%s '%s' should be a number from %g to %g", option, text, least, most);
    return x;
}

/* Parses a size that ends at ',' or '\0' and advances *text to it; 0 if it is invalid. */
static size_t one_size(const char **text)
{
    char *end;
    unsigned long long x = strtoull(*text, &end, 10);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
    end += shift != 0;
    bool good = **text >= '0' && **text <= '9' && (*end == ',' || *end == '\0') &&
                x <= (UINT64_C(1) << 40) >> shift && (x << shift) % 8 == 0;
    *text = end;
    return good ? (size_t)x << shift : 0;
}

int coll_sizes(const char *text, size_t *sizes)
{
    const char *rest = text;
    int n = 0;
    bool more = true;
    while (more && n < COLL_SIZES_MAX) {
        sizes[n] = one_size(&rest);
        more = sizes[n] > 0 && *rest == ',';
        rest += more;
        if (sizes[n++] == 0)
            coll_wrong("the sizes '%s' should be like 8,64K,1M, each a multiple of 8",
                       text);
    }
    if (more)
        coll_wrong("there are more than %d sizes", COLL_SIZES_MAX);
    return n;
}

bool coll_sleeping(const char *text)
{
    bool sleeping = strcmp(text, "sleep") == 0;
    if (!sleeping && strcmp(text, "busy") != 0)
        coll_wrong("a delay is busy or sleep, not '%s'", text);
    return sleeping;
}

/* Stores a common option; returns false for any other. */
static bool take_common(struct coll_options *o, int option, const char *text)
{
    switch (option) {
    case 'd':
        o->sleeping = coll_sleeping(text);
        return true;
    case 'h':
        o->help = true;
        return true;
    case 'r':
        o->seed = (uint64_t)coll_number("-r", text, 0, 1e9);
        return true;
    case 's':
        o->sizes = coll_sizes(text, o->size);
        return true;
    case 't':
        o->seconds = coll_number("-t", text, 0, 1e6);
        return true;
    default:
        return false;
    }
}

int coll_parse(struct coll_options *o, int argc, char **argv, const char *letters,
               void (*set_option)(int option, const char *text))
{
    int option;
    opterr = 0;
    while ((option = getopt(argc, argv, letters)) != -1)
        if (!take_common(o, option, optarg))
            set_option(option, optarg);
    return optind;
}

void coll_no_option(void)
{
    coll_wrong("unknown option or missing value; see -h");
}

void coll_fail(const char *program, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    fflush(NULL);
    coll_lib.stop(1);
    exit(1);
}

void *coll_need(const char *program, size_t bytes)
{
    void *p = coll_lib.alloc(bytes < 8 ? 8 : bytes);
    if (p == NULL)
        coll_fail(program,
                  "no symmetric memory for %zu MiB on PE %d; reduce the sizes or set "
                  "SHMEM_SYMMETRIC_SIZE",
                  (bytes >> 20) + 1, coll_lib.me());
    return memset(p, 0, bytes);
}

void *coll_memory(const char *program, size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (p == NULL)
        coll_fail(program, "no memory for %zu bytes", bytes);
    return memset(p, 0, bytes);
}

void coll_begin(const char *program, const char *usage, bool help)
{
    if (coll_lib.npes() > COLL_PES_MAX)
        coll_wrong("%d PEs are more than the maximum of %d", coll_lib.npes(),
                   COLL_PES_MAX);
    const char *wrong = coll_problem();
    if (!help && wrong == NULL)
        return;
    if (coll_lib.me() == 0 && wrong != NULL)
        fprintf(stderr, "%s: %s\n", program, wrong);
    else if (coll_lib.me() == 0)
        printf("usage: %s %s", program, usage);
    fflush(NULL);
    coll_lib.barrier();
    coll_lib.fini();
    exit(wrong == NULL ? 0 : 2);
}
