/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main.c - oshprof: makes a report from the arrival profile of a job.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/oshprof/oshprof.h"

enum { EXIT_ERROR = 1, EXIT_USAGE = 2 };

static const char usage[] =
    "usage: oshprof report [-o OUTPUT]... PROFILE\n"
    "Make a report from an arrival profile (a job with SHMEM_PROFILE_ARRIVAL=PROFILE).\n"
    "  -o OUTPUT   write it there: a web page if OUTPUT ends in .html, else text;\n"
    "              may be repeated; default: text on standard output\n"
    "  --help, --version\n"
    "Exit status: 0, 1 for an unusable file, 2 for a wrong command line.\n";

static int main_usage_error(const char *what, const char *value)
{
    fprintf(stderr, "oshprof: %s%s; see oshprof --help\n", what, value);
    return EXIT_USAGE;
}

static int main_write_report(const char *name, const struct profile_sum *sum)
{
    size_t len = strlen(name), n = strlen(".html");
    bool html = len >= n && strcmp(name + len - n, ".html") == 0;
    FILE *out = strcmp(name, "-") == 0 ? stdout : fopen(name, "we");

    if (out != NULL) {
        (html ? profile_html : profile_text)(out, sum);
        bool good = fflush(out) == 0 && ferror(out) == 0;
        if ((out == stdout || fclose(out) == 0) && good)
            return 0;
    }
    fprintf(stderr, "oshprof: cannot write '%s': %s\n", name, strerror(errno));
    return EXIT_ERROR;
}

static int main_report(const char *file, char *const *output, int outputs)
{
    struct profile_join join;
    struct profile_sum sum;
    FILE *in = fopen(file, "re");
    int rc = 0;

    if (in == NULL) {
        fprintf(stderr, "oshprof: cannot read '%s': %s\n", file, strerror(errno));
        return EXIT_ERROR;
    }
    const char *error = join_read(in, &join);
    fclose(in);
    if (error == NULL && !profile_sum(&join, &sum))
        error = "there is not enough memory";
    if (error != NULL) {
        fprintf(stderr, "oshprof: cannot use '%s': %s\n", file, error);
        return EXIT_ERROR;
    }
    for (int i = 0; i < outputs; i++)
        rc = main_write_report(output[i], &sum) != 0 ? EXIT_ERROR : rc;
    profile_sum_free(&sum);
    join_free(&join);
    return rc;
}

int main(int argc, char **argv)
{
    static char standard[] = "-";
    char **output = calloc((size_t)argc + 1, sizeof *output);
    const char *file = NULL;
    int outputs = 0, rc;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        return printf("oshprof (" PACKAGE_NAME ") " PACKAGE_VERSION "\n") < 0;
    if (argc < 2 || strcmp(argv[1], "report") != 0 || output == NULL)
        return main_usage_error("there is one command, 'report'", "");
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            output[outputs++] = argv[++i];
        else if (argv[i][0] == '-' && argv[i][1] != '\0')
            return main_usage_error("there is no option ", argv[i]);
        else if (file != NULL)
            return main_usage_error("more than one profile: ", argv[i]);
        else
            file = argv[i];
    }
    if (file == NULL)
        return main_usage_error("name the file of a profile", "");
    if (outputs == 0)
        output[outputs++] = standard;
    rc = main_report(file, output, outputs);
    free(output);
    return rc;
}
