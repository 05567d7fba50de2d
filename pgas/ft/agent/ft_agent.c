/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_agent.c - the agent of a node: threads, start, end, and the connections of the
 * service (ft_service.h); see ft_agent.h.
 * Uses: ft_agent_int.h, ft_service, ft_proto, ft_mesh, ft_map.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pgas/core/base/clock.h"
#include "pgas/ft/agent/ft_agent_int.h"
#include "pgas/ft/agent/ft_domain.h"

#define NS_PER_MS   1000000u
#define RR_PRIORITY 1
#define NICE_VALUE  (-10)

enum {
    GRACE_TIMEOUTS = 10, /* timeouts of the ring in which the other nodes are armed .. */
    GRACE_MIN_MS = 2000, /* .. and at least this */
    STOP_MS = 500,       /* in which the last messages are sent */
    ATTEMPT_MIN_MS = 50, /* least time for an address to accept; else .. */
    ATTEMPT_MAX_MS = 1000, /* .. half of the timeout of the ring, at most this */
    BACKUP_PART = 8, /* of the period: the waiter takes a step that is late by that */
    PROBE_PART = 8,  /* of the period: a heartbeat is acknowledged by then, or .. */
    PROBE_MIN_NS = 2 * NS_PER_MS, /* .. after this */
};

/* ---- connections --------------------------------------------------------------------
 */

static void ft_agent_on_send(void *host, uint32_t to, uint32_t generation,
                             const void *frame, size_t len)
{
    struct ft_agent *agent = host;

    if (agent->mesh != NULL)
        ft_mesh_send(agent->mesh, to, generation, frame, len);
}

static void ft_agent_on_give_up(void *host, uint32_t node)
{
    struct ft_agent *agent = host;

    if (agent->mesh != NULL)
        ft_mesh_give_up(agent->mesh, node);
}

static const struct ft_service_calls ft_agent_calls = {.send = ft_agent_on_send,
                                                       .give_up = ft_agent_on_give_up};

/* The PEs see the state when they arm the agent. */
static void ft_agent_no_memory(struct ft_agent *agent)
{
    struct ft_map *map = agent->map;

    if (!agent->warned)
        dprintf(STDERR_FILENO,
                "pgas: no memory for the failure agent of node %u of %u, so the other "
                "nodes will consider the node failed.  Use fewer PEs for each node.\n",
                map->node, map->nnodes);
    agent->warned = true;
    if (atomic_load_explicit(&map->agent, memory_order_relaxed) != FT_AGENT_NONE)
        ft_map_set_agent(agent->node, FT_AGENT_NONE);
}

static void ft_agent_on_message(void *arg, uint32_t node, uint32_t tag, const void *bytes,
                                size_t n)
{
    struct ft_agent *agent = arg;

    if (!ft_service_receive(&agent->service, clock_ns(), node, tag, bytes, n))
        ft_agent_no_memory(agent);
}

static void ft_agent_on_closed(void *arg, uint32_t node)
{
    struct ft_agent *agent = arg;

    ft_service_closed(&agent->service, clock_ns(), node);
}

/* The node has not acknowledged so many bytes; `limit` or less: this one has no memory
 * for another message, and fails itself. */
static void ft_agent_on_failed(void *arg, uint32_t node, size_t bytes, size_t limit)
{
    struct ft_agent *agent = arg;

    if (bytes <= limit) {
        dprintf(STDERR_FILENO,
                "pgas: no memory for a message of the failure agent of node %u: its PEs "
                "end.  Use fewer PEs for each node.\n",
                agent->map->node);
        agent->service.self_failed = true;
        return;
    }
    dprintf(STDERR_FILENO,
            "pgas: node %u has not acknowledged %zu bytes of the failure agent of node "
            "%u (limit %zu bytes), so it counts as failed.  Check whether it is stopped "
            "or overloaded.\n",
            node, bytes, agent->map->node, limit);
    ft_service_node_lost(&agent->service, clock_ns(), node);
}

static void ft_agent_on_forged(void *arg, uint32_t node)
{
    const struct ft_agent *agent = arg;

    dprintf(STDERR_FILENO,
            "pgas: somebody has changed the connection between the failure agents of "
            "nodes %u and %u: a message is not authentic.  They connect again.\n",
            agent->map->node, node);
}

/* ---- start of the protocol ----------------------------------------------------------
 */

static uint32_t ft_agent_period_ms(const struct ft_agent *agent)
{
    return agent->map->period_ms > 0 ? agent->map->period_ms : agent->options.period_ms;
}

static uint32_t ft_agent_timeout_ms(const struct ft_agent *agent)
{
    return agent->map->timeout_ms > 0 ? agent->map->timeout_ms
                                      : agent->options.timeout_ms;
}

/* Longer than the wake-up of a busy peer.  The mesh lengthens it to two round trips. */
static uint64_t ft_agent_probe_ns(const struct ft_agent *agent)
{
    uint64_t ns = (uint64_t)ft_agent_period_ms(agent) * NS_PER_MS / PROBE_PART;

    return ns > PROBE_MIN_NS ? ns : PROBE_MIN_NS;
}

static bool ft_agent_join_mesh(struct ft_agent *agent)
{
    struct ft_map *map = agent->map;
    uint32_t attempt_ms = ft_agent_timeout_ms(agent) / 2;
    struct ft_mesh_job job = {
        .node = map->node,
        .nnodes = map->nnodes,
        .incarnation = agent->incarnation,
        .secret = agent->options.secret != NULL ? agent->options.secret : map->secret,
        .endpoint = ft_map_endpoint(map),
        .probe_ns = ft_agent_probe_ns(agent),
        .message = ft_agent_on_message,
        .closed = ft_agent_on_closed,
        .failed = ft_agent_on_failed,
        .forged = ft_agent_on_forged,
        .arg = agent};

    if (attempt_ms < ATTEMPT_MIN_MS)
        attempt_ms = ATTEMPT_MIN_MS;
    job.attempt_ms = attempt_ms < ATTEMPT_MAX_MS ? attempt_ms : ATTEMPT_MAX_MS;
    ft_map_endpoint(map)[map->node] = map->own;
    return ft_mesh_join(agent->mesh, &job);
}

/* The other nodes do not know the addresses of a successor. */
static void ft_agent_announce(struct ft_agent *agent)
{
    for (uint32_t i = 0; i < agent->map->nnodes; i++)
        if (i != agent->map->node && !ft_proto_node_failed(agent->service.proto, i))
            ft_mesh_connect(agent->mesh, i);
}

/* Everything is in the map.  False: no memory. */
static bool ft_agent_arm(struct ft_agent *agent)
{
    struct ft_map *map = agent->map;
    bool first = !agent->joined;
    uint32_t incarnation = first ? agent->incarnation : 0;

    ft_agent_watch_pes(agent);
    agent->service.delta_ns = (uint64_t)ft_agent_period_ms(agent) * NS_PER_MS;
    agent->service.eta_ns = (uint64_t)ft_agent_timeout_ms(agent) * NS_PER_MS;
    agent->service.grace_ns = GRACE_TIMEOUTS * agent->service.eta_ns;
    if (agent->service.grace_ns < (uint64_t)GRACE_MIN_MS * NS_PER_MS)
        agent->service.grace_ns = (uint64_t)GRACE_MIN_MS * NS_PER_MS;
    if (first && agent->mesh != NULL && !ft_agent_join_mesh(agent))
        return false;
    agent->joined = true;
    if (!ft_service_start(&agent->service, clock_ns(), map->generation, incarnation))
        return false;
    if (incarnation > 0 && agent->mesh != NULL)
        ft_agent_announce(agent);
    return true;
}

/* ---- the step
 * -------------------------------------------------------------------------- */

static void ft_agent_check_armed(struct ft_agent *agent)
{
    uint32_t state = atomic_load_explicit(&agent->map->agent, memory_order_acquire);

    if (agent->service.proto == NULL ? state < FT_AGENT_ARMED : state != FT_AGENT_ARMED)
        return;
    if (agent->map->generation == agent->service.generation || ft_agent_arm(agent)) {
        if (state == FT_AGENT_ARMED)
            ft_map_set_agent(agent->node, FT_AGENT_RUNNING);
    } else if (state == FT_AGENT_ARMED) {
        dprintf(STDERR_FILENO, "pgas: no memory for the failure agent of node %u\n",
                agent->map->node);
        ft_map_set_agent(agent->node, FT_AGENT_NONE); /* ends shmem_init */
    }
}

/* The PEs that have left are no longer watched, on any node. */
static void ft_agent_check_departed(struct ft_agent *agent, uint64_t now)
{
    if (atomic_load_explicit(&agent->map->agent, memory_order_relaxed) !=
            FT_AGENT_RUNNING ||
        !ft_service_pes_departed(&agent->service))
        return;
    if (!ft_proto_is_finished(agent->service.proto))
        ft_proto_finish(agent->service.proto, now);
    if (agent->mesh == NULL || ft_mesh_idle(agent->mesh))
        ft_map_set_agent(agent->node, FT_AGENT_STOPPED);
}

static void ft_agent_fail(struct ft_agent *agent)
{
    agent->host_notified = true;
    ft_map_set_agent(agent->node, FT_AGENT_FAILED);
    ft_agent_kill_pes(agent);
    if (agent->options.self_failed != NULL)
        agent->options.self_failed(agent->options.arg);
}

/* Received messages are processed before the clock is: see ft_proto.h. */
static void ft_agent_step(struct ft_agent *agent)
{
    uint64_t due = FT_NEVER, now;

    ft_agent_check_armed(agent);
    if (agent->mesh != NULL && agent->joined && !agent->service.self_failed) {
        ft_mesh_step(agent->mesh, clock_ns());
        due = ft_mesh_due(agent->mesh);
    }
    /* A message may have started a generation, or failed to. */
    if (agent->service.proto != NULL && !agent->service.self_failed) {
        now = clock_ns();
        ft_agent_check_exits(agent);
        ft_service_serve(&agent->service, now);
        ft_agent_check_departed(agent, now);
        due = ft_agent_check_alive(agent, now);
        uint64_t wake = ft_proto_tick(agent->service.proto, clock_ns());
        due = wake < due ? wake : due;
        if (agent->service.due_ns < due)
            due = agent->service.due_ns;
        if (agent->mesh != NULL && ft_mesh_due(agent->mesh) < due)
            due = ft_mesh_due(agent->mesh);
    }
    if (agent->service.self_failed && !agent->host_notified)
        ft_agent_fail(agent);
    agent->due_ns = due;
}

/* ---- threads
 * --------------------------------------------------------------------------- */

static void ft_agent_raise_priority(void)
{
    struct sched_param p = {.sched_priority = RR_PRIORITY};

    if (pthread_setschedparam(pthread_self(), SCHED_RR, &p) != 0)
        setpriority(PRIO_PROCESS, (id_t)gettid(), NICE_VALUE);
}

/* Binds the calling thread to every second of the processors that it may use, from the
 * first or from the second one on; agents of several nodes of a host alternate. */
static void ft_agent_bind(const struct ft_agent *agent, uint32_t thread)
{
    uint32_t first = (thread + agent->map->node) % 2;
    cpu_set_t all, half;
    uint32_t n = 0;

    CPU_ZERO(&half);
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && n++ % 2 == first)
            CPU_SET(cpu, &half);
    if (n > 1)
        sched_setaffinity(0, sizeof half, &half);
}

static bool ft_agent_stopping(struct ft_agent *agent)
{
    return atomic_load_explicit(&agent->stop, memory_order_acquire);
}

static void ft_agent_poke(struct ft_agent *agent)
{
    uint64_t one = 1;
    ssize_t n = write(agent->poke, &one, sizeof one);
    (void)n; /* cannot fail: the counter is small */
}

/* The time from now until `due`. */
static struct timespec ft_agent_time_to(uint64_t due)
{
    uint64_t now = clock_ns(), ns = due > now ? due - now : 0;

    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S),
                             .tv_nsec = (long)(ns % NS_PER_S)};
}

/* Sleeps until a socket is ready, a PE has ended, the time has come, or ft_agent_poke. */
static void ft_agent_sleep(struct ft_agent *agent, uint64_t due)
{
    struct pollfd fd[] = {
        {.fd = agent->poke, .events = POLLIN},
        {.fd = agent->mesh != NULL ? ft_mesh_fd(agent->mesh) : -1, .events = POLLIN},
        {.fd = agent->exits, .events = POLLIN}};
    struct timespec limit = ft_agent_time_to(due);
    uint64_t count;

    if (ppoll(fd, 3, due == FT_NEVER ? NULL : &limit, NULL) > 0 && fd[0].revents != 0)
        (void)!read(agent->poke, &count, sizeof count);
}

static void *ft_agent_poll(void *arg)
{
    struct ft_agent *agent = arg;

    ft_agent_raise_priority();
    ft_agent_bind(agent, 0);
    while (!ft_agent_stopping(agent)) {
        pthread_mutex_lock(&agent->lock);
        ft_agent_step(agent);
        uint64_t due = agent->due_ns;
        pthread_mutex_unlock(&agent->lock);
        ft_agent_sleep(agent, due);
    }
    return NULL;
}

/* An event between the load and the sleep ends the sleep at once. */
static void ft_agent_sleep_on_event(struct ft_agent *agent, uint32_t seen, uint64_t due)
{
    struct timespec limit = ft_agent_time_to(due);

    syscall(SYS_futex, &agent->map->event, FUTEX_WAIT, seen,
            due == FT_NEVER ? NULL : &limit, NULL, 0);
}

/* Takes the steps of the poller, too, while the poller's processor does not run: the
 * heartbeats go on, and time in which one processor stands still is no silence. */
static void *ft_agent_wait(void *arg)
{
    struct ft_agent *agent = arg;
    _Atomic uint32_t *event = &agent->map->event;

    ft_agent_raise_priority();
    ft_agent_bind(agent, 1);
    while (!ft_agent_stopping(agent)) {
        uint32_t seen = atomic_load_explicit(event, memory_order_acquire);
        pthread_mutex_lock(&agent->lock);
        uint64_t before = agent->due_ns;
        ft_agent_step(agent);
        uint64_t due = agent->due_ns, slack = agent->service.delta_ns / BACKUP_PART;
        pthread_mutex_unlock(&agent->lock);
        if (due < before)
            ft_agent_poke(agent);
        if (!ft_agent_stopping(agent))
            ft_agent_sleep_on_event(agent, seen, due == FT_NEVER ? due : due + slack);
    }
    return NULL;
}

static int ft_agent_start_threads(struct ft_agent *agent)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&agent->poller, NULL, ft_agent_poll, agent);
    if (err == 0) {
        err = pthread_create(&agent->waiter, NULL, ft_agent_wait, agent);
        if (err != 0) {
            atomic_store(&agent->stop, true);
            ft_agent_poke(agent);
            pthread_join(agent->poller, NULL);
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err;
}

/* ---- start and end
 * --------------------------------------------------------------------- */

static void ft_agent_free(struct ft_agent *agent)
{
    for (uint32_t i = 0; agent->pidfd != NULL && i < agent->map->local; i++)
        if (agent->pidfd[i] >= 0)
            close(agent->pidfd[i]);
    ft_service_fini(&agent->service);
    ft_mesh_close(agent->mesh);
    if (agent->poke >= 0)
        close(agent->poke);
    if (agent->exits >= 0)
        close(agent->exits);
    free(agent->pidfd);
    pthread_mutex_destroy(&agent->lock);
    free(agent);
}

static bool ft_agent_allocate(struct ft_agent *agent)
{
    const struct ft_map *map = agent->map;

    agent->pidfd = malloc(map->local * sizeof *agent->pidfd);
    agent->poke = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    agent->exits = epoll_create1(EPOLL_CLOEXEC);
    for (uint32_t i = 0; agent->pidfd != NULL && i < map->local; i++)
        agent->pidfd[i] = -1;
    return ft_service_init(&agent->service, agent->node, &ft_agent_calls, agent) &&
           agent->pidfd != NULL && agent->poke >= 0 && agent->exits >= 0;
}

static bool ft_agent_listen(struct ft_agent *agent, char *why, size_t size)
{
    const struct ft_agent_options *o = &agent->options;
    struct ft_map *map = agent->map;
    bool armed =
        atomic_load_explicit(&map->agent, memory_order_acquire) >= FT_AGENT_ARMED;

    if (!armed)
        map->own.domain = ft_domain_of_name(o->domain);
    if (map->nnodes == 1)
        return true;
    agent->mesh = ft_mesh_open(o->loopback ? "lo" : o->interfaces, &map->own, why, size);
    return agent->mesh != NULL;
}

static struct ft_agent *ft_agent_new(const struct ft_agent_options *o, char *why,
                                     size_t size)
{
    struct ft_agent *agent = calloc(1, sizeof *agent);

    if (agent == NULL) {
        snprintf(why, size, "no memory for the failure agent");
        return NULL;
    }
    *agent = (struct ft_agent){.options = *o,
                               .node = o->node,
                               .map = node_ft(o->node),
                               .poke = -1,
                               .exits = -1,
                               .due_ns = FT_NEVER};
    pthread_mutex_init(&agent->lock, NULL);
    snprintf(why, size, "no memory for the failure agent");
    if (ft_agent_allocate(agent) && ft_agent_listen(agent, why, size))
        return agent;
    ft_agent_free(agent);
    return NULL;
}

struct ft_agent *ft_agent_start(const struct ft_agent_options *o, char *why, size_t size)
{
    struct ft_agent *agent = ft_agent_new(o, why, size);
    struct ft_map *map = node_ft(o->node);

    if (agent == NULL)
        return NULL;
    agent->incarnation =
        atomic_fetch_add_explicit(&map->incarnation, 1, memory_order_relaxed);
    atomic_store_explicit(&map->agent_pid, getpid(), memory_order_relaxed);
    int err = ft_agent_start_threads(agent);
    if (err != 0) {
        snprintf(why, size, "cannot create a thread of the failure agent: %s",
                 strerror(err));
        ft_agent_free(agent);
        return NULL;
    }
    if (atomic_load_explicit(&map->agent, memory_order_acquire) < FT_AGENT_ARMED)
        ft_map_set_agent(o->node, FT_AGENT_LISTENING);
    return agent;
}

/* Sends what is queued, so that the others learn that the PEs have finalized. */
static void ft_agent_flush(struct ft_agent *agent)
{
    uint64_t end = clock_ns() + (uint64_t)STOP_MS * NS_PER_MS;

    if (agent->mesh == NULL || agent->service.proto == NULL ||
        agent->service.self_failed || !ft_proto_is_finished(agent->service.proto))
        return;
    while (!ft_mesh_idle(agent->mesh) && clock_ns() < end) {
        ft_agent_sleep(agent, clock_ns() + NS_PER_MS);
        ft_mesh_step(agent->mesh, clock_ns());
    }
}

void ft_agent_stop(struct ft_agent *agent)
{
    if (agent == NULL)
        return;
    atomic_store_explicit(&agent->stop, true, memory_order_release);
    ft_agent_poke(agent);
    ft_map_notify_agent(agent->map);
    pthread_join(agent->poller, NULL);
    pthread_join(agent->waiter, NULL);
    ft_agent_flush(agent);
    ft_agent_free(agent);
}
