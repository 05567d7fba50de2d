/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_boot.h - starts and ends failure survival (SHMEM_FT=continue) in a PE.
 *
 * The leader of a node is its lowest PE that has not failed.  In the first generation it
 * waits for the agent, publishes the agent's addresses, and after the fence of shmem_init
 * stores those of all nodes in the alive map and arms the agent.  Under oshrun the agent
 * runs in the node daemon, under another launcher in the leader; if that PE fails, the
 * next leader continues with an agent of its own (ft_host_check).  In later generations
 * the leader only arms the agent, which is still there.
 *
 * A PE that fails before shmem_init has returned on all PEs ends the job (shmemx_ft(7)),
 * also a leader that another PE of its node could replace: before the fence the agents do
 * not know each other, so the nodes cannot agree on who has failed, nor on who is the
 * leader that has published.
 *
 * With SHMEM_FT=abort all these functions do nothing.
 * Uses: ft_agent, ft_map, ft_domain, core/boot, block, log.  Used by: coll/api/life.c,
 * and ft_host_check by the local watch.
 */
#ifndef PGAS_FT_BOOT_H
#define PGAS_FT_BOOT_H

#include <stdbool.h>

#include "pgas/core/boot/boot.h"

/* True if failures are survived. */
bool ft_boot_on(void);

/* Ends the process with a message if a setting SHMEM_FT* is invalid. */
void ft_boot_check_settings(void);

/* Before and after the fence of shmem_init, when all PEs of the node have joined it. */
void ft_boot_publish(const struct boot *b);
void ft_boot_arm(const struct boot *b);

/* In shmem_finalize, when all PEs have entered it: the end of this PE is no failure any
 * more.  A PE that hosts the agent waits until the other nodes know that. */
void ft_boot_leave(bool exiting);

/* Takes over the agent of the node if the PE that hosted it has failed, and this PE is
 * the lowest that lives.  Called by the local watch after each failure on the node. */
void ft_host_check(void);

#endif
