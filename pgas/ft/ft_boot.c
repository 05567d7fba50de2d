/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_boot.c - see ft_boot.h. */
#include "config.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/env.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/base/seal.h"
#include "pgas/core/boot/nodeseg.h"
#include "pgas/core/progress/alive.h"
#include "pgas/core/progress/block.h"
#include "pgas/ft/agent/ft_agent.h"
#include "pgas/ft/ft_boot.h"
#include "pgas/ft/agent/ft_domain.h"
#include "pgas/ft/ft_map.h"
#include "pgas/ft/ft_types.h"

#define KEY         "pgas.ft"
#define PERIOD_MAX  3600000u                  /* milliseconds */
#define AGENT_LIMIT (UINT64_C(20) * NS_PER_S) /* for an agent to listen, run or stop */
#define MS_PER_S    1000u

enum { NAME_BYTES = 256, WHY_BYTES = 256 };

/* What a leader publishes.  Only node 0 sets the secret, and none does if the daemons of
 * oshrun host the agents: they have a secret that no PE knows. */
struct ft_card {
    struct ft_endpoint endpoint;
    uint8_t secret[FT_SECRET];
};

/* The agent that this process hosts.  Outside of the runtime instance, as its threads. */
static struct ft_agent *_Atomic ft_boot_hosted;

bool ft_boot_on(void)
{
    return strcmp(pgas_self.env.ft, "continue") == 0;
}

/* ---- settings -----------------------------------------------------------------------
 */

void ft_boot_check_settings(void)
{
    const struct env *env = &pgas_self.env;
    char why[WHY_BYTES];
    uint32_t domain;

    if (!ft_boot_on() && strcmp(env->ft, "abort") != 0)
        log_die("shmem_init: SHMEM_FT is \"%s\"; set it to abort or continue", env->ft);
    if (!ft_boot_on())
        return;
    if (env->ft_period < 1 || env->ft_period > PERIOD_MAX)
        log_die("shmem_init: SHMEM_FT_PERIOD is %llu; set it to 1 to %u milliseconds",
                (unsigned long long)env->ft_period, PERIOD_MAX);
    if (env->ft_timeout < 2 * env->ft_period || env->ft_timeout > 2 * PERIOD_MAX)
        log_die("shmem_init: SHMEM_FT_TIMEOUT is %llu; set it to at least twice "
                "SHMEM_FT_PERIOD, %llu, and at most %u milliseconds",
                (unsigned long long)env->ft_timeout,
                2 * (unsigned long long)env->ft_period, 2 * PERIOD_MAX);
    if (env->ft_watchdog > PERIOD_MAX / MS_PER_S)
        log_die("shmem_init: SHMEM_FT_WATCHDOG is %llu; set it to at most %u seconds",
                (unsigned long long)env->ft_watchdog, PERIOD_MAX / MS_PER_S);
    if (!ft_domain_find(env->ft_domains, "", &domain, why, sizeof why))
        log_die("shmem_init: SHMEM_FT_DOMAINS is \"%s\": %s; set it to lists of nodes, "
                "for example n0,n1;n2,n3",
                env->ft_domains, why);
}

/* ---- the leader ---------------------------------------------------------------------
 */

static struct ft_map *ft_boot_map(void)
{
    return node_ft(pgas_self.node);
}

/* The lowest PE of the node that has not failed: the leader. */
static bool ft_boot_is_leader(const struct boot *b)
{
    for (uint32_t pe = 0; pe < b->rank; pe++)
        if (b->node_of[pe] == b->node && !ft_map_has_failed(ft_boot_map(), pe))
            return false;
    return true;
}

/* A wait of a leader for a state of the agent. */
struct ft_boot_wait {
    uint32_t least; /* enum ft_agent_state */
    uint64_t end_ns;
    bool dies; /* at that time */
};

static uint32_t ft_boot_agent_state(void)
{
    return atomic_load_explicit(&ft_boot_map()->agent, memory_order_acquire);
}

static bool ft_boot_agent_ready(const void *arg)
{
    const struct ft_boot_wait *w = arg;

    return ft_boot_agent_state() >= w->least || (!w->dies && clock_ns() > w->end_ns);
}

static void ft_boot_on_stall(const void *arg)
{
    const struct ft_boot_wait *w = arg;

    if (w->least == FT_AGENT_RUNNING && ft_boot_agent_state() == FT_AGENT_NONE)
        log_die("shmem_init: the failure agent of this node has no memory");
    if (!w->dies || clock_ns() <= w->end_ns)
        return;
    log_die("shmem_init: SHMEM_FT is continue, but the failure agent of this node %s; "
            "with oshrun, set SHMEM_FT where oshrun runs or with its option -x, and use "
            "oshrun and libshmem of one version",
            w->least == FT_AGENT_LISTENING ? "has not started" : "cannot run");
}

static void ft_boot_await_agent(uint32_t least, bool dies)
{
    struct ft_boot_wait w = {
        .least = least, .end_ns = clock_ns() + AGENT_LIMIT, .dies = dies};

    block_until(&(struct block_wait){.ready = ft_boot_agent_ready,
                                     .arg = &w,
                                     .on_stall = ft_boot_on_stall,
                                     .what = "failure agent of the node"});
}

static bool ft_boot_host(const char *domain, char *why, size_t size)
{
    const struct env *env = &pgas_self.env;
    struct ft_agent_options o = {.node = pgas_self.node,
                                 .interfaces = env_value("LAUNCH_IF"),
                                 .period_ms = (unsigned)env->ft_period,
                                 .timeout_ms = (unsigned)env->ft_timeout,
                                 .domain = domain};
    struct ft_agent *agent = ft_agent_start(&o, why, size);

    atomic_store_explicit(&ft_boot_hosted, agent, memory_order_release);
    return agent != NULL;
}

/* True if PEs host the agents; under oshrun the daemons do. */
static bool ft_boot_pes_host(void)
{
    return nodeseg_path() == NULL;
}

static void ft_boot_start_agent(const char *name)
{
    char why[WHY_BYTES];

    if (ft_boot_pes_host() && !ft_boot_host(name, why, sizeof why))
        log_die("shmem_init: SHMEM_FT is continue, but the failure agent of this node "
                "cannot start: %s",
                why);
    ft_boot_await_agent(FT_AGENT_LISTENING, true);
}

static void ft_boot_make_secret(uint8_t secret[FT_SECRET])
{
    if (!seal_random(secret, FT_SECRET))
        log_die("shmem_init: cannot make a key for the failure agents: %s",
                strerror(errno));
}

/* Bytes of the card that are published. */
static size_t ft_boot_card_bytes(void)
{
    return ft_boot_pes_host() ? sizeof(struct ft_card) : offsetof(struct ft_card, secret);
}

void ft_boot_publish(const struct boot *b)
{
    struct ft_map *map = ft_boot_map();
    struct ft_card card = {.endpoint = {.domain = 0}};
    char name[NAME_BYTES], why[WHY_BYTES];
    uint32_t domain;

    if (!ft_boot_on() || pgas_self.generation > 1 || !ft_boot_is_leader(b))
        return;
    boot_node_name(b, b->node, true, name, sizeof name);
    ft_boot_start_agent(name);
    if (!ft_domain_find(pgas_self.env.ft_domains, name, &domain, why, sizeof why))
        log_die("shmem_init: SHMEM_FT_DOMAINS is \"%s\": %s", pgas_self.env.ft_domains,
                why);
    if (*pgas_self.env.ft_domains != '\0')
        map->own.domain = domain; /* else the host of the agent has set it */
    if (b->node == 0 && ft_boot_pes_host())
        ft_boot_make_secret(map->secret);
    card.endpoint = map->own;
    memcpy(card.secret, map->secret, sizeof card.secret);
    if (b->nnodes > 1 && boot_put(BOOT_ALL, KEY, &card, ft_boot_card_bytes()) != 0)
        log_die("shmem_init: cannot publish the addresses of the failure agent: %s",
                boot_error());
    seal_erase(&card, sizeof card);
}

/* ---- arming -------------------------------------------------------------------------
 */

static void ft_boot_read_node(const struct boot *b, uint32_t node, uint32_t first)
{
    struct ft_map *map = ft_boot_map();
    struct ft_card card = {.endpoint = {.domain = 0}};
    size_t bytes = ft_boot_card_bytes();

    if (boot_get(first, KEY, &card, bytes) != (ssize_t)bytes)
        log_die("shmem_init: cannot get the addresses of the failure agent of PE %u: %s; "
                "a PE that fails before shmem_init returns on all PEs ends the job",
                first, boot_error());
    ft_map_endpoint(map)[node] = card.endpoint;
    if (node == 0 && b->node != 0)
        memcpy(map->secret, card.secret, sizeof card.secret);
    seal_erase(&card, sizeof card);
}

/* Nodes are numbered in the order of their lowest PEs. */
static void ft_boot_read_endpoints(const struct boot *b)
{
    uint32_t node = 0;

    for (uint32_t pe = 0; pe < b->size && b->nnodes > 1; pe++)
        if (b->node_of[pe] == node)
            ft_boot_read_node(b, node++, pe);
    PGAS_ASSERT(b->nnodes == 1 || node == b->nnodes);
}

/* The leader fills in the map. */
static void ft_boot_fill(const struct boot *b)
{
    struct ft_map *map = ft_boot_map();

    if (pgas_self.generation == 1) {
        /* The numbers of the launcher include hosts without PEs. */
        PGAS_ASSERT(b->nnodes <= map->nnodes && map->local == b->local_size);
        map->nnodes = b->nnodes;
        map->node_words = (uint32_t)FT_SET_WORDS(b->nnodes);
        map->node = b->node;
        memcpy(ft_map_node_of(map), b->node_of, b->size * sizeof *b->node_of);
        memcpy(ft_map_rank(map), b->local_pes, b->local_size * sizeof *b->local_pes);
        map->period_ms = (uint32_t)pgas_self.env.ft_period;
        map->timeout_ms = (uint32_t)pgas_self.env.ft_timeout;
        map->watchdog_ms = (uint32_t)pgas_self.env.ft_watchdog * MS_PER_S;
        ft_boot_read_endpoints(b);
    }
    atomic_store_explicit(&map->generation, pgas_self.generation, memory_order_release);
}

/* From now on this PE must show signs of life. */
static void ft_boot_be_watched(void)
{
    if (pgas_self.env.ft_watchdog == 0)
        return;
    pgas_self.alive = &ft_map_word(ft_boot_map())[pgas_self.local_rank].alive_ms;
    alive_stamp();
}

void ft_boot_arm(const struct boot *b)
{
    if (!ft_boot_on())
        return;
    ft_boot_be_watched();
    if (!ft_boot_is_leader(b))
        return;
    ft_boot_fill(b);
    ft_map_set_agent(pgas_self.node, FT_AGENT_ARMED);
    ft_boot_await_agent(FT_AGENT_RUNNING, true);
}

/* ---- the end ------------------------------------------------------------------------
 */

void ft_boot_leave(bool exiting)
{
    struct ft_map *map = ft_boot_map();

    (void)exiting;
    if (!ft_boot_on())
        return;
    pgas_self.alive = NULL;
    atomic_store_explicit(&ft_map_word(map)[pgas_self.local_rank].alive_ms, 0,
                          memory_order_relaxed);
    atomic_store_explicit(&ft_map_word(map)[pgas_self.local_rank].departed,
                          pgas_self.generation, memory_order_release);
    ft_map_notify_agent(map);
    if (atomic_load_explicit(&ft_boot_hosted, memory_order_acquire) != NULL)
        ft_boot_await_agent(FT_AGENT_STOPPED, false);
}

/* ---- take-over ----------------------------------------------------------------------
 */

static bool ft_boot_is_live(const struct ft_map *map, uint32_t local)
{
    uint32_t departed =
        atomic_load_explicit(&ft_map_word(map)[local].departed, memory_order_acquire);

    return !ft_map_has_failed(map, ft_map_rank(map)[local]) &&
           departed != pgas_self.generation;
}

static bool ft_boot_must_take_over(struct ft_map *map, int32_t host)
{
    const struct node *node = pgas_self.node;
    uint32_t first = 0, i = 0;

    while (first < map->local && !ft_boot_is_live(map, first))
        first++;
    while (i < map->local && node->pe[i].pid != host)
        i++;
    return first == (uint32_t)pgas_self.local_rank && i < map->local &&
           ft_map_has_failed(map, ft_map_rank(map)[i]);
}

/* The threads of the former agent have received SIGKILL with the thread whose end the
 * watch has seen.  Several PEs never take over at a time: only one replaces the number of
 * the process. */
void ft_host_check(void)
{
    struct ft_map *map = ft_boot_map();
    uint32_t state = ft_boot_agent_state();
    int32_t host = atomic_load_explicit(&map->agent_pid, memory_order_acquire);
    char why[WHY_BYTES];

    if (!ft_boot_on() || !ft_boot_pes_host() || host == getpid() ||
        state < FT_AGENT_ARMED || state >= FT_AGENT_STOPPED ||
        !ft_boot_must_take_over(map, host) ||
        !atomic_compare_exchange_strong(&map->agent_pid, &host, getpid()))
        return;
    if (!ft_boot_host("", why, sizeof why))
        log_die("the failure agent of this node cannot start again in this PE: %s", why);
}
