/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune_options.c - the command line of oshmem_info --tune.
 * Uses: tune, oshrun/map/hosts (the names of --hosts).  Used by: tune.c.
 */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/number.h"
#include "tools/oshmem_info/tune.h"
#include "tools/oshrun/map/hosts.h"

enum { NUMBER_LIMIT = 65536 };

int tune_wrong(const char *format, ...)
{
    va_list args;

    fputs("oshmem_info: --tune: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs("\n", stderr);
    return 2;
}

/* ---- numbers --------------------------------------------------------------------- */

static int tune_options_compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* False if there is no space. */
static bool tune_options_add(struct tune_numbers *list, int number)
{
    for (int i = 0; i < list->n; i++)
        if (list->number[i] == number)
            return true;
    if (list->n == TUNE_NUMBERS_MAX)
        return false;
    list->number[list->n++] = number;
    qsort(list->number, (size_t)list->n, sizeof list->number[0], tune_options_compare);
    return true;
}

/* "2,4,8" */
static bool tune_options_read_numbers(const char *text, struct tune_numbers *list)
{
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        uint64_t number;
        if (!number_parse(at, len, 2, NUMBER_LIMIT, &number) ||
            !tune_options_add(list, (int)number))
            return false;
        at += len;
        if (*at == '\0')
            return true;
    }
}

/* ---- the nodes ------------------------------------------------------------------- */

/* The jobs run on 2, 4, 8 .. of the hosts, and on all of them. */
static int tune_options_count_hosts(struct tune_options *o)
{
    struct hosts hosts = {0};
    char why[HOSTS_WHY];

    if (hosts_from_list(&hosts, o->hosts, why) != 0)
        return tune_wrong("--hosts '%s': %s; the syntax is that of oshrun -H", o->hosts,
                          why);
    int count = (int)hosts.count;
    hosts_free(&hosts);
    if (count < 2)
        return tune_wrong("--hosts '%s' is one host; name at least two, or use --vnodes "
                          "to try virtual nodes of this machine",
                          o->hosts);
    for (int nodes = 2; nodes < count; nodes *= 2)
        tune_options_add(&o->nodes, nodes);
    tune_options_add(&o->nodes, count);
    return 0;
}

/* The rows of virtual nodes must not be in a file that programs read on real nodes. */
static int tune_options_check_nodes(struct tune_options *o)
{
    if (o->hosts != NULL && o->vnodes != NULL)
        return tune_wrong("--hosts and --vnodes cannot be combined; use one of them");
    if (o->vnodes != NULL && o->out == NULL)
        return tune_wrong(
            "--vnodes needs -o FILE: its table is for virtual nodes, but programs read "
            "the default file on real nodes too");
    if (o->vnodes == NULL && o->hosts == NULL && !o->one_node)
        return tune_wrong("--only internode needs --hosts LIST or --vnodes LIST");
    return o->hosts != NULL ? tune_options_count_hosts(o) : 0;
}

/* ---- all ------------------------------------------------------------------------- */

/* The value of an option: the next argument or the text after "="; NULL if the argument
 * is another option. */
static const char *tune_options_value(const char *name, char **argv, int *i)
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

/* --only: the other part is not measured. */
static int tune_options_read_only(const char *part, struct tune_options *o, bool *nodes)
{
    if (strcmp(part, "node") != 0 && strcmp(part, "internode") != 0)
        return tune_wrong("--only '%s' should be node or internode", part);
    o->one_node = strcmp(part, "node") == 0;
    *nodes = !o->one_node;
    return 0;
}

/* One option, at argv[*i]; *nodes: measure over nodes. */
static int tune_options_read(char **argv, int *i, struct tune_options *o, bool *nodes)
{
    const char *arg = argv[*i], *value;

    if (strcmp(arg, "--quick") == 0) {
        o->how = TUNE_QUICK;
    } else if ((value = tune_options_value("--pes", argv, i)) != NULL) {
        if (!tune_options_read_numbers(value, &o->pes))
            return tune_wrong("--pes '%s' is not a list of numbers of PEs, from 2, as in "
                              "2,4,8",
                              value);
    } else if ((value = tune_options_value("--vnodes", argv, i)) != NULL) {
        o->vnodes = value;
        if (!tune_options_read_numbers(value, &o->nodes))
            return tune_wrong("--vnodes '%s' is not a list of numbers of nodes, from 2, "
                              "as in 2,4,8",
                              value);
    } else if ((value = tune_options_value("--hosts", argv, i)) != NULL) {
        o->hosts = value;
    } else if ((value = tune_options_value("--only", argv, i)) != NULL) {
        return tune_options_read_only(value, o, nodes);
    } else if ((value = tune_options_value("-o", argv, i)) != NULL ||
               (value = tune_options_value("--output", argv, i)) != NULL) {
        o->out = value;
        if (value[0] == '\0')
            return tune_wrong("%s needs the name of a file", arg);
    } else {
        return tune_wrong("unknown option %s; use --quick, --pes LIST, --hosts LIST, "
                          "--vnodes LIST, --only PART, -o FILE",
                          arg);
    }
    return 0;
}

int tune_read_options(int argc, char **argv, struct tune_options *o)
{
    bool nodes = true;

    *o = (struct tune_options){.how = TUNE_THOROUGH, .one_node = true};
    for (int i = 0; i < argc; i++) {
        int status = tune_options_read(argv, &i, o, &nodes);
        if (status != 0)
            return status;
    }
    int status = tune_options_check_nodes(o);
    if (!nodes)
        o->nodes.n = 0;
    return status;
}
