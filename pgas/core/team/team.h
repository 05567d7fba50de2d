/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * team.h - teams: ordered sets of PEs, their handles, and the nodes of their PEs.
 *
 * A handle is a pointer to struct shmem_team, or a small number for the predefined teams.
 * coll/api/split.c creates and destroys teams, since both are collective.
 *
 * A team is `remote` if it has remote PEs (net.h).  The first PE of the team on each node
 * is the leader of that node.  In a team over nodes, the PEs on each node also form the
 * team `node_team`, which has no handle.
 *
 * The collectives keep their state in `coll` and in the team's sync area ("words"), of
 * which this module knows only offset and size (coll/sync/team_coll.h).
 * Uses: core/peer, core/heap, core/pool, core/slot, core/net.
 * Used by: core/ctx, core/check, coll.
 */
#ifndef PGAS_CORE_TEAM_H
#define PGAS_CORE_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#include "include/shmem.h"
#include "pgas/core/base/pool.h"
#include "pgas/core/team/slot.h"

/* Distribution of a team over its nodes; PEs are team indices. */
struct team_nodes {
    int local_pes;       /* number of PEs on this node */
    const int *local_pe; /* those PEs, ascending; local_pe[0] is the leader */
    int leaders, me;     /* number of nodes; index of this node */
    const int *leader;   /* leader of each node, ascending */
    const int *begin;    /* number of PEs on all earlier nodes; leaders + 1 entries */
    const int *pos;      /* position of each PE in node order; NULL: the team index */
};

struct team_coll; /* private state of the collectives */
struct ft_call;

struct shmem_team {
    struct pool_item item;
    int npes, me;      /* me: index of this PE in the team */
    int start, stride; /* world PE of index i is start + i * stride if list is NULL */
    const int *list;   /* else list[i]; owned by the team */
    const int *sorted; /* list's indices in the order of PEs, in the same allocation; NULL
                          if list is ascending */
    size_t words_offset; /* heap offset of the sync area; user team without slot: 0 */
    bool remote;         /* some PEs are remote */
    struct team_nodes *nodes;       /* of a team over nodes, else NULL */
    struct shmem_team *node_team;   /* of a team over nodes, else NULL */
    const struct shmem_team *whole; /* of a node team: the team over nodes, else NULL */
    struct team_coll *coll;         /* NULL for an active set */
    uint64_t uid;        /* equal on all PEs of the team, different from other teams' */
    uint32_t agreements; /* ft_agree has been called that often */
    uint64_t ft_cache;   /* epoch << 32 | status (ft.h) */
    struct ft_call *ft_call; /* its synchronizing calls (ft_commit.h), or NULL */
    long *psync;             /* of an active set: the user's pSync array, else NULL */
    const char *name;        /* "WORLD", "SHARED"; NULL for user teams */
    int num_contexts;        /* contexts reserved by the user; not a limit */
    uint32_t contexts;       /* existing contexts */
};

/* An ordered subset of a team: index i is start + i * stride, or list[i]. */
struct team_set {
    int size, start, stride;
    const int *list; /* NULL: use start and stride */
};

static inline int team_set_at(const struct team_set *set, int i)
{
    return set->list != NULL ? set->list[i] : set->start + i * set->stride;
}

/* True if the team has remote PEs: O(npes).  The number of its remote PEs: O(1) except
 * for an active set. */
bool team_has_remote(const struct shmem_team *team);
int team_count_remote(const struct shmem_team *team);

/* True if list[i] == *start + i * *stride for all of the n >= 1 entries; sets both. */
bool team_strided(const int *list, int n, int *start, int *stride);

/* The team of a handle.  An invalid handle is reported in the name of fn and ends the
 * job. */
struct shmem_team *team_of(shmem_team_t handle, const char *fn);

/* The team SHMEM_TEAM_WORLD; and the fn of this thread's last call of team_of, for
 * messages. */
struct shmem_team *team_world(void);
const char *team_routine(void);

/* The PEs that take part in the routines of the world: SHMEM_TEAM_WORLD, or a team of the
 * survivors after a failure (coll/api/shrink.c). */
struct shmem_team *team_live(void);
void team_set_live(struct shmem_team *team);

/* Sets the unique ID of a team from values that are equal on all its PEs: the parent, and
 * a number that no other team of the same parent and first PE gets. */
void team_set_uid(struct shmem_team *team, const struct shmem_team *parent,
                  uint64_t number);

/* True if the value is the handle of an existing team; accepts any value. */
bool team_alive(shmem_team_t handle);

/* World PE of index i, 0 <= i < npes. */
static inline int team_world_pe(const struct shmem_team *team, int i)
{
    return team->list != NULL ? team->list[i] : team->start + i * team->stride;
}

/* True if PE i of the team is world PE i for each i. */
static inline bool team_is_direct(const struct shmem_team *team)
{
    return team->list == NULL && team->start == 0 &&
           (team->stride == 1 || team->npes == 1);
}

/* Position of PE i of a team over nodes in node order. */
static inline int team_pos(const struct shmem_team *team, int i)
{
    return team->nodes->pos != NULL ? team->nodes->pos[i] : i;
}

/* Index of the node of PE i in a team over nodes. */
int team_node(const struct shmem_team *team, int i);

/* The heap offset of a slot (those of predefined teams are in the reserved part, those of
 * user teams after it; heap.h), and the slot of a team. */
size_t team_slot_offset(uint32_t slot);
uint32_t team_slot(const struct shmem_team *team);

/* Symmetric address of a byte of the team's sync area. */
const void *team_here(const struct shmem_team *team, size_t offset);

/* Index of a world PE in the team; -1 if it is not a member. */
int team_index(const struct shmem_team *team, int world_pe);

/* Creates the team of a subset of the parent that contains this PE; NULL: out of memory.
 * It has no sync area before team_assign, and no valid handle before team_publish. */
struct shmem_team *team_new(const struct shmem_team *parent, const struct team_set *set);
void team_assign(struct shmem_team *team, uint32_t slot);
void team_publish(struct shmem_team *team);
/* Frees the team, and its slot if it has one.  No PE may use its sync area afterwards. */
void team_free(struct shmem_team *team);

/* Creates the predefined teams; requires the heap.  slot_bytes: size of a sync area. */
void team_init(size_t slot_bytes);
/* Calls fn for the predefined teams and all teams with a valid handle. */
void team_each(void (*fn)(struct shmem_team *team));
/* Frees all remaining teams. */
void team_fini(void);

#endif
