/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher.c - see launcher.h.
 *
 * Uses options.h, hosts.h, error.h, string_list.h.
 *
 * Translates our options to those of the other launcher.  An option without an equivalent
 * is rejected, so that nothing is ignored silently.
 */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/map/hosts.h"
#include "tools/oshrun/start/launcher.h"
#include "tools/oshrun/util/string_list.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_ERROR       1
#define EXIT_USAGE       2
#define EXIT_NOT_RUNABLE 126
#define EXIT_NOT_FOUND   127

enum family {
    MPIRUN,  /* of Open MPI */
    PRTERUN, /* of PRRTE */
    SRUN,    /* of Slurm */
};

static const struct {
    const char *name;
    enum family family;
} names[] = {
    {"mpirun", MPIRUN}, {"mpiexec", MPIRUN}, {"prterun", PRTERUN}, {"srun", SRUN}};

#define NAMES (sizeof names / sizeof *names)

/* A command line under construction. */
struct call {
    enum family family;
    const struct options *o;
    char **word; /* NULL-terminated */
    size_t count;
    bool broken; /* no memory */
};

static void launcher_add_word(struct call *c, char *word)
{
    char **grown = realloc(c->word, (c->count + 2) * sizeof *grown);
    if (grown != NULL)
        c->word = grown;
    if (grown == NULL || word == NULL) {
        c->broken = true;
        free(word);
        return;
    }
    grown[c->count++] = word;
    grown[c->count] = NULL;
}

__attribute__((format(printf, 2, 3))) static void launcher_add(struct call *c,
                                                               const char *format, ...)
{
    char *word = NULL;
    va_list ap;
    va_start(ap, format);
    if (vasprintf(&word, format, ap) < 0)
        word = NULL;
    va_end(ap);
    launcher_add_word(c, word);
}

static void launcher_add_pair(struct call *c, const char *option, const char *value)
{
    launcher_add(c, "%s", option);
    launcher_add(c, "%s", value);
}

static void launcher_add_number(struct call *c, const char *option, uint32_t value)
{
    launcher_add(c, "%s", option);
    launcher_add(c, "%u", value);
}

/* ---- unsupported options ---------------------------------------------------------- */

/* True if the program has an argument ":", which separates programs in Open MPI and
 * PRRTE. */
static bool launcher_has_colon(char *const *argv)
{
    for (; *argv != NULL; argv++)
        if (strcmp(*argv, ":") == 0)
            return true;
    return false;
}

static const char *launcher_unsupported_option(const struct call *c)
{
    const struct options *o = c->o;
    bool srun = c->family == SRUN;
    const struct {
        bool given;
        const char *name;
    } rows[] = {{o->vnodes > 0, "--vnodes"},
                {o->order.rank_file != NULL, "--rank-file"},
                {o->agent != NULL, "--launch-agent"},
                {o->interface != NULL, "--if"},
                {o->gdb_pe != JOB_NO_PE, "--gdb"},
                {o->valgrind, "--valgrind"},
                {o->verbose, "--verbose"},
                {srun && o->report, "--report"},
                {srun && o->timeout_s > 0, "--timeout"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given)
            return rows[i].name;
    return NULL;
}

static int launcher_check(const struct call *c)
{
    const struct options *o = c->o;
    const char *unknown = launcher_unsupported_option(c);
    if (unknown != NULL)
        error_report("%s has no meaning for %s; leave it out, or leave out --launcher",
                     unknown, o->launcher);
    else if (o->order.per_node > 0 && o->order.by == MAP_BY_NODE)
        error_report("%s takes -N or --map-by node, but not both", o->launcher);
    else if (c->family != SRUN && launcher_has_colon(o->argv))
        error_report(
            "%s takes the argument ':' for itself; use oshrun without --launcher",
            o->launcher);
    else
        return 0;
    return EXIT_USAGE;
}

/* ---- options of the launchers ----------------------------------------------------- */

/* "a:4,b", or with names only "a,b". */
static char *launcher_join_hosts(const struct hosts *h, bool slots)
{
    char *text = NULL;
    size_t len;
    FILE *m = open_memstream(&text, &len);
    if (m == NULL)
        return NULL;
    for (uint32_t i = 0; i < h->count; i++) {
        fprintf(m, "%s%s", i > 0 ? "," : "", h->host[i].name);
        if (slots && h->host[i].slots > 0)
            fprintf(m, ":%u", h->host[i].slots);
    }
    return fclose(m) == 0 ? text : NULL;
}

/* Expands the host list: the other launchers do not know our ranges. */
static int launcher_read_hosts(const struct call *c, struct hosts *h)
{
    char why[HOSTS_WHY];
    const struct options *o = c->o;
    if (o->hosts != NULL && hosts_from_list(h, o->hosts, why) != 0) {
        error_report("%s %s", o->where, why);
        return EXIT_USAGE;
    }
    if (o->host_file != NULL && hosts_from_file(h, o->host_file, why) != 0) {
        error_report("%s", why);
        return EXIT_ERROR;
    }
    return 0;
}

static int launcher_add_mpi_hosts(struct call *c)
{
    struct hosts h = {0};
    if (c->o->host_file != NULL) {
        launcher_add_pair(c, "--hostfile", c->o->host_file);
        return 0;
    }
    int rc = launcher_read_hosts(c, &h);
    if (rc == 0 && h.count > 0) {
        launcher_add(c, "--host");
        launcher_add_word(c, launcher_join_hosts(&h, true));
    }
    hosts_free(&h);
    return rc;
}

static int launcher_add_srun_hosts(struct call *c)
{
    struct hosts h = {0};
    int rc = launcher_read_hosts(c, &h);
    for (uint32_t i = 0; rc == 0 && i < h.count; i++)
        if (h.host[i].slots > 0) {
            error_report("srun takes no slots per host, as host '%s' has; use -N",
                         h.host[i].name);
            rc = EXIT_USAGE;
        }
    if (rc == 0 && h.count > 0) {
        char *list = launcher_join_hosts(&h, false);
        launcher_add(c, "--nodes=%u", h.count);
        launcher_add(c, "--nodelist=%s", list != NULL ? list : "");
        free(list);
    }
    hosts_free(&h);
    return rc;
}

static const char *launcher_bind_name(enum job_bind bind, const char *core,
                                      const char *numa)
{
    return bind == JOB_BIND_CORE ? core : bind == JOB_BIND_NUMA ? numa : "none";
}

/* There may be more PEs than slots or processors, as with oshrun itself. */
static void launcher_add_mpirun(struct call *c)
{
    const struct options *o = c->o;
    launcher_add(c, "--oversubscribe");
    if (o->order.per_node > 0) {
        launcher_add(c, "--map-by");
        launcher_add(c, "ppr:%u:node", o->order.per_node);
    } else if (o->order.by == MAP_BY_NODE) {
        launcher_add_pair(c, "--map-by", "node");
    }
    if (o->tag_output)
        launcher_add(c, "--tag-output");
    if (o->report)
        launcher_add(c, "--display-map");
    if (o->report_bindings)
        launcher_add(c, "--report-bindings");
}

static void launcher_add_prterun(struct call *c)
{
    const struct options *o = c->o;
    launcher_add(c, "--map-by");
    if (o->order.per_node > 0)
        launcher_add(c, "ppr:%u:node:OVERSUBSCRIBE", o->order.per_node);
    else
        launcher_add(c, "%s:OVERSUBSCRIBE", o->order.by == MAP_BY_NODE ? "node" : "slot");
    if (o->tag_output)
        launcher_add_pair(c, "--output", "tag");
    if (o->report)
        launcher_add_pair(c, "--display", "map");
    if (o->report_bindings)
        launcher_add_pair(c, "--display", "bindings");
}

static int launcher_add_mpi(struct call *c)
{
    const struct options *o = c->o;
    if (c->family == PRTERUN)
        launcher_add_prterun(c);
    else
        launcher_add_mpirun(c);
    if (o->npes > 0)
        launcher_add_number(c, "-n", o->npes);
    if (o->bind != JOB_BIND_AUTO)
        launcher_add_pair(c, "--bind-to",
                          launcher_bind_name(o->bind, "core:overload-allowed",
                                             "numa:overload-allowed"));
    if (o->wdir != NULL)
        launcher_add_pair(c, "--wdir", o->wdir);
    if (o->timeout_s > 0)
        launcher_add_number(c, "--timeout", o->timeout_s);
    for (char **e = o->env; *e != NULL; e++)
        launcher_add_pair(c, "-x", *e);
    return launcher_add_mpi_hosts(c);
}

/* Standard input goes to PE 0 and a failed PE ends the job, as with oshrun itself. */
static int launcher_add_srun(struct call *c)
{
    const struct options *o = c->o;
    launcher_add(c, "--mpi=pmix");
    launcher_add(c, "--input=0");
    launcher_add(c, "--kill-on-bad-exit=1");
    if (o->npes > 0)
        launcher_add(c, "--ntasks=%u", o->npes);
    if (o->order.per_node > 0)
        launcher_add(c, "--ntasks-per-node=%u", o->order.per_node);
    if (o->order.by == MAP_BY_NODE)
        launcher_add(c, "--distribution=cyclic");
    if (o->bind != JOB_BIND_AUTO || o->report_bindings)
        launcher_add(c, "--cpu-bind=%s%s%s", o->report_bindings ? "verbose" : "",
                     o->report_bindings && o->bind != JOB_BIND_AUTO ? "," : "",
                     o->bind != JOB_BIND_AUTO
                         ? launcher_bind_name(o->bind, "cores", "ldoms")
                         : "");
    if (o->tag_output)
        launcher_add(c, "--label");
    if (o->wdir != NULL)
        launcher_add(c, "--chdir=%s", o->wdir);
    if (*o->env != NULL) /* they are passed in srun's environment */
        launcher_add(c, "--export=ALL");
    return launcher_add_srun_hosts(c);
}

static int launcher_find_family(struct call *c)
{
    const char *slash = strrchr(c->o->launcher, '/');
    const char *name = slash != NULL ? slash + 1 : c->o->launcher;
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(names[i].name, name) == 0) {
            c->family = names[i].family;
            return 0;
        }
    error_report("--launcher %s: expected mpirun, mpiexec, prterun or srun",
                 c->o->launcher);
    return EXIT_USAGE;
}

static int launcher_make(struct call *c)
{
    int rc = launcher_find_family(c);
    if (rc == 0)
        rc = launcher_check(c);
    if (rc != 0)
        return rc;
    launcher_add(c, "%s", c->o->launcher);
    rc = c->family == SRUN ? launcher_add_srun(c) : launcher_add_mpi(c);
    for (char *const *a = c->o->argv; *a != NULL; a++)
        launcher_add(c, "%s", *a);
    if (rc == 0 && c->broken) {
        error_report("no memory for the command of %s", c->o->launcher);
        rc = EXIT_ERROR;
    }
    return rc;
}

/* ---- execution -------------------------------------------------------------------- */

static void launcher_print_word(const char *before, const char *word)
{
    fputs(before, stdout);
    shell_quote(stdout, word);
}

static void launcher_print(const struct call *c)
{
    bool by_env = c->family == SRUN && *c->o->env != NULL;
    if (by_env)
        printf("env");
    for (char **e = c->o->env; by_env && *e != NULL; e++)
        launcher_print_word(" ", *e);
    for (size_t i = 0; i < c->count; i++)
        launcher_print_word(i > 0 || by_env ? " " : "", c->word[i]);
    putchar('\n');
}

static int launcher_execute(const struct call *c)
{
    if (c->family == SRUN)
        for (char **e = c->o->env; *e != NULL; e++)
            putenv(*e);
    execvp(c->word[0], c->word);
    int err = errno;
    error_report("--launcher %s: %s", c->o->launcher,
                 err == ENOENT ? "there is no such program" : strerror(err));
    return err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNABLE;
}

int launcher_exec(const struct options *o)
{
    struct call c = {.o = o};
    int rc = launcher_make(&c);
    if (rc == 0 && o->dry_run)
        launcher_print(&c);
    else if (rc == 0)
        rc = launcher_execute(&c);
    for (size_t i = 0; i < c.count; i++)
        free(c.word[i]);
    free(c.word);
    return rc;
}
