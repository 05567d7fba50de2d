/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main.c - oshmem_info: reports the version and configuration of this OpenSHMEM library
 * and tests whether it can work on this machine.  Uses: report, check, emit.  Used by:
 * users, scripts (--json) and bug reports.  See oshmem_info(1).
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tools/oshmem_info/info.h"
#include "tools/oshmem_info/tune.h"

/* Parts of a report, as bits. */
enum part {
    PART_PACKAGE = 1,
    PART_TRANSPORTS = 2,
    PART_CONFIG = 4,
    PART_PATHS = 8,
    PART_ENV = 16,
    PART_ALGORITHMS = 32,
    PART_CHECK = 64,
};
#define PARTS_PAGE (PART_PACKAGE | PART_TRANSPORTS | PART_CONFIG)
#define PARTS_ALL  (PARTS_PAGE | PART_PATHS | PART_ENV | PART_ALGORITHMS)

static const struct option_row {
    const char *name, *short_name, *help;
    unsigned parts;
    enum form form;
} options[] = {
    {"--all", "-a", "everything but the self-test", PARTS_ALL, FORM_PAGE},
    {"--config", "-c", "how it was configured and compiled", PART_CONFIG, FORM_PAGE},
    {"--env", NULL, "the environment variables: kind, default, current", PART_ENV,
     FORM_PAGE},
    {"--paths", NULL, "the directories", PART_PATHS, FORM_PAGE},
    {"--transports", NULL, "how PEs of this node and of others would be reached",
     PART_TRANSPORTS, FORM_PAGE},
    {"--algorithms", NULL, "algorithms of the collectives, and which would be used",
     PART_ALGORITHMS, FORM_PAGE},
    {"--check", NULL, "self-test: can OpenSHMEM programs run here?", PART_CHECK,
     FORM_PAGE},
    {"--json", NULL, "the report as JSON (alone: as --all)", 0, FORM_JSON},
    {"--parsable", NULL, "the report as lines section:key:value", 0, FORM_PARSABLE},
};
#define OPTIONS (sizeof options / sizeof options[0])

static void main_usage(void)
{
    puts("usage: oshmem_info [options]\n"
         "Prints the version and configuration of this OpenSHMEM library and checks\n"
         "whether it can run on this machine.\n");
    for (size_t i = 0; i < OPTIONS; i++)
        printf("  %-2s%s %-14s %s\n", options[i].short_name ? options[i].short_name : "",
               options[i].short_name ? "," : " ", options[i].name, options[i].help);
    puts("      --pes N        with --algorithms: for a team of N PEs\n"
         "      --tune ...     measure the algorithms here and write a table of the "
         "best;\n"
         "                     options behind it: --pes 2,4,8, --quick, -o FILE;\n"
         "                     between nodes: --hosts a,b, --vnodes 2,4, --only PART\n"
         "      --path WHAT    one of prefix, bindir, libdir, includedir, mandir\n"
         "  -V, --version      the version in one line\n"
         "  -h, --help         this text\n"
         "Exit status: 0; 1 when --check finds that programs cannot run; 2 usage.");
}

static int main_print_path(const char *what)
{
    char dir[PATH_MAX];

    if (what == NULL || !report_path(what, dir, sizeof dir)) {
        fprintf(stderr,
                "oshmem_info: --path %s: not a known directory; use one of "
                "prefix, bindir, libdir, includedir, mandir\n",
                what != NULL ? what : "without a word");
        return 2;
    }
    puts(dir);
    return 0;
}

/* A blank line between the parts of a page. */
static void main_gap(const struct emit *e, bool *first)
{
    if (e->form == FORM_PAGE && !*first)
        fputc('\n', e->out);
    *first = false;
}

static bool main_print_report(unsigned parts, enum form form)
{
    static void (*const report[])(struct emit *) = {
        report_package, report_transports, report_config,
        report_paths,   report_env,        report_algorithms,
    };
    struct emit e;
    bool works = true, first = true;

    emit_open(&e, stdout, form);
    for (size_t i = 0; i < sizeof report / sizeof report[0]; i++) {
        if ((parts & 1u << i) == 0)
            continue;
        main_gap(&e, &first);
        report[i](&e);
    }
    if ((parts & PART_CHECK) != 0) {
        main_gap(&e, &first);
        works = check_all(&e);
    }
    emit_close(&e);
    return works;
}

static const struct option_row *main_option_find(const char *arg)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (strcmp(arg, options[i].name) == 0 ||
            (options[i].short_name != NULL && strcmp(arg, options[i].short_name) == 0))
            return &options[i];
    return NULL;
}

/* Handles options that print one item and exit: exit status, or -1 for other options. */
static int main_answer(const char *arg, const char *next)
{
    if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
        main_usage();
        return 0;
    }
    if (strcmp(arg, "--version") == 0 || strcmp(arg, "-V") == 0) {
        puts("oshmem_info: " PACKAGE_NAME " " PACKAGE_VERSION);
        return 0;
    }
    if (strcmp(arg, "--path") == 0)
        return main_print_path(next);
    return -1;
}

static int main_wrong(const char *format, const char *what)
{
    fputs("oshmem_info: ", stderr);
    fprintf(stderr, format, what);
    fputs("\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    unsigned parts = 0;
    enum form form = FORM_PAGE;

    if (argc > 2 && strcmp(argv[1], TUNE_PE) == 0)
        return tune_pe_main(argv[2]);
    if (argc > 1 && strcmp(argv[1], "--tune") == 0)
        return tune_main(argc - 2, argv + 2);
    for (int i = 1; i < argc; i++) {
        int status = main_answer(argv[i], argv[i + 1]);
        if (status >= 0)
            return status;
        if (strcmp(argv[i], "--pes") == 0) {
            if (argv[++i] != NULL && algorithms_pes(argv[i]))
                continue;
            return main_wrong(
                "--pes needs a number of PEs; a list of numbers needs --tune as the "
                "first option",
                "");
        }
        const struct option_row *o = main_option_find(argv[i]);
        if (o == NULL)
            return main_wrong("unknown option %s; see oshmem_info --help", argv[i]);
        parts |= o->parts;
        form = o->form != FORM_PAGE ? o->form : form;
    }
    if (parts == 0)
        parts = form == FORM_PAGE ? PARTS_PAGE : PARTS_ALL;
    bool works = main_print_report(parts, form);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("oshmem_info: cannot write");
        return 1;
    }
    return works ? 0 : 1;
}
