/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c - the command line of oshrun, from one table.
 *
 * Uses options_env.c.  Used by main.c.
 */
#include "config.h"

#include "tools/oshrun/front/options.h"
#include "pgas/core/base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 26
#define PPR         "ppr:"
#define PPR_UNIT    ":node"

struct option;
typedef int option_fn(struct options *o, const struct option *self, const char *value);

enum value { VALUE_NONE, VALUE_NEEDED, VALUE_OPTIONAL }; /* optional: only as --x=value */

struct option {
    const char *names[4]; /* the first is used in messages */
    enum value value;
    const char *value_name;
    option_fn *set;
    const char *help;
};

static int options_wrong(const struct option *self, const char *value,
                         const char *expected)
{
    fprintf(stderr, "oshrun: %s %s: expected %s\n", self->names[0], *value ? value : "''",
            expected);
    return -1;
}

static int options_set_npes(struct options *o, const struct option *self,
                            const char *value)
{
    if (number_parse_u32(value, 1, OPTIONS_NPES_MAX, &o->npes))
        return 0;
    return options_wrong(self, value, "the number of PEs, from 1 to 65536");
}

static int options_set_wdir(struct options *o, const struct option *self,
                            const char *value)
{
    (void)self;
    o->wdir = value;
    return 0;
}

static int options_set_bind(struct options *o, const struct option *self,
                            const char *value)
{
    static const char *const names[] = {"none", "core", "numa"};
    static const enum job_bind kinds[] = {JOB_BIND_NONE, JOB_BIND_CORE, JOB_BIND_NUMA};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(value, names[i]) != 0)
            continue;
        o->bind = kinds[i];
        return 0;
    }
    return options_wrong(self, value, "none, core or numa");
}

static int options_set_timeout(struct options *o, const struct option *self,
                               const char *value)
{
    if (number_parse_u32(value, 1, INT32_MAX / 1000, &o->timeout_s))
        return 0;
    return options_wrong(self, value, "seconds, a whole number of at least 1");
}

static int options_set_gdb(struct options *o, const struct option *self,
                           const char *value)
{
    o->gdb_pe = 0;
    if (value == NULL || number_parse_u32(value, 0, OPTIONS_NPES_MAX - 1, &o->gdb_pe))
        return 0;
    return options_wrong(self, value, "the number of a PE");
}

static char *options_assignment(const char *value)
{
    char *out = NULL;
    if (strchr(value, '=') != NULL)
        return strdup(value);
    const char *now = getenv(value);
    if (now == NULL) {
        fprintf(stderr, "oshrun: -x %s: the variable is not set; ignored\n", value);
        return NULL;
    }
    return asprintf(&out, "%s=%s", value, now) < 0 ? NULL : out;
}

static int options_add_env(struct options *o, const struct option *self,
                           const char *value)
{
    if (*value == '\0' || *value == '=')
        return options_wrong(self, value, "NAME or NAME=value");
    size_t n = 0;
    while (o->env[n] != NULL)
        n++;
    o->env[n] = options_assignment(value); /* there is space for one entry per argument */
    return 0;
}

static int options_set_tag(struct options *o, const struct option *self,
                           const char *value)
{
    (void)self, (void)value;
    o->tag_output = true;
    return 0;
}

static int options_set_report(struct options *o, const struct option *self,
                              const char *value)
{
    (void)self, (void)value;
    o->report_bindings = true;
    return 0;
}

static int options_set_valgrind(struct options *o, const struct option *self,
                                const char *value)
{
    (void)self, (void)value;
    o->valgrind = true;
    return 0;
}

static int options_set_dry_run(struct options *o, const struct option *self,
                               const char *value)
{
    (void)self, (void)value;
    o->dry_run = true;
    return 0;
}

static int options_set_verbose(struct options *o, const struct option *self,
                               const char *value)
{
    (void)self, (void)value;
    o->verbose = true;
    return 0;
}

/* -N and --map-by ppr both set the number of PEs per node; they must agree. */
static int options_set_per_node(struct options *o, const struct option *self,
                                const char *value)
{
    uint32_t n;
    if (!number_parse_u32(value, 1, OPTIONS_NPES_MAX, &n))
        return options_wrong(self, value, "the number of PEs per node, from 1 to 65536");
    if (o->order.by == MAP_BY_PPR && o->order.per_node != n)
        return options_wrong(self, value, "the same number as in --map-by ppr");
    o->order.per_node = n;
    return 0;
}

/* "4:node" */
static int options_read_ppr(const char *text, uint32_t *n)
{
    size_t len = strcspn(text, ":");
    uint64_t number;
    if (len >= sizeof "65536" || strcmp(text + len, PPR_UNIT) != 0 ||
        !number_parse(text, len, 1, OPTIONS_NPES_MAX, &number))
        return -1;
    *n = (uint32_t)number;
    return 0;
}

static int options_set_ppr(struct options *o, const struct option *self,
                           const char *value)
{
    uint32_t n;
    if (options_read_ppr(value + strlen(PPR), &n) != 0)
        return options_wrong(self, value, "ppr:N:node with N from 1 to 65536");
    if (o->order.by != MAP_BY_PPR && o->order.per_node != 0 && o->order.per_node != n)
        return options_wrong(self, value, "the same number as -N");
    o->order.by = MAP_BY_PPR;
    o->order.per_node = n;
    return 0;
}

static int options_set_map_by(struct options *o, const struct option *self,
                              const char *value)
{
    if (strncmp(value, PPR, strlen(PPR)) == 0)
        return options_set_ppr(o, self, value);
    bool node = strcmp(value, "node") == 0;
    if (!node && strcmp(value, "slot") != 0)
        return options_wrong(self, value, "slot, node or ppr:N:node");
    if (o->order.by == MAP_BY_PPR)
        o->order.per_node = 0;
    o->order.by = node ? MAP_BY_NODE : MAP_BY_SLOT;
    return 0;
}

static int options_set_rank_file(struct options *o, const struct option *self,
                                 const char *value)
{
    o->order.rank_file = value;
    return *value != '\0' ? 0 : options_wrong(self, value, "the name of a file");
}

/* Only one option may give the hosts. */
static int options_set_where(struct options *o, const struct option *self)
{
    if (o->where != NULL && strcmp(o->where, self->names[0]) != 0) {
        fprintf(stderr, "oshrun: %s and %s both say where the PEs go; give one\n",
                o->where, self->names[0]);
        return -1;
    }
    o->where = self->names[0];
    return 0;
}

static int options_set_hosts(struct options *o, const struct option *self,
                             const char *value)
{
    o->hosts = value;
    return options_set_where(o, self);
}

static int options_set_host_file(struct options *o, const struct option *self,
                                 const char *value)
{
    o->host_file = value;
    if (*value == '\0')
        return options_wrong(self, value, "the name of a file, or - for standard input");
    return options_set_where(o, self);
}

static int options_set_vnodes(struct options *o, const struct option *self,
                              const char *value)
{
    if (!number_parse_u32(value, 1, OPTIONS_VNODES_MAX, &o->vnodes))
        return options_wrong(self, value, "the number of virtual nodes, from 1 to 65536");
    return options_set_where(o, self);
}

static int options_set_agent(struct options *o, const struct option *self,
                             const char *value)
{
    o->agent = value;
    return *value != '\0'
               ? 0
               : options_wrong(self, value, "a command, such as 'ssh -p 2222'");
}

static int options_set_interface(struct options *o, const struct option *self,
                                 const char *value)
{
    o->interface = value;
    return *value != '\0' ? 0 : options_wrong(self, value, "interfaces or subnets");
}

static int options_set_launcher(struct options *o, const struct option *self,
                                const char *value)
{
    o->launcher = value;
    return *value != '\0' ? 0 : options_wrong(self, value, "the name of a launcher");
}

static int options_set_map_report(struct options *o, const struct option *self,
                                  const char *value)
{
    (void)self, (void)value;
    o->report = true;
    return 0;
}

static int options_print_version(struct options *o, const struct option *self,
                                 const char *value)
{
    (void)o, (void)self, (void)value;
    printf("oshrun (pgas) %s\n", PACKAGE_VERSION);
    return 1;
}

static int options_print_help(struct options *o, const struct option *self,
                              const char *value);

static const struct option table[] = {
    {{"-n", "-np", "--np", "-c"},
     VALUE_NEEDED,
     "N",
     options_set_npes,
     "start N PEs (default: one, or one per slot)"},
    {{"--host", "-H", "-host"},
     VALUE_NEEDED,
     "NAME[:SLOTS],...",
     options_set_hosts,
     "run on these hosts; names may hold ranges, n[0-3,7]:4"},
    {{"--hostfile", "-hostfile", "--machinefile", "-machinefile"},
     VALUE_NEEDED,
     "FILE",
     options_set_host_file,
     "run on the hosts in FILE, lines 'NAME slots=4'"},
    {{"--vnodes"},
     VALUE_NEEDED,
     "K",
     options_set_vnodes,
     "run as K nodes, all of them on this machine"},
    {{"-N", "--npernode", "--ppn"},
     VALUE_NEEDED,
     "N",
     options_set_per_node,
     "start at most N PEs per node"},
    {{"--map-by"},
     VALUE_NEEDED,
     "slot|node|ppr:N:node",
     options_set_map_by,
     "fill hosts (default), round-robin, or N on each"},
    {{"--rank-file", "--rankfile", "-rankfile"},
     VALUE_NEEDED,
     "FILE",
     options_set_rank_file,
     "read each PE's host from FILE, lines 'rank 0=NAME slot=0-3'"},
    {{"--report"},
     VALUE_NONE,
     NULL,
     options_set_map_report,
     "print the PEs of each host"},
    {{"--launch-agent"},
     VALUE_NEEDED,
     "COMMAND",
     options_set_agent,
     "start daemons on the hosts with this (default ssh)"},
    {{"--if"},
     VALUE_NEEDED,
     "NAME|NET/BITS,...",
     options_set_interface,
     "use only these interfaces or subnets"},
    {{"--launcher"},
     VALUE_NEEDED,
     "NAME",
     options_set_launcher,
     "call mpirun, mpiexec, prterun or srun instead"},
    {{"-x"},
     VALUE_NEEDED,
     "NAME[=value]",
     options_add_env,
     "set this variable for the PEs; may be repeated"},
    {{"--wdir", "-wdir"},
     VALUE_NEEDED,
     "DIR",
     options_set_wdir,
     "working directory of the PEs"},
    {{"--bind-to"},
     VALUE_NEEDED,
     "none|core|numa",
     options_set_bind,
     "bind each PE (default core, none if N > cores)"},
    {{"--report-bindings"},
     VALUE_NONE,
     NULL,
     options_set_report,
     "print the binding of each PE"},
    {{"--tag-output"}, VALUE_NONE, NULL, options_set_tag, "prefix each line with [PE]"},
    {{"--timeout"},
     VALUE_NEEDED,
     "S",
     options_set_timeout,
     "after S seconds print where PEs are, end, exit 124"},
    {{"--gdb"},
     VALUE_OPTIONAL,
     "PE",
     options_set_gdb,
     "run one PE (default 0) under gdb on this terminal"},
    {{"--valgrind"},
     VALUE_NONE,
     NULL,
     options_set_valgrind,
     "run the PEs under valgrind"},
    {{"--dry-run"}, VALUE_NONE, NULL, options_set_dry_run, "print what would be run"},
    {{"--verbose", "-v"},
     VALUE_NONE,
     NULL,
     options_set_verbose,
     "print the time taken by each phase of start and end"},
    {{"--version", "-V"}, VALUE_NONE, NULL, options_print_version, "print the version"},
    {{"--help", "-h"}, VALUE_NONE, NULL, options_print_help, "print this"},
};

#define OPTION_COUNT (sizeof table / sizeof *table)
#define NAME_COUNT   (sizeof table->names / sizeof *table->names)

static int options_print_help(struct options *o, const struct option *self,
                              const char *value)
{
    (void)o, (void)self, (void)value;
    printf("usage: oshrun [options] [--] program [arguments]\n"
           "       oshrun [options] -n N program .. : [-n N] [-x ..] [--wdir ..] program "
           "..\n"
           "Runs an OpenSHMEM program (or any other) as N PEs, on this machine or on\n"
           "several hosts; or several programs as one job.\n\n");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *t = &table[i];
        int n = 2;
        fputs("  ", stdout);
        for (size_t k = 0; k < NAME_COUNT && t->names[k] != NULL; k++)
            n += printf("%s%s", k ? ", " : "", t->names[k]);
        if (t->value_name != NULL)
            n += printf(t->value == VALUE_OPTIONAL ? "[=%s]" : " %s", t->value_name);
        if (n >= HELP_COLUMN - 1)
            n = printf("\n") - 1;
        printf("%*s%s\n", HELP_COLUMN - n, "", t->help);
    }
    printf(
        "\nExit status: that of the first PE that fails (128 + number for a signal),\n"
        "or of shmem_global_exit; 124 after --timeout; 127 if the program is not found.\n"
        "SIGUSR1 prints the state of each PE.\n");
    return 1;
}

/* The option that arg names; *value = what follows '=' in --name=value. */
static const struct option *options_find(const char *arg, const char **value)
{
    size_t len = strncmp(arg, "--", 2) == 0 ? strcspn(arg, "=") : strlen(arg);
    *value = arg[len] == '=' ? arg + len + 1 : NULL;
    for (size_t i = 0; i < OPTION_COUNT; i++)
        for (size_t k = 0; k < NAME_COUNT && table[i].names[k] != NULL; k++)
            if (strncmp(table[i].names[k], arg, len) == 0 &&
                table[i].names[k][len] == '\0')
                return &table[i];
    return NULL;
}

/* Handles one option and advances *argv.  0: go on; 1: --help or --version was printed;
 * -1: invalid, an error message was printed. */
static int options_read_one(struct options *o, char ***argv)
{
    const char *arg = *(*argv)++, *value;
    const struct option *t = options_find(arg, &value);
    if (t == NULL && (strncmp(arg, "-n", 2) == 0 || strncmp(arg, "-N", 2) == 0) &&
        arg[2] >= '0' && arg[2] <= '9') { /* -n4 */
        t = options_find(arg[1] == 'n' ? "-n" : "-N", &value);
        value = arg + 2;
    }
    if (t == NULL) {
        fprintf(stderr, "oshrun: unknown option '%s'; see oshrun --help\n", arg);
        return -1;
    }
    if (t->value == VALUE_NONE && value != NULL) {
        fprintf(stderr, "oshrun: option %s takes no value\n", t->names[0]);
        return -1;
    }
    if (t->value == VALUE_NEEDED && value == NULL) {
        value = **argv;
        if (value == NULL) {
            fprintf(stderr, "oshrun: option %s needs a value (%s)\n", arg, t->value_name);
            return -1;
        }
        (*argv)++;
    }
    return t->set(o, t, value);
}

static int options_check(const struct options *o)
{
    if (o->argv[0] == NULL) {
        fprintf(stderr, "oshrun: no program given; see oshrun --help\n");
        return -1;
    }
    if (o->order.rank_file != NULL &&
        (o->order.per_node > 0 || o->order.by != MAP_BY_SLOT)) {
        fprintf(stderr, "oshrun: --rank-file says where each PE goes; leave out -N and "
                        "--map-by\n");
        return -1;
    }
    return 0;
}

/* ---- several programs ----------------------------------------------------------------
 */

/* Options that a program after ':' may have. */
static bool options_is_of_app(const struct option *t)
{
    return t->set == options_set_npes || t->set == options_add_env ||
           t->set == options_set_wdir;
}

/* Reads the options of a program after ':', and advances *argv to the program. */
static int options_read_app(struct options *o, char ***argv)
{
    while (**argv != NULL && (**argv)[0] == '-') {
        const char *value;
        if (strcmp(**argv, "--") == 0) {
            ++*argv;
            break;
        }
        const struct option *t = options_find(**argv, &value);
        if (t != NULL && !options_is_of_app(t)) {
            fprintf(stderr,
                    "oshrun: option %s is for the whole job; give it before the first "
                    "program\n",
                    t->names[0]);
            return -1;
        }
        if (options_read_one(o, argv) != 0)
            return -1;
    }
    return 0;
}

/* Ends the list of arguments at ':'; the argument after it, or NULL. */
static char **options_end_app(char **argv)
{
    while (*argv != NULL && strcmp(*argv, ":") != 0)
        argv++;
    if (*argv == NULL)
        return NULL;
    *argv = NULL;
    return argv + 1;
}

/* A list for -x, with space for one entry per argument. */
static char **options_new_env(size_t argc)
{
    char **env = calloc(argc + 1, sizeof *env);
    if (env == NULL)
        fprintf(stderr, "oshrun: no memory for the options\n");
    return env;
}

/* Checks the last program. */
static int options_check_app(const struct options *o)
{
    if (o->app[o->napps - 1].argv[0] != NULL)
        return 0;
    fprintf(stderr, "oshrun: no program given %s':'; see oshrun --help\n",
            o->napps == 1 ? "before " : "after ");
    return -1;
}

/* Options before the first program are for the whole job, except -n. */
static int options_split_apps(struct options *o, size_t argc)
{
    struct options own = {.npes = o->npes, .wdir = o->wdir};
    char **argv = o->argv;
    int rc = 0;
    while (rc == 0 && argv != NULL) {
        own.env = options_new_env(argc);
        if (own.env == NULL)
            return -1;
        if (o->napps > 0)
            rc = options_read_app(&own, &argv);
        char **next = options_end_app(argv);
        o->app[o->napps++] = (struct options_app){own.npes, argv, own.env, own.wdir};
        if (rc == 0)
            rc = options_check_app(o);
        argv = next;
        own = (struct options){.wdir = o->wdir};
    }
    return rc;
}

static int options_count_pes(struct options *o)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < o->napps; i++) {
        sum += o->app[i].npes;
        if (o->napps > 1 && o->app[i].npes == 0) {
            fprintf(stderr, "oshrun: '%s' is one of %u programs; each needs its -n N\n",
                    o->app[i].argv[0], o->napps);
            return -1;
        }
    }
    o->npes = (uint32_t)sum;
    if (sum <= OPTIONS_NPES_MAX)
        return 0;
    fprintf(stderr, "oshrun: the programs have %llu PEs together, more than %u\n",
            (unsigned long long)sum, OPTIONS_NPES_MAX);
    return -1;
}

/* Another launcher takes the arguments as they are. */
static int options_read_apps(struct options *o, size_t argc)
{
    o->app = calloc(argc + 1, sizeof *o->app);
    if (o->app == NULL) {
        fprintf(stderr, "oshrun: no memory for the options\n");
        return -1;
    }
    if (o->launcher == NULL && o->argv[0] != NULL &&
        (options_split_apps(o, argc) != 0 || options_count_pes(o) != 0))
        return -1;
    return 0;
}

static void options_set_defaults(struct options *o)
{
    *o = (struct options){.gdb_pe = JOB_NO_PE,
                          .bind = JOB_BIND_AUTO,
                          .fanout = OPTIONS_FANOUT,
                          .timeout_ms = OPTIONS_TIMEOUT_MS,
                          .start_timeout_ms = OPTIONS_START_TIMEOUT_MS};
}

enum options_result options_read(struct options *o, char **argv)
{
    size_t argc = 0;
    while (argv[argc] != NULL)
        argc++;
    options_set_defaults(o);
    o->env = options_new_env(argc);
    if (o->env == NULL)
        return OPTIONS_WRONG;
    int rc = 0;
    argv++;
    while (rc == 0 && *argv != NULL && (*argv)[0] == '-') {
        if (strcmp(*argv, "--") == 0) {
            argv++;
            break;
        }
        rc = options_read_one(o, &argv);
    }
    o->argv = argv;
    if (rc == 0 && options_check(o) == 0 && options_read_env(o) == 0 &&
        options_read_apps(o, argc) == 0) {
        o->order.npes = o->npes;
        return OPTIONS_RUN;
    }
    return rc > 0 ? OPTIONS_DONE : OPTIONS_WRONG;
}

static void options_free_env(char **env)
{
    for (char **e = env; e != NULL && *e != NULL; e++)
        free(*e);
    free(env);
}

void options_free(struct options *o)
{
    for (uint32_t i = 0; i < o->napps; i++)
        options_free_env(o->app[i].env);
    free(o->app);
    options_free_env(o->env);
}
