/* SPDX-License-Identifier: BSD-3-Clause */
/* pick.c - see pick.h.  Uses: adapt, pick_table, core/env, core/log, core/team. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "pgas/coll/adapt.h"
#include "pgas/coll/pick.h"
#include "pgas/coll/pick_table.h"
#include "pgas/core/agree.h"
#include "pgas/core/log.h"
#include "pgas/core/pgas.h"

/* Every variable must be verified to be equal on all PEs (core/agree.h); otherwise PEs
 * could select different algorithms. */
#define X(NAME, name)                                                                    \
    _Static_assert((int)AGREE_##NAME##_ALGORITHM < (int)AGREE_ALL, "in PGAS_ENV_ALIKE");
PICK_COLLECTIVES(X)
#undef X

static const struct pick_info algorithms[PICK_ALGORITHMS_ALL] = {
#define X(COLLECTIVE, NAME, name, bytes, pes, same)                                      \
    [COLLECTIVE##_##NAME] = {PICK_##COLLECTIVE, name, bytes, pes, same},
    PICK_ALGORITHMS(X)
#undef X
};

/* Whether the node is oversubscribed (more PEs than processors). */
enum crowd { ROOMY = 1, CROWDED = 2, ALWAYS = ROOMY | CROWDED };

/* The built-in table, sorted by collective, number of PEs and bytes; the first matching
 * row is used.  The thresholds were measured on 2 processors.  The CROWDED rows for large
 * blocks assume several PEs per processor, because the last arriver moves most of the
 * data (arrival.c). */
struct rule {
    enum pick_algorithm algorithm;
    enum crowd crowd;
    int pes;      /* maximum team size */
    size_t bytes; /* maximum per PE; for an alltoall, of all blocks together */
};
static const struct rule rules[] = {
    {REDUCE_FLAT, ROOMY, 2, 128},
    {REDUCE_SLICES, ROOMY, 2, PICK_ANY_BYTES},
    {REDUCE_FLAT, ROOMY, 8, 2048},
    {REDUCE_FLAT, CROWDED, 8, 256},
    {REDUCE_LAST, ALWAYS, PICK_ANY_PES, 2048},
    {REDUCE_SLICES, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {BROADCAST_BOARD, ROOMY, 2, 128},
    {BROADCAST_DIRECT, ROOMY, 2, PICK_ANY_BYTES},
    {BROADCAST_BOARD, ALWAYS, PICK_ANY_PES, 2048},
    {BROADCAST_DIRECT, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {COLLECT_BOARD, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {FCOLLECT_BOARD, ROOMY, 2, 256},
    {FCOLLECT_BARRIER, ROOMY, 2, PICK_ANY_BYTES},
    {FCOLLECT_BOARD, CROWDED, 3, 128},
    {FCOLLECT_ARRIVAL, CROWDED, 4, 16384},
    {FCOLLECT_BARRIER, CROWDED, 4, PICK_ANY_BYTES},
    {FCOLLECT_ARRIVAL, CROWDED, 8, 4096},
    {FCOLLECT_BARRIER, CROWDED, 8, 131072},
    {FCOLLECT_ARRIVAL, CROWDED, 32, PICK_ANY_BYTES},
    {FCOLLECT_ARRIVAL, CROWDED, PICK_ORDER_PES, 4096},
    {FCOLLECT_BOARD, ALWAYS, PICK_ANY_PES, 2048},
    {FCOLLECT_BARRIER, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {ALLTOALL_BOARD, ROOMY, 2, 256},
    {ALLTOALL_BARRIER, ROOMY, 2, PICK_ANY_BYTES},
    {ALLTOALL_BOARD, CROWDED, 3, 512},
    {ALLTOALL_ARRIVAL, CROWDED, 4, 65536},
    {ALLTOALL_BARRIER, CROWDED, 4, PICK_ANY_BYTES},
    {ALLTOALL_ARRIVAL, CROWDED, 8, 32768},
    {ALLTOALL_BARRIER, CROWDED, 8, 262144},
    {ALLTOALL_ARRIVAL, CROWDED, 32, PICK_ANY_BYTES},
    {ALLTOALL_ARRIVAL, CROWDED, PICK_ORDER_PES, 65536},
    {ALLTOALL_BOARD, ALWAYS, PICK_ANY_PES, 2048},
    {ALLTOALL_BARRIER, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {SCAN_BOARD, ROOMY, 2, 256},
    {SCAN_BARRIER, ROOMY, 2, PICK_ANY_BYTES},
    {SCAN_BOARD, ALWAYS, PICK_ANY_PES, 2048},
    {SCAN_BARRIER, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {BARRIER_DISSEMINATION, ROOMY, PICK_ANY_PES, PICK_ANY_BYTES},
    {BARRIER_COUNTER, CROWDED, PICK_ANY_PES, PICK_ANY_BYTES},
    {BRIDGE_REDUCE_GATHER, ALWAYS, PICK_ANY_PES, 8192},
    {BRIDGE_REDUCE_DOUBLING, ALWAYS, PICK_ANY_PES, 16384},
    {BRIDGE_REDUCE_DIRECT, ALWAYS, 16, PICK_ANY_BYTES},
    {BRIDGE_REDUCE_HALVING, ALWAYS, PICK_ANY_PES, 262144},
    {BRIDGE_REDUCE_RING, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {BRIDGE_BROADCAST_PUSH, ALWAYS, PICK_ANY_PES, TEAM_PUSH_BYTES},
    {BRIDGE_BROADCAST_GATHER, ALWAYS, PICK_ANY_PES, TEAM_BOX},
    {BRIDGE_BROADCAST_BINOMIAL, ALWAYS, 8, PICK_ANY_BYTES},
    {BRIDGE_BROADCAST_BINOMIAL, ALWAYS, PICK_ANY_PES, 131072},
    {BRIDGE_BROADCAST_SCATTER, ALWAYS, PICK_SCATTER_NODES, PICK_ANY_BYTES},
    {BRIDGE_BROADCAST_BINOMIAL, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {BRIDGE_COLLECT_DIRECT, ALWAYS, 16, PICK_ANY_BYTES},
    {BRIDGE_COLLECT_RING, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
    {BRIDGE_ALLTOALL_GATHER, ALWAYS, PICK_ANY_PES, 256},
    {BRIDGE_ALLTOALL_BRUCK, ALWAYS, PICK_ANY_PES, 4096},
    {BRIDGE_ALLTOALL_PAIRWISE, ALWAYS, PICK_ANY_PES, PICK_ANY_BYTES},
};

enum { RULES = sizeof rules / sizeof rules[0] };

enum { NAMES_MAX = 128, PLAN_MAX = 512 };

/* By collective: the requested algorithm; PICK_ALGORITHMS_ALL = none. */
static enum pick_algorithm wanted[PICK_ALL];
static struct pick_table table;

/* ---- names ----------------------------------------------------------------------- */

const struct pick_info *pick_info(enum pick_algorithm algorithm)
{
    return &algorithms[algorithm];
}

const char *pick_name(enum pick_collective what)
{
#define X(NAME, name) #name,
    static const char *const names[] = {PICK_COLLECTIVES(X)};
#undef X

    return names[what];
}

static const char *variable_of(enum pick_collective what)
{
#define X(NAME, name) "SHMEM_" #NAME "_ALGORITHM",
    static const char *const names[] = {PICK_COLLECTIVES(X)};
#undef X

    return names[what];
}

const char *pick_wish(enum pick_collective what, const struct env *env)
{
#define X(NAME, name) env->name##_algorithm,
    const char *const values[] = {PICK_COLLECTIVES(X)};
#undef X

    return values[what];
}

const char *pick_names(enum pick_collective what, char *text, size_t size)
{
    size_t at = 0;

    text[0] = '\0';
    for (int a = 0; a < PICK_ALGORITHMS_ALL && at < size; a++)
        if (algorithms[a].what == what)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at > 0 ? ", " : "",
                                   algorithms[a].name);
    return text;
}

enum pick_algorithm pick_algorithm_of(enum pick_collective what, const char *name)
{
    int a = 0;

    while (a < PICK_ALGORITHMS_ALL &&
           (algorithms[a].what != what || strcmp(algorithms[a].name, name) != 0))
        a++;
    return (enum pick_algorithm)a;
}

/* ---- the environment --------------------------------------------------------------- */

static enum pick_algorithm find(enum pick_collective what)
{
    const char *name = pick_wish(what, &pgas_self.env);
    enum pick_algorithm a = pick_algorithm_of(what, name);
    char names[NAMES_MAX];

    if (a == PICK_ALGORITHMS_ALL && strcmp(name, "auto") != 0)
        log_die("%s = '%s' is not an algorithm; use one of auto, %s", variable_of(what),
                name, pick_names(what, names, sizeof names));
    return a;
}

void pick_init(void)
{
    for (int what = 0; what < PICK_ALL; what++)
        wanted[what] = find((enum pick_collective)what);
}

const struct pick_table *pick_init_table(unsigned processors)
{
    const char *name = pgas_self.env.coll_table;
    bool asked = name[0] != '\0', tell = pgas_self.me == 0;

    pick_table_free(&table);
    pick_table_find(name, processors, &table);
    if (table.state == PICK_TABLE_BAD && asked)
        log_die("SHMEM_COLL_TABLE: %s", table.note);
    if (table.state == PICK_TABLE_BAD && tell)
        log_warn("%s; the table is ignored", table.note);
    if (table.state == PICK_TABLE_OTHER && asked && tell)
        log_warn("SHMEM_COLL_TABLE: %s and is ignored; oshmem_info --tune makes one",
                 table.note);
    else if (table.state == PICK_TABLE_OTHER)
        log_debug("%s: the table is ignored", table.note);
    return &table;
}

/* ---- plans ----------------------------------------------------------------------- */

/* Number of participants: PEs, or nodes for an inter-node collective. */
static int parties(enum pick_collective what, int npes, int nodes)
{
    return what < PICK_BRIDGE_REDUCE ? npes : nodes;
}

static int nodes_of(const struct shmem_team *team)
{
    return team->nodes != NULL ? team->nodes->leaders : 1;
}

static bool reproducible(void)
{
    return pgas_self.env.reproducible == REPRODUCIBLE_ANYWHERE;
}

static bool may_use(enum pick_algorithm algorithm, int npes, int nodes, bool reproducible)
{
    const struct pick_info *a = &algorithms[algorithm];

    return parties(a->what, npes, nodes) <= a->pes && (a->same || !reproducible);
}

/* Limits of an alltoall are for all blocks of a PE together, because they share one eager
 * slot; plans and table files count the bytes of one block. */
static size_t block_limit(enum pick_collective what, size_t bytes, int npes)
{
    return what == PICK_ALLTOALL && bytes != PICK_ANY_BYTES ? bytes / (size_t)npes
                                                            : bytes;
}

size_t pick_most_bytes(enum pick_algorithm algorithm, int npes)
{
    const struct pick_info *a = &algorithms[algorithm];

    return block_limit(a->what, a->bytes, npes);
}

bool pick_adapts(enum pick_collective what, enum pick_algorithm other,
                 const struct shmem_team *team)
{
    return wanted[what] == PICK_ALGORITHMS_ALL && pgas_self.env.adapt != 0 &&
           team->npes > 2 && may_use(other, team->npes, nodes_of(team), reproducible());
}

bool pick_asked(enum pick_collective what)
{
    return wanted[what] != PICK_ALGORITHMS_ALL;
}

/* A candidate algorithm and the range of bytes for which it is usable. */
struct offer {
    enum pick_algorithm algorithm;
    struct pick_range bytes;
};

static bool in_range(const struct pick_range *r, int n)
{
    return (size_t)n >= r->from && (size_t)n <= r->to;
}

static bool of_row(const struct pick_row *r, enum pick_collective what,
                   const struct pick_case *c, struct offer *o)
{
    *o = (struct offer){r->algorithm, r->bytes};
    return r->what == what && in_range(&r->pes, c->npes) && in_range(&r->nodes, c->nodes);
}

static bool of_rule(const struct rule *r, enum pick_collective what,
                    const struct pick_case *c, struct offer *o)
{
    *o = (struct offer){r->algorithm, {0, block_limit(what, r->bytes, c->npes)}};
    return algorithms[r->algorithm].what == what &&
           (r->crowd & (c->crowded ? CROWDED : ROOMY)) != 0 &&
           parties(what, c->npes, c->nodes) <= r->pes;
}

/* The i-th candidate in order of precedence: the requested algorithm, the rows of the
 * table file, the built-in rules.  Returns false if it does not apply to this case. */
static bool nth_offer(size_t i, enum pick_collective what, const struct pick_case *c,
                      struct offer *o)
{
    size_t rows = c->table != NULL ? c->table->rows : 0;
    bool fits = i == 0 && c->first != PICK_ALGORITHMS_ALL;

    *o = (struct offer){c->first, {0, PICK_ANY_BYTES}};
    if (i > 0 && i <= rows)
        fits = of_row(&c->table->row[i - 1], what, c, o);
    else if (i > rows)
        fits = of_rule(&rules[i - 1 - rows], what, c, o);
    if (!fits || !may_use(o->algorithm, c->npes, c->nodes, c->reproducible))
        return false;
    size_t most = pick_most_bytes(o->algorithm, c->npes);
    if (o->bytes.to > most)
        o->bytes.to = most;
    return o->bytes.from <= o->bytes.to;
}

/* Select the first candidate that covers `bytes`.  choice->most is where its range ends
 * or where the range of a candidate with higher precedence begins, whichever is smaller.
 * Returns false if no candidate covers `bytes`. */
static bool best_offer(enum pick_collective what, const struct pick_case *c, size_t bytes,
                       struct team_choice *choice)
{
    size_t all = 1 + (c->table != NULL ? c->table->rows : 0) + RULES;
    size_t most = PICK_ANY_BYTES;
    struct offer o;

    for (size_t i = 0; i < all; i++) {
        if (!nth_offer(i, what, c, &o) || o.bytes.to < bytes)
            continue;
        if (o.bytes.from <= bytes) {
            most = o.bytes.to < most ? o.bytes.to : most;
            *choice = (struct team_choice){most, (int)o.algorithm};
            return true;
        }
        most = o.bytes.from - 1 < most ? o.bytes.from - 1 : most;
    }
    return false;
}

int pick_choose(enum pick_collective what, const struct pick_case *c,
                struct team_choice plan[TEAM_CHOICES], bool *cut)
{
    struct team_choice next = {.most = 0};
    int n = 0;

    *cut = false;
    for (size_t bytes = 0; next.most != PICK_ANY_BYTES; bytes = next.most + 1) {
        bool good = best_offer(what, c, bytes, &next);
        n -= good && n > 0 && plan[n - 1].algorithm == next.algorithm; /* merge */
        if (good && n == TEAM_CHOICES - 1 && next.most != PICK_ANY_BYTES) {
            *cut = true;
            good = best_offer(what, c, PICK_ANY_BYTES, &next);
        }
        if (!good)
            return 0;
        plan[n++] = next;
    }
    return n;
}

static void tell_unused(enum pick_collective what, const struct shmem_team *team)
{
    enum pick_algorithm first = wanted[what];

    if (first != PICK_ALGORITHMS_ALL &&
        !may_use(first, team->npes, nodes_of(team), reproducible()))
        log_debug("%s = '%s' is not used on a team of %d PEs%s", variable_of(what),
                  algorithms[first].name, team->npes,
                  reproducible() ? " with SHMEM_REPRODUCIBLE=1" : "");
}

static void plan(struct shmem_team *team, enum pick_collective what)
{
    struct pick_case c = {.npes = team->npes,
                          .nodes = nodes_of(team),
                          .crowded = pgas_self.oversubscribed,
                          .reproducible = reproducible(),
                          .first = wanted[what],
                          .table = &table};
    bool cut;

    tell_unused(what, team);
    if (pick_choose(what, &c, team->plan[what], &cut) == 0)
        log_die("pgas: no algorithm covers all sizes of %s", pick_name(what));
    if (cut && team->me == 0)
        log_warn(
            "%s: more than %d ranges of bytes for %s on %d PEs; the further ones are "
            "ignored",
            table.path, TEAM_CHOICES, pick_name(what), team->npes);
}

void pick_plan(struct shmem_team *team)
{
    for (int what = 0; what < PICK_ALL; what++)
        plan(team, (enum pick_collective)what);
    adapt_reset(team);
    team->planned = true;
}

void pick_force(enum pick_collective what, enum pick_algorithm algorithm)
{
    wanted[what] = algorithm;
    pick_plan(team_of(SHMEM_TEAM_WORLD, "oshmem_info"));
}

/* ---- output ---------------------------------------------------------------------- */

const char *pick_plan_text(const struct team_choice *plan, char *text, size_t size)
{
    size_t at = 0;

    for (;; plan++) {
        bool last = plan->most == PICK_ANY_BYTES;
        at += (size_t)snprintf(text + at, size - at, last ? "%s%s" : "%s%s to %zu",
                               at > 0 ? ", " : "", algorithms[plan->algorithm].name,
                               plan->most);
        if (last || at >= size)
            return text;
    }
}

void pick_print(FILE *out, struct shmem_team *team)
{
    char text[PLAN_MAX];

    if (table.state == PICK_TABLE_USED)
        fprintf(out, "Table of algorithms: %s (%zu rows)\n", table.path, table.rows);
    else
        fprintf(out, "Table of algorithms: none%s%s\n", table.note[0] != '\0' ? "; " : "",
                table.note);
    pick_plan(team);
    if (team->near != NULL)
        pick_plan(team->near);
    for (int what = 0; what < PICK_ALL; what++) {
        bool bridge = what >= PICK_BRIDGE_REDUCE;
        const struct shmem_team *t = bridge || team->near == NULL ? team : team->near;
        if (!bridge || team->nodes != NULL)
            fprintf(out, "Algorithms of %s on %d %s: %s\n",
                    pick_name((enum pick_collective)what),
                    parties((enum pick_collective)what, t->npes, nodes_of(t)),
                    bridge ? "nodes" : "PEs",
                    pick_plan_text(t->plan[what], text, sizeof text));
    }
}
