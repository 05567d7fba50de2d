/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * groups.h - groups of the PEs of a team on one node, by last-level cache and NUMA node.
 *
 * The PEs of the team are in an order, by NUMA node, cache and index; a group is a range
 * of it.  The groups of level 0 consist of PEs, those of level l of groups of level
 * l - 1; the highest level has one group, of all PEs.  A member of a group is a PE or a
 * group of the next lower level.  Up to level `own` the PEs of a group share a cache, if
 * the caches are known.
 *
 *     SHMEM_COLL_GROUPS    groups
 *     auto                 the PEs of a cache, in groups of at most GROUPS_SIZE if they
 *                          are more than GROUPS_MANY; all PEs count as PEs of one cache
 *                          if caches are unknown, or if there is one, or are as many
 *                          as half of the PEs
 *     number               of so many members, without regard to caches
 *     none                 one group, of all PEs
 *
 * Invariant: all PEs of a team compute the same groups: from the records of the node
 * segment, which do not change after nodeseg_join, and from settings that are the same on
 * all PEs.
 * Uses: core/team, core/boot/node, mailbox.  Used by: barrier_tree, bcast_groups,
 * reduce_groups, select.
 */
#ifndef PGAS_COLL_GROUPS_H
#define PGAS_COLL_GROUPS_H

#include <stdbool.h>
#include <stdio.h>

#include "pgas/coll/sync/mailbox.h"
#include "pgas/core/team/team.h"

enum {
    GROUPS_SIZE = 8,  /* members of a group, by default */
    GROUPS_ABOVE = 4, /* likewise, of groups of different caches */
    GROUPS_MANY = 16, /* a group of at most so many PEs is not divided */
    GROUPS_LEVELS = 18,
    GROUPS_MOST = 1 << 16, /* largest SHMEM_COLL_GROUPS */
};

/* Groups of a level: group i has the PEs order[begin[i]] .. order[begin[i + 1] - 1]. */
struct groups_level {
    int *begin;
    int n;
    /* The group of this PE, its members, and the first of them. */
    int mine, members, first;
};

struct groups {
    int *order;    /* team index of each PE of the order */
    int *position; /* its inverse */
    int levels;    /* 0: not computed yet */
    int own;       /* number of levels within a cache, at least 1 */
    bool caches;   /* the groups of level own - 1 are those of known caches */
    int n_numa;    /* NUMA nodes of the team; 0: unknown */
    struct groups_level level[GROUPS_LEVELS];
};

/* Reads SHMEM_COLL_GROUPS.  An invalid value ends the job. */
void groups_read_env(void);

/* The groups of the team, computed in the first call. */
const struct groups *groups_of(const struct shmem_team *team);
void groups_free(struct groups *g);

/* True if the PEs of the team are known to have several caches. */
bool groups_have_caches(const struct shmem_team *team);

/* The team index of the PE that represents member i of this PE's group of a level: `root`
 * if the member is or contains the PE with this team index, else its first PE. */
int groups_member(const struct groups *g, int level, int i, int root);
/* The PE that represents this PE's group of a level, likewise. */
int groups_head(const struct groups *g, int level, int root);

/* Of this PE: the level at which it is a member of a group that another PE represents;
 * g->levels for the representative of all, which is `root`. */
int groups_own_level(const struct groups *g, int me, int root);

/* Publishes this PE's slot of the mailbox for the PEs that it represents in its groups
 * below `level`, one slot for all, and wakes them. */
void groups_post(const struct groups *g, int level, int root, struct mailbox *b);

/* Prints them (SHMEM_INFO). */
void groups_print(FILE *out, const struct shmem_team *team);

/* ---- for tests --------------------------------------------------------------------- */

/* The cache and NUMA node of a PE, as in struct node_pe, and its team index. */
struct groups_pe {
    int numa, cache, pe;
};
/* The groups of n PEs, seen by the PE with index `me`.  size: 0: auto; -1: none; else a
 * number.  False: out of memory. */
bool groups_make(struct groups *g, struct groups_pe *pes, int n, int me, int size);
/* The value of SHMEM_COLL_GROUPS as `size` above; false: invalid. */
bool groups_parse(const char *text, int *size);

#endif
