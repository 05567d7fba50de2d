/* SPDX-License-Identifier: BSD-3-Clause */
/* sim.c - the sim transport (see sim.h): fibers, clock, events. Uses: sim_int, random. */
#include "config.h"

#undef _FORTIFY_SOURCE /* its longjmp refuses to switch stacks */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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
    event.number = ++sim->numbers;
    sim->event[i] = event;
    for (; i > 0 && sim_event_before(&sim->event[i], &sim->event[(i - 1) / 2]);
         i = (i - 1) / 2)
        sim_event_swap(&sim->event[i], &sim->event[(i - 1) / 2]);
    sim->idle = 0;
}

static void sim_push_at(struct sim *sim, struct event event)
{
    if (!sim_reserve(sim))
        abort();
    sim->operations++;
    sim_push(sim, event);
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

static void sim_digest_add(struct sim *sim, uint64_t value)
{
    sim->digest = (sim->digest ^ value) * RANDOM_MIX_1;
    sim->digest ^= sim->digest >> 31;
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
    _longjmp(sim->scheduler, 1);
}

static void sim_fiber_yield(struct sim *sim, enum sim_fiber_state state)
{
    struct fiber *fiber = &sim->fiber[sim->current];

    PGAS_ASSERT(sim == pgas_thread.sim && sim->current >= 0);
    fiber->state = state;
    fiber->thread = pgas_thread;
    if (_setjmp(fiber->yielded) == 0)
        _longjmp(sim->scheduler, 1);
}

void sim_park(struct sim *sim)
{
    sim_fiber_yield(sim, FIBER_PARKED);
}

static void sim_fiber_start(struct sim *sim, int pe)
{
    struct fiber *fiber = &sim->fiber[pe];

    fiber->thread = (struct pgas_thread){.routine = pgas_thread.routine, .sim = sim};
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = sim->config.stack;
    fiber->started = false;
    makecontext(&fiber->context, sim_fiber_main, 0);
    sim_fiber_make_ready(sim, pe);
    sim->live++;
}

/* setjmp and longjmp switch stacks without system calls, unlike swapcontext; makecontext
 * creates the stack frame of the first one. */
static _Noreturn void sim_fiber_enter(struct fiber *fiber)
{
    if (fiber->started)
        _longjmp(fiber->yielded, 1);
    fiber->started = true;
    setcontext(&fiber->context);
    abort();
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
    sim_digest_add(sim, (uint64_t)pe);
    sim->outer = pgas_thread;
    pgas_thread = sim->fiber[pe].thread;
    if (_setjmp(sim->scheduler) == 0)
        sim_fiber_enter(&sim->fiber[pe]);
    sim = pgas_thread.sim;
    pgas_thread = sim->outer;
    sim->current = -1;
}

/* -- the run ---------------------------------------------------------------------- */

static void sim_end(struct sim *sim, int pe, int status)
{
    sim->exited = true;
    sim->exited_pe = pe;
    sim->status = status;
}

static void sim_event_handle(struct sim *sim)
{
    struct event event = sim_event_pop(sim);
    struct fiber *fiber = event.op == NULL ? &sim->fiber[event.pe] : NULL;

    PGAS_ASSERT(event.at >= sim->now);
    sim->operations -= event.kind != EVENT_OP && event.kind != EVENT_WAKE;
    if (event.kind == EVENT_TIMEOUT && fiber->timeout != event.number)
        return; /* the wait is over */
    sim->now = event.at;
    sim_digest_add(sim, sim->now);
    switch (event.kind) {
    case EVENT_OP:
        sim_op_step(sim, event.op);
        break;
    case EVENT_WAKE:
        if (fiber->state == FIBER_ASLEEP)
            sim_fiber_make_ready(sim, event.pe);
        break;
    case EVENT_ALARM:
    case EVENT_TIMEOUT:
        sim_wake(sim, event.pe);
        break;
    case EVENT_KILL:
        sim_kill(sim, event.pe, event.arg != 0);
        break;
    case EVENT_EXIT:
        sim_end(sim, event.pe, event.arg);
        break;
    case EVENT_CALL:
        event.call(event.data);
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

/* 0, or why the run ends. */
static int sim_step(struct sim *sim)
{
    if (sim->nready > 0)
        sim_fiber_resume(sim);
    else if (sim->nevents > 0)
        sim_event_handle(sim);
    else if (!sim_advance_idle(sim))
        return -EDEADLK;
    if (sim->exited)
        return -ECANCELED;
    return sim->config.limit_ns > 0 && sim->now > sim->config.limit_ns ? -ETIMEDOUT : 0;
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
    while (sim->live > 0 && error == 0)
        error = sim_step(sim);
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

uint64_t sim_time_ns(const struct sim *sim)
{
    return sim->now;
}

int sim_me(void)
{
    return pgas_thread.sim->current;
}

uint64_t sim_now_ns(void)
{
    return pgas_thread.sim != NULL ? pgas_thread.sim->now : 0;
}

void sim_sleep_ns(uint64_t ns)
{
    struct sim *sim = pgas_thread.sim;

    sim_push(sim,
             (struct event){.at = sim->now + ns, .kind = EVENT_WAKE, .pe = sim->current});
    sim_fiber_yield(sim, FIBER_ASLEEP);
}

void sim_alarm_ns(uint64_t at)
{
    struct sim *sim = pgas_thread.sim;

    if (at < sim->now || !sim_reserve(sim))
        return; /* the PE continues when nothing is in flight (sim_advance_idle) */
    sim->operations++;
    sim_push(sim, (struct event){.at = at, .kind = EVENT_ALARM, .pe = sim->current});
}

/* ---- jobs ------------------------------------------------------------------------ */

void sim_wait_ns(uint64_t ns)
{
    struct sim *sim = pgas_thread.sim;
    struct fiber *fiber = &sim->fiber[sim->current];

    sim_push_at(sim, (struct event){
                         .at = sim->now + ns, .kind = EVENT_TIMEOUT, .pe = sim->current});
    fiber->timeout = sim->numbers;
    sim_fiber_yield(sim, FIBER_PARKED);
    fiber->timeout = 0;
}

static int *sim_waiters_of(struct sim *sim, _Atomic uint32_t *word)
{
    return &sim->waiter[(uintptr_t)word * RANDOM_STEP >> (64 - SIM_BUCKETS_LOG)];
}

void sim_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
    struct sim *sim = pgas_thread.sim;
    int me = sim->current, *at = sim_waiters_of(sim, word);
    struct fiber *fiber = &sim->fiber[me];

    if (atomic_load(word) != seen)
        return;
    fiber->word = word;
    fiber->next_waiter = *at;
    *at = me;
    sim_wait_ns(ns);
    while (*at != me)
        at = &sim->fiber[*at].next_waiter;
    *at = fiber->next_waiter;
    fiber->word = NULL;
}

void sim_futex_wake(_Atomic uint32_t *word)
{
    struct sim *sim = pgas_thread.sim;

    for (int pe = *sim_waiters_of(sim, word); pe >= 0; pe = sim->fiber[pe].next_waiter)
        if (sim->fiber[pe].word == word)
            sim_wake(sim, pe);
}

void sim_exit(int status)
{
    struct sim *sim = pgas_thread.sim;

    sim_end(sim, sim->current, status);
    sim_fiber_yield(sim, FIBER_PARKED);
    abort(); /* sim_run has returned */
}

int sim_status(const struct sim *sim, int *pe)
{
    *pe = sim->exited_pe;
    return sim->status;
}

uint64_t sim_digest(const struct sim *sim)
{
    return sim->digest;
}

struct sim_traffic sim_traffic(const struct sim *sim, int pe)
{
    return sim->fiber[pe].traffic;
}

void sim_traffic_reset(struct sim *sim)
{
    for (int pe = 0; pe < sim->config.npes; pe++) {
        sim->fiber[pe].traffic = (struct sim_traffic){0};
        sim->fiber[pe].epoch++;
    }
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

void sim_kill_at(struct sim *sim, int pe, bool silent, uint64_t at)
{
    sim_push_at(sim,
                (struct event){.at = at, .kind = EVENT_KILL, .pe = pe, .arg = silent});
}

void sim_exit_at(struct sim *sim, int pe, int status, uint64_t at)
{
    sim_push_at(sim,
                (struct event){.at = at, .kind = EVENT_EXIT, .pe = pe, .arg = status});
}

void sim_call_at(struct sim *sim, uint64_t at, void (*call)(void *data), void *data)
{
    sim_push_at(sim,
                (struct event){.at = at, .kind = EVENT_CALL, .call = call, .data = data});
}

bool sim_is_dead(const struct sim *sim, int pe)
{
    return sim->fiber[pe].state == FIBER_DEAD;
}

/* -- set-up and teardown ---------------------------------------------------------- */

/* The stacks of the last simulation, which the next one uses if they are enough: to map
 * and fault them in takes longer than a short simulation. */
static struct {
    char *base;
    size_t stack, npes;
} sim_spare;

static size_t sim_stack_space(size_t stack)
{
    return (size_t)sysconf(_SC_PAGESIZE) + stack;
}

/* Maps stacks, with an inaccessible page below each.  NULL if this fails. */
static char *sim_map_stacks(size_t stack, size_t npes)
{
    size_t each = sim_stack_space(stack);
    char *p = mmap(NULL, npes * each, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    for (size_t i = 0; i < npes; i++)
        if (mprotect(p + i * each + each - stack, stack, PROT_READ | PROT_WRITE) != 0) {
            munmap(p, npes * each);
            return NULL;
        }
    return p;
}

static bool sim_take_stacks(struct sim *sim)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), npes = (size_t)sim->config.npes;
    size_t stack = (sim->config.stack + page - 1) / page * page;
    size_t each = sim_stack_space(stack);

    sim->config.stack = stack;
    sim->stacks_npes = npes;
    if (sim_spare.base != NULL && sim_spare.stack == stack && sim_spare.npes >= npes) {
        sim->stacks = sim_spare.base;
        sim->stacks_npes = sim_spare.npes;
        sim_spare.base = NULL;
    } else {
        sim->stacks = sim_map_stacks(stack, npes);
    }
    for (size_t i = 0; i < npes && sim->stacks != NULL; i++)
        sim->fiber[i].stack = sim->stacks + i * each + each - stack;
    return sim->stacks != NULL;
}

static void sim_give_stacks(struct sim *sim)
{
    size_t stack = sim->config.stack, npes = sim->stacks_npes;

    if (sim->stacks == NULL)
        return;
    if (sim_spare.base != NULL)
        munmap(sim_spare.base, sim_spare.npes * sim_stack_space(sim_spare.stack));
    sim_spare.base = sim->stacks;
    sim_spare.stack = stack;
    sim_spare.npes = npes;
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
    memset(sim->waiter, -1, sizeof sim->waiter);
    sim->fiber = calloc((size_t)config->npes, sizeof *sim->fiber);
    sim->ready = calloc((size_t)config->npes, sizeof *sim->ready);
    if (sim->fiber == NULL || sim->ready == NULL)
        goto fail;
    for (int pe = 0; pe < config->npes; pe++) {
        sim->fiber[pe].state = FIBER_RETURNED;
        sim->fiber[pe].early_end = &sim->fiber[pe].early;
    }
    if (!sim_reserve(sim) || !sim_take_stacks(sim))
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
    sim_give_stacks(sim);
    free(sim->event);
    free(sim->ready);
    free(sim->fiber);
    free(sim);
}
