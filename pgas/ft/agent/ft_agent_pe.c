/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_agent_pe.c - the agent and the processes of the PEs of its node.  Uses:
 * ft_agent_int.h. */
#include "config.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "pgas/ft/agent/ft_agent_int.h"

#define NS_PER_MS 1000000u

enum { EXITS = 64 /* for each epoll_wait */ };

void ft_agent_watch_pes(struct ft_agent *agent)
{
    for (uint32_t i = 0; i < agent->map->local; i++) {
        int32_t pid = agent->node->pe[i].pid;
        struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};
        if (agent->pidfd[i] >= 0 || pid <= 0)
            continue;
        agent->pidfd[i] = pidfd_open(pid, 0);
        if (agent->pidfd[i] >= 0)
            epoll_ctl(agent->exits, EPOLL_CTL_ADD, agent->pidfd[i], &e);
    }
}

/* A PE stores `departed` before it ends, so the load after the end sees it. */
static void ft_agent_pe_ended(struct ft_agent *agent, uint32_t local)
{
    const struct ft_word *word = &ft_map_word(agent->map)[local];
    uint32_t departed = atomic_load_explicit(&word->departed, memory_order_acquire);

    epoll_ctl(agent->exits, EPOLL_CTL_DEL, agent->pidfd[local], NULL);
    if ((int32_t)(departed - agent->service.generation) < 0)
        ft_map_fail(agent->node, &ft_map_rank(agent->map)[local], 1);
}

void ft_agent_check_exits(struct ft_agent *agent)
{
    struct epoll_event event[EXITS];
    int n;

    do {
        n = epoll_wait(agent->exits, event, EXITS, 0);
        for (int i = 0; i < n; i++)
            ft_agent_pe_ended(agent, event[i].data.u32);
    } while (n == EXITS);
}

/* The process of the agent, if it is a PE, is the last. */
void ft_agent_kill_pes(struct ft_agent *agent)
{
    bool me = false;

    for (uint32_t i = 0; i < agent->map->local; i++) {
        if (agent->node->pe[i].pid == getpid())
            me = true;
        else if (agent->pidfd[i] >= 0)
            pidfd_send_signal(agent->pidfd[i], SIGKILL, NULL, 0);
    }
    if (me)
        kill(getpid(), SIGKILL);
}

/* Kills PEs without a sign of life; the kernel then reports their end as a failure.
 * Returns the time of the next check. */
uint64_t ft_agent_check_alive(struct ft_agent *agent, uint64_t now)
{
    uint32_t limit = agent->map->watchdog_ms, now_ms = (uint32_t)(now / NS_PER_MS);

    if (limit == 0)
        return FT_NEVER;
    for (uint32_t i = 0; i < agent->map->local; i++) {
        const struct ft_word *word = &ft_map_word(agent->map)[i];
        uint32_t at = atomic_load_explicit(&word->alive_ms, memory_order_relaxed);
        if (at == 0 || !ft_service_is_live(&agent->service, i) || agent->pidfd[i] < 0 ||
            (int32_t)(now_ms - at) < 0 || now_ms - at <= limit)
            continue;
        pidfd_send_signal(agent->pidfd[i], SIGKILL, NULL, 0);
    }
    return now + (uint64_t)limit * NS_PER_MS / 4;
}
