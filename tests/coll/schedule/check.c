/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.c - proves the schedules of the inter-node phases for numbers of nodes up to 256,
 * with PGAS_TEST_LONG for all up to 512, compares messages, units and rounds with
 * the formulas, and shows that wrong schedules are rejected.  Ranks are relative to the
 * root, so that a proof holds for every root.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/coll/select/select.h"
#include "tests/coll/schedule/model.h"
#include "tests/coll/schedule/mutants.h"

enum {
    NODES_SHORT = 256,
    NODES_MAX = 512,
    DENSE = 40,
    WHY = 200,
    PARTS = 3,
    LINE = 4,
    SEGMENT = 3
};

/* ---- formulas -----------------------------------------------------------------------
 */

/* `least`, `most`: bounds of a count of the leader with the highest count. */
struct bounds {
    double least, most;
};

static struct bounds exactly(double n)
{
    return (struct bounds){n, n};
}

static struct bounds at_most(double n)
{
    return (struct bounds){0, n};
}

static int others(const struct schedule *s)
{
    return s->nodes - 1;
}

static int log2_up(const struct schedule *s)
{
    return schedule_log2(s->nodes);
}

static bool is_power(const struct schedule *s)
{
    return 1 << log2_up(s) == s->nodes;
}

/* Rounds between the leaders of a power of two; a fold and an unfold around them. */
static int levels(const struct schedule *s)
{
    return log2_up(s) - !is_power(s);
}

static int extra(const struct schedule *s)
{
    return is_power(s) ? 0 : 1;
}

/* Units of all slices but the smallest, if none is rounded. */
static struct bounds but_one(const struct schedule *s, double times)
{
    double each = (double)((s->units + (size_t)s->nodes - 1) / (size_t)s->nodes);

    each = (double)(((size_t)each + s->line - 1) / s->line * s->line);
    return at_most(times * each * others(s));
}

typedef struct bounds (*formula)(const struct schedule *s);

static struct bounds one_by_one(const struct schedule *s)
{
    return exactly(others(s));
}

static struct bounds copies_units(const struct schedule *s)
{
    return exactly(others(s) * (double)s->units);
}

static struct bounds twice(const struct schedule *s)
{
    return exactly(2.0 * others(s));
}

static struct bounds logarithm(const struct schedule *s)
{
    return exactly(log2_up(s));
}

static struct bounds at_most_log(const struct schedule *s)
{
    return at_most(log2_up(s));
}

/* ceil(logk N) */
static int knomial_depth(const struct schedule *s)
{
    int depth = 0;

    for (long all = 1; all < s->nodes; all *= s->radix)
        depth++;
    return depth;
}

static struct bounds knomial_rounds(const struct schedule *s)
{
    return at_most((s->radix - 1.0) * knomial_depth(s) * schedule_segments(s));
}

/* Children of the root: k - 1 in each level but the last, which has the other leaders. */
static int knomial_children(const struct schedule *s)
{
    int children = 0, all = 1;

    for (; all * s->radix < s->nodes; all *= s->radix)
        children += s->radix - 1;
    return children + (s->nodes - 1) / all;
}

static struct bounds knomial_messages(const struct schedule *s)
{
    return exactly((double)knomial_children(s) * schedule_segments(s));
}

static struct bounds knomial_units(const struct schedule *s)
{
    return exactly(knomial_children(s) * (double)s->units);
}

static struct bounds log_units(const struct schedule *s)
{
    return exactly(log2_up(s) * (double)s->units);
}

static struct bounds slices_twice(const struct schedule *s)
{
    return but_one(s, 2);
}

static struct bounds bruck_units(const struct schedule *s)
{
    return at_most(log2_up(s) * (s->nodes / 2 + 1.0));
}

static struct bounds halving_rounds(const struct schedule *s)
{
    return exactly(2.0 * levels(s) + 2 * extra(s));
}

static struct bounds halving_messages(const struct schedule *s)
{
    return exactly(2.0 * levels(s) + extra(s));
}

static struct bounds halving_units(const struct schedule *s)
{
    return at_most(2.0 * (double)s->units + levels(s) + extra(s) * (double)s->units);
}

static struct bounds doubling_rounds(const struct schedule *s)
{
    return exactly(levels(s) + 2.0 * extra(s));
}

static struct bounds doubling_messages(const struct schedule *s)
{
    return exactly(levels(s) + (double)extra(s));
}

static struct bounds doubling_units(const struct schedule *s)
{
    return exactly((levels(s) + (double)extra(s)) * (double)s->units);
}

static struct bounds one(const struct schedule *s)
{
    return exactly(s->nodes > 1);
}

static struct bounds all_units(const struct schedule *s)
{
    return exactly(s->nodes > 1 ? (double)s->units : 0);
}

static struct bounds twice_log(const struct schedule *s)
{
    return exactly(2.0 * log2_up(s));
}

static struct bounds thrice_log(const struct schedule *s)
{
    return exactly(3.0 * log2_up(s));
}

static struct bounds at_most_units(const struct schedule *s)
{
    return at_most((double)s->units);
}

static struct bounds at_most_twice_log(const struct schedule *s)
{
    return at_most(2.0 * log2_up(s));
}

static struct bounds scan_rounds(const struct schedule *s)
{
    return at_most(2.0 * log2_up(s) + 2);
}

static struct bounds scan_units(const struct schedule *s)
{
    return at_most((log2_up(s) + 1.0) * (double)s->units);
}

static struct bounds chain_rounds(const struct schedule *s)
{
    return exactly(others(s) > 0 ? others(s) + schedule_segments(s) - 1.0 : 0);
}

static struct bounds chain_messages(const struct schedule *s)
{
    return exactly(others(s) > 0 ? schedule_segments(s) : 0);
}

static struct bounds ordered_rounds(const struct schedule *s)
{
    return at_most(2.0 * others(s) + 2.0 * (schedule_segments(s) - 1));
}

static struct bounds ordered_messages(const struct schedule *s)
{
    int segments = schedule_segments(s);

    return at_most(segments > 1 ? 2.0 * segments : 1.0 + log2_up(s));
}

static struct bounds ordered_units(const struct schedule *s)
{
    double times = schedule_segments(s) > 1 ? 2.0 : 1.0 + log2_up(s);

    return at_most(times * (double)s->units);
}

static struct bounds pairwise_rounds(const struct schedule *s)
{
    return exactly(others(s) + 2.0 * log2_up(s));
}

/* ---- the algorithms ------------------------------------------------------------------
 */

struct algorithm {
    enum schedule_name name;
    bool entered; /* begins with a barrier of the leaders, or needs none (gather) */
    bool all;     /* each leader depends on all at the end (leader_exchange_end) */
    int words_to; /* uses LEADER_WORDS signal words, with up to so many nodes */
    formula rounds, messages, units;
    const char *text[3];
};

static const struct algorithm algorithms[] = {
    {SCHEDULE_GATHER_DIRECT,
     true,
     true,
     SELECT_DIRECT_NODES,
     one_by_one,
     one_by_one,
     one_by_one,
     {"N-1", "N-1", "N-1"}},
    {SCHEDULE_DISSEMINATION,
     true,
     true,
     0,
     logarithm,
     logarithm,
     one_by_one,
     {"log N", "log N", "N-1"}},
    {SCHEDULE_GATHER_RING,
     true,
     true,
     NODES_MAX,
     one_by_one,
     one_by_one,
     one_by_one,
     {"N-1", "N-1", "N-1"}},
    {SCHEDULE_BCAST_KNOMIAL,
     true,
     false,
     NODES_MAX,
     knomial_rounds,
     knomial_messages,
     knomial_units,
     {"<= B (k-1) logk N", "B (k-1) logk N", "m (k-1) logk N"}},
    {SCHEDULE_BCAST_SCATTER,
     true,
     false,
     SELECT_SCATTER_NODES,
     twice,
     twice,
     slices_twice,
     {"2(N-1)", "2(N-1)", "<= 2 m"}},
    {SCHEDULE_ALLTOALL_BRUCK,
     false,
     true,
     NODES_MAX,
     logarithm,
     logarithm,
     bruck_units,
     {"log N", "log N", "<= (N/2+1) log N"}},
    {SCHEDULE_ALLTOALL_DIRECT,
     false,
     true,
     SELECT_DIRECT_NODES,
     one_by_one,
     one_by_one,
     one_by_one,
     {"N-1", "N-1", "N-1"}},
    {SCHEDULE_ALLTOALL_PAIRWISE,
     false,
     true,
     0,
     pairwise_rounds,
     pairwise_rounds,
     one_by_one,
     {"N-1 + 2 log N", "N-1 + 2 log N", "N-1"}},
    {SCHEDULE_REDUCE_EXCHANGE,
     false,
     true,
     SELECT_DIRECT_NODES,
     one_by_one,
     one_by_one,
     copies_units,
     {"N-1", "N-1", "m (N-1)"}},
    {SCHEDULE_REDUCE_DIRECT,
     false,
     true,
     SELECT_DIRECT_NODES,
     twice,
     twice,
     slices_twice,
     {"2(N-1)", "2(N-1)", "2 m (N-1)/N"}},
    {SCHEDULE_REDUCE_RING,
     false,
     true,
     NODES_MAX,
     twice,
     twice,
     slices_twice,
     {"2(N-1)", "2(N-1)", "2 m (N-1)/N"}},
    {SCHEDULE_REDUCE_HALVING,
     false,
     true,
     NODES_MAX,
     halving_rounds,
     halving_messages,
     halving_units,
     {"2 log N (+2)", "2 log N (+1)", "2 m (+m)"}},
    {SCHEDULE_REDUCE_DOUBLING,
     false,
     true,
     NODES_MAX,
     doubling_rounds,
     doubling_messages,
     doubling_units,
     {"log N (+2)", "log N (+1)", "m log N (+m)"}},
    {SCHEDULE_REDUCE_TREE,
     false,
     false,
     NODES_MAX,
     at_most_log,
     one,
     all_units,
     {"<= log N", "1", "m"}},
    {SCHEDULE_SCAN_CHAIN,
     false,
     false,
     NODES_MAX,
     chain_rounds,
     chain_messages,
     all_units,
     {"N-1 + B-1", "B", "m"}},
    {SCHEDULE_REDUCE_ORDERED,
     false,
     true,
     NODES_MAX,
     ordered_rounds,
     ordered_messages,
     ordered_units,
     {"<= 2(N-1 + B-1)", "<= 2 B", "<= 2 m"}},
    {SCHEDULE_SCAN_DOUBLING,
     false,
     false,
     NODES_MAX,
     logarithm,
     logarithm,
     log_units,
     {"log N", "log N", "m log N"}},
    {SCHEDULE_PULL_BCAST,
     false,
     false,
     0,
     at_most_twice_log,
     logarithm,
     all_units,
     {"<= 2 log N", "log N", "m"}},
    {SCHEDULE_PULL_GATHER,
     false,
     true,
     0,
     twice_log,
     twice_log,
     at_most_units,
     {"2 log N", "2 log N", "<= m"}},
    {SCHEDULE_PULL_ALLTOALL,
     false,
     true,
     0,
     twice_log,
     twice_log,
     one_by_one,
     {"2 log N", "2 log N", "N-1"}},
    {SCHEDULE_PULL_TREE,
     false,
     false,
     0,
     at_most_twice_log,
     logarithm,
     log_units,
     {"<= 2 log N", "log N", "m log N"}},
    {SCHEDULE_PULL_DIRECT,
     false,
     true,
     0,
     thrice_log,
     thrice_log,
     slices_twice,
     {"3 log N", "3 log N", "2 m (N-1)/N"}},
    {SCHEDULE_PULL_SCAN,
     false,
     false,
     0,
     scan_rounds,
     scan_rounds,
     scan_units,
     {"<= 2 log N", "<= 2 log N", "<= m log N"}},
    {SCHEDULE_PULL_EXSCAN,
     false,
     false,
     0,
     scan_rounds,
     scan_rounds,
     scan_units,
     {"<= 2 log N + 2", "<= 2 log N + 2", "<= m (1+log N)"}},
};
enum { ALGORITHMS = sizeof algorithms / sizeof algorithms[0] };
static const int radices[] = {3, 4, 8, 64}; /* of k-nomial trees, besides 2 */
enum { RADICES = sizeof radices / sizeof radices[0] };
_Static_assert((int)ALGORITHMS == (int)SCHEDULES, "a row for each schedule");

/* ---- proofs ------------------------------------------------------------------------ */

static int failures, proofs;

static void fail(const struct schedule *s, const char *what)
{
    printf("FAIL: %s, %d nodes, radix %d, %zu units: %s\n", schedule_text(s->name),
           s->nodes, s->radix, s->units, what);
    failures++;
}

static void check_bounds(const struct schedule *s, const char *what, double got,
                         struct bounds b)
{
    char text[WHY];

    if (got >= b.least && got <= b.most)
        return;
    snprintf(text, sizeof text, "%g %s, the formula gives %g .. %g", got, what, b.least,
             b.most);
    fail(s, text);
}

static struct model_config config_of(const struct algorithm *a, int nodes, size_t units,
                                     size_t line)
{
    struct model_config c = {.schedule = {.name = a->name,
                                          .nodes = nodes,
                                          .units = units,
                                          .line = line,
                                          .radix = 2,
                                          .segment = a->name == SCHEDULE_PULL_DIRECT
                                                         ? SEGMENT
                                                         : (units - 1) / PARTS + 1},
                             .step = schedule_step,
                             .entered = a->entered,
                             .words = nodes <= a->words_to ? LEADER_WORDS : 0};

    c.inbox = schedule_inbox(&c.schedule);
    return c;
}

static void prove_config(const struct algorithm *a, struct model_config c)
{
    struct model_counts counts;
    char why[WHY];

    proofs++;
    if (!model_prove(&c, &counts, why, sizeof why)) {
        fail(&c.schedule, why);
        return;
    }
    check_bounds(&c.schedule, "rounds", (double)counts.rounds, a->rounds(&c.schedule));
    check_bounds(&c.schedule, "messages", (double)counts.messages,
                 a->messages(&c.schedule));
    check_bounds(&c.schedule, "units", (double)counts.units, a->units(&c.schedule));
    if (a->all && !counts.all)
        fail(&c.schedule, "a leader may end before all have entered");
}

static void prove(const struct algorithm *a, int nodes, size_t units, size_t line)
{
    bool source = a->name == SCHEDULE_PULL_TREE || a->name == SCHEDULE_PULL_DIRECT ||
                  a->name == SCHEDULE_REDUCE_ORDERED;
    bool other = source || a->name == SCHEDULE_ALLTOALL_DIRECT ||
                 a->name == SCHEDULE_ALLTOALL_PAIRWISE;

    struct model_config c = config_of(a, nodes, units, line);

    if (!other || nodes > 1) /* one node: no steps, so no result in DATA */
        prove_config(a, c);
    for (size_t k = 0; a->name == SCHEDULE_BCAST_KNOMIAL && k < RADICES; k++) {
        c.schedule.radix = radices[k];
        prove_config(a, c);
    }
    c.in_place = true;
    if (source)
        prove_config(a, c);
}

/* All numbers up to DENSE; then those around powers of two, and some others. */
static bool is_sampled(int nodes)
{
    int power = 1;

    while (power < nodes)
        power *= 2;
    return nodes <= DENSE || power - nodes <= 1 || nodes - power / 2 <= 1 ||
           nodes % 100 == 0;
}

/* Whether the operand is divided among the ranks; elsewhere its size does not matter. */
static bool has_slices(const struct algorithm *a)
{
    return a->name == SCHEDULE_BCAST_SCATTER || a->name == SCHEDULE_REDUCE_DIRECT ||
           a->name == SCHEDULE_REDUCE_RING || a->name == SCHEDULE_REDUCE_HALVING ||
           a->name == SCHEDULE_PULL_GATHER || a->name == SCHEDULE_PULL_DIRECT;
}

static void prove_all(const struct algorithm *a, int limit, bool dense)
{
    int n = 0, before = failures;

    for (int nodes = 1; nodes <= limit; nodes++)
        if (dense || is_sampled(nodes)) {
            prove(a, nodes, 2, 1);
            if (a->name == SCHEDULE_REDUCE_ORDERED) /* one segment: another tree */
                prove(a, nodes, 1, 1);
            if (has_slices(a) || nodes <= DENSE)
                prove(a, nodes, (size_t)nodes + 3, 1);
            if (has_slices(a) && nodes <= DENSE)
                prove(a, nodes, 5 * (size_t)nodes + 3, LINE);
            n++;
        }
    printf("%-24s %4d numbers of nodes up to %d, every root  %-14s %-13s %-17s %s\n",
           schedule_text(a->name), n, limit, a->text[0], a->text[1], a->text[2],
           failures == before ? "proved" : "WRONG");
}

/* ---- wrong schedules --------------------------------------------------------------- */

/* Below 5 nodes some of them are right. */
static void expect_rejection(size_t k)
{
    const struct algorithm *a = &algorithms[mutants[k].name];

    for (int nodes = 5; nodes <= 9; nodes++) {
        struct model_config c = config_of(a, nodes, 2 * (size_t)nodes, 1);
        struct model_counts counts;
        char why[WHY] = "accepted";
        c.step = mutants[k].step;
        if (model_prove(&c, &counts, why, sizeof why) ||
            strstr(why, mutants[k].why) == NULL)
            fail(&c.schedule, why);
        else if (nodes == 5)
            printf("rejected: %s, %s: %s\n", schedule_text(a->name), mutants[k].text,
                   why);
    }
}

int main(void)
{
    const char *setting = getenv("PGAS_TEST_LONG");
    bool dense = setting != NULL && *setting != '\0';

    printf("%-24s %-46s %-14s %-13s %s\n", "schedule", "", "rounds", "messages",
           "units of a leader");
    for (int k = 0; k < ALGORITHMS; k++)
        prove_all(&algorithms[k], dense ? NODES_MAX : NODES_SHORT, dense);
    for (size_t k = 0; k < mutants_count; k++)
        expect_rejection(k);
    printf("%d proofs, %d failures\n", proofs, failures);
    return failures != 0;
}
