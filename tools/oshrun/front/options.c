/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c - the command line of oshrun and its variables SHMEM_LAUNCH_*, each from one
 * table.
 *
 * Used by main.c.
 *
 * glibc's argp is not used: it accepts abbreviations of options, its error messages do
 * not name the expected value, and --help could not list names such as -np.
 */
#include "config.h"

#include "tools/oshrun/front/options.h"
#include "tools/oshrun/util/string_list.h"
#include "pgas/core/base/number.h"
#include "tools/oshrun/util/mem.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN     26
#define MS_PER_S        1000u
#define SECONDS_MAX     3600
#define EXPECTED_VNODES "the number of virtual nodes, from 1 to 65536"

/* Flags of options and variables. */
#define OF_APP   1u /* a program after ':' may have it */
#define HOSTS    2u /* it gives the hosts */
#define OPTIONAL 4u /* its value, which is given as --x=value only */

struct option;
typedef int option_fn(struct options *o, const struct option *self, const char *value);

/* An option or a variable. */
struct option {
    const char *name;    /* in messages */
    const char *aliases; /* each after ", " */
    const char *value;   /* in --help; NULL: it has none */
    unsigned flags;
    option_fn *set;
    size_t field; /* in struct options */
    uint32_t least, most;
    const char *help;
    const char
        *expected; /* for error messages; NULL: any text is valid, also an empty one */
};

static int options_wrong(const struct option *self, const char *value,
                         const char *expected)
{
    fprintf(stderr, "oshrun: %s%c%s: expected %s\n", self->name,
            self->name[0] == '-' ? ' ' : '=', *value ? value : "''", expected);
    return -1;
}

static void *options_field(struct options *o, const struct option *self)
{
    return (char *)o + self->field;
}

static int options_set_switch(struct options *o, const struct option *self,
                              const char *value)
{
    (void)value;
    *(bool *)options_field(o, self) = true;
    return 0;
}

static int options_set_number(struct options *o, const struct option *self,
                              const char *value)
{
    uint32_t *number = options_field(o, self);
    if (value == NULL)
        *number = self->least;
    else if (!number_parse_u32(value, self->least, self->most, number))
        return options_wrong(self, value, self->expected);
    return 0;
}

static int options_set_text(struct options *o, const struct option *self,
                            const char *value)
{
    *(const char **)options_field(o, self) = value;
    return *value != '\0' || self->expected == NULL
               ? 0
               : options_wrong(self, value, self->expected);
}

static int options_set_bind(struct options *o, const struct option *self,
                            const char *value)
{
    static const char *const names[] = {
        [JOB_BIND_NONE] = "none", [JOB_BIND_CORE] = "core", [JOB_BIND_NUMA] = "numa"};
    for (int i = JOB_BIND_NONE; i <= JOB_BIND_NUMA; i++)
        if (strcmp(value, names[i]) == 0) {
            o->bind = (enum job_bind)i;
            return 0;
        }
    return options_wrong(self, value, self->expected);
}

/* Appends NAME=value; the list has space for one entry per argument. */
static int options_add_env(struct options *o, const struct option *self,
                           const char *value)
{
    char **to = o->env + string_list_count(o->env);
    const char *now = getenv(value);
    if (*value == '\0' || *value == '=')
        return options_wrong(self, value, self->expected);
    if (strchr(value, '=') != NULL)
        *to = mem_strdup(value);
    else if (now == NULL)
        fprintf(stderr, "oshrun: -x %s: the variable is not set; ignored\n", value);
    else
        *to = mem_print("%s=%s", value, now);
    return 0;
}

/* -N and --map-by ppr both set the number of PEs per node; they must agree. */
static int options_set_per_node(struct options *o, const struct option *self,
                                const char *value)
{
    uint32_t n;
    if (!number_parse_u32(value, 1, OPTIONS_NPES_MAX, &n))
        return options_wrong(self, value, self->expected);
    if (o->order.by == MAP_BY_PPR && o->order.per_node != n)
        return options_wrong(self, value, "the same number as in --map-by ppr");
    o->order.per_node = n;
    return 0;
}

/* text: "4:node" */
static int options_set_ppr(struct options *o, const struct option *self,
                           const char *value, const char *text)
{
    uint64_t n;
    size_t len = strcspn(text, ":");
    if (strcmp(text + len, ":node") != 0 ||
        !number_parse(text, len, 1, OPTIONS_NPES_MAX, &n))
        return options_wrong(self, value, "ppr:N:node with N from 1 to 65536");
    if (o->order.by != MAP_BY_PPR && o->order.per_node != 0 && o->order.per_node != n)
        return options_wrong(self, value, "the same number as -N");
    o->order.by = MAP_BY_PPR;
    o->order.per_node = (uint32_t)n;
    return 0;
}

static int options_set_map_by(struct options *o, const struct option *self,
                              const char *value)
{
    if (strncmp(value, "ppr:", strlen("ppr:")) == 0)
        return options_set_ppr(o, self, value, value + strlen("ppr:"));
    bool node = strcmp(value, "node") == 0;
    if (!node && strcmp(value, "slot") != 0)
        return options_wrong(self, value, self->expected);
    if (o->order.by == MAP_BY_PPR)
        o->order.per_node = 0;
    o->order.by = node ? MAP_BY_NODE : MAP_BY_SLOT;
    return 0;
}

static int options_print_version(struct options *o, const struct option *self,
                                 const char *value)
{
    (void)o, (void)self, (void)value;
    printf("oshrun (pgas) %s\n", PACKAGE_VERSION);
    return 1;
}

static option_fn options_print_help;

#define NUMBER(member, from, to)                                                         \
    .set = options_set_number, .field = offsetof(struct options, member), .least = from, \
    .most = to
#define TEXT(member) .set = options_set_text, .field = offsetof(struct options, member)
#define SWITCH(member)                                                                   \
    .set = options_set_switch, .field = offsetof(struct options, member)
#define CALL(function) .set = function
#define OPTION(n, other, v, f, how, h, e)                                                \
    {.name = n, .aliases = other, .value = v, .flags = f, .help = h, .expected = e, how},

static const struct option table[] = {
#include "tools/oshrun/front/options.def"
};

#define OPTION_COUNT (sizeof table / sizeof *table)

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
        int n = printf("  %s%s", t->name, t->aliases);
        if (t->value != NULL)
            n += printf(t->flags & OPTIONAL ? "[=%s]" : " %s", t->value);
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

static bool options_has_name(const struct option *t, const char *name, size_t len)
{
    if (strncmp(t->name, name, len) == 0 && t->name[len] == '\0')
        return true;
    for (const char *at = t->aliases; *at != '\0'; at += strcspn(at, ",")) {
        at += strlen(", ");
        if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return true;
    }
    return false;
}

/* The option that arg names; *value = what follows '=' in --name=value, or N of -nN. */
static const struct option *options_find(const char *arg, const char **value)
{
    size_t len = strncmp(arg, "--", 2) == 0 ? strcspn(arg, "=") : strlen(arg);
    *value = arg[len] == '=' ? arg + len + 1 : NULL;
    if ((arg[1] == 'n' || arg[1] == 'N') && arg[2] >= '0' && arg[2] <= '9') {
        len = 2;
        *value = arg + 2;
    }
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (options_has_name(&table[i], arg, len))
            return &table[i];
    return NULL;
}

/* Only one option may give the hosts. */
static int options_set_where(struct options *o, const char *name)
{
    if (o->where != NULL && strcmp(o->where, name) != 0) {
        fprintf(stderr, "oshrun: %s and %s both say where the PEs go; give one\n",
                o->where, name);
        return -1;
    }
    o->where = name;
    return 0;
}

/* Handles one option and advances *argv; after_first: after the first program.  0: go on;
 * 1: --help or --version was printed; -1: invalid, an error message was printed. */
static int options_read_one(struct options *o, char ***argv, bool after_first)
{
    const char *arg = *(*argv)++, *value;
    const struct option *t = options_find(arg, &value);
    if (t == NULL) {
        fprintf(stderr, "oshrun: unknown option '%s'; see oshrun --help\n", arg);
        return -1;
    }
    if (after_first && !(t->flags & OF_APP)) {
        fprintf(stderr,
                "oshrun: option %s is for the whole job; give it before the first "
                "program\n",
                t->name);
        return -1;
    }
    if (t->value == NULL && value != NULL) {
        fprintf(stderr, "oshrun: option %s takes no value\n", t->name);
        return -1;
    }
    if (t->value != NULL && !(t->flags & OPTIONAL) && value == NULL) {
        value = **argv;
        if (value == NULL) {
            fprintf(stderr, "oshrun: option %s needs a value (%s)\n", arg, t->value);
            return -1;
        }
        (*argv)++;
    }
    int rc = t->set(o, t, value);
    return rc == 0 && (t->flags & HOSTS) ? options_set_where(o, t->name) : rc;
}

/* Reads options and advances *argv to the program.  Returns as options_read_one. */
static int options_read_all(struct options *o, char ***argv, bool after_first)
{
    int rc = 0;
    while (rc == 0 && **argv != NULL && (**argv)[0] == '-') {
        if (strcmp(**argv, "--") == 0) {
            ++*argv;
            break;
        }
        rc = options_read_one(o, argv, after_first);
    }
    return rc;
}

/* ---- environment ------------------------------------------------------------------ */

/* "2.5" as 2500; digits after the third decimal are ignored.  Not by strtod, whose
 * decimal point depends on the locale. */
static int options_set_ms(struct options *o, const struct option *self, const char *value)
{
    uint64_t s = 0;
    uint32_t ms = 0, unit = MS_PER_S;
    const char *end = value + number_scan(value, strlen(value), &s);
    bool valid = end > value && s <= SECONDS_MAX;
    if (valid && *end == '.')
        for (end++; *end >= '0' && *end <= '9'; end++) {
            unit /= 10;
            ms += (uint32_t)(*end - '0') * unit;
        }
    ms += valid ? (uint32_t)s * MS_PER_S : 0;
    if (*end != '\0' || ms < self->least || ms > self->most)
        return options_wrong(self, value, self->expected);
    *(uint32_t *)options_field(o, self) = ms;
    return 0;
}

static int options_set_daemon_path(struct options *o, const struct option *self,
                                   const char *value)
{
    o->daemon_path = value;
    return value[0] == '/' ? 0 : options_wrong(self, value, self->expected);
}

#define SECONDS(member)                                                                  \
    .set = options_set_ms, .field = offsetof(struct options, member), .least = 500,      \
    .most = SECONDS_MAX * MS_PER_S, .expected = "seconds, a number from 0.5 to 3600"
#define VARIABLE(n) .name = "SHMEM_LAUNCH_" n

/* Of the rows with HOSTS, the first that is set counts. */
static const struct option variables[] = {
    {VARIABLE("AGENT"), TEXT(agent)},
    {VARIABLE("IF"), TEXT(interface)},
    {VARIABLE("VNODES"), .flags = HOSTS, NUMBER(vnodes, 1, OPTIONS_VNODES_MAX),
     .expected = EXPECTED_VNODES},
    {VARIABLE("HOSTS"), .flags = HOSTS, TEXT(hosts)},
    {VARIABLE("HOSTFILE"), .flags = HOSTS, TEXT(host_file)},
    {VARIABLE("DAEMON"), CALL(options_set_daemon_path),
     .expected = "the path of oshrun on the hosts, from the root"},
    {VARIABLE("FANOUT"), NUMBER(fanout, 1, UINT16_MAX),
     .expected = "a number from 1 to 65535"},
    {VARIABLE("TIMEOUT"), SECONDS(timeout_ms)},
    {VARIABLE("START_TIMEOUT"), SECONDS(start_timeout_ms)},
};

/* Reads the variables of which the command line has no option; one that is empty counts
 * as not set.  0, or -1 after an error message. */
static int options_read_env(struct options *o)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const struct option *v = &variables[i];
        const char *value = getenv(v->name);
        if (value == NULL || *value == '\0' || ((v->flags & HOSTS) && o->where != NULL) ||
            (v->set == options_set_text && *(const char **)options_field(o, v) != NULL))
            continue;
        if (v->set(o, v, value) != 0)
            return -1;
        if (v->flags & HOSTS)
            o->where = v->name;
    }
    return 0;
}

/* ---- several programs ------------------------------------------------------------- */

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

/* The PEs of all programs together. */
static int options_check_npes(struct options *o, uint64_t sum, const char *uncounted)
{
    o->npes = o->order.npes = (uint32_t)sum;
    if (o->napps > 1 && uncounted != NULL)
        fprintf(stderr, "oshrun: '%s' is one of %u programs; each needs its -n N\n",
                uncounted, o->napps);
    else if (sum > OPTIONS_NPES_MAX)
        fprintf(stderr, "oshrun: the programs have %llu PEs together, more than %u\n",
                (unsigned long long)sum, OPTIONS_NPES_MAX);
    else
        return 0;
    return -1;
}

/* Options before the first program are for the whole job, except -n. */
static int options_split_apps(struct options *o, size_t argc)
{
    struct options own = {.npes = o->npes, .wdir = o->wdir};
    const char *uncounted = NULL; /* a program without -n */
    uint64_t sum = 0;
    int rc = 0;
    o->app = mem_calloc(argc + 1, sizeof *o->app);
    for (char **argv = o->argv, **next; rc == 0 && argv != NULL; argv = next) {
        own.env = mem_calloc(argc + 1, sizeof *own.env); /* one -x an argument */
        if (o->napps > 0)
            rc = options_read_all(&own, &argv, true);
        next = options_end_app(argv);
        o->app[o->napps++] = (struct options_app){own.npes, argv, own.env, own.wdir};
        if (rc == 0 && argv[0] == NULL) {
            fprintf(stderr, "oshrun: no program given %s':'; see oshrun --help\n",
                    o->napps == 1 ? "before " : "after ");
            rc = -1;
        }
        sum += own.npes;
        if (own.npes == 0 && uncounted == NULL)
            uncounted = argv[0];
        own = (struct options){.wdir = o->wdir};
    }
    return rc == 0 ? options_check_npes(o, sum, uncounted) : -1;
}

/* What follows the options: programs.  Another launcher gets the arguments as they are,
 * and the variables are for our own daemons. */
static int options_read_apps(struct options *o, size_t argc)
{
    o->order.npes = o->npes;
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
    if (o->launcher != NULL)
        return 0;
    if (options_read_env(o) != 0)
        return -1;
    return options_split_apps(o, argc);
}

enum options_result options_read(struct options *o, char **argv)
{
    size_t argc = string_list_count(argv);
    *o = (struct options){.gdb_pe = JOB_NO_PE,
                          .bind = JOB_BIND_AUTO,
                          .fanout = OPTIONS_FANOUT,
                          .timeout_ms = OPTIONS_TIMEOUT_MS,
                          .start_timeout_ms = OPTIONS_START_TIMEOUT_MS,
                          .env = mem_calloc(argc + 1, sizeof *o->env)};
    o->argv = argv + 1;
    int rc = options_read_all(o, &o->argv, false);
    if (rc == 0)
        rc = options_read_apps(o, argc);
    return rc == 0 ? OPTIONS_RUN : rc > 0 ? OPTIONS_DONE : OPTIONS_WRONG;
}

void options_free(struct options *o)
{
    for (uint32_t i = 0; i < o->napps; i++)
        string_list_free(o->app[i].env);
    free(o->app);
    string_list_free(o->env);
}
