/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bind.c - distributes the cores or NUMA nodes of a node to its PEs.
 *
 * Uses hwloc.  Used by daemon.c.
 *
 * Loading the topology takes some milliseconds, so it is loaded only if PEs may be bound,
 * and with the needed types of objects only.  It is restricted to the affinity mask of
 * oshrun, except for the processors of a rank file.
 */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/daemon/bind.h"
#include "tools/oshrun/util/mem.h"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BIND_LIST = 100 }; /* bytes of the list of processors in the text */

uint32_t bind_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return (uint32_t)CPU_COUNT(&set);
}

/* Number of PEs that share our processors; *before: those of the preceding nodes. */
static uint32_t bind_count_sharers(const struct job *job, uint32_t *before)
{
    *before = 0;
    if (!job->virtual_nodes)
        return job->node[job->here].npes;
    for (uint32_t i = 0; i < job->here; i++)
        *before += job->node[i].npes;
    return job->npes;
}

uint32_t bind_cpu_share(const struct job *job)
{
    uint32_t before, sharers = bind_count_sharers(job, &before);
    uint64_t share = (uint64_t)bind_cpu_count() * job->node[job->here].npes;
    return share >= sharers ? (uint32_t)(share / sharers) : 1;
}

bool bind_is_oversubscribed(const struct job *job)
{
    uint32_t before;

    return bind_count_sharers(job, &before) > bind_cpu_count();
}

/* restricted: to the affinity mask of oshrun. */
static int bind_load(hwloc_topology_t *topo, bool restricted)
{
    unsigned long flags = HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM;
    if (hwloc_topology_init(topo) != 0)
        return -1;
    hwloc_topology_set_all_types_filter(*topo, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(*topo, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (restricted)
        flags |= HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING;
    hwloc_topology_set_flags(*topo, flags);
    if (hwloc_topology_load(*topo) == 0)
        return 0;
    hwloc_topology_destroy(*topo);
    return -1;
}

struct bind_range bind_share(enum job_bind bind, uint32_t pe, uint32_t sharers,
                             uint32_t places)
{
    uint32_t first =
        bind == JOB_BIND_CORE ? pe % places : (uint32_t)((uint64_t)pe * places / sharers);
    uint32_t end = bind == JOB_BIND_AUTO
                       ? (uint32_t)((uint64_t)(pe + 1) * places / sharers)
                       : first + 1;

    return (struct bind_range){first, end};
}

/* Binds a PE to these objects; `cpus` is scratch memory. */
static void bind_fill(struct bind_place *p, hwloc_topology_t topo, hwloc_obj_type_t type,
                      struct bind_range share, hwloc_bitmap_t cpus)
{
    char list[BIND_LIST];
    const char *name = type == HWLOC_OBJ_NUMANODE ? "numa" : "core";

    hwloc_bitmap_zero(cpus);
    for (uint32_t i = share.first; i < share.end; i++)
        hwloc_bitmap_or(cpus, cpus, hwloc_get_obj_by_type(topo, type, i)->cpuset);
    hwloc_cpuset_to_glibc_sched_affinity(topo, cpus, &p->cpus, sizeof p->cpus);
    if (hwloc_bitmap_list_snprintf(list, sizeof list, cpus) >= (int)sizeof list)
        memcpy(list + sizeof list - sizeof "...", "...", sizeof "...");
    if (share.end - share.first == 1)
        snprintf(p->text, sizeof p->text, "%s %u (cpu %s)", name, share.first, list);
    else
        snprintf(p->text, sizeof p->text, "%ss %u-%u (cpu %s)", name, share.first,
                 share.end - 1, list);
}

static int bind_spread(struct bind_plan *plan, const struct job *job,
                       hwloc_topology_t topo, hwloc_obj_type_t type, uint32_t nplaces)
{
    uint32_t before, sharers = bind_count_sharers(job, &before);
    uint32_t npes = job->node[job->here].npes;
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();

    if (cpus == NULL)
        error_no_memory();
    plan->place = mem_calloc(npes, sizeof *plan->place);
    for (uint32_t i = 0; i < npes; i++) {
        struct bind_range share = bind_share(job->bind, before + i, sharers, nplaces);
        bind_fill(&plan->place[i], topo, type, share, cpus);
    }
    hwloc_bitmap_free(cpus);
    return 0;
}

static int bind_all(struct bind_plan *plan, const struct job *job)
{
    bool automatic = job->bind == JOB_BIND_AUTO, numa = job->bind == JOB_BIND_NUMA;
    hwloc_obj_type_t type = numa ? HWLOC_OBJ_NUMANODE : HWLOC_OBJ_CORE;
    hwloc_topology_t topo;
    uint32_t before, sharers = bind_count_sharers(job, &before);
    /* A core has at least one processor, so that with more PEs than processors AUTO
     * never binds. */
    if (job->bind == JOB_BIND_NONE || (automatic && sharers > bind_cpu_count()))
        return 0;
    bool loaded = bind_load(&topo, true) == 0;
    int count = loaded ? hwloc_get_nbobjs_by_type(topo, type) : 0, rc = 0;
    if (count <= 0 && !automatic) {
        error_report("hwloc finds no %s on this machine; use --bind-to none",
                     numa ? "NUMA nodes" : "cores");
        rc = -1;
    } else if (count > 0 && (!automatic || sharers <= (uint32_t)count)) {
        rc = bind_spread(plan, job, topo, type, (uint32_t)count);
    }
    if (loaded)
        hwloc_topology_destroy(topo);
    return rc;
}

/* ---- processors of a rank file ---------------------------------------------------- */

static int bind_one(struct bind_place *p, uint32_t rank, const char *list,
                    hwloc_topology_t topo, hwloc_bitmap_t wanted)
{
    char missing[BIND_LIST], has[BIND_LIST];
    hwloc_const_bitmap_t there = hwloc_topology_get_topology_cpuset(topo);
    if (hwloc_bitmap_list_sscanf(wanted, list) != 0) {
        error_report("PE %u: '%s' is not a list of processors", rank, list);
        return -1;
    }
    if (hwloc_bitmap_isincluded(wanted, there)) {
        hwloc_cpuset_to_glibc_sched_affinity(topo, wanted, &p->cpus, sizeof p->cpus);
        snprintf(p->text, sizeof p->text, "rank file (cpu %.*s)", BIND_LIST, list);
        return 0;
    }
    hwloc_bitmap_andnot(wanted, wanted, there);
    hwloc_bitmap_list_snprintf(missing, sizeof missing, wanted);
    hwloc_bitmap_list_snprintf(has, sizeof has, there);
    error_report(
        "the rank file binds PE %u to processors that this host does not have: %s; it "
        "has %s",
        rank, missing, has);
    return -1;
}

static int bind_listed(struct bind_plan *plan, const struct job_node *node)
{
    hwloc_topology_t topo;
    if (plan->place == NULL) { /* each PE gets the affinity mask of oshrun */
        plan->place = mem_calloc(node->npes, sizeof *plan->place);
        for (uint32_t i = 0; i < node->npes; i++) {
            sched_getaffinity(0, sizeof plan->place[i].cpus, &plan->place[i].cpus);
            strcpy(plan->place[i].text, "not bound");
        }
    }
    hwloc_bitmap_t wanted = hwloc_bitmap_alloc();
    if (wanted == NULL || bind_load(&topo, false) != 0) {
        error_report(
            "hwloc cannot find the processors of this machine; leave out slot= in "
            "the rank file");
        hwloc_bitmap_free(wanted);
        return -1;
    }
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < node->npes; i++)
        if (node->cpus[i] != NULL)
            rc = bind_one(&plan->place[i], node->rank[i], node->cpus[i], topo, wanted);
    hwloc_topology_destroy(topo);
    hwloc_bitmap_free(wanted);
    return rc;
}

int bind_make(struct bind_plan *plan, const struct job *job)
{
    const struct job_node *node = &job->node[job->here];
    *plan = (struct bind_plan){0};
    if (bind_all(plan, job) != 0)
        return -1;
    return node->cpus != NULL ? bind_listed(plan, node) : 0;
}

void bind_free(struct bind_plan *plan)
{
    free(plan->place);
    plan->place = NULL;
}
