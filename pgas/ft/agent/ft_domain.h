/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_domain.h - the failure domain of a node: nodes that are likely to fail together,
 * such as those of a rack.  Neighbours in the heartbeat ring are of different domains as
 * far as possible (ft_ring_order).  Without SHMEM_FT_DOMAINS the host of the agent names
 * the domain (ft_agent_options), for example the chassis. Uses: core/base/hash.h.  Used
 * by: ft_boot, ft_agent.
 */
#ifndef PGAS_FT_DOMAIN_H
#define PGAS_FT_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The domain of a node alone: a number from its name. */
uint32_t ft_domain_of_name(const char *name);

/*
 * The domain of a node according to SHMEM_FT_DOMAINS: lists of node names, separated by
 * commas, of one domain each, separated by semicolons ("n0,n1;n2,n3").  A node that is in
 * no list is a domain of its own.  False: the value is malformed; the reason is in why.
 */
bool ft_domain_find(const char *lists, const char *name, uint32_t *domain, char *why,
                    size_t size);

#endif
