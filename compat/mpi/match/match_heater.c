/* SPDX-License-Identifier: BSD-3-Clause */
/* match_heater.c - see match_heater.h. */
#include "config.h"

#include <errno.h>
#include <hwloc.h>
#include <signal.h>

#include "compat/mpi/match/match_heater.h"
#include "pgas/threads/futex.h"

enum heater_control { HEATER_RUNS, HEATER_PAUSED, HEATER_STOPS };

struct match_heater_options match_heater_options_default(void)
{
    return (struct match_heater_options){
        .period_us = 100, .regions = 64, .cpu = MATCH_HEATER_CHOOSE};
}

/* ---- placement ------------------------------------------------------------------ */

static bool heater_topology_load(hwloc_topology_t *topology)
{
    if (hwloc_topology_init(topology) != 0)
        return false;
    hwloc_topology_set_all_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(*topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_cache_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (hwloc_topology_load(*topology) == 0)
        return true;
    hwloc_topology_destroy(*topology);
    return false;
}

/* Where hwloc sees no cores, each processor is one. */
static hwloc_obj_t heater_core_of(hwloc_topology_t topology, hwloc_obj_t pu)
{
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);

    return core != NULL ? core : pu;
}

static int heater_place_under(hwloc_topology_t topology, hwloc_obj_t cache,
                              hwloc_obj_t own, const cpu_set_t *allowed)
{
    const hwloc_obj_t core = heater_core_of(topology, own);
    hwloc_obj_t pu = NULL;

    while ((pu = hwloc_get_next_obj_inside_cpuset_by_type(topology, cache->cpuset,
                                                          HWLOC_OBJ_PU, pu)) != NULL)
        if (heater_core_of(topology, pu) != core && CPU_ISSET(pu->os_index, allowed))
            return (int)pu->os_index;
    return -1;
}

int match_heater_place(int cpu, const cpu_set_t *allowed)
{
    hwloc_topology_t topology;
    int found = -1;

    if (cpu < 0 || !heater_topology_load(&topology))
        return -1;
    hwloc_obj_t own = hwloc_get_pu_obj_by_os_index(topology, (unsigned)cpu);
    for (hwloc_obj_t o = own; o != NULL && found < 0; o = o->parent)
        if (hwloc_obj_type_is_dcache(o->type) && o->attr->cache.depth >= 2)
            found = heater_place_under(topology, o, own, allowed);
    hwloc_topology_destroy(topology);
    return found;
}

/* ---- the thread ----------------------------------------------------------------- */

static void *heater_run(void *arg)
{
    struct match_heater *h = arg;

    for (uint32_t control = HEATER_RUNS; control != HEATER_STOPS;
         control = load_acquire_u32(&h->control)) {
        if (control == HEATER_PAUSED) {
            futex_wait_private(&h->control, HEATER_PAUSED);
            continue;
        }
        for (uint16_t i = 0;
             i < MATCH_REGIONS_MAX && load_relaxed_u32(&h->control) == HEATER_RUNS; i++)
            match_regions_read(&h->regions, i);
        fetch_add_acq_rel_u64(&h->passes, 1);
        futex_wait_us_private(&h->control, HEATER_RUNS, h->period_us);
    }
    return NULL;
}

/* The thread is bound from the start, and leaves signals to others. */
static int heater_create(struct match_heater *h)
{
    pthread_attr_t attr;
    sigset_t all, old;
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET((size_t)h->cpu, &cpus);
    sigfillset(&all);
    int status = pthread_attr_init(&attr);
    if (status != 0)
        return status;
    pthread_sigmask(SIG_SETMASK, &all, &old);
    status = pthread_attr_setaffinity_np(&attr, sizeof cpus, &cpus);
    if (status == 0)
        status = pthread_create(&h->thread, &attr, heater_run, h);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return status;
}

void match_heater_init(struct match_heater *h)
{
    *h = (struct match_heater){.cpu = MATCH_HEATER_CHOOSE};
}

int match_heater_start(struct match_heater *h, const struct match_heater_options *options)
{
    int cpu = options->cpu;
    cpu_set_t allowed;

    if (options->period_us == 0 || options->regions == 0 ||
        options->regions > MATCH_REGIONS_MAX || cpu >= CPU_SETSIZE)
        return EINVAL;
    if (cpu < 0) {
        if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
            return errno;
        cpu = match_heater_place(sched_getcpu(), &allowed);
    }
    if (cpu < 0)
        return ENODEV;
    h->control = HEATER_RUNS;
    h->period_us = options->period_us;
    h->cpu = cpu;
    int status = heater_create(h);
    if (status == 0)
        store_relaxed_u32(&h->regions.limit, options->regions);
    return status;
}

static void heater_control(struct match_heater *h, enum heater_control control)
{
    store_release_u32(&h->control, control);
    futex_wake_one_private(&h->control);
}

void match_heater_pause(struct match_heater *h)
{
    heater_control(h, HEATER_PAUSED);
}

void match_heater_resume(struct match_heater *h)
{
    heater_control(h, HEATER_RUNS);
}

void match_heater_stop(struct match_heater *h)
{
    heater_control(h, HEATER_STOPS);
    pthread_join(h->thread, NULL);
}

uint64_t match_heater_passes(const struct match_heater *h)
{
    return load_relaxed_u64(&h->passes);
}
