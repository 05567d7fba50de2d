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
#include "tools/oshrun/util/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_ERROR       1
#define EXIT_USAGE       2
#define EXIT_NOT_RUNABLE 126
#define EXIT_NOT_FOUND   127
#define VALUE_BYTES      40 /* "ppr:4294967295:node:OVERSUBSCRIBE" */

/* Columns of the table of options. */
enum family {
    MPIRUN,  /* of Open MPI */
    PRTERUN, /* of PRRTE */
    SRUN,    /* of Slurm */
    FAMILIES
};

static const struct {
    const char *name;
    enum family family;
} names[] = {
    {"mpirun", MPIRUN}, {"mpiexec", MPIRUN}, {"prterun", PRTERUN}, {"srun", SRUN}};

#define NAMES (sizeof names / sizeof *names)

/* A command line under construction. */
struct cmdline {
    enum family family;
    const struct options *o;
    char **word; /* NULL-terminated */
};

static void launcher_add_word(struct cmdline *c, char *word)
{
    string_list_add(&c->word, word);
}

/* Adds "--option=" with the value in one word; "--option " in two words. */
static void launcher_add(struct cmdline *c, const char *option, const char *value)
{
    const char *space = strchr(option, ' ');
    if (space != NULL) {
        launcher_add_word(c, mem_strndup(option, (size_t)(space - option)));
        option = space + 1;
    }
    string_list_print(&c->word, "%s%s", option, value);
}

/* ---- options ---------------------------------------------------------------------- */

/* Numbers and names of options as text. */
struct values {
    char npes[VALUE_BYTES], per_node[VALUE_BYTES], timeout[VALUE_BYTES];
    char map[VALUE_BYTES], bind[VALUE_BYTES], cpu_bind[VALUE_BYTES];
};

static void launcher_make_values(const struct cmdline *c, struct values *v)
{
    static const char *const bind[] = {"", "none", "core", "numa"};
    static const char *const cpu_bind[] = {"", "none", "cores", "ldoms"};
    const struct options *o = c->o;
    bool bound = o->bind != JOB_BIND_AUTO;
    snprintf(v->npes, VALUE_BYTES, "%u", o->npes);
    snprintf(v->per_node, VALUE_BYTES, "%u", o->order.per_node);
    snprintf(v->timeout, VALUE_BYTES, "%u", o->timeout_s);
    snprintf(v->bind, VALUE_BYTES, "%s%s", bind[o->bind],
             o->bind > JOB_BIND_NONE ? ":overload-allowed" : "");
    snprintf(v->cpu_bind, VALUE_BYTES, "%s%s%s", o->report_bindings ? "verbose" : "",
             o->report_bindings && bound ? "," : "", cpu_bind[o->bind]);
    if (o->order.per_node > 0)
        snprintf(v->map, VALUE_BYTES, "ppr:%u:node", o->order.per_node);
    else
        strcpy(v->map, o->order.by == MAP_BY_NODE ? "node" : "slot");
    if (c->family == PRTERUN)
        strcat(v->map, ":OVERSUBSCRIBE");
}

/* There may be more PEs than slots or processors, standard input goes to PE 0, and a
 * failed PE ends the job, as with oshrun itself.  0, or EXIT_USAGE after an error
 * message. */
static int launcher_add_options(struct cmdline *c)
{
    const struct options *o = c->o;
    bool node = o->order.by == MAP_BY_NODE, per_node = o->order.per_node > 0;
    bool bound = o->bind != JOB_BIND_AUTO, bindings = o->report_bindings;
    struct values v;
    launcher_make_values(c, &v);
    const struct {
        bool given;
        const char *name, *value;
        const char *option[FAMILIES]; /* "": none is needed; NULL: there is none */
    } row[] = {
        {o->vnodes > 0, "--vnodes", NULL, {NULL}},
        {o->order.rank_file != NULL, "--rank-file", NULL, {NULL}},
        {o->agent != NULL, "--launch-agent", NULL, {NULL}},
        {o->interface != NULL, "--if", NULL, {NULL}},
        {o->gdb_pe != JOB_NO_PE, "--gdb", NULL, {NULL}},
        {o->valgrind, "--valgrind", NULL, {NULL}},
        {o->verbose, "--verbose", NULL, {NULL}},
        {true, NULL, "", {"--oversubscribe", "", "--mpi=pmix"}},
        {true, NULL, "", {"", "", "--input=0"}},
        {true, NULL, "", {"", "", "--kill-on-bad-exit=1"}},
        {per_node || node, NULL, v.map, {"--map-by ", "", ""}},
        {true, NULL, v.map, {"", "--map-by ", ""}},
        {o->tag_output, NULL, "", {"--tag-output", "--output tag", "--label"}},
        {o->report, "--report", "", {"--display-map", "--display map", NULL}},
        {bindings, NULL, "", {"--report-bindings", "--display bindings", ""}},
        {o->npes > 0, NULL, v.npes, {"-n ", "-n ", "--ntasks="}},
        {per_node, NULL, v.per_node, {"", "", "--ntasks-per-node="}},
        {node, NULL, "", {"", "", "--distribution=cyclic"}},
        {bound, NULL, v.bind, {"--bind-to ", "--bind-to ", ""}},
        {bound || bindings, NULL, v.cpu_bind, {"", "", "--cpu-bind="}},
        {o->wdir != NULL, NULL, o->wdir, {"--wdir ", "--wdir ", "--chdir="}},
        {o->timeout_s > 0, "--timeout", v.timeout, {"--timeout ", "--timeout ", NULL}},
        {*o->env != NULL, NULL, "", {"", "", "--export=ALL"}}, /* in its environment */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *option = row[i].option[c->family];
        if (row[i].given && option == NULL) {
            error_report(
                "%s has no meaning for %s; leave it out, or leave out --launcher",
                row[i].name, o->launcher);
            return EXIT_USAGE;
        }
        if (row[i].given && *option != '\0')
            launcher_add(c, option, row[i].value);
    }
    for (char **e = o->env; c->family != SRUN && *e != NULL; e++)
        launcher_add(c, "-x ", *e);
    return 0;
}

static int launcher_check(const struct cmdline *c)
{
    const struct options *o = c->o;
    bool colon = false; /* it separates programs in Open MPI and PRRTE */
    for (char *const *a = o->argv; *a != NULL; a++)
        colon = colon || strcmp(*a, ":") == 0;
    if (o->order.per_node > 0 && o->order.by == MAP_BY_NODE)
        error_report("%s takes -N or --map-by node, but not both", o->launcher);
    else if (c->family != SRUN && colon)
        error_report(
            "%s takes the argument ':' for itself; use oshrun without --launcher",
            o->launcher);
    else
        return 0;
    return EXIT_USAGE;
}

/* ---- hosts ------------------------------------------------------------------------ */

/* "a:4,b", or for srun "a,b". */
static char *launcher_join_hosts(const struct hosts *h)
{
    char *text = NULL;
    size_t len;
    FILE *m = mem_stream(&text, &len);
    for (uint32_t i = 0; i < h->count; i++) {
        fprintf(m, "%s%s", i > 0 ? "," : "", h->host[i].name);
        if (h->host[i].slots > 0)
            fprintf(m, ":%u", h->host[i].slots);
    }
    mem_stream_close(m);
    return text;
}

static int launcher_add_host_list(struct cmdline *c, const struct hosts *h)
{
    char count[VALUE_BYTES], *list = launcher_join_hosts(h);
    for (uint32_t i = 0; c->family == SRUN && i < h->count; i++)
        if (h->host[i].slots > 0) {
            error_report("srun takes no slots per host, as host '%s' has; use -N",
                         h->host[i].name);
            free(list);
            return EXIT_USAGE;
        }
    snprintf(count, sizeof count, "%u", h->count);
    if (c->family == SRUN)
        launcher_add(c, "--nodes=", count);
    launcher_add(c, c->family == SRUN ? "--nodelist=" : "--host ", list);
    free(list);
    return 0;
}

/* Expands the list: the other launchers do not know our ranges. */
static int launcher_add_hosts(struct cmdline *c)
{
    char why[HOSTS_WHY];
    struct hosts h = {0};
    const struct options *o = c->o;
    if (o->host_file != NULL && c->family != SRUN) {
        launcher_add(c, "--hostfile ", o->host_file);
        return 0;
    }
    if (o->hosts != NULL && hosts_from_list(&h, o->hosts, why) != 0) {
        error_report("%s %s", o->where, why);
        return EXIT_USAGE;
    }
    if (o->host_file != NULL && hosts_from_file(&h, o->host_file, why) != 0) {
        error_report("%s", why);
        return EXIT_ERROR;
    }
    int rc = h.count > 0 ? launcher_add_host_list(c, &h) : 0;
    hosts_free(&h);
    return rc;
}

static int launcher_find_family(struct cmdline *c)
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

static int launcher_make(struct cmdline *c)
{
    int rc = launcher_find_family(c);
    launcher_add_word(c, mem_strdup(c->o->launcher));
    if (rc == 0)
        rc = launcher_add_options(c);
    if (rc == 0)
        rc = launcher_check(c);
    if (rc == 0)
        rc = launcher_add_hosts(c);
    for (char *const *a = c->o->argv; *a != NULL; a++)
        launcher_add_word(c, mem_strdup(*a));
    return rc;
}

/* ---- execution -------------------------------------------------------------------- */

static void launcher_print(const struct cmdline *c)
{
    if (c->family == SRUN && *c->o->env != NULL) {
        printf("env ");
        shell_print(stdout, c->o->env);
        putchar(' ');
    }
    shell_print(stdout, c->word);
    putchar('\n');
}

static int launcher_execute(const struct cmdline *c)
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
    struct cmdline c = {.o = o};
    int rc = launcher_make(&c);
    if (rc == 0 && o->dry_run)
        launcher_print(&c);
    else if (rc == 0)
        rc = launcher_execute(&c);
    string_list_free(c.word);
    return rc;
}
