/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c - see plan.h.  Uses error.h, names.h. */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/map/names.h"
#include "tools/oshrun/map/plan.h"
#include "pgas/core/base/number.h"
#include "tools/oshrun/util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define EXIT_ERROR     1
#define EXIT_USAGE     2
#define HOST_BYTES     256 /* of this machine's name */
#define VNODE_BYTES    16  /* "vn65535" */
#define LOOPBACK_START "127."

/* ---- the hosts -------------------------------------------------------------------- */

static void plan_this_machine(char *name, size_t size)
{
    name[size - 1] = '\0';
    if (gethostname(name, size - 1) != 0 || name[0] == '\0')
        snprintf(name, size, "localhost");
}

static int plan_virtual_hosts(struct hosts *h, uint32_t count)
{
    char name[VNODE_BYTES], why[HOSTS_WHY];
    struct host host = {.name = name};
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "vn%u", i);
        if (hosts_add(h, &host, why) != 0) {
            error_report("--vnodes %u: %s", count, why);
            return EXIT_ERROR;
        }
    }
    return 0;
}

/* False in a step with several tasks, which uses the hosts already. */
static bool plan_in_allocation(void)
{
    const char *nodes = getenv("SLURM_JOB_NODELIST");
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    uint32_t n;
    bool multitask = tasks != NULL && number_parse_u32(tasks, 1, UINT32_MAX, &n) && n > 1;
    return nodes != NULL && nodes[0] != '\0' && !multitask;
}

/* In a step of one task, SLURM_TASKS_PER_NODE may describe the step and not the
 * allocation. */
static int plan_slurm_hosts(struct hosts *h)
{
    char why[HOSTS_WHY];
    const char *nodes = getenv("SLURM_JOB_NODELIST");
    const char *tasks = getenv("SLURM_TASKS_PER_NODE");
    const char *cpus = getenv("SLURM_JOB_CPUS_PER_NODE");
    if (hosts_from_slurm(h, nodes, tasks, cpus, why) == 0)
        return 0;
    if (tasks != NULL && cpus != NULL && getenv("SLURM_STEP_NUM_TASKS") != NULL &&
        hosts_from_slurm(h, nodes, NULL, cpus, why) == 0)
        return 0;
    error_report("the variables of the Slurm allocation are wrong: %s", why);
    return EXIT_ERROR;
}

static int plan_find_hosts(struct plan *plan, const struct options *o)
{
    char name[HOST_BYTES], why[HOSTS_WHY], shown[NAMES_SHOWN];
    struct host this = {.name = name};
    plan->kind = o->vnodes > 0 ? PLAN_VNODES : PLAN_HOSTS;
    if (o->vnodes > 0)
        return plan_virtual_hosts(&plan->hosts, o->vnodes);
    if (o->hosts != NULL) {
        if (hosts_from_list(&plan->hosts, o->hosts, why) == 0)
            return 0;
        names_show(shown, o->hosts, strlen(o->hosts));
        error_report("%s%s%s: %s", o->where, o->where[0] == '-' ? " " : "=", shown, why);
        return EXIT_USAGE;
    }
    if (o->host_file == NULL && plan_in_allocation()) {
        plan->kind = PLAN_SLURM;
        return plan_slurm_hosts(&plan->hosts);
    }
    if (o->host_file == NULL && o->order.rank_file != NULL)
        return 0; /* the rank file names the hosts */
    plan_this_machine(name, sizeof name);
    int rc = o->host_file != NULL ? hosts_from_file(&plan->hosts, o->host_file, why)
                                  : hosts_add(&plan->hosts, &this, why);
    if (rc == 0)
        return 0;
    error_report("%s", why);
    return EXIT_ERROR;
}

/* ---- the map ---------------------------------------------------------------------- */

/* SLURM_NTASKS is the number of tasks that the user requested. */
static int plan_slurm_npes(struct map_order *order)
{
    const char *tasks = getenv("SLURM_NTASKS");
    if (tasks == NULL || order->npes > 0 || order->per_node > 0 ||
        order->rank_file != NULL ||
        number_parse_u32(tasks, 1, OPTIONS_NPES_MAX, &order->npes))
        return 0;
    error_report("SLURM_NTASKS=%s is not a number of PEs from 1 to %d; use -n", tasks,
                 OPTIONS_NPES_MAX);
    return EXIT_ERROR;
}

static int plan_make_map(struct plan *plan, const struct options *o, struct job *job)
{
    char why[HOSTS_WHY];
    struct map_order order = o->order;
    order.npes = o->npes;
    if (plan->kind == PLAN_SLURM && plan_slurm_npes(&order) != 0)
        return EXIT_ERROR;
    if (map_make(job, &plan->hosts, &order, why) == 0)
        return 0;
    error_report("%s", why);
    return order.rank_file != NULL ? EXIT_ERROR : EXIT_USAGE;
}

/* ---- local nodes ------------------------------------------------------------------ */

static bool plan_is_loopback(const char *name)
{
    return strcasecmp(name, "localhost") == 0 || strcmp(name, "::1") == 0 ||
           (strncmp(name, LOOPBACK_START, strlen(LOOPBACK_START)) == 0 &&
            name[strspn(name, "0123456789.")] == '\0');
}

/* True if name is machine, or machine without its domain. */
static bool plan_is_machine(const char *name, const char *machine)
{
    size_t len = strlen(name);
    return strncasecmp(name, machine, len) == 0 &&
           (machine[len] == '\0' || machine[len] == '.');
}

/* Replaces "localhost", which other nodes would resolve to themselves. */
static void plan_replace_localhost(struct plan *plan, struct job_node *node,
                                   const char *machine)
{
    char *name = mem_strdup(machine);
    for (uint32_t i = 0; i < plan->hosts.count; i++)
        if (plan->hosts.host[i].name == node->name) {
            free(plan->hosts.host[i].name);
            plan->hosts.host[i].name = name;
            node->name = name;
            return;
        }
    free(name);
}

/* Sets local[]; *here = the node that is this machine, or NULL. */
static int plan_mark_local(struct plan *plan, struct job *job, const char *machine,
                           struct job_node **here)
{
    *here = NULL;
    for (uint32_t i = 0; i < job->nnodes; i++) {
        struct job_node *node = &job->node[i];
        plan->local[i] = plan->kind == PLAN_VNODES || plan_is_loopback(node->name) ||
                         plan_is_machine(node->name, machine);
        if (!plan->local[i] || plan->kind == PLAN_VNODES)
            continue;
        if (*here != NULL) {
            error_report(
                "'%s' and '%s' are both this machine; name it once, or use --vnodes",
                (*here)->name, node->name);
            return EXIT_USAGE;
        }
        *here = node;
    }
    return 0;
}

static int plan_find_local(struct plan *plan, struct job *job)
{
    char machine[HOST_BYTES];
    struct job_node *here;
    plan->local = mem_calloc(job->nnodes, sizeof *plan->local);
    plan_this_machine(machine, sizeof machine);
    int rc = plan_mark_local(plan, job, machine, &here);
    if (rc == 0 && here != NULL && plan_is_loopback(here->name))
        plan_replace_localhost(plan, here, machine);
    return rc;
}

static int plan_check_gdb(const struct plan *plan, const struct options *o,
                          const struct job *job)
{
    if (o->gdb_pe == JOB_NO_PE)
        return 0;
    if (o->gdb_pe >= job->npes)
        error_report("--gdb=%u: there are only PEs 0 to %u", o->gdb_pe, job->npes - 1);
    else if (plan->kind != PLAN_HERE)
        error_report(
            "--gdb: a debugger on this terminal is only for jobs on one node, this "
            "machine");
    else
        return 0;
    return EXIT_USAGE;
}

int plan_make(struct plan *plan, const struct options *o, struct job *job)
{
    *plan = (struct plan){0};
    job->nnodes = job->here = 0;
    job->node = NULL;
    int rc = plan_find_hosts(plan, o);
    if (rc == 0)
        rc = plan_make_map(plan, o, job);
    if (rc == 0)
        rc = plan_find_local(plan, job);
    if (rc != 0)
        return rc;
    if (plan->kind != PLAN_VNODES && job->nnodes == 1 && plan->local[0])
        plan->kind = PLAN_HERE;
    job->virtual_nodes = plan->kind == PLAN_VNODES;
    return plan_check_gdb(plan, o, job);
}

void plan_free(struct plan *plan, struct job *job)
{
    map_free(job);
    hosts_free(&plan->hosts);
    free(plan->local);
    plan->local = NULL;
}
