/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.c - see groups.h.  Uses: core/team, core/log, team_coll, coll_state. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/coll/api/coll_state.h"
#include "pgas/coll/groups/groups.h"
#include "pgas/core/boot/locality.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"

enum { NONE = -1, AUTO = 0 };

/* ---- the variable ------------------------------------------------------------------ */

bool groups_parse(const char *text, int *size)
{
    char *end;

    *size = strcmp(text, "none") == 0 ? NONE : AUTO;
    if (*size == NONE || strcmp(text, "auto") == 0)
        return true;
    long n = text[0] >= '0' && text[0] <= '9' ? strtol(text, &end, 10) : 0;
    if (n < 2 || n > GROUPS_MOST || *end != '\0')
        return false;
    *size = (int)n;
    return true;
}

void groups_read_env(void)
{
    if (!groups_parse(pgas_self.env.coll_groups, &coll_self.groups_size))
        log_die("SHMEM_COLL_GROUPS = '%s' should be auto, none, or the number of members "
                "of a group, from 2 to %d",
                pgas_self.env.coll_groups, GROUPS_MOST);
}

/* ---- the levels -------------------------------------------------------------------- */

static int groups_compare(const void *a, const void *b)
{
    const struct groups_pe *x = a, *y = b;

    if (x->numa != y->numa)
        return x->numa < y->numa ? -1 : 1;
    if (x->cache != y->cache)
        return x->cache < y->cache ? -1 : 1;
    return (x->pe > y->pe) - (x->pe < y->pe);
}

_Static_assert((int)LOCALITY_PES == (int)GROUPS_MANY,
               "caches are read where groups use them");

/* Counts the caches and NUMA nodes of sorted PEs; 0 if one is unknown. */
static void groups_count(const struct groups_pe *pes, int n, int *caches, int *numa)
{
    *caches = *numa = 1;
    for (int i = 0; i < n; i++) {
        bool next_numa = i > 0 && pes[i].numa != pes[i - 1].numa;
        *numa += next_numa;
        *caches += next_numa || (i > 0 && pes[i].cache != pes[i - 1].cache);
        if (pes[i].cache == 0) {
            *caches = *numa = 0;
            return;
        }
    }
}

/* A new level, of at most n groups. */
static struct groups_level *groups_add_level(struct groups *g, int n)
{
    struct groups_level *level = &g->level[g->levels];

    level->begin = malloc(((size_t)n + 1) * sizeof *level->begin);
    g->levels += level->begin != NULL;
    return level->begin != NULL ? level : NULL;
}

/* The level of the groups of `size` members of the highest one; a group ends where
 * the one of `limit` does (NULL: no limit). */
static bool groups_merge(struct groups *g, int n, int size,
                         const struct groups_level *limit)
{
    const struct groups_level *below = g->levels > 0 ? &g->level[g->levels - 1] : NULL;
    int members = below != NULL ? below->n : n, inside = 0, next_limit = 1;
    struct groups_level *level = groups_add_level(g, members);

    if (level == NULL)
        return false;
    for (int i = 0; i < members; i++) {
        int at = below != NULL ? below->begin[i] : i;
        bool ends = limit != NULL && at == limit->begin[next_limit];
        next_limit += ends;
        if (i == 0 || inside == size || ends) {
            level->begin[level->n++] = at;
            inside = 0;
        }
        inside++;
    }
    level->begin[level->n] = n;
    return true;
}

/* The PEs of each cache. */
static bool groups_of_caches(struct groups_level *level, const struct groups_pe *pes,
                             int n, int caches)
{
    *level = (struct groups_level){.begin = malloc(((size_t)caches + 1) * sizeof(int))};
    if (level->begin == NULL)
        return false;
    for (int i = 0; i < n; i++)
        if (i == 0 || pes[i].cache != pes[i - 1].cache || pes[i].numa != pes[i - 1].numa)
            level->begin[level->n++] = i;
    level->begin[level->n] = n;
    return true;
}

static int groups_largest(const struct groups_level *level)
{
    int most = 0;

    for (int i = 0; i < level->n; i++) {
        int n = level->begin[i + 1] - level->begin[i];
        most = n > most ? n : most;
    }
    return most;
}

/* Levels within the caches: the groups of the last one are the caches, unless there are
 * more than BARRIER_LEVELS. */
static bool groups_make_within(struct groups *g, const struct groups_pe *pes, int n,
                               int caches)
{
    struct groups_level by_cache;

    if (!groups_of_caches(&by_cache, pes, n, caches))
        return false;
    bool made = true;
    int first = groups_largest(&by_cache) > GROUPS_MANY ? GROUPS_SIZE : GROUPS_MANY;
    do
        made = groups_merge(g, n, g->levels == 0 ? first : GROUPS_SIZE, &by_cache);
    while (made && g->level[g->levels - 1].n > caches && g->levels < BARRIER_LEVELS);
    free(by_cache.begin);
    g->caches = true;
    g->own = g->levels;
    return made;
}

/* Further levels, to the one with a single group. */
static bool groups_make_above(struct groups *g, int n, int size)
{
    while (g->levels == 0 || g->level[g->levels - 1].n > 1)
        if (g->levels == GROUPS_LEVELS || !groups_merge(g, n, size, NULL))
            return false;
    return true;
}

/* In each level, the group of this PE. */
static void groups_find_mine(struct groups *g, int me)
{
    for (int l = 0; l < g->levels; l++) {
        struct groups_level *level = &g->level[l];
        int at = g->position[me], end;
        while (level->begin[level->mine + 1] <= at)
            level->mine++;
        level->first = level->begin[level->mine];
        end = level->begin[level->mine + 1];
        level->members = end - level->first;
        if (l == 0)
            continue;
        const struct groups_level *below = &g->level[l - 1];
        int first = below->mine, last = below->mine;
        while (first > 0 && below->begin[first - 1] >= level->first)
            first--;
        while (below->begin[last + 1] < end)
            last++;
        level->first = first;
        level->members = last - first + 1;
    }
}

bool groups_make(struct groups *g, struct groups_pe *pes, int n, int me, int size)
{
    int caches;

    *g = (struct groups){.order = malloc(2 * (size_t)n * sizeof *g->order)};
    if (g->order == NULL)
        return false;
    g->position = g->order + n;
    qsort(pes, (size_t)n, sizeof *pes, groups_compare);
    groups_count(pes, n, &caches, &g->n_numa);
    for (int i = 0; i < n; i++) {
        g->order[i] = pes[i].pe;
        g->position[pes[i].pe] = i;
    }
    bool made = true;
    if (size == AUTO && caches > 1 && caches <= n / 2)
        made = groups_make_within(g, pes, n, caches);
    int above = size == AUTO ? (g->caches ? GROUPS_ABOVE : GROUPS_SIZE) : size;
    made = made && groups_make_above(g, n, size == NONE ? n : above);
    if (!made)
        return false;
    if (!g->caches) /* so that tests with a number have two levels of counters */
        g->own = size > 0 && g->levels > 1 ? 2 : 1;
    groups_find_mine(g, me);
    return true;
}

/* ---- of a team --------------------------------------------------------------------- */

static void groups_make_of(const struct shmem_team *team)
{
    struct groups_pe *pes = malloc((size_t)team->npes * sizeof *pes);
    bool made = pes != NULL;

    for (int i = 0; made && i < team->npes; i++) {
        const struct node_pe *pe = pgas_self.peer[team_world_pe(team, i)].node;
        pes[i] = (struct groups_pe){pe->numa, pe->cache, i};
        if (coll_self.groups_size != AUTO)
            pes[i].numa = pes[i].cache = 0;
    }
    made = made && groups_make(&team->coll->groups, pes, team->npes, team->me,
                               coll_self.groups_size);
    free(pes);
    if (!made)
        log_die("no memory for the groups of a team of %d PEs", team->npes);
}

const struct groups *groups_of(const struct shmem_team *team)
{
    struct groups *g = &team->coll->groups;

    if (unlikely(g->levels == 0))
        groups_make_of(team);
    return g;
}

void groups_free(struct groups *g)
{
    for (int l = 0; l < g->levels; l++)
        free(g->level[l].begin);
    free(g->order);
    *g = (struct groups){.levels = 0};
}

/* Small teams do not use groups by themselves: not computed for them. */
bool groups_have_caches(const struct shmem_team *team)
{
    return !pgas_self.oversubscribed && !team->remote && team->psync == NULL &&
           team->npes > GROUPS_MANY && groups_of(team)->caches;
}

/* ---- representatives --------------------------------------------------------------- */

/* Of the PEs order[begin] .. order[end - 1]. */
static int groups_represent(const struct groups *g, int begin, int end, int root)
{
    int at = g->position[root];

    return at >= begin && at < end ? root : g->order[begin];
}

int groups_member(const struct groups *g, int level, int i, int root)
{
    int k = g->level[level].first + i;

    if (level == 0)
        return g->order[k];
    const struct groups_level *below = &g->level[level - 1];
    return groups_represent(g, below->begin[k], below->begin[k + 1], root);
}

int groups_head(const struct groups *g, int level, int root)
{
    const struct groups_level *l = &g->level[level];

    return groups_represent(g, l->begin[l->mine], l->begin[l->mine + 1], root);
}

int groups_own_level(const struct groups *g, int me, int root)
{
    int level = 0;

    while (level < g->levels && groups_head(g, level, root) == me)
        level++;
    return level;
}

void groups_post(const struct groups *g, int level, int root, struct mailbox *b)
{
    mailbox_publish(b);
    for (int l = level; --l >= 0;)
        for (int i = 0; i < g->level[l].members; i++) {
            int pe = groups_member(g, l, i, root);
            if (pe != b->team->me)
                mailbox_wake_reader(b, pe);
        }
}

/* ---- output ------------------------------------------------------------------------ */

void groups_print(FILE *out, const struct shmem_team *team)
{
    const struct groups *g = groups_of(team);

    fprintf(out, "Groups of %d PEs: ", team->npes);
    for (int l = 0; l < g->levels; l++)
        fprintf(out, "%s%d of up to %d PEs", l > 0 ? ", " : "", g->level[l].n,
                groups_largest(&g->level[l]));
    if (g->caches)
        fprintf(out, "; by last-level cache, %d NUMA nodes\n", g->n_numa);
    else
        fprintf(out, "; without regard to caches%s\n",
                coll_self.groups_size == AUTO && g->n_numa == 0 ? ", which are unknown"
                                                                : "");
}
