/* SPDX-License-Identifier: BSD-3-Clause */
/* select.c - see select.h.  Uses: adapt, select_table, core/env, core/log, core/team. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "pgas/coll/api/coll_state.h"
#include "pgas/coll/select/adapt.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/select/select_table.h"
#include "pgas/coll/groups/groups.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/boot/agree.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"

#define STATE coll_self.select

/* Every variable must be verified to be equal on all PEs (core/boot/agree.h); otherwise
 * PEs could select different algorithms. */
#define X(NAME, name)                                                                    \
    _Static_assert((int)AGREE_##NAME##_ALGORITHM < (int)AGREE_ALL, "in PGAS_ENV_ALIKE");
SELECT_COLLECTIVES(X)
#undef X

static const struct select_info algorithms[SELECT_ALGORITHMS_ALL] = {
#define X(COLLECTIVE, NAME, name, bytes, pes, same)                                      \
    [COLLECTIVE##_##NAME] = {SELECT_##COLLECTIVE, name, bytes, pes, same},
    SELECT_ALGORITHMS(X)
#undef X
};

/* OVERSUBSCRIBED: more PEs than processors on the node; DEDICATED: not; CACHES: not, and
 * the team has many PEs in several caches. */
enum load {
    DEDICATED = 1,
    OVERSUBSCRIBED = 2,
    CACHES = 4,
    ANY_LOAD = DEDICATED | OVERSUBSCRIBED
};

/* The built-in table, sorted by collective, number of PEs and bytes; the first matching
 * row is used.  The thresholds were measured on 2 processors; those of the algorithms by
 * groups follow from the costs in docs/SCALING.md.  The OVERSUBSCRIBED rows
 * for large blocks assume several PEs per processor, because the last arriver moves most
 * of the data (arrival.c). */
struct rule {
    enum select_algorithm algorithm;
    enum load load;
    int pes;      /* maximum team size */
    size_t bytes; /* maximum per PE; for an alltoall, of all blocks together */
};
static const struct rule rules[] = {
    {REDUCE_FLAT, DEDICATED, 2, 128},
    {REDUCE_SLICES, DEDICATED, 2, SELECT_ANY_BYTES},
    {REDUCE_FLAT, DEDICATED, 8, 2048},
    {REDUCE_FLAT, OVERSUBSCRIBED, 8, 256},
    {REDUCE_LAST, DEDICATED, GROUPS_MANY, 2048},
    {REDUCE_GROUPS, DEDICATED, SELECT_COMBINER_PES, 2048},
    {REDUCE_LAST, ANY_LOAD, SELECT_ANY_PES, 2048},
    {REDUCE_SLICES, ANY_LOAD, SELECT_ANY_PES, SELECT_ANY_BYTES},
    {BROADCAST_MAILBOX, DEDICATED, 2, 128},
    {BROADCAST_DIRECT, DEDICATED, 2, SELECT_ANY_BYTES},
    {BROADCAST_MAILBOX, DEDICATED, GROUPS_MANY, 2048},
    {BROADCAST_GROUPS, DEDICATED, SELECT_COMBINER_PES, 2048},
    {BROADCAST_MAILBOX, ANY_LOAD, SELECT_ANY_PES, 2048},
    {BROADCAST_DIRECT, ANY_LOAD, SELECT_ANY_PES, SELECT_ANY_BYTES},
    {COLLECT_MAILBOX, ANY_LOAD, SELECT_ANY_PES, SELECT_ANY_BYTES},
    {FCOLLECT_MAILBOX, DEDICATED, 2, 256},
    {FCOLLECT_BARRIER, DEDICATED, 2, SELECT_ANY_BYTES},
    {FCOLLECT_MAILBOX, OVERSUBSCRIBED, 3, 128},
    {FCOLLECT_ARRIVAL, OVERSUBSCRIBED, 4, 16384},
    {FCOLLECT_BARRIER, OVERSUBSCRIBED, 4, SELECT_ANY_BYTES},
    {FCOLLECT_ARRIVAL, OVERSUBSCRIBED, 8, 4096},
    {FCOLLECT_BARRIER, OVERSUBSCRIBED, 8, 131072},
    {FCOLLECT_ARRIVAL, OVERSUBSCRIBED, 32, SELECT_ANY_BYTES},
    {FCOLLECT_ARRIVAL, OVERSUBSCRIBED, SELECT_ORDER_PES, 4096},
    {FCOLLECT_MAILBOX, ANY_LOAD, SELECT_ANY_PES, 2048},
    {FCOLLECT_BARRIER, ANY_LOAD, SELECT_ANY_PES, SELECT_ANY_BYTES},
    {ALLTOALL_MAILBOX, DEDICATED, 2, 256},
    {ALLTOALL_BARRIER, DEDICATED, 2, SELECT_ANY_BYTES},
    {ALLTOALL_MAILBOX, OVERSUBSCRIBED, 3, 512},
    {ALLTOALL_ARRIVAL, OVERSUBSCRIBED, 4, 65536},
    {ALLTOALL_BARRIER, OVERSUBSCRIBED, 4, SELECT_ANY_BYTES},
    {ALLTOALL_ARRIVAL, OVERSUBSCRIBED, 8, 32768},
    {ALLTOALL_BARRIER, OVERSUBSCRIBED, 8, 262144},
    {ALLTOALL_ARRIVAL, OVERSUBSCRIBED, 32, SELECT_ANY_BYTES},
    {ALLTOALL_ARRIVAL, OVERSUBSCRIBED, SELECT_ORDER_PES, 65536},
    {ALLTOALL_MAILBOX, ANY_LOAD, SELECT_ANY_PES, 2048},
    {ALLTOALL_BARRIER, ANY_LOAD, SELECT_ANY_PES, SELECT_ANY_BYTES},
    {SCAN_MAILBOX, DEDICATED, 2, 256},
    {SCAN_BARRIER, DEDICATED, 2, SELECT_ANY_BYTES},
    {SCAN_MAILBOX, ANY_LOAD, SELECT_ANY_PES, 2048},
    {SCAN_BARRIER, ANY_LOAD, SELECT_ANY_PES, SELECT_ANY_BYTES},
    {BARRIER_TREE, CACHES, SELECT_COMBINER_PES, SELECT_ANY_BYTES},
    {BARRIER_DISSEMINATION, DEDICATED, SELECT_ANY_PES, SELECT_ANY_BYTES},
    {BARRIER_COUNTER, OVERSUBSCRIBED, SELECT_ANY_PES, SELECT_ANY_BYTES},
    {INTERNODE_REDUCE_GATHER, ANY_LOAD, SELECT_ANY_PES, 8192},
    {INTERNODE_REDUCE_EXCHANGE, ANY_LOAD, 4, 65536},
    {INTERNODE_REDUCE_DOUBLING, ANY_LOAD, SELECT_ANY_PES, 16384},
    {INTERNODE_REDUCE_DIRECT, ANY_LOAD, 16, SELECT_ANY_BYTES},
    {INTERNODE_REDUCE_HALVING, ANY_LOAD, SELECT_ANY_PES, 262144},
    {INTERNODE_REDUCE_RING, ANY_LOAD, SELECT_ANY_PES, SELECT_ANY_BYTES},
    {INTERNODE_BROADCAST_EAGER, ANY_LOAD, SELECT_ANY_PES, BCAST_EAGER_BYTES},
    {INTERNODE_BROADCAST_STREAM, ANY_LOAD, 4, 131072},
    {INTERNODE_BROADCAST_SCATTER, ANY_LOAD, 4, SELECT_ANY_BYTES},
    {INTERNODE_BROADCAST_STREAM, ANY_LOAD, SELECT_ANY_PES, 524288},
    {INTERNODE_BROADCAST_SCATTER, ANY_LOAD, SELECT_SCATTER_NODES, SELECT_ANY_BYTES},
    {INTERNODE_BROADCAST_KNOMIAL, ANY_LOAD, SELECT_ANY_PES, SELECT_ANY_BYTES},
    {INTERNODE_COLLECT_EAGER, ANY_LOAD, 16, 131072},
    {INTERNODE_COLLECT_DIRECT, ANY_LOAD, 16, SELECT_ANY_BYTES},
    {INTERNODE_COLLECT_RING, ANY_LOAD, SELECT_ANY_PES, SELECT_ANY_BYTES},
    {INTERNODE_ALLTOALL_GATHER, ANY_LOAD, SELECT_ANY_PES, 256},
    {INTERNODE_ALLTOALL_DIRECT, ANY_LOAD, 16, 65536},
    {INTERNODE_ALLTOALL_BRUCK, ANY_LOAD, SELECT_ANY_PES, 4096},
    {INTERNODE_ALLTOALL_PAIRWISE, ANY_LOAD, SELECT_ANY_PES, SELECT_ANY_BYTES},
    {INTERNODE_SCAN_CHAIN, ANY_LOAD, 4, SELECT_ANY_BYTES},
    {INTERNODE_SCAN_GATHER, ANY_LOAD, SELECT_ANY_PES, SELECT_DOUBLING_BYTES},
    {INTERNODE_SCAN_CHAIN, ANY_LOAD, SELECT_ORDERED_NODES, SELECT_ANY_BYTES},
    {INTERNODE_SCAN_BARRIER, ANY_LOAD, SELECT_ANY_PES, SELECT_ANY_BYTES},
};

enum { RULES = sizeof rules / sizeof rules[0] };

enum { NAMES_MAX = 128, PLAN_MAX = 512 };

/* ---- names ----------------------------------------------------------------------- */

const struct select_info *select_info(enum select_algorithm algorithm)
{
    return &algorithms[algorithm];
}

const char *select_name(enum select_collective what)
{
#define X(NAME, name) #name,
    static const char *const names[] = {SELECT_COLLECTIVES(X)};
#undef X

    return names[what];
}

static const char *select_variable_of(enum select_collective what)
{
#define X(NAME, name) "SHMEM_" #NAME "_ALGORITHM",
    static const char *const names[] = {SELECT_COLLECTIVES(X)};
#undef X

    return names[what];
}

const char *select_requested(enum select_collective what, const struct env *env)
{
#define X(NAME, name) env->name##_algorithm,
    const char *const values[] = {SELECT_COLLECTIVES(X)};
#undef X

    return values[what];
}

const char *select_names(enum select_collective what, char *text, size_t size)
{
    size_t at = 0;

    text[0] = '\0';
    for (int a = 0; a < SELECT_ALGORITHMS_ALL && at < size; a++)
        if (algorithms[a].what == what)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at > 0 ? ", " : "",
                                   algorithms[a].name);
    return text;
}

enum select_algorithm select_algorithm_of(enum select_collective what, const char *name)
{
    int a = 0;

    while (a < SELECT_ALGORITHMS_ALL &&
           (algorithms[a].what != what || strcmp(algorithms[a].name, name) != 0))
        a++;
    return (enum select_algorithm)a;
}

/* ---- the environment --------------------------------------------------------------- */

static enum select_algorithm select_find(enum select_collective what)
{
    const char *name = select_requested(what, &pgas_self.env);
    enum select_algorithm a = select_algorithm_of(what, name);
    char names[NAMES_MAX];

    if (a == SELECT_ALGORITHMS_ALL && strcmp(name, "auto") != 0)
        log_die("%s = '%s' is not an algorithm; use one of auto, %s",
                select_variable_of(what), name, select_names(what, names, sizeof names));
    return a;
}

static bool select_find_leader(const char *name)
{
    if (strcmp(name, "first") != 0 && strcmp(name, "static") != 0)
        log_die("SHMEM_INTERNODE_LEADER = '%s' should be first or static", name);
    return strcmp(name, "first") == 0;
}

static int select_find_radix(uint64_t radix)
{
    if (radix < SELECT_RADIX_MIN || radix > SELECT_RADIX_MAX)
        log_die("SHMEM_INTERNODE_RADIX=%llu: must be %d to %d", (unsigned long long)radix,
                SELECT_RADIX_MIN, SELECT_RADIX_MAX);
    return (int)radix;
}

int select_radix(const struct shmem_team *team)
{
    int nodes = team->nodes->leaders;

    return STATE.radix <= nodes || nodes < SELECT_RADIX_MIN ? STATE.radix : nodes;
}
bool select_first_leader(void)
{
    return STATE.first_leader;
}

void select_init(void)
{
    groups_read_env();
    STATE.first_leader = select_find_leader(pgas_self.env.internode_leader);
    STATE.radix = select_find_radix(pgas_self.env.internode_radix);
    for (int what = 0; what < SELECT_ALL; what++)
        STATE.wanted[what] = select_find((enum select_collective)what);
}

const struct select_table *select_init_table(unsigned processors)
{
    const char *name = pgas_self.env.coll_table;
    bool asked = name[0] != '\0', tell = pgas_self.me == 0;

    select_table_free(&STATE.table);
    select_table_find(name, processors, &STATE.table);
    if (STATE.table.state == SELECT_TABLE_BAD && asked)
        log_die("SHMEM_COLL_TABLE: %s", STATE.table.note);
    if (STATE.table.state == SELECT_TABLE_BAD && tell)
        log_warn("%s; the table is ignored", STATE.table.note);
    if (STATE.table.state == SELECT_TABLE_OTHER && asked && tell)
        log_warn("SHMEM_COLL_TABLE: %s and is ignored; oshmem_info --tune makes one",
                 STATE.table.note);
    else if (STATE.table.state == SELECT_TABLE_OTHER)
        log_debug("%s: the table is ignored", STATE.table.note);
    return &STATE.table;
}

/* ---- plans ----------------------------------------------------------------------- */

/* Number of participants: PEs, or nodes for an inter-node collective. */
static int select_parties(enum select_collective what, int npes, int nodes)
{
    return what < SELECT_INTERNODE_REDUCE ? npes : nodes;
}

static int select_nodes_of(const struct shmem_team *team)
{
    return team->nodes != NULL ? team->nodes->leaders : 1;
}

static bool select_reproducible(void)
{
    return pgas_self.env.reproducible == REPRODUCIBLE_ANYWHERE;
}

static bool select_may_use(enum select_algorithm algorithm, int npes, int nodes,
                           bool reproducible)
{
    const struct select_info *a = &algorithms[algorithm];

    return select_parties(a->what, npes, nodes) <= a->pes && (a->same || !reproducible);
}

/* Limits of an alltoall are for all blocks of a PE together, because they share one eager
 * slot; plans and table files use the bytes of one block. */
static size_t select_block_limit(enum select_collective what, size_t bytes, int npes)
{
    return what == SELECT_ALLTOALL && bytes != SELECT_ANY_BYTES ? bytes / (size_t)npes
                                                                : bytes;
}

size_t select_most_bytes(enum select_algorithm algorithm, int npes)
{
    const struct select_info *a = &algorithms[algorithm];

    return select_block_limit(a->what, a->bytes, npes);
}

bool select_adapts(enum select_collective what, enum select_algorithm other,
                   const struct shmem_team *team)
{
    return STATE.wanted[what] == SELECT_ALGORITHMS_ALL && pgas_self.env.adapt != 0 &&
           team->npes > 2 &&
           select_may_use(other, team->npes, select_nodes_of(team),
                          select_reproducible());
}

bool select_is_requested(enum select_algorithm algorithm)
{
    return STATE.wanted[algorithms[algorithm].what] == algorithm;
}
/* A candidate algorithm and the range of bytes for which it is usable. */
struct candidate {
    enum select_algorithm algorithm;
    struct select_range bytes;
};

static bool select_in_range(const struct select_range *r, int n)
{
    return (size_t)n >= r->from && (size_t)n <= r->to;
}

static bool select_match_row(const struct select_row *r, enum select_collective what,
                             const struct select_case *c, struct candidate *o)
{
    *o = (struct candidate){r->algorithm, r->bytes};
    return r->what == what && select_in_range(&r->pes, c->npes) &&
           select_in_range(&r->nodes, c->nodes);
}

static bool select_match_rule(const struct rule *r, enum select_collective what,
                              const struct select_case *c, struct candidate *o)
{
    enum load load = c->oversubscribed ? OVERSUBSCRIBED
                     : c->caches       ? DEDICATED | CACHES
                                       : DEDICATED;

    *o = (struct candidate){r->algorithm,
                            {0, select_block_limit(what, r->bytes, c->npes)}};
    return algorithms[r->algorithm].what == what && (r->load & load) != 0 &&
           select_parties(what, c->npes, c->nodes) <= r->pes;
}

/* The i-th candidate in order of precedence: the requested algorithm, the rows of the
 * table file, the built-in rules.  Returns false if it does not apply to this case. */
static bool select_nth_candidate(size_t i, enum select_collective what,
                                 const struct select_case *c, struct candidate *o)
{
    size_t rows = c->table != NULL ? c->table->rows : 0;
    bool fits = i == 0 && c->first != SELECT_ALGORITHMS_ALL;

    *o = (struct candidate){c->first, {0, SELECT_ANY_BYTES}};
    if (i > 0 && i <= rows)
        fits = select_match_row(&c->table->row[i - 1], what, c, o);
    else if (i > rows)
        fits = select_match_rule(&rules[i - 1 - rows], what, c, o);
    if (!fits || !select_may_use(o->algorithm, c->npes, c->nodes, c->reproducible))
        return false;
    size_t most = select_most_bytes(o->algorithm, c->npes);
    if (o->bytes.to > most)
        o->bytes.to = most;
    return o->bytes.from <= o->bytes.to;
}

/* Select the first candidate that covers `bytes`.  choice->most is where its range ends
 * or where the range of a candidate with higher precedence begins, whichever is smaller.
 * Returns false if no candidate covers `bytes`. */
static bool select_best_candidate(enum select_collective what,
                                  const struct select_case *c, size_t bytes,
                                  struct select_choice *choice)
{
    size_t all = 1 + (c->table != NULL ? c->table->rows : 0) + RULES;
    size_t most = SELECT_ANY_BYTES;
    struct candidate o;

    for (size_t i = 0; i < all; i++) {
        if (!select_nth_candidate(i, what, c, &o) || o.bytes.to < bytes)
            continue;
        if (o.bytes.from <= bytes) {
            most = o.bytes.to < most ? o.bytes.to : most;
            *choice = (struct select_choice){most, (int)o.algorithm};
            return true;
        }
        most = o.bytes.from - 1 < most ? o.bytes.from - 1 : most;
    }
    return false;
}

int select_choose(enum select_collective what, const struct select_case *c,
                  struct select_choice plan[SELECT_CHOICES], bool *cut)
{
    struct select_choice next = {.most = 0};
    int n = 0;

    *cut = false;
    for (size_t bytes = 0; next.most != SELECT_ANY_BYTES; bytes = next.most + 1) {
        bool good = select_best_candidate(what, c, bytes, &next);
        n -= good && n > 0 && plan[n - 1].algorithm == next.algorithm; /* merge */
        if (good && n == SELECT_CHOICES - 1 && next.most != SELECT_ANY_BYTES) {
            *cut = true;
            good = select_best_candidate(what, c, SELECT_ANY_BYTES, &next);
        }
        if (!good)
            return 0;
        plan[n++] = next;
    }
    return n;
}

static void select_log_unused(enum select_collective what, const struct shmem_team *team)
{
    enum select_algorithm first = STATE.wanted[what];

    if (first != SELECT_ALGORITHMS_ALL &&
        !select_may_use(first, team->npes, select_nodes_of(team), select_reproducible()))
        log_debug("%s = '%s' is not used on a team of %d PEs%s", select_variable_of(what),
                  algorithms[first].name, team->npes,
                  select_reproducible() ? " with SHMEM_REPRODUCIBLE=1" : "");
}

static struct select_case select_case_of(const struct shmem_team *team,
                                         enum select_collective what)
{
    return (struct select_case){.npes = team->npes,
                                .nodes = select_nodes_of(team),
                                .oversubscribed = pgas_self.oversubscribed,
                                .caches = groups_have_caches(team),
                                .reproducible = select_reproducible(),
                                .first = STATE.wanted[what],
                                .table = &STATE.table};
}

enum select_algorithm select_same(const struct shmem_team *team,
                                  enum select_collective what, size_t bytes)
{
    struct select_case c = select_case_of(team, what);
    struct select_choice choice = {.algorithm = SELECT_ALGORITHMS_ALL};

    c.reproducible = true;
    bool found = select_best_candidate(what, &c, bytes, &choice);
    PGAS_ASSERT(found); /* built-in rules of each collective cover all sizes */
    (void)found;
    return (enum select_algorithm)choice.algorithm;
}

static void select_make_plan(struct shmem_team *team, enum select_collective what)
{
    struct select_case c = select_case_of(team, what);
    bool cut;

    select_log_unused(what, team);
    if (select_choose(what, &c, team->coll->select.plan[what], &cut) == 0)
        log_die("pgas: no algorithm covers all sizes of %s", select_name(what));
    if (cut && team->me == 0)
        log_warn(
            "%s: more than %d ranges of bytes for %s on %d PEs; the further ones are "
            "ignored",
            STATE.table.path, SELECT_CHOICES, select_name(what), team->npes);
}

void select_plan(struct shmem_team *team)
{
    for (int what = 0; what < SELECT_ALL; what++)
        select_make_plan(team, (enum select_collective)what);
    adapt_reset(team);
    team->coll->select.planned = true;
}

bool select_world_has_caches(void)
{
    return groups_have_caches(team_world());
}

void select_force(enum select_collective what, enum select_algorithm algorithm)
{
    STATE.wanted[what] = algorithm;
    select_plan(team_of(SHMEM_TEAM_WORLD, "oshmem_info"));
}

/* ---- output ---------------------------------------------------------------------- */

const char *select_plan_text(const struct select_choice *plan, char *text, size_t size)
{
    size_t at = 0;

    for (;; plan++) {
        bool last = plan->most == SELECT_ANY_BYTES;
        at += (size_t)snprintf(text + at, size - at, last ? "%s%s" : "%s%s to %zu",
                               at > 0 ? ", " : "", algorithms[plan->algorithm].name,
                               plan->most);
        if (last || at >= size)
            return text;
    }
}

void select_print(FILE *out, struct shmem_team *team)
{
    char text[PLAN_MAX];

    if (STATE.table.state == SELECT_TABLE_USED)
        fprintf(out, "Table of algorithms: %s (%zu rows)\n", STATE.table.path,
                STATE.table.rows);
    else
        fprintf(out, "Table of algorithms: none%s%s\n",
                STATE.table.note[0] != '\0' ? "; " : "", STATE.table.note);
    select_plan(team);
    if (team->node_team != NULL)
        select_plan(team->node_team);
    groups_print(out, team->node_team != NULL ? team->node_team : team);
    for (int what = 0; what < SELECT_ALL; what++) {
        bool internode = what >= SELECT_INTERNODE_REDUCE;
        const struct shmem_team *t =
            internode || team->node_team == NULL ? team : team->node_team;
        if (!internode || team->nodes != NULL)
            fprintf(
                out, "Algorithms of %s on %d %s: %s\n",
                select_name((enum select_collective)what),
                select_parties((enum select_collective)what, t->npes, select_nodes_of(t)),
                internode ? "nodes" : "PEs",
                select_plan_text(t->coll->select.plan[what], text, sizeof text));
    }
}
