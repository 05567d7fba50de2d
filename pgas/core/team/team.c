/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c - see team.h.  Uses: core/peer, core/heap, core/net, core/pool, core/slot,
 * core/log. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/core_state.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/hash.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/memory/peer.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/team/team.h"
#include "pgas/ft/ft_map.h"
#include "pgas/threads/atomic.h"

#define STATE core_self.team

/* ---- members ---------------------------------------------------------------------- */

bool team_strided(const int *list, int n, int *start, int *stride)
{
    *start = list[0];
    *stride = n > 1 ? list[1] - list[0] : 1;
    for (int i = 1; i < n; i++)
        if (list[i] - list[i - 1] != *stride)
            return false;
    return true;
}

/* Represents the members as start and stride if possible, which needs no list and makes
 * team_index O(1).  Takes ownership of the list. */
static void team_simplify(struct shmem_team *team, int *list)
{
    if (team_strided(list, team->npes, &team->start, &team->stride))
        free(list);
    else
        team->list = list;
}

static int team_compare_pes(const void *a, const void *b, void *list)
{
    const int *pe = list;

    return pe[*(const int *)a] < pe[*(const int *)b] ? -1 : 1;
}

/* If the list is not ascending, sets `sorted` to its indices in the order of PEs, for the
 * binary search of team_index. */
static void team_sort_indices(struct shmem_team *team, int *index)
{
    int ascending = 1;

    while (ascending < team->npes && team->list[ascending - 1] < team->list[ascending])
        ascending++;
    if (ascending == team->npes)
        return;
    for (int i = 0; i < team->npes; i++)
        index[i] = i;
    qsort_r(index, (size_t)team->npes, sizeof *index, team_compare_pes,
            (void *)team->list);
    team->sorted = index;
}

/* Sets the members from a set of indices in the parent.  False: out of memory. */
static bool team_fill(struct shmem_team *team, const struct shmem_team *parent,
                      const struct team_set *set)
{
    int *list = malloc(2 * (size_t)set->size * sizeof *list); /* PEs, sorted indices */

    if (list == NULL)
        return false;
    for (int i = 0; i < set->size; i++)
        list[i] = team_world_pe(parent, team_set_at(set, i));
    team->npes = set->size;
    team_simplify(team, list);
    if (team->list != NULL)
        team_sort_indices(team, list + set->size);
    team->me = team_index(team, pgas_self.me);
    PGAS_ASSERT(team->me >= 0); /* only members create a team */
    return true;
}

int team_index(const struct shmem_team *team, int world_pe)
{
    if (team->list == NULL) {
        int distance = world_pe - team->start, i = distance / team->stride;
        return distance % team->stride == 0 && i >= 0 && i < team->npes ? i : -1;
    }
    for (int first = 0, end = team->npes; first < end;) {
        int middle = first + (end - first) / 2;
        int i = team->sorted != NULL ? team->sorted[middle] : middle;
        if (team->list[i] == world_pe)
            return i;
        if (team->list[i] < world_pe)
            first = middle + 1;
        else
            end = middle;
    }
    return -1;
}

/* ---- distribution over nodes ------------------------------------------------------ */

bool team_has_remote(const struct shmem_team *team)
{
    for (int i = 0; pgas_self.net != NULL && i < team->npes; i++)
        if (net_remote(team_world_pe(team, i)))
            return true;
    return false;
}

int team_count_remote(const struct shmem_team *team)
{
    int remote = 0;

    if (team->nodes != NULL)
        return team->npes - team->nodes->local_pes;
    for (int i = 0; team->remote && i < team->npes; i++)
        remote += net_remote(team_world_pe(team, i));
    return remote;
}

/* Job-wide number of the node of PE i of the team, < pgas_self.npes.  With fault
 * injection on one node (SHMEM_FAULTS) each PE counts as a node. */
static uint32_t team_node_of(const struct shmem_team *team, int i)
{
    int pe = team_world_pe(team, i);

    return pgas_self.node_of != NULL ? pgas_self.node_of[pe] : (uint32_t)pe;
}

int team_node(const struct shmem_team *team, int i)
{
    const struct team_nodes *n = team->nodes;
    int pos = team_pos(team, i), first = 0, end = n->leaders;

    while (end - first > 1) { /* begin[first] <= pos < begin[end] */
        int middle = first + (end - first) / 2;
        if (n->begin[middle] <= pos)
            first = middle;
        else
            end = middle;
    }
    return first;
}

/* Lists of struct team_nodes under construction. */
struct lists {
    int *local_pe, *leader, *begin, *pos;
    int *index; /* by node number: 1 + index of the node in the team; 0: not found yet */
};

static void team_free_lists(const struct lists *l)
{
    free(l->local_pe);
    free(l->leader);
    free(l->begin);
    free(l->pos);
    free(l->index);
}

/* False: out of memory. */
static bool team_make_lists(struct lists *l, int npes)
{
    size_t n = (size_t)npes, size = sizeof(int);

    *l = (struct lists){.local_pe = malloc(n * size),
                        .leader = malloc(n * size),
                        .begin = calloc(n + 1, size),
                        .pos = malloc(n * size),
                        .index = calloc(pgas_self.npes, size)};
    return l->local_pe != NULL && l->leader != NULL && l->begin != NULL &&
           l->pos != NULL && l->index != NULL;
}

/* Sets the PEs of this node, the leader of each node, and begin[node + 1] to the number
 * of PEs of each node. */
static void team_count_nodes(const struct shmem_team *team, struct team_nodes *n,
                             const struct lists *l)
{
    for (int i = 0; i < team->npes; i++) {
        int *index = &l->index[team_node_of(team, i)];
        if (*index == 0) {
            l->leader[n->leaders++] = i;
            *index = n->leaders;
        }
        l->begin[*index]++;
        if (net_remote(team_world_pe(team, i)))
            continue;
        n->me = *index - 1;
        l->local_pe[n->local_pes++] = i;
    }
}

/* Replaces the counts in begin with their prefix sums and sets the position of each PE in
 * node order.  True if position == team index for all PEs. */
static bool team_set_positions(const struct shmem_team *team, const struct team_nodes *n,
                               const struct lists *l)
{
    bool same = true;

    for (int node = 0; node < n->leaders; node++) {
        PGAS_ASSERT(l->begin[node + 1] > 0); /* each node has a PE */
        l->begin[node + 1] += l->begin[node];
    }
    for (int i = 0; i < team->npes; i++) {
        l->pos[i] = l->begin[l->index[team_node_of(team, i)] - 1]++;
        same = same && l->pos[i] == i;
    }
    for (int node = n->leaders; node > 0; node--) /* undo the increments above */
        l->begin[node] = l->begin[node - 1];
    l->begin[0] = 0;
    return same;
}

static int *team_shorten(int *list, int n)
{
    int *kept = realloc(list, (size_t)n * sizeof *list);

    return kept != NULL ? kept : list;
}

static void team_free_nodes(struct shmem_team *team)
{
    const struct team_nodes *n = team->nodes;

    if (n == NULL)
        return;
    free((void *)n->local_pe);
    free((void *)n->leader);
    free((void *)n->begin);
    free((void *)n->pos);
    free(team->nodes);
    team->nodes = NULL;
}

static void team_free_node_team(struct shmem_team *team)
{
    if (team->node_team != NULL)
        free((void *)team->node_team->list);
    free(team->node_team);
    team->node_team = NULL;
}

/* Sets `remote`, and `nodes` if the team spans nodes.  False: out of memory. */
static bool team_fill_nodes(struct shmem_team *team)
{
    struct lists l;

    team->remote = team_has_remote(team);
    if (!team->remote)
        return true;
    struct team_nodes *n = calloc(1, sizeof *n);
    if (!team_make_lists(&l, team->npes) || n == NULL) {
        team_free_lists(&l);
        free(n);
        return false;
    }
    team_count_nodes(team, n, &l);
    bool same = team_set_positions(team, n, &l);
    PGAS_ASSERT(n->local_pes >= 1 && n->local_pes <= team->npes); /* this PE is one */
    PGAS_ASSERT(n->leaders >= 1 && n->me >= 0 && n->me < n->leaders);
    PGAS_ASSERT(l.begin[0] == 0 && l.begin[n->leaders] == team->npes);
    n->local_pe = team_shorten(l.local_pe, n->local_pes);
    n->leader = team_shorten(l.leader, n->leaders);
    n->begin = team_shorten(l.begin, n->leaders + 1);
    n->pos = same ? NULL : l.pos;
    if (n->pos == NULL)
        free(l.pos);
    free(l.index);
    team->nodes = n;
    return true;
}

/* Creates `node_team` if the team spans nodes.  False: out of memory. */
static bool team_fill_node_team(struct shmem_team *team)
{
    if (!team->remote)
        return true;
    const struct team_nodes *n = team->nodes;
    struct shmem_team *node_team = calloc(1, sizeof *node_team);
    int *list = malloc(2 * (size_t)n->local_pes * sizeof *list); /* as in team_fill */
    if (node_team == NULL || list == NULL) {
        free(node_team);
        free(list);
        return false;
    }
    for (int k = 0; k < n->local_pes; k++)
        list[k] = team_world_pe(team, n->local_pe[k]);
    node_team->npes = n->local_pes;
    node_team->whole = team;
    team_simplify(node_team, list);
    if (node_team->list != NULL)
        team_sort_indices(node_team, list + n->local_pes);
    node_team->me = team_index(node_team, pgas_self.me);
    PGAS_ASSERT(node_team->me >= 0 && n->local_pe[node_team->me] == team->me);
    team->node_team = node_team;
    return true;
}

/* Sets nodes and near, or neither.  False: out of memory. */
static bool team_fill_nodes_and_node_team(struct shmem_team *team)
{
    if (team_fill_nodes(team) && team_fill_node_team(team))
        return true;
    team_free_nodes(team);
    return false;
}

/* ---- handles --------------------------------------------------------------------- */

static bool team_predefined(shmem_team_t handle)
{
    return handle == SHMEM_TEAM_WORLD || handle == SHMEM_TEAM_SHARED;
}

bool team_alive(shmem_team_t handle)
{
    return team_predefined(handle) || pool_has(&STATE.pool, handle);
}

struct shmem_team *team_of(shmem_team_t handle, const char *fn)
{
    struct shmem_team *team = handle == SHMEM_TEAM_WORLD      ? &STATE.world
                              : handle == SHMEM_TEAM_SHARED   ? &STATE.shared
                              : pool_has(&STATE.pool, handle) ? handle
                                                              : NULL;

    if (likely(team != NULL)) {
        pgas_thread.routine = fn;
        return team;
    }
    log_misuse("%s: %p is not a valid team%s; use one from shmem_team_split_strided or "
               "shmem_team_split_2d, SHMEM_TEAM_WORLD or SHMEM_TEAM_SHARED",
               fn, (void *)handle,
               handle == SHMEM_TEAM_INVALID ? " (SHMEM_TEAM_INVALID)"
                                            : " (already destroyed?)");
}

struct shmem_team *team_world(void)
{
    return &STATE.world;
}

struct shmem_team *team_live(void)
{
    return likely(STATE.live == NULL) ? &STATE.world : STATE.live;
}

void team_set_live(struct shmem_team *team)
{
    STATE.live = team;
}

void team_set_uid(struct shmem_team *team, const struct shmem_team *parent,
                  uint64_t number)
{
    const uint64_t of[] = {parent->uid, number, (uint64_t)team_world_pe(team, 0),
                           (uint64_t)team->npes};

    team->uid = hash_add(HASH_START, of, sizeof of);
}

const char *team_routine(void)
{
    return pgas_thread.routine;
}

/* ---- sync areas ------------------------------------------------------------------ */

size_t team_slot_offset(uint32_t slot)
{
    PGAS_ASSERT(slot < SLOT_MAX);
    return slot < SLOT_USER ? slot * STATE.slot_bytes
                            : HEAP_RESERVED + (slot - SLOT_USER) * STATE.slot_bytes;
}

uint32_t team_slot(const struct shmem_team *team)
{
    size_t offset = team->words_offset;

    return (uint32_t)(offset < HEAP_RESERVED
                          ? offset / STATE.slot_bytes
                          : (offset - HEAP_RESERVED) / STATE.slot_bytes + SLOT_USER);
}

const void *team_here(const struct shmem_team *team, size_t offset)
{
    return (const char *)pgas_self.heap_base + team->words_offset + offset;
}

/* ---- creation and destruction ---------------------------------------------------- */

struct shmem_team *team_new(const struct shmem_team *parent, const struct team_set *set)
{
    struct shmem_team *team = pool_alloc(&STATE.pool);

    if (team == NULL)
        return NULL;
    if (team_fill(team, parent, set)) {
        if (team_fill_nodes_and_node_team(team))
            return team;
        free((void *)team->list);
    }
    pool_free(&STATE.pool, team);
    return NULL;
}

void team_assign(struct shmem_team *team, uint32_t slot)
{
    PGAS_ASSERT(slot >= SLOT_USER && team->me >= 0 && team->contexts == 0);
    team->words_offset = team_slot_offset(slot);
    PGAS_ASSERT(team_slot(team) == slot);
    PGAS_ASSERT(team->words_offset + STATE.slot_bytes <= pgas_self.heap_user);
}

void team_publish(struct shmem_team *team)
{
    pool_publish(&team->item);
}

void team_free(struct shmem_team *team)
{
    PGAS_ASSERT(team != &STATE.world && team != &STATE.shared);
    if (team->words_offset != 0)
        slot_free(team_slot(team));
    free((void *)team->list);
    team_free_nodes(team);
    team_free_node_team(team);
    pool_free(&STATE.pool, team);
}

/* SHMEM_TEAM_SHARED: the PEs whose memory this PE can map. */
static void team_fill_shared(void)
{
    int *list = calloc(pgas_self.npes, sizeof *list);

    if (list == NULL)
        log_die("no memory for a list of %u PEs", pgas_self.npes);
    for (int pe = 0; pe < (int)pgas_self.npes; pe++)
        if (pgas_self.peer[pe].node != NULL)
            list[STATE.shared.npes++] = pe;
    team_simplify(&STATE.shared, list);
    STATE.shared.me = team_index(&STATE.shared, pgas_self.me);
    /* With fault injection on one node every other PE counts as remote. */
    PGAS_ASSERT(STATE.shared.npes == (int)pgas_self.local_size || pgas_self.nnodes < 2);
}

void team_init(size_t bytes)
{
    STATE.slot_bytes = bytes;
    STATE.live = NULL;
    PGAS_ASSERT(SLOT_USER * STATE.slot_bytes <= HEAP_TEAMS);
    STATE.world = (struct shmem_team){.npes = (int)pgas_self.npes,
                                      .me = pgas_self.me,
                                      .stride = 1,
                                      .num_contexts = INT_MAX,
                                      .uid = pgas_self.generation,
                                      .name = "WORLD"};
    STATE.shared = (struct shmem_team){.words_offset = team_slot_offset(SLOT_SHARED),
                                       .num_contexts = INT_MAX,
                                       .name = "SHARED"};
    team_fill_shared();
    team_set_uid(&STATE.shared, &STATE.world, 0);
    if (!team_fill_nodes_and_node_team(&STATE.world))
        log_die("no memory for a list of the nodes of %u PEs", pgas_self.npes);
    size_t slots = pgas_self.env.team_size / STATE.slot_bytes;
    /* A team that can be revoked has a record in the alive map. */
    size_t most = pgas_self.ft != NULL ? FT_TEAM_SLOTS : SLOT_MAX;
    slot_init(slots < most - SLOT_USER ? SLOT_USER + (uint32_t)slots : (uint32_t)most);
}

static bool team_visit(void *object, void *arg)
{
    void (**fn)(struct shmem_team *) = arg;

    (*fn)(object);
    return false;
}

void team_each(void (*fn)(struct shmem_team *team))
{
    fn(&STATE.world);
    fn(&STATE.shared);
    pool_each(&STATE.pool, team_visit, &fn);
}

static bool team_drop(void *object, void *arg)
{
    struct shmem_team *team = object;

    (void)arg;
    free((void *)team->list);
    team_free_nodes(team);
    team_free_node_team(team);
    return true;
}

void team_fini(void)
{
    pool_each(&STATE.pool, team_drop, NULL);
    pool_clear(&STATE.pool);
    slot_fini();
    team_free_nodes(&STATE.world);
    team_free_node_team(&STATE.world);
    free((void *)STATE.shared.list);
    STATE.shared.list = NULL;
}
