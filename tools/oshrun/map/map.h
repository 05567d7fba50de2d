/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * map.h - which PE runs on which node.
 *
 * Pure, but it reads the rank file.  Uses job.h, hosts.h.  Used by plan.c and
 * rank_file.c.
 */
#ifndef OSHRUN_MAP_MAP_H
#define OSHRUN_MAP_MAP_H

#include "tools/oshrun/util/job.h"
#include "tools/oshrun/map/hosts.h"

#define MAP_NPES_MAX 65536 /* of a job; PMIx ranks on a node are u16 */

enum map_by {
    MAP_BY_SLOT, /* fill the slots of each node in turn; when all are full, again */
    MAP_BY_NODE, /* round-robin; skip full nodes while others are not full */
    MAP_BY_PPR,  /* exactly `per_node` PEs on each node, in blocks */
};

struct map_order {
    enum map_by by;
    uint32_t per_node;     /* MAP_BY_PPR: exactly; else (-N) at most; 0 = not given */
    uint32_t npes;         /* 0 = not given: as many as there are slots */
    const char *rank_file; /* replaces by and per_node; NULL = none */
};

/*
 * Fills job->npes, nnodes, node[] (only nodes with PEs) and, if a rank file has "slot=",
 * node[].cpus.  The PEs that exceed the given slots are divided equally among the hosts
 * without a number of slots, in blocks; if npes is not given, such hosts get one PE
 * each.  With a rank file and an empty h, the hosts of the file become h.  The names in
 * job point into h.  0, or -1 with an error message in why ("--map-by ppr:4:node gives
 * 12 PEs on 3 nodes, but -n asks for 16").  Call map_free also after -1.
 */
int map_make(struct job *job, struct hosts *h, const struct map_order *order,
             char why[HOSTS_WHY]);
void map_free(struct job *job);

/* Prints the map for --report: "n0: PEs 0-3 (4 slots)". */
void map_print(const struct job *job, const struct hosts *h);

#endif
