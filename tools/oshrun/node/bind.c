/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bind.c - spreads the PEs of a node over its cores or NUMA nodes.
 *
 * Uses hwloc.  Used by daemon.c.
 *
 * The topology costs some milliseconds, so it is loaded only if there can be a binding,
 * and only the kinds of objects that we look at.  It is restricted to the processors
 * that oshrun itself was given.
 */
#include "config.h"

#include "tools/oshrun/complain.h"
#include "tools/oshrun/node/bind.h"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIND_LIST 28 /* bytes of the list of processors in the text */

uint32_t bind_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return (uint32_t)CPU_COUNT(&set);
}

static int load(hwloc_topology_t *topo)
{
    if (hwloc_topology_init(topo) != 0)
        return -1;
    hwloc_topology_set_all_types_filter(*topo, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(*topo, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_flags(*topo, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM |
                                        HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
    if (hwloc_topology_load(*topo) == 0)
        return 0;
    hwloc_topology_destroy(*topo);
    return -1;
}

static void put_place(struct bind_place *p, hwloc_topology_t topo, hwloc_obj_t obj,
                      const char *kind)
{
    char list[BIND_LIST];
    CPU_ZERO(&p->cpus);
    hwloc_cpuset_to_glibc_sched_affinity(topo, obj->cpuset, &p->cpus, sizeof p->cpus);
    hwloc_bitmap_list_snprintf(list, sizeof list, obj->cpuset);
    snprintf(p->text, sizeof p->text, "%s %u (cpu %s)", kind, obj->logical_index, list);
}

/* PEs that follow each other share a NUMA node, but have each a core of its own. */
static void spread(struct bind_plan *plan, hwloc_topology_t topo, bool numa,
                   uint32_t nplaces, uint32_t npes)
{
    hwloc_obj_type_t type = numa ? HWLOC_OBJ_NUMANODE : HWLOC_OBJ_CORE;
    for (uint32_t i = 0; i < npes; i++) {
        uint64_t at = numa ? (uint64_t)i * nplaces / npes : i % nplaces;
        hwloc_obj_t obj = hwloc_get_obj_by_type(topo, type, (unsigned)at);
        put_place(&plan->place[i], topo, obj, numa ? "numa" : "core");
    }
}

int bind_make(struct bind_plan *plan, enum job_bind how, uint32_t npes)
{
    *plan = (struct bind_plan){0};
    /* A core has one processor at least: more PEs than processors are never bound. */
    if (how == JOB_BIND_NONE || (how == JOB_BIND_AUTO && npes > bind_cpu_count()))
        return 0;
    hwloc_topology_t topo;
    bool numa = how == JOB_BIND_NUMA;
    int count = 0;
    if (load(&topo) == 0) {
        count =
            hwloc_get_nbobjs_by_type(topo, numa ? HWLOC_OBJ_NUMANODE : HWLOC_OBJ_CORE);
        if (count <= 0)
            hwloc_topology_destroy(topo);
    }
    if (count <= 0 && how == JOB_BIND_AUTO)
        return 0;
    if (count <= 0) {
        complain("hwloc finds no %s on this machine; use --bind-to none",
                 numa ? "NUMA nodes" : "cores");
        return -1;
    }
    if (how != JOB_BIND_AUTO || npes <= (uint32_t)count) {
        plan->place = calloc(npes, sizeof *plan->place);
        if (plan->place != NULL)
            spread(plan, topo, numa, (uint32_t)count, npes);
    }
    hwloc_topology_destroy(topo);
    return 0;
}

void bind_free(struct bind_plan *plan)
{
    free(plan->place);
    plan->place = NULL;
}
