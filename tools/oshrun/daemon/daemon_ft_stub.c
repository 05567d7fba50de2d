/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon_ft_stub.c - stands in for pgas/ft/ft_agent.c: an agent without protocol. */
#include "config.h"

#include "pgas/ft/ft_agent.h"

struct ft_agent {
    char unused;
};

struct ft_agent *ft_agent_start(const struct ft_agent_options *o, char *why, size_t size)
{
    static struct ft_agent agent;
    (void)o, (void)why, (void)size;
    return &agent;
}

void ft_agent_stop(struct ft_agent *agent)
{
    (void)agent;
}
