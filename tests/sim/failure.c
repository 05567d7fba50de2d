/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure.c - failures in a simulated job (SHMEM_FT=continue): the deaths of PEs and
 * nodes, the local watch (ft_watch.h), and an agent for each node (ft_boot.h).
 *
 * An agent is the library's own service (ft_service.h) with the protocol, driven by
 * events of the virtual clock: frames between two agents arrive in order after a random
 * time; an agent that is dead loses them, and if its node lives, the sender is told that
 * the connection is closed.  The queue of an agent for another node may overflow
 * (failure_full.c).  An agent runs in the node's daemon, or in the node's lowest
 * live PE, whose successor takes over.  Code of an agent or a watch runs between the PEs,
 * in the runtime instance of a PE of the node.
 *
 * The PE of an agent may die in the middle of a step of the agent, at one of its outputs:
 * then it has acknowledged a frame that it has not processed to the end.  Frames about
 * interrupted calls that it got, or would have got from the logs of its neighbours, may
 * be lost to its successor.
 *
 * Invariant of each agent: it has the cause of a call that it has closed in its map.
 *
 * After its death a PE is never scheduled again; its memory stays mapped by the PEs of
 * its node.  The watch of its node learns of it after a random time, which the other PEs
 * of the node process after another one.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/pgas.h"
#include "pgas/ft/ft.h"
#include "pgas/ft/ft_boot.h"
#include "pgas/ft/protocol/ft_proto_int.h"
#include "pgas/ft/ft_handler.h"
#include "pgas/ft/ft_watch.h"
#include "pgas/transport/test/random.h"
#include "tests/sim/failure_int.h"

enum {
    DETECT_NS = 8000, /* most until the node knows of a death */
    NOTICE_NS = 6000, /* .. until the watch of a PE has processed a change of the map */
    WAKE_NS = 2000,   /* .. until an agent has processed an event */
    START_NS = 50000, /* .. until a successor of an agent runs */
    GRACE_TIMEOUTS = 3,
    FUSE_BITS = 6,      /* an agent dies at one of 2^0..2^(FUSE_BITS - 1) outputs, */
    FUSE_NS = 1000000,  /* or after that time */
    FORGET_NS = 100000, /* in which frames to a successor are lost */
    SLOW_IN = 8,        /* one frame in so many takes up to */
    SLOW_PART = 4,      /* 1 / SLOW_PART of slow_ns longer */
};
#define NS_PER_MS UINT64_C(1000000)

/* ---- instances -------------------------------------------------------------------- */

/* The first PE of the node, whose instance identifies words of the node (os.c). */
static int failure_first_pe(const struct job *job, int node)
{
    return job_pe_of_node(&job->config, node, 0);
}

/* Code of a PE or of an agent runs between the PEs. */
static struct pgas *failure_enter(const struct job *job, int pe)
{
    struct pgas *before = pgas_thread.instance;

    pgas_thread.instance = job->instance[pe];
    return before;
}

static void failure_leave(struct pgas *before)
{
    pgas_thread.instance = before;
}

static uint64_t failure_within(struct failure *f, uint64_t most)
{
    return sim_time_ns(f->job->sim) + 1 + random_below(&f->random, most);
}

uint64_t failure_clock(const struct failure *f)
{
    return sim_time_ns(f->job->sim) + JOB_FIRST_NS;
}

/* The lowest live PE of a node; -1: none. */
static int failure_leader(const struct job *job, int node)
{
    for (int k = 0; k < job->config.pes_per_node; k++) {
        int pe = job_pe_of_node(&job->config, node, k);
        if (!sim_is_dead(job->sim, pe))
            return pe;
    }
    return -1;
}

/* ---- steps of agents -------------------------------------------------------------- */

static void failure_kill_pe(struct job *job, int pe, bool silent);

/* The agent that runs sends a frame, or wakes a thread. */
static void failure_output(struct failure *f)
{
    struct failure_agent *a = f->stepping;

    if (a != NULL && a->fuse > 0 && --a->fuse == 0)
        longjmp(a->die, 1);
}

/* Runs a function of the agent, and then kills its process if it has died there. */
static void failure_run(struct failure_agent *a,
                        void (*run)(struct failure_agent *a, const void *arg),
                        const void *arg)
{
    struct failure *f = a->f;
    struct pgas *before = failure_enter(f->job, failure_first_pe(f->job, a->node));

    if (setjmp(a->die) == 0) {
        f->stepping = a;
        run(a, arg);
        failure_full_report(a);
        failure_check_calls(&a->service);
    } else {
        a->dies = true;
    }
    f->stepping = NULL;
    failure_leave(before);
    if (a->dies)
        failure_kill_pe(f->job, a->host, false);
    a->dies = false;
}

/* ---- frames ----------------------------------------------------------------------- */

static void failure_unlink(struct failure_frame *frame)
{
    if (frame->next != NULL)
        frame->next->previous = frame->previous;
    if (frame->previous != NULL)
        frame->previous->next = frame->next;
    else
        frame->f->frames = frame->next;
}

static void failure_arrive(void *data);
static void failure_wake_agent(struct failure_agent *a);

static struct failure_frame *failure_new_frame(struct failure *f, int from, int to,
                                               const void *bytes, size_t len)
{
    struct failure_frame *frame = malloc(sizeof *frame + len);

    if (frame == NULL)
        abort();
    *frame = (struct failure_frame){
        .next = f->frames, .f = f, .from = from, .to = to, .len = len};
    if (len > 0)
        memcpy(frame->bytes, bytes, len);
    if (frame->next != NULL)
        frame->next->previous = frame;
    f->frames = frame;
    return frame;
}

/* Frames are slowed less than the operations of the PEs, which may thus arrive after a
 * shrink. */
static uint64_t failure_trip_ns(struct failure *f)
{
    const struct job_config *c = &f->job->config;
    uint64_t ns = c->latency_ns + random_below(&f->random, c->jitter_ns + 1);

    if (random_below(&f->random, SLOW_IN) == 0)
        ns += random_below(&f->random, c->slow_ns / SLOW_PART + 1);
    return ns;
}

static void failure_send(void *host, uint32_t to, uint32_t generation, const void *bytes,
                         size_t len)
{
    struct failure_agent *a = host;
    struct failure *f = a->f;
    uint64_t at = sim_time_ns(f->job->sim) + failure_trip_ns(f);

    if (failure_full_drops(a, (int)to, bytes))
        return;
    struct failure_frame *frame = failure_new_frame(f, a->node, (int)to, bytes, len);
    frame->generation = generation;
    if (at < a->arrival[to])
        at = a->arrival[to];
    a->arrival[to] = at;
    sim_call_at(f->job->sim, at, failure_arrive, frame);
    if (((const unsigned char *)bytes)[1] != FT_FRAME_BEAT)
        failure_output(f);
}

static void failure_give_up(void *host, uint32_t node)
{
    (void)host;
    (void)node;
}

static const struct ft_service_calls failure_calls = {.send = failure_send,
                                                      .give_up = failure_give_up};

static void failure_receive(struct failure_agent *to, const void *arg)
{
    const struct failure_frame *frame = arg;
    uint64_t now = failure_clock(to->f);

    if (frame->closed)
        ft_service_closed(&to->service, now, (uint32_t)frame->from);
    else if (now >= to->forget_ns || !failure_is_of_call(frame->bytes, frame->len))
        ft_service_receive(&to->service, now, (uint32_t)frame->from, frame->generation,
                           frame->bytes, frame->len);
}

static void failure_deliver(struct failure *f, const struct failure_frame *frame)
{
    struct failure_agent *to = &f->agent[frame->to];

    failure_run(to, failure_receive, frame);
    failure_wake_agent(to);
}

/* The kernel of a live node tells the sender that nobody listens. */
static void failure_refuse(struct failure *f, const struct failure_frame *frame)
{
    struct failure_frame *reply = failure_new_frame(f, frame->to, frame->from, NULL, 0);

    reply->closed = true;
    sim_call_at(f->job->sim, sim_time_ns(f->job->sim) + failure_trip_ns(f),
                failure_arrive, reply);
}

/* The agent of the node has not started, or has died and may have a successor. */
static bool failure_may_start(const struct failure *f, int node)
{
    return !f->agent[node].runs && !f->job->node_dead[node] &&
           failure_leader(f->job, node) >= 0;
}

/* The sender keeps frames until there is an agent (ft_mesh.h), in order. */
static void failure_hold(struct failure *f, struct failure_frame *frame)
{
    uint32_t *held = &f->agent[frame->from].held[frame->to];

    if (!frame->held && (*held)++ == 0 && f->agent[frame->to].service.proto != NULL)
        failure_refuse(f, frame);
    frame->held = true;
    sim_call_at(f->job->sim, sim_time_ns(f->job->sim) + WAKE_NS, failure_arrive, frame);
}

static void failure_arrive(void *data)
{
    struct failure_frame *frame = data;
    struct failure *f = frame->f;
    uint32_t *held = &f->agent[frame->from].held[frame->to];

    if (!frame->closed &&
        (failure_may_start(f, frame->to) || (!frame->held && *held > 0))) {
        failure_hold(f, frame);
        return;
    }
    *held -= frame->held;
    if (f->agent[frame->to].runs && !frame->lost)
        failure_deliver(f, frame);
    failure_unlink(frame);
    free(frame);
}

/* ---- agents ----------------------------------------------------------------------- */

/* The process of the agent ends: to some nodes it has not sent its last frames. */
static void failure_end_agent(struct failure_agent *a)
{
    uint64_t lost = random_next(&a->f->random);

    a->runs = false;
    a->fuse = 0;
    a->full = (struct failure_full){.armed = false};
    for (struct failure_frame *frame = a->f->frames; frame != NULL; frame = frame->next)
        if (frame->from == a->node && !frame->closed && (lost >> frame->to % 64 & 1) != 0)
            frame->lost = true;
}

/* The other nodes consider this one failed. */
static void failure_kill_node(struct failure *f, int node)
{
    const struct job_config *c = &f->job->config;

    f->job->node_dead[node] = true;
    failure_end_agent(&f->agent[node]);
    for (int k = 0; k < c->pes_per_node; k++)
        failure_kill_pe(f->job, job_pe_of_node(c, node, k), true);
}

/* The PEs have left: as the agent (ft_agent.c). */
static void failure_check_left(struct failure_agent *a)
{
    struct ft_map *map = a->service.map;

    if (atomic_load(&map->agent) != FT_AGENT_RUNNING ||
        !ft_service_pes_departed(&a->service))
        return;
    if (!ft_proto_is_finished(a->service.proto))
        ft_proto_finish(a->service.proto, failure_clock(a->f));
    ft_map_set_agent(a->service.node, FT_AGENT_STOPPED);
}

static void failure_tick(void *data);

static void failure_serve(struct failure_agent *a, const void *arg)
{
    uint64_t now = failure_clock(a->f);

    (void)arg;
    ft_service_serve(&a->service, now);
    failure_check_left(a);
    ft_proto_tick(a->service.proto, now);
}

static void failure_step(struct failure_agent *a)
{
    struct failure *f = a->f;

    if (!a->runs)
        return;
    failure_run(a, failure_serve, NULL);
    if (!a->runs)
        return;
    if (a->service.self_failed) {
        failure_kill_node(f, a->node);
        return;
    }
    uint64_t due = ft_proto_wake(a->service.proto);
    if (a->service.due_ns < due)
        due = a->service.due_ns;
    if (due <= failure_clock(f))
        due = failure_clock(f) + 1;
    if (due != FT_NEVER && due != a->due)
        sim_call_at(f->job->sim, due - JOB_FIRST_NS, failure_tick, a);
    a->due = due;
}

static void failure_tick(void *data)
{
    struct failure_agent *a = data;

    if (a->due <= failure_clock(a->f)) {
        a->due = 0;
        failure_step(a);
    }
}

static void failure_on_event(void *data)
{
    struct failure_agent *a = data;

    a->woken = false;
    failure_step(a);
}

static void failure_wake_agent(struct failure_agent *a)
{
    if (!a->runs || a->woken)
        return;
    a->woken = true;
    sim_call_at(a->f->job->sim, failure_within(a->f, WAKE_NS), failure_on_event, a);
}

/* As ft_agent_start and ft_agent_arm. */
static void failure_start_agent(struct failure_agent *a)
{
    struct failure *f = a->f;
    int first = failure_first_pe(f->job, a->node);
    struct pgas *before = failure_enter(f->job, first);
    struct node *node = f->job->instance[first]->node;
    const struct ft_map *map = node_ft(node);

    if (!ft_service_init(&a->service, node, &failure_calls, a))
        abort();
    a->service.delta_ns = map->period_ms * NS_PER_MS;
    a->service.eta_ns = map->timeout_ms * NS_PER_MS;
    a->service.grace_ns = GRACE_TIMEOUTS * a->service.eta_ns;
    a->due = 0;
    a->runs = true;
    if (!ft_service_start(&a->service, failure_clock(f), map->generation, a->incarnation))
        abort();
    failure_leave(before);
    failure_wake_agent(a);
}

/* As ft_host_check. */
static void failure_take_over(void *data)
{
    struct failure_agent *a = data;
    int leader = failure_leader(a->f->job, a->node);

    if (a->runs || leader < 0 || a->f->job->node_dead[a->node])
        return;
    ft_service_fini(&a->service);
    a->incarnation++;
    a->host = leader;
    a->forget_ns = random_below(&a->f->random, 2) * (failure_clock(a->f) + FORGET_NS);
    failure_start_agent(a);
}

/* ---- deaths ----------------------------------------------------------------------- */

static void failure_die(void *data);

struct failure_death {
    struct job *job;
    int pe;
    bool node, silent, agent, full;
};

static struct failure_death *failure_new_death(struct job *job, int pe)
{
    struct failure_death *d = malloc(sizeof *d);

    if (d == NULL)
        abort();
    *d = (struct failure_death){.job = job, .pe = pe};
    return d;
}

static bool failure_has_departed(const struct job *job, int pe)
{
    const struct pgas *g = job->instance[pe];

    return atomic_load(&ft_map_word(node_ft(g->node))[g->local_rank].departed) != 0;
}

/* The kernel wakes a watch of the node. */
static void failure_detect(void *data)
{
    struct failure_death *d = data;
    struct job *job = d->job;
    int node = job_node(&job->config, d->pe), first = failure_first_pe(job, node);
    struct failure_agent *a = &job->failure->agent[node];
    uint32_t pe = (uint32_t)d->pe;

    if (!job->node_dead[node]) {
        struct pgas *before = failure_enter(job, first);
        ft_map_fail(job->instance[first]->node, &pe, 1);
        failure_leave(before);
        if (a->host == d->pe)
            sim_call_at(job->sim, failure_within(job->failure, START_NS),
                        failure_take_over, a);
    }
    free(d);
}

/* A PE that has left shmem_finalize does not fail. */
static void failure_kill_pe(struct job *job, int pe, bool silent)
{
    struct failure *f = job->failure;
    int node = job_node(&job->config, pe);

    if (sim_is_dead(job->sim, pe) || failure_has_departed(job, pe))
        return;
    job->dead[pe] = true;
    f->watching[pe] = false;
    if (f->agent[node].host == pe && f->agent[node].runs)
        failure_end_agent(&f->agent[node]);
    sim_call_at(job->sim, failure_within(f, DETECT_NS), failure_detect,
                failure_new_death(job, pe));
    sim_kill(job->sim, pe, silent);
}

/* The agent may be in one of the PEs: then its node is one of an agent in a daemon. */
void failure_strand(struct failure *f, int node)
{
    const struct job_config *c = &f->job->config;

    f->job->node_dead[node] = true;
    f->agent[node].host = -1;
    f->agent[node].fuse = 0;
    for (int k = 0; k < c->pes_per_node; k++)
        failure_kill_pe(f->job, job_pe_of_node(c, node, k), true);
}

bool job_has_stray_agent(int pe)
{
    int node = job_node(&job_running->config, pe);

    return job_running->node_dead[node] && job_running->failure->agent[node].runs;
}

/* The PE with the agent of the node of d->pe dies in one of the next steps of the agent,
 * or after FUSE_NS. */
static void failure_light_fuse(struct failure_death *d)
{
    struct failure *f = d->job->failure;
    struct failure_agent *a = &f->agent[job_node(&d->job->config, d->pe)];

    d->agent = false;
    if (a->runs && a->host >= 0) {
        d->pe = a->host;
        a->fuse = 1 + (uint32_t)random_below(
                          &f->random, UINT64_C(1) << random_below(&f->random, FUSE_BITS));
    }
    sim_call_at(f->job->sim, sim_time_ns(f->job->sim) + FUSE_NS, failure_die, d);
}

static void failure_die(void *data)
{
    struct failure_death *d = data;

    if (d->agent) {
        failure_light_fuse(d);
        return;
    }
    if (d->full) {
        failure_full_arm(d->job->failure, d->pe);
        free(d);
        return;
    }
    if (d->node)
        failure_kill_node(d->job->failure, job_node(&d->job->config, d->pe));
    else
        failure_kill_pe(d->job, d->pe, d->silent);
    free(d);
}

void job_fail(int pe, enum job_death kind, uint64_t delay_ns)
{
    struct job *job = job_running;
    struct failure_death *d = failure_new_death(job, pe);

    d->node = kind == JOB_NODE_DIES;
    d->agent = kind == JOB_AGENT_DIES;
    d->full = kind == JOB_QUEUE_FILLS;
    d->silent = random_below(&job->failure->random, 2) != 0;
    sim_call_at(job->sim, sim_time_ns(job->sim) + delay_ns, failure_die, d);
}

bool job_is_dead(int pe)
{
    return job_running->dead[pe];
}

/* ---- the watch -------------------------------------------------------------------- */

/* The watch thread of a PE processes a change of the map. */
static void failure_notice(void *data)
{
    struct failure_death *d = data;
    struct failure *f = d->job->failure;

    f->told[d->pe] = false;
    if (f->watching[d->pe]) {
        struct pgas *before = failure_enter(d->job, d->pe);
        ft_process();
        ft_call_handler();
        failure_leave(before);
    }
    free(d);
}

static void failure_notify(struct failure *f, int node)
{
    const struct job_config *c = &f->job->config;

    for (int k = 0; k < c->pes_per_node; k++) {
        int pe = job_pe_of_node(c, node, k);
        if (!f->watching[pe] || f->told[pe])
            continue;
        f->told[pe] = true;
        sim_call_at(f->job->sim, failure_within(f, NOTICE_NS), failure_notice,
                    failure_new_death(f->job, pe));
    }
}

void failure_woken(const _Atomic uint32_t *word)
{
    struct failure *f = job_running->failure;
    const struct ft_map *map = node_ft(pgas_self.node);
    int node = job_node(&job_running->config, pgas_self.me);

    if (f == NULL)
        return;
    if (word == &map->epoch)
        failure_notify(f, node);
    else if (word == &map->event)
        failure_wake_agent(&f->agent[node]);
    failure_output(f);
}

bool ft_watch_start(void)
{
    job_running->failure->watching[pgas_self.me] = true;
    return true;
}

void ft_watch_stop(void)
{
    job_running->failure->watching[pgas_self.me] = false;
}

/* failure_notice calls the function. */
bool ft_handler_wake(void)
{
    ft_map_wake_watchers(pgas_self.ft);
    return true;
}

void ft_handler_stop(void) {}

/* ---- start and end (ft_boot.h) ----------------------------------------------------- */

static struct failure *failure_new(struct job *job)
{
    struct failure *f = job_alloc(1, sizeof *f);
    size_t nodes = (size_t)job->config.nodes, npes = (size_t)job->npes;

    f->job = job;
    f->random = random_stream(job->config.seed, JOB_STREAM_FAILURES);
    f->watching = job_alloc(npes, sizeof *f->watching);
    f->told = job_alloc(npes, sizeof *f->told);
    f->agent = job_alloc(nodes, sizeof *f->agent);
    for (size_t i = 0; i < nodes; i++) {
        f->agent[i] = (struct failure_agent){.f = f, .node = (int)i, .host = -1};
        f->agent[i].arrival = job_alloc(nodes, sizeof(uint64_t));
        f->agent[i].held = job_alloc(nodes, sizeof(uint32_t));
    }
    return f;
}

void ft_boot_arm(const struct boot *b)
{
    struct job *job = job_running;
    struct ft_map *map = node_ft(pgas_self.node);

    if (!ft_boot_on())
        return;
    if (job->failure == NULL)
        job->failure = failure_new(job);
    if (b->local_rank != 0)
        return;
    memcpy(ft_map_node_of(map), b->node_of, b->size * sizeof *b->node_of);
    memcpy(ft_map_rank(map), b->local_pes, b->local_size * sizeof *b->local_pes);
    map->period_ms = (uint32_t)pgas_self.env.ft_period;
    map->timeout_ms = (uint32_t)pgas_self.env.ft_timeout;
    atomic_store(&map->generation, pgas_self.generation);
    if (job->config.agent_in_pe)
        job->failure->agent[b->node].host = pgas_self.me;
    atomic_store(&map->agent, FT_AGENT_RUNNING);
    failure_start_agent(&job->failure->agent[b->node]);
}

void ft_boot_leave(bool exiting)
{
    struct ft_map *map = node_ft(pgas_self.node);

    (void)exiting;
    if (!ft_boot_on())
        return;
    atomic_store(&ft_map_word(map)[pgas_self.local_rank].departed, pgas_self.generation);
    ft_map_notify_agent(map);
}

void failure_free(struct job *job)
{
    struct failure *f = job->failure;

    if (f == NULL)
        return;
    for (struct failure_frame *frame = f->frames, *next; frame != NULL; frame = next) {
        next = frame->next;
        free(frame);
    }
    for (int i = 0; i < job->config.nodes; i++) {
        if (f->agent[i].service.map != NULL)
            ft_service_fini(&f->agent[i].service);
        free(f->agent[i].arrival);
        free(f->agent[i].held);
    }
    free(f->agent);
    free(f->watching);
    free(f->told);
    free(f);
}
