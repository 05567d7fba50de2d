/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random.c - random failures of random clusters: one scenario per seed.
 *   tests/ft/protocol/random [--seed=S] [--count=N] [--trace]
 * Ends at the first seed that violates a property, and prints the command that repeats
 * it.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/ft/protocol/ft_ring.h"
#include "pgas/transport/test/random.h"
#include "tests/ft/protocol/cluster.h"

enum { NODES_MAX = 33 };
#define DELTA UINT64_C(1000000)

/* One scenario: the cluster, and what bounds its duration. */
struct scenario {
    struct cluster *c;
    uint64_t random;
    uint64_t stop_max;  /* a node may stop for so long without consequences */
    uint64_t last;      /* time of the last fault */
    uint64_t kill_span; /* kills happen before */
    uint32_t kills;
    bool exact;              /* the time of detection can be checked against its bounds */
    bool touched[NODES_MAX]; /* has a fault already */
    uint32_t order[NODES_MAX];
};

static uint64_t draw(struct scenario *s, uint64_t n)
{
    return random_below(&s->random, n);
}

static bool chance(struct scenario *s, uint32_t percent)
{
    return draw(s, 100) < percent;
}

static uint32_t scenario_nodes(struct scenario *s)
{
    uint64_t kind = draw(s, 100);

    if (kind < 6)
        return 1 + (uint32_t)draw(s, 3);
    if (kind < 80)
        return 4 + (uint32_t)draw(s, 5);
    return kind < 97 ? 9 + (uint32_t)draw(s, 8) : 17 + (uint32_t)draw(s, 17);
}

static void scenario_order(struct scenario *s, uint32_t n)
{
    uint32_t domain[NODES_MAX], ndomains = 1 + (uint32_t)draw(s, n);

    for (uint32_t i = 0; i < n; i++)
        domain[i] = (uint32_t)draw(s, ndomains);
    if (ft_ring_order(domain, n, s->order) != 0)
        abort();
}

/* 2 * delay_max + stop_max + late_max < delta: what ft_proto.h assumes of the host. */
static void scenario_open(struct scenario *s, uint64_t seed, bool trace, bool restarts)
{
    static const uint64_t delays[] = {DELTA / 100, DELTA / 10, DELTA * 2 / 5};
    uint32_t n = scenario_nodes(s);
    uint64_t delay = restarts ? DELTA / 40 : delays[draw(s, 3)];
    struct cluster_config config = {
        .nnodes = n,
        .pes_per_node = 1 + (uint32_t)draw(s, 3),
        .cyclic = chance(s, 50),
        .order = chance(s, 50) ? s->order : NULL,
        .delta = DELTA,
        .eta = 2 * DELTA,
        .grace = chance(s, 50) ? DELTA : 0,
        .delay_min = draw(s, 2) * delay / 4,
        .delay_max = delay,
        .bursts = chance(s, 30),
        .late_max = chance(s, 30) ? DELTA / 20 : 0,
        .closes = chance(s, 50),
        .loses_last = chance(s, 50),
        .agreements = 2 * TEAMS_MAX,
        .log_bytes = 4096,
        .seed = seed,
        .trace = trace,
    };

    scenario_order(s, n);
    s->stop_max = DELTA * 9 / 10 - 2 * config.delay_max - config.late_max;
    s->c = cluster_open(&config);
    s->exact = !config.loses_last;
}

static uint64_t scenario_time(struct scenario *s, uint64_t span)
{
    uint64_t at = 1 + draw(s, span);

    s->last = at > s->last ? at : s->last;
    return at;
}

static uint32_t scenario_touch(struct scenario *s, uint32_t node)
{
    if (s->touched[node])
        return FT_NODE_NONE;
    s->touched[node] = true;
    return node;
}

/* A node without another fault; FT_NODE_NONE if the draw finds none. */
static uint32_t scenario_node(struct scenario *s)
{
    return scenario_touch(s, (uint32_t)draw(s, s->c->config.nnodes));
}

static void scenario_kill(struct scenario *s, uint32_t node, uint64_t at)
{
    s->kills++;
    if (chance(s, 40)) {
        /* In the middle of what it sends: counted from `at` on.  If it sends less, it
         * dies at the next heartbeats. */
        cluster_at(s->c, at, EVENT_KILL_AFTER, node, 0, draw(s, 12));
        s->last += 16 * DELTA;
        s->exact = false;
    } else {
        cluster_at(s->c, at, EVENT_KILL, node, 0, 0);
    }
}

static void scenario_kills(struct scenario *s)
{
    static const uint64_t spans[] = {DELTA / 50, DELTA / 4, DELTA, 4 * DELTA};
    uint32_t n = s->c->config.nnodes, first = (uint32_t)draw(s, n);
    uint64_t kind = draw(s, 100), span = spans[draw(s, 4)], at = scenario_time(s, span);
    uint32_t k = kind < 10 ? 0 : kind < 50 ? 1 : kind < 75 ? 2 : (uint32_t)draw(s, n);
    bool contiguous = chance(s, 50), together = chance(s, 50);

    s->kill_span = span;
    for (uint32_t i = 0; i < k && s->kills + 1 < n; i++) {
        const uint32_t *order = s->c->config.order;
        uint32_t pos = (first + i) % n;
        uint32_t node =
            contiguous ? (order != NULL ? order[pos] : pos) : scenario_node(s);

        if (node == FT_NODE_NONE || (contiguous && s->touched[node]))
            continue;
        s->touched[node] = true;
        scenario_kill(s, node, together ? at : scenario_time(s, span));
    }
}

static void scenario_stops(struct scenario *s)
{
    for (uint64_t i = draw(s, 3); i > 0; i--) {
        uint32_t node = scenario_node(s);

        if (node == FT_NODE_NONE)
            continue;
        cluster_at(s->c, scenario_time(s, 4 * DELTA), EVENT_STOP, node, 0,
                   1 + draw(s, s->stop_max));
        s->exact = false;
    }
    /* Longer than the bound: the node, often the coordinator of agreements, may be
     * declared failed, and must then learn it. */
    if (chance(s, 20) && s->c->config.nnodes > 1 && s->kills + 1 < s->c->config.nnodes) {
        uint32_t node = chance(s, 70) ? scenario_touch(s, 0) : scenario_node(s);

        if (node == FT_NODE_NONE)
            return;
        cluster_at(s->c, scenario_time(s, 4 * DELTA), EVENT_STOP, node, 1,
                   2 * DELTA + draw(s, 4 * DELTA));
        s->last += 8 * DELTA;
        s->kills++;
        s->exact = false;
    }
}

/* The machine of all nodes does not run: they stop and continue at nearly the same times.
 * However long that is, none is silent while another one observes it. */
static void scenario_pause(struct scenario *s)
{
    uint64_t skew = 1 + s->stop_max / 2;
    uint64_t from = scenario_time(s, 4 * DELTA), until = from + skew + draw(s, 8 * DELTA);

    for (uint32_t i = 0; i < s->c->config.nnodes; i++) {
        uint64_t at = from + draw(s, skew);
        cluster_at(s->c, at, EVENT_STOP, i, 0, until + draw(s, skew) - at);
    }
    s->last = until + skew > s->last ? until + skew : s->last;
    s->exact = false;
}

/* Another node drops frames to a node that runs, often the coordinator of agreements; it
 * must fail then. */
static void scenario_full(struct scenario *s)
{
    uint32_t n = s->c->config.nnodes, from = (uint32_t)draw(s, n);

    if (n == 1 || s->kills + 1 >= n)
        return;
    uint32_t to = chance(s, 50) ? scenario_touch(s, 0) : scenario_node(s);
    if (to == FT_NODE_NONE || to == from)
        return;
    cluster_at(s->c, scenario_time(s, 4 * DELTA), EVENT_FULL, from, to, draw(s, 8));
    s->last += 8 * DELTA;
    s->kills++;
    s->exact = false;
}

/* One after the other: what only two agents know that fail together is lost. */
static void scenario_restarts(struct scenario *s)
{
    uint64_t start = 0, span = chance(s, 50) ? DELTA / 4 : 4 * DELTA;

    for (uint64_t i = 1 + draw(s, 2); i > 0; i--, start += 6 * DELTA) {
        uint32_t node = scenario_node(s);

        if (node == FT_NODE_NONE)
            continue;
        cluster_at(s->c, start + scenario_time(s, span), EVENT_RESTART, node,
                   chance(s, 50) ? 1 + (uint32_t)draw(s, 12) : 0, 1 + draw(s, DELTA / 2));
        s->last += start + 16 * DELTA;
        s->exact = false;
    }
}

static void scenario_pes(struct scenario *s)
{
    uint32_t npes = s->c->npes, node = (uint32_t)draw(s, s->c->config.nnodes);
    bool all = chance(s, 30);

    for (uint32_t pe = 0; pe < npes; pe++) {
        uint32_t at = cluster_node_of(s->c, pe);

        if (all ? at == node : chance(s, 20))
            cluster_at(s->c, scenario_time(s, 4 * DELTA), EVENT_PE, at, pe, 0);
    }
}

static void scenario_closes(struct scenario *s)
{
    uint32_t n = s->c->config.nnodes;

    s->exact = false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t other = (uint32_t)draw(s, n);

        if (other != i)
            cluster_at(s->c, 1 + draw(s, 4 * DELTA), EVENT_CLOSED, i, other, 0);
    }
}

static void scenario_teams(struct scenario *s)
{
    const struct cluster_config *config = &s->c->config;

    for (uint64_t k = 1 + draw(s, TEAMS_MAX); k > 0; k--) {
        struct team team = {.rounds = 1 + (uint32_t)draw(s, ROUNDS_MAX)};

        for (uint32_t i = 0; i < config->nnodes; i++)
            if (k == 1 || chance(s, 60))
                ft_set_add(team.members, i);
        team.think_max =
            draw(s, 3) *
            (s->kill_span > config->delay_max ? s->kill_span : config->delay_max) / 2;
        if (team.members[0] == 0)
            continue;
        cluster_add_team(s->c, &team);
        s->last += team.rounds * (team.think_max + 8 * config->delay_max);
    }
}

static void scenario_payloads(struct scenario *s)
{
    for (uint64_t i = draw(s, 4); i > 0; i--)
        cluster_add_payload(s->c, scenario_time(s, 3 * DELTA),
                            (uint32_t)draw(s, s->c->config.nnodes));
}

/* ---- runs
 * -------------------------------------------------------------------------------- */

static void scenario_check_detection(struct scenario *s)
{
    struct cluster *c = s->c;
    uint64_t died = 0, late = c->config.late_max, from, until;

    for (uint32_t i = 0; i < c->config.nnodes; i++)
        if (c->agent[i].dead)
            died = c->agent[i].died_at;
    if (s->kills != 1 || !s->exact || c->first_verdict == 0)
        return;
    from = died + c->config.delay_max > c->config.grace ? died + c->config.delay_max
                                                        : c->config.grace;
    until = from + c->config.eta + 12 * late; /* one per tick of the observer */
    if (c->first_verdict + late < died + c->config.delta || c->first_verdict > until)
        cluster_wrong(c, "the failure at %.3f delta was detected after %.3f delta",
                      (double)died / (double)DELTA,
                      (double)(c->first_verdict - died) / (double)DELTA);
}

/* After the orderly end nothing is detected any more. */
static void scenario_finish(struct scenario *s)
{
    struct cluster *c = s->c;
    uint32_t first = 0, n = c->config.nnodes;

    while (first < n && !cluster_alive(c, first))
        first++;
    if (first == n)
        return;
    cluster_at(c, c->now, EVENT_FINISH, first, 0, 0);
    cluster_run(c, c->now + DELTA + (uint64_t)n * c->config.delay_max);
    for (uint32_t i = 0; i < n; i++)
        if (cluster_alive(c, i) && !ft_proto_is_finished(c->agent[i].p))
            cluster_wrong(c, "node %u does not know that the job ends", i);
    c->finished = true;
    cluster_at(c, c->now, EVENT_KILL, first, 0, 0);
    cluster_run(c, c->now + 4 * c->config.eta);
}

static void scenario_run(struct scenario *s)
{
    struct cluster *c = s->c;
    uint64_t step = c->config.eta + 4 * c->config.delay_max + 4 * c->config.late_max;
    uint64_t limit = s->last + (s->kills + 4) * step + s->stop_max;

    cluster_run(c, s->last + 1);
    for (uint32_t i = 0; i < c->config.nnodes; i++)
        c->agent[i].sends_left = UINT64_MAX; /* it sends too little to die by count */
    while (c->wrong[0] == '\0' && c->now < limit && !cluster_is_quiet(c))
        cluster_run(c, c->now + DELTA);
    if (c->wrong[0] == '\0')
        cluster_run(c, c->now + 3 * DELTA); /* nothing may change any more */
    cluster_check(c);
    scenario_check_detection(s);
    if (c->wrong[0] == '\0' && chance(s, 10))
        scenario_finish(s);
}

/* Returns whether all properties hold. */
static bool run_seed(uint64_t seed, bool trace)
{
    struct scenario s = {.random = random_stream(seed, 0)};
    bool restarts = chance(&s, 15), stops = false, good;

    scenario_open(&s, seed, trace, restarts);
    scenario_kills(&s);
    if (restarts)
        scenario_restarts(&s);
    else if ((stops = chance(&s, 40)))
        scenario_stops(&s);
    if (chance(&s, 30))
        scenario_pes(&s);
    if (chance(&s, 20))
        scenario_closes(&s);
    if (chance(&s, 60))
        scenario_teams(&s);
    if (chance(&s, 50))
        scenario_payloads(&s);
    if (!restarts && !stops && chance(&s, 20))
        scenario_pause(&s);
    if (!restarts && chance(&s, 15))
        scenario_full(&s);
    scenario_run(&s);
    good = s.c->wrong[0] == '\0';
    if (!good)
        printf("seed %llu (%u nodes, %u failures): %s\n"
               "repeat with: tests/ft/protocol/random --seed=%llu --trace\n",
               (unsigned long long)seed, s.c->config.nnodes, s.kills, s.c->wrong,
               (unsigned long long)seed);
    cluster_close(s.c);
    return good;
}

static bool option(const char *arg, const char *name, uint64_t *value)
{
    size_t len = strlen(name);

    if (strncmp(arg, name, len) != 0)
        return false;
    *value = strtoull(arg + len, NULL, 10);
    return true;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, count = 1;
    bool trace = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--trace") == 0)
            trace = true;
        else if (!option(argv[i], "--seed=", &seed) &&
                 !option(argv[i], "--count=", &count)) {
            fprintf(stderr, "usage: %s [--seed=S] [--count=N] [--trace]\n", argv[0]);
            return 2;
        }
    }
    for (uint64_t i = 0; i < count; i++)
        if (!run_seed(seed + i, trace))
            return 1;
    printf("seeds %llu to %llu: right\n", (unsigned long long)seed,
           (unsigned long long)(seed + count - 1));
    return 0;
}
