/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * domains.c - PE 0 prints the failure domains of the nodes, numbered in the order of
 * their first nodes, and whether neighbours in the heartbeat ring are of different ones:
 * "domains 0 1 0 1, apart".  Run by domains.sh.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "include/shmem.h"
#include "pgas/core/base/pgas.h"
#include "pgas/ft/ft_map.h"
#include "pgas/ft/protocol/ft_ring.h"

/* The first node of the domain of node i. */
static uint32_t first_of(const uint32_t *domain, uint32_t i)
{
    uint32_t first = 0;

    while (domain[first] != domain[i])
        first++;
    return first;
}

static void print(const struct ft_map *map)
{
    uint32_t n = map->nnodes, *domain = calloc(n, sizeof *domain);
    uint32_t *order = calloc(n, sizeof *order), *number = calloc(n, sizeof *number);
    bool apart = true;

    for (uint32_t i = 0; i < n; i++)
        domain[i] = ft_map_endpoint(map)[i].domain;
    if (ft_ring_order(domain, n, order) != 0)
        shmem_global_exit(1);
    printf("domains");
    for (uint32_t i = 0, domains = 0; i < n; i++) {
        number[i] = first_of(domain, i) == i ? domains++ : number[first_of(domain, i)];
        printf(" %u", number[i]);
    }
    for (uint32_t i = 0; i < n; i++)
        apart = apart && domain[order[i]] != domain[order[(i + 1) % n]];
    printf(", %s\n", apart ? "apart" : "not apart");
    free(domain);
    free(order);
    free(number);
}

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0)
        print(pgas_self.ft);
    shmem_finalize();
    return 0;
}
