/* SPDX-License-Identifier: BSD-3-Clause */
/* pick.c - see pick.h.  Uses: core/env, core/log, core/team. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "pgas/coll/pick.h"
#include "pgas/core/log.h"
#include "pgas/core/pgas.h"

struct algorithm {
    enum pick_collective what;
    const char *name;
    size_t bytes; /* of a PE, at most */
    int pes;      /* of the team, at most */
    bool same;    /* the same bits whatever the order of arrival */
};

#define X(COLLECTIVE, NAME, name, bytes, pes, same)                                      \
    [COLLECTIVE##_##NAME] = {PICK_##COLLECTIVE, name, bytes, pes, same},
static const struct algorithm algorithms[PICK_ALGORITHMS_ALL] = {PICK_ALGORITHMS(X)};
#undef X

/* With more PEs on the node than processors, or not. */
enum crowd { ROOMY = 1, CROWDED = 2, ALWAYS = ROOMY | CROWDED };

/* The table: for each collective ascending by bytes; the first row that fits is used. */
struct rule {
    enum pick_algorithm algorithm;
    enum crowd crowd;
    int pes;      /* of the team, at most */
    size_t bytes; /* of a PE, at most */
};
static const struct rule rules[] = {
    {REDUCE_FLAT, ROOMY, 8, 2048},
    {REDUCE_FLAT, CROWDED, 8, 256},
    {REDUCE_LAST, ALWAYS, PICK_ANY_PES, 2048},
    {REDUCE_SLICES, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {BROADCAST_BOARD, ALWAYS, PICK_ANY_PES, 2048},
    {BROADCAST_DIRECT, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {COLLECT_BOARD, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {FCOLLECT_BOARD, ALWAYS, PICK_ANY_PES, 2048},
    {FCOLLECT_BARRIER, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {ALLTOALL_BOARD, ALWAYS, PICK_ANY_PES, 2048},
    {ALLTOALL_BARRIER, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {SCAN_BOARD, ALWAYS, PICK_ANY_PES, 2048},
    {SCAN_BARRIER, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {BRIDGE_REDUCE_GATHER, ALWAYS, PICK_ANY_PES, 8192},
    {BRIDGE_REDUCE_DOUBLING, ALWAYS, PICK_ANY_PES, 16384},
    {BRIDGE_REDUCE_DIRECT, ALWAYS, 16, PICK_ANY_BYTES},
    {BRIDGE_REDUCE_HALVING, ALWAYS, PICK_ANY_PES, 262144},
    {BRIDGE_REDUCE_RING, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {BRIDGE_BROADCAST_BINOMIAL, ALWAYS, 8, PICK_ANY_BYTES},
    {BRIDGE_BROADCAST_BINOMIAL, ALWAYS, PICK_ANY_PES, 131072},
    {BRIDGE_BROADCAST_SCATTER, ALWAYS, PICK_SCATTER_NODES, PICK_ANY_BYTES},
    {BRIDGE_BROADCAST_BINOMIAL, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {BRIDGE_COLLECT_DIRECT, ALWAYS, 16, PICK_ANY_BYTES},
    {BRIDGE_COLLECT_RING, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {BRIDGE_ALLTOALL_BRUCK, ALWAYS, PICK_ANY_PES, 128},
    {BRIDGE_ALLTOALL_PAIRWISE, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
};

/* By collective: what the environment wants, PICK_ALGORITHMS_ALL = nothing. */
static enum pick_algorithm wanted[PICK_ALL];

/* ---- the environment --------------------------------------------------------------- */

struct variable {
    const char *name, *value;
};

static struct variable variable_of(enum pick_collective what)
{
#define X(NAME, field) {"SHMEM_" #NAME "_ALGORITHM", pgas_self.env.field##_algorithm},
    const struct variable all[] = {PICK_COLLECTIVES(X)};
#undef X

    return all[what];
}

static const char *names_of(enum pick_collective what, char *text, size_t size)
{
    size_t at = 0;

    text[0] = '\0';
    for (int a = 0; a < PICK_ALGORITHMS_ALL && at < size; a++)
        if (algorithms[a].what == what)
            at += (size_t)snprintf(text + at, size - at, ", %s", algorithms[a].name);
    return text;
}

static enum pick_algorithm find(enum pick_collective what)
{
    struct variable v = variable_of(what);
    char names[128];

    if (strcmp(v.value, "auto") == 0)
        return PICK_ALGORITHMS_ALL;
    for (int a = 0; a < PICK_ALGORITHMS_ALL; a++)
        if (algorithms[a].what == what && strcmp(algorithms[a].name, v.value) == 0)
            return (enum pick_algorithm)a;
    log_die("%s = '%s' is no algorithm; use one of auto%s", v.name, v.value,
            names_of(what, names, sizeof names));
}

void pick_init(void)
{
    for (int what = 0; what < PICK_ALL; what++)
        wanted[what] = find((enum pick_collective)what);
}

/* ---- plans ----------------------------------------------------------------------- */

/* Who takes part: PEs, or nodes between which there is a bridge. */
static int parties(enum pick_collective what, const struct shmem_team *team)
{
    if (what < PICK_BRIDGE_REDUCE)
        return team->npes;
    return team->nodes != NULL ? team->nodes->leaders : 1;
}

static bool may_use(const struct algorithm *a, const struct shmem_team *team)
{
    return parties(a->what, team) <= a->pes && (a->same || !pgas_self.env.reproducible);
}

bool pick_adapts(enum pick_collective what, enum pick_algorithm other,
                 const struct shmem_team *team)
{
    return wanted[what] == PICK_ALGORITHMS_ALL && pgas_self.env.adapt != 0 &&
           team->npes > 2 && may_use(&algorithms[other], team);
}

static bool fits(const struct rule *r, enum pick_collective what,
                 const struct shmem_team *team)
{
    enum crowd crowd = pgas_self.oversubscribed ? CROWDED : ROOMY;

    return algorithms[r->algorithm].what == what && (r->crowd & crowd) != 0 &&
           parties(what, team) <= r->pes && may_use(&algorithms[r->algorithm], team);
}

/* Add a choice behind those that end below it. */
static int add(struct team_choice *plan, int n, enum pick_algorithm algorithm,
               size_t bytes)
{
    size_t most =
        bytes < algorithms[algorithm].bytes ? bytes : algorithms[algorithm].bytes;

    if (n == TEAM_CHOICES || (n > 0 && most <= plan[n - 1].most))
        return n;
    plan[n] = (struct team_choice){most, (int)algorithm};
    return n + 1;
}

static void plan(struct shmem_team *team, enum pick_collective what)
{
    enum pick_algorithm first = wanted[what];
    int n = 0;

    if (first != PICK_ALGORITHMS_ALL && !may_use(&algorithms[first], team))
        log_debug("%s = '%s' is not used on a team of %d PEs%s", variable_of(what).name,
                  algorithms[first].name, team->npes,
                  pgas_self.env.reproducible ? " with SHMEM_REPRODUCIBLE" : "");
    else if (first != PICK_ALGORITHMS_ALL)
        n = add(team->plan[what], n, first, PICK_ANY_BYTES);
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++)
        if (fits(&rules[r], what, team))
            n = add(team->plan[what], n, rules[r].algorithm, rules[r].bytes);
    if (n == 0 || team->plan[what][n - 1].most != PICK_ANY_BYTES)
        log_die("pgas: no algorithm for a large %s", variable_of(what).name);
}

void pick_plan(struct shmem_team *team)
{
    for (int what = 0; what < PICK_ALL; what++)
        plan(team, (enum pick_collective)what);
    team->planned = true;
}
