/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune.c - oshmem_info --tune: measures the algorithms of the collectives on this machine
 * and writes a table file of those that are better than the built-in choice.
 * Uses: tune_run, tune_best, coll/select_table.  Used by: main.
 */
#include "config.h"

#include <errno.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pgas/coll/select/select_table.h"
#include "pgas/core/base/number.h"
#include "tools/oshmem_info/info.h"
#include "tools/oshmem_info/tune_run.h"

enum { PES_LIMIT = 65536, TEXT_LEN = 64, NS_PER_US = 1000 };
#define TABLE_MODE 0666 /* less the umask */

static struct {
    int pes[TUNE_PES_MAX]; /* ascending */
    int numbers;
    bool quick;
    const char *out; /* NULL: the user's default file */
} options;

static struct tune_range ranges[TUNE_PES_MAX * TUNE_RANGES_MAX];
static int range_count;

/* ---- options --------------------------------------------------------------------- */

static int tune_wrong(const char *format, const char *what)
{
    fputs("oshmem_info: --tune: ", stderr);
    fprintf(stderr, format, what);
    fputs("\n", stderr);
    return 2;
}

static int tune_compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void tune_add_pes(int pes)
{
    for (int i = 0; i < options.numbers; i++)
        if (options.pes[i] == pes)
            return;
    if (options.numbers < TUNE_PES_MAX)
        options.pes[options.numbers++] = pes;
    qsort(options.pes, (size_t)options.numbers, sizeof options.pes[0], tune_compare);
}

/* "2,4,8" */
static bool tune_read_pes(const char *list)
{
    for (const char *at = list;; at++) {
        size_t len = strcspn(at, ",");
        uint64_t pes;
        if (!number_parse(at, len, 2, PES_LIMIT, &pes) || options.numbers == TUNE_PES_MAX)
            return false;
        tune_add_pes((int)pes);
        at += len;
        if (*at == '\0')
            return true;
    }
}

int tune_processors(void)
{
    cpu_set_t mine;

    return sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
}

/* Powers of 2 up to twice the processors, and the processors. */
static void tune_default_pes(void)
{
    int processors = tune_processors();

    for (int pes = 2; pes <= 2 * processors || pes <= 4; pes *= 2)
        tune_add_pes(pes);
    if (processors > 1)
        tune_add_pes(processors);
}

/* The value of an option: the next argument or the text after "="; NULL if the argument
 * is another option. */
static const char *tune_value_of(const char *name, char **argv, int *i)
{
    size_t len = strlen(name);

    if (strncmp(argv[*i], name, len) != 0)
        return NULL;
    if (argv[*i][len] == '=' && name[1] == '-')
        return argv[*i] + len + 1;
    if (argv[*i][len] != '\0')
        return NULL;
    return argv[*i + 1] != NULL ? argv[++*i] : "";
}

static int tune_read_options(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        const char *arg = argv[i], *value;
        if (strcmp(arg, "--quick") == 0) {
            options.quick = true;
        } else if ((value = tune_value_of("--pes", argv, &i)) != NULL) {
            if (!tune_read_pes(value))
                return tune_wrong(
                    "--pes '%s' is not a list of numbers of PEs, from 2, as in "
                    "2,4,8",
                    value);
        } else if ((value = tune_value_of("-o", argv, &i)) != NULL ||
                   (value = tune_value_of("--output", argv, &i)) != NULL) {
            options.out = value;
            if (value[0] == '\0')
                return tune_wrong("%s needs the name of a file", arg);
        } else {
            return tune_wrong("unknown option %s; use --quick, --pes LIST, -o FILE", arg);
        }
    }
    if (options.numbers == 0)
        tune_default_pes();
    return 0;
}

/* ---- the file -------------------------------------------------------------------- */

/* Creates the parent directories of a file. */
static void tune_make_directories(const char *path)
{
    char text[PATH_MAX];

    snprintf(text, sizeof text, "%s", path);
    for (char *slash = strchr(text + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(text, S_IRWXU);
        *slash = '/';
    }
}

/* Determines the path of the table; false, with an error message, if it cannot be
 * written there. */
static bool tune_choose_path(char *path, size_t size)
{
    char text[PATH_MAX];

    if (options.out != NULL) {
        snprintf(path, size, "%s", options.out);
    } else if (select_table_path(0, path, size)) {
        tune_make_directories(path);
    } else {
        fputs("oshmem_info: --tune: HOME is not set; name the file with -o\n", stderr);
        return false;
    }
    snprintf(text, sizeof text, "%s", path);
    const char *dir = dirname(text);
    if (access(dir, W_OK | X_OK) == 0)
        return true;
    fprintf(stderr,
            "oshmem_info: --tune: cannot write in %s: %s; -o names another file\n", dir,
            strerror(errno));
    return false;
}

static const char *tune_range_text(size_t from, size_t to, char text[TEXT_LEN])
{
    if (from == to)
        snprintf(text, TEXT_LEN, "%zu", from);
    else if (to == SELECT_ANY_BYTES)
        snprintf(text, TEXT_LEN, from == 0 ? "*" : "%zu-", from);
    else
        snprintf(text, TEXT_LEN, "%zu-%zu", from, to);
    return text;
}

static void tune_write_rows(FILE *out)
{
    char bytes[TEXT_LEN], pes[TEXT_LEN];

    for (int i = 0; i < range_count; i++) {
        const struct tune_range *r = &ranges[i];
        if (r->best == r->builtin)
            continue;
        fprintf(out, "%-10s %-13s %-17s %-7s 1     # %.2f times as fast as %s on %d\n",
                select_name(r->what), select_info(r->best)->name,
                tune_range_text(r->from, r->to, bytes),
                tune_range_text((size_t)r->pes_from, (size_t)r->pes_to, pes), r->factor,
                select_info(r->builtin)->name, r->pes);
    }
}

static void tune_write_table(FILE *out, unsigned processors)
{
    char machine[SELECT_MACHINE_MAX];

    select_machine(processors, machine, sizeof machine);
    fprintf(out,
            SELECT_TABLE_HEADER "\n"
                                "# Written by oshmem_info --tune of pgas " PACKAGE_VERSION
                                "; see oshmem_info(1).\n"
                                "# Where no row fits, the built-in choice is used.\n"
                                "machine %s\n"
                                "# collective algorithm bytes PEs nodes\n",
            machine);
    tune_write_rows(out);
}

/* Writes a temporary file and renames it, so that readers never see a partial table. */
static bool tune_save(const char *path, unsigned processors)
{
    char beside[PATH_MAX + 8];
    mode_t mask = umask(0);

    umask(mask);
    snprintf(beside, sizeof beside, "%s.XXXXXX", path);
    int fd = mkstemp(beside);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    bool good = out != NULL && fchmod(fd, TABLE_MODE & ~mask) == 0;
    if (good)
        tune_write_table(out, processors);
    if (out != NULL)
        good = fflush(out) == 0 && good && !ferror(out) && fsync(fd) == 0;
    if (out != NULL)
        good = fclose(out) == 0 && good;
    good = good && tune_stopped() == 0 && rename(beside, path) == 0;
    int why = errno;
    if (!good && fd >= 0)
        unlink(beside);
    if (!good && tune_stopped() == 0)
        fprintf(stderr, "oshmem_info: --tune: cannot write %s: %s\n", path,
                strerror(why));
    return good;
}

/* ---- the summary ----------------------------------------------------------------- */

static void tune_print_heading(int pes, int processors)
{
    printf("%d PEs on %d processors%s\n", pes, processors,
           pes > processors ? ": more PEs than processors, so times include the "
                              "scheduler"
                            : "");
    printf("  %-10s %-18s %-9s %-9s %11s  %s\n", "collective", "bytes of a block",
           "built-in", "best", "time", "times as fast");
}

static void tune_print_range(const struct tune_range *r)
{
    char bytes[TEXT_LEN];

    printf("  %-10s %-18s %-9s ", select_name(r->what),
           tune_range_text(r->from, r->to, bytes), select_info(r->builtin)->name);
    if (r->best == r->builtin)
        printf("%-9s %8.2f us  -\n", "the same", r->ns / NS_PER_US);
    else
        printf("%-9s %8.2f us  %.2f\n", select_info(r->best)->name, r->ns / NS_PER_US,
               r->factor);
}

/* Range of PEs to which the results of the i-th number apply: down to the number before
 * it, but not across the number of processors. */
static int tune_first_pes(int i, int processors)
{
    int from = i > 0 ? options.pes[i - 1] + 1 : 2;

    if (options.pes[i] > processors && from <= processors)
        from = processors + 1;
    return from;
}

static bool tune_measure_all(unsigned *processors)
{
    static struct tune_job job;

    for (int i = 0; i < options.numbers; i++) {
        if (!tune_run(options.pes[i], options.quick, &job))
            return false;
        *processors = (unsigned)job.processors;
        struct tune_range *range = ranges + range_count;
        int n = tune_ranges(&job, tune_first_pes(i, job.processors), job.pes, range);
        tune_print_heading(job.pes, job.processors);
        for (int k = 0; k < n; k++)
            tune_print_range(&range[k]);
        fflush(stdout);
        range_count += n;
    }
    return true;
}

static int tune_count_rows(void)
{
    int rows = 0;

    for (int i = 0; i < range_count; i++)
        rows += ranges[i].best != ranges[i].builtin;
    return rows;
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
    char path[PATH_MAX];
    unsigned processors = 0;
    int status = tune_read_options(argc, argv);

    if (status != 0)
        return status;
    if (!tune_choose_path(path, sizeof path))
        return 1;
    tune_warn_if_busy();
    tune_watch();
    bool good = tune_measure_all(&processors) && tune_save(path, processors);
    if (tune_stopped() != 0)
        return tune_end_stopped();
    if (!good)
        return 1;
    printf("%s has %d rows; %s\n", path, tune_count_rows(),
           options.out == NULL ? "programs read it from now on"
                               : "programs read it if SHMEM_COLL_TABLE names it");
    return 0;
}
