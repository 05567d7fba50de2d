/* SPDX-License-Identifier: BSD-3-Clause */
/* sim.c - the sim transport (see sim.h): fibers, clock, events. Uses: sim_int, random. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pgas/core/base/pgas.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/transport/test/random.h"
#include "pgas/transport/test/sim_int.h"

enum {
    STACK_DEFAULT = 64 << 10,
    IDLE_FIRST_NS = 1000,
    EVENTS_FIRST = 64, /* initial space, in addition to one event per PE */
};

struct sim *sim_running(void)
{
    return pgas_thread.sim;
}

/* -- events ----------------------------------------------------------------------- */

static bool sim_event_before(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void sim_event_swap(struct event *a, struct event *b)
{
    struct event was = *a;

    *a = *b;
    *b = was;
}

bool sim_reserve(struct sim *sim)
{
    size_t need = (size_t)sim->config.npes + sim->operations + 1;

    if (need > sim->space) {
        size_t space = 2 * need + EVENTS_FIRST;
        struct event *event = realloc(sim->event, space * sizeof *event);
        if (event == NULL)
            return false;
        sim->event = event;
        sim->space = space;
    }
    return true;
}

void sim_push(struct sim *sim, struct event event)
{
    size_t i = sim->nevents++;

    PGAS_ASSERT(i < sim->space && event.at >= sim->now);
    event.number = sim->numbers++;
    sim->event[i] = event;
    for (; i > 0 && sim_event_before(&sim->event[i], &sim->event[(i - 1) / 2]);
         i = (i - 1) / 2)
        sim_event_swap(&sim->event[i], &sim->event[(i - 1) / 2]);
    sim->idle = 0;
}

static struct event sim_event_pop(struct sim *sim)
{
    struct event first = sim->event[0], *e = sim->event;
    size_t n = --sim->nevents, i = 0;

    e[0] = e[n];
    for (;;) {
        size_t least = i, child = 2 * i + 1;
        for (size_t k = child; k < child + 2 && k < n; k++)
            if (sim_event_before(&e[k], &e[least]))
                least = k;
        if (least == i)
            return first;
        sim_event_swap(&e[i], &e[least]);
        i = least;
    }
}

/* -- fibers ----------------------------------------------------------------------- */

static void sim_fiber_make_ready(struct sim *sim, int pe)
{
    sim->fiber[pe].state = FIBER_READY;
    PGAS_ASSERT(sim->nready < sim->config.npes);
    sim->ready[sim->nready++] = pe;
}

void sim_wake(struct sim *sim, int pe)
{
    if (sim->fiber[pe].state == FIBER_PARKED)
        sim_fiber_make_ready(sim, pe);
}

/* Entry point of each fiber. */
static void sim_fiber_main(void)
{
    struct sim *sim = pgas_thread.sim;
    int pe = sim->current;

    sim->fn(pe, sim->arg);
    sim->fiber[pe].state = FIBER_RETURNED;
    sim->live--;
}

static void sim_fiber_yield(struct sim *sim, enum sim_fiber_state state)
{
    struct fiber *fiber = &sim->fiber[sim->current];

    PGAS_ASSERT(sim == pgas_thread.sim && sim->current >= 0);
    fiber->state = state;
    swapcontext(&fiber->context, &sim->scheduler);
}

void sim_park(struct sim *sim)
{
    sim_fiber_yield(sim, FIBER_PARKED);
}

static void sim_fiber_start(struct sim *sim, int pe)
{
    struct fiber *fiber = &sim->fiber[pe];

    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = sim->config.stack;
    fiber->context.uc_link = &sim->scheduler;
    makecontext(&fiber->context, sim_fiber_main, 0);
    sim_fiber_make_ready(sim, pe);
    sim->live++;
}

/* Run one of the ready fibers until it yields. */
static void sim_fiber_resume(struct sim *sim)
{
    int i = (int)random_below(&sim->random, (uint64_t)sim->nready);
    int pe = sim->ready[i];

    sim->ready[i] = sim->ready[--sim->nready];
    if (sim->fiber[pe].state != FIBER_READY)
        return; /* was killed */
    sim->current = pe;
    swapcontext(&sim->scheduler, &sim->fiber[pe].context);
    sim->current = -1;
}

/* -- the run ---------------------------------------------------------------------- */

static void sim_event_handle(struct sim *sim)
{
    struct event event = sim_event_pop(sim);

    PGAS_ASSERT(event.at >= sim->now);
    sim->now = event.at;
    if (event.op != NULL) {
        sim_op_step(sim, event.op);
    } else if (event.alarm) {
        sim->operations--;
        sim_wake(sim, event.pe);
    } else if (sim->fiber[event.pe].state == FIBER_ASLEEP) {
        sim_fiber_make_ready(sim, event.pe);
    }
}

/* Nothing is in flight: advance time, for waits with deadlines. False: SIM_IDLE_NS have
 * passed. */
static bool sim_advance_idle(struct sim *sim)
{
    sim->idle = sim->idle == 0 ? IDLE_FIRST_NS : 2 * sim->idle;
    if (sim->idle > SIM_IDLE_NS)
        return false;
    sim->now += sim->idle;
    for (int pe = 0; pe < sim->config.npes; pe++)
        sim_wake(sim, pe);
    return true;
}

int sim_run(struct sim *sim, void (*fn)(int pe, void *arg), void *arg)
{
    struct sim *outer = pgas_thread.sim;
    int error = 0;

    sim->fn = fn;
    sim->arg = arg;
    sim->idle = 0;
    for (int pe = 0; pe < sim->config.npes; pe++)
        if (sim->fiber[pe].state != FIBER_DEAD)
            sim_fiber_start(sim, pe);
    pgas_thread.sim = sim;
    while (sim->live > 0 && error == 0) {
        if (sim->nready > 0)
            sim_fiber_resume(sim);
        else if (sim->nevents > 0)
            sim_event_handle(sim);
        else if (!sim_advance_idle(sim))
            error = -EDEADLK;
    }
    pgas_thread.sim = outer;
    return error;
}

int sim_stuck(const struct sim *sim, int *pes, int space)
{
    int n = 0;

    for (int pe = 0; pe < sim->config.npes; pe++) {
        if (sim->fiber[pe].state != FIBER_PARKED)
            continue;
        if (n < space)
            pes[n] = pe;
        n++;
    }
    return n;
}

uint64_t sim_now_ns(void)
{
    return pgas_thread.sim != NULL ? pgas_thread.sim->now : 0;
}

void sim_sleep_ns(uint64_t ns)
{
    struct sim *sim = pgas_thread.sim;

    sim_push(sim, (struct event){.at = sim->now + ns, .pe = sim->current});
    sim_fiber_yield(sim, FIBER_ASLEEP);
}

void sim_alarm_ns(uint64_t at)
{
    struct sim *sim = pgas_thread.sim;

    if (at < sim->now || !sim_reserve(sim))
        return; /* the PE continues when nothing is in flight (sim_advance_idle) */
    sim->operations++;
    sim_push(sim, (struct event){.at = at, .pe = sim->current, .alarm = true});
}

void sim_kill(struct sim *sim, int pe, bool silent)
{
    struct fiber *fiber = &sim->fiber[pe];

    if (fiber->state == FIBER_DEAD)
        return;
    if (fiber->state != FIBER_RETURNED)
        sim->live--;
    fiber->silent = silent;
    fiber->state = FIBER_DEAD;
    if (sim == pgas_thread.sim && sim->current == pe)
        sim_fiber_yield(sim, FIBER_DEAD);
}

/* -- set-up and teardown ---------------------------------------------------------- */

/* Map the stacks, with an inaccessible page below each. */
static bool sim_map_stacks(struct sim *sim)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t stack = (sim->config.stack + page - 1) / page * page;
    size_t npes = (size_t)sim->config.npes;

    sim->config.stack = stack;
    sim->stacks_len = npes * (page + stack);
    char *p = mmap(NULL, sim->stacks_len, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return false;
    sim->stacks = p;
    for (size_t i = 0; i < npes; i++) {
        sim->fiber[i].stack = p + i * (page + stack) + page;
        if (mprotect(sim->fiber[i].stack, stack, PROT_READ | PROT_WRITE) != 0)
            return false;
    }
    return true;
}

struct sim *sim_new(const struct sim_config *config)
{
    struct sim *sim = calloc(1, sizeof *sim);

    if (sim == NULL)
        return NULL;
    sim->config = *config;
    if (sim->config.stack == 0)
        sim->config.stack = STACK_DEFAULT;
    sim->random = random_stream(config->seed, 0);
    sim->current = -1;
    sim->fiber = calloc((size_t)config->npes, sizeof *sim->fiber);
    sim->ready = calloc((size_t)config->npes, sizeof *sim->ready);
    if (sim->fiber == NULL || sim->ready == NULL)
        goto fail;
    for (int pe = 0; pe < config->npes; pe++) {
        sim->fiber[pe].state = FIBER_RETURNED;
        sim->fiber[pe].early_end = &sim->fiber[pe].early;
    }
    if (!sim_reserve(sim) || !sim_map_stacks(sim))
        goto fail;
    return sim;

fail:
    sim_free(sim);
    return NULL;
}

/* Discard operations in flight; free those that no context owns. */
static void sim_free_operations(struct sim *sim)
{
    for (size_t i = 0; i < sim->nevents; i++)
        if (sim->event[i].op != NULL)
            sim_op_discard(sim->event[i].op);
    sim->nevents = 0;
    for (int pe = 0; pe < sim->config.npes; pe++)
        sim_op_discard_all(sim->fiber[pe].early);
}

void sim_free(struct sim *sim)
{
    if (sim == NULL)
        return;
    if (sim->fiber != NULL)
        sim_free_operations(sim);
    for (int pe = 0; sim->fiber != NULL && pe < sim->config.npes; pe++)
        if (sim->fiber[pe].net != NULL)
            transport_sim.close(sim->fiber[pe].net);
    if (sim->stacks != NULL)
        munmap(sim->stacks, sim->stacks_len);
    free(sim->event);
    free(sim->ready);
    free(sim->fiber);
    free(sim);
}
