/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * map.h - which PE runs on which node.
 *
 * Pure, but it reads the rank file.  Uses job.h, hosts.h.  Used by plan.c.
 */
#ifndef OSHRUN_MAP_MAP_H
#define OSHRUN_MAP_MAP_H

#include "tools/oshrun/util/job.h"
#include "tools/oshrun/map/hosts.h"

#define MAP_NPES_MAX 65536 /* of a job; PMIx ranks on a node are u16 */

enum map_by {
    MAP_BY_SLOT, /* fill the slots of a node, then the next; when all are full, again */
    MAP_BY_NODE, /* one PE per node in turn; full nodes are passed over while others are
                    not */
    MAP_BY_PPR,  /* exactly `per_node` PEs on each node, in blocks */
};

struct map_order {
    enum map_by by;
    uint32_t per_node;     /* MAP_BY_PPR: exactly; else (-N) at most; 0 = not said */
    uint32_t npes;         /* 0 = not said: as many as there are slots */
    const char *rank_file; /* says all; by and per_node do not count.  NULL = none */
};

/*
 * Fills job->npes, nnodes, node[] (nodes that get no PE are left out) and, with a rank
 * file that says "slot=", node[].cpus.  Hosts without a number of slots share equally
 * what the others leave, in blocks.  If npes is not said, they get one each.  With a
 * rank file and no hosts, the file's hosts become h.  Names stay those of h.  0, or -1
 * and a sentence in why ("--map-by ppr:4:node gives 12 PEs on 3 nodes, but -n asks for
 * 16").  Free with map_free, also after -1.
 */
int map_make(struct job *job, struct hosts *h, const struct map_order *order,
             char why[HOSTS_WHY]);
void map_free(struct job *job);

/* Says on standard output where the PEs are: --report. "n0: PEs 0-3 (4 slots)" */
void map_print(const struct job *job, const struct hosts *h);

#endif
