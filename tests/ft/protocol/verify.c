/* SPDX-License-Identifier: BSD-3-Clause */
/* verify.c - what must hold at the end of a simulated run (cluster.h). */
#include "config.h"

#include <string.h>

#include "tests/ft/protocol/cluster.h"

/* With say == false only the result matters: the run may go on. */
struct audit {
    struct cluster *c;
    bool say, good;
};

#define AUDIT(a, condition, ...)                                                         \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            (a)->good = false;                                                           \
            if ((a)->say)                                                                \
                cluster_wrong((a)->c, __VA_ARGS__);                                      \
        }                                                                                \
    } while (0)

static void audit_failed_sets(struct audit *a)
{
    struct cluster *c = a->c;

    for (uint32_t i = 0; i < c->config.nnodes; i++) {
        const struct agent *agent = &c->agent[i];

        if (!cluster_alive(c, i))
            continue;
        AUDIT(a, !agent->stopped && !agent->absent, "node %u is still stopped", i);
        for (uint32_t j = 0; j < c->config.nnodes; j++) {
            AUDIT(a, !ft_set_has(agent->map_nodes, j) || !cluster_alive(c, j),
                  "node %u counts node %u as failed, which does not know it", i, j);
            AUDIT(a, ft_set_has(agent->map_nodes, j) || cluster_alive(c, j),
                  "node %u does not know that node %u has failed", i, j);
        }
        for (uint32_t pe = 0; pe < c->npes; pe++)
            AUDIT(a, ft_set_has(agent->map_pes, pe) == ft_set_has(c->dead_pes, pe),
                  "node %u %s PE %u as failed", i,
                  ft_set_has(agent->map_pes, pe) ? "wrongly counts" : "does not count",
                  pe);
    }
}

/* If a live agent has delivered a payload, all must.  Payloads that only predecessors of
 * live agents knew may be lost (ft_proto.h). */
static void audit_payloads(struct audit *a)
{
    struct cluster *c = a->c;

    for (uint32_t id = 0; id < c->npayloads; id++) {
        bool due = false;

        for (uint32_t i = 0; i < c->config.nnodes; i++) {
            const struct agent *agent = &c->agent[i];

            due = due || (cluster_alive(c, i) && agent->payloads[id] > 0 &&
                          (agent->payloads_restart & 1u << id) == 0);
        }
        for (uint32_t i = 0; due && i < c->config.nnodes; i++)
            AUDIT(a, !cluster_alive(c, i) || c->agent[i].payloads[id] > 0,
                  "node %u has not delivered payload %u of node %u", i, id,
                  c->payload_root[id]);
    }
}

static bool node_is_empty(const struct cluster *c, uint32_t node)
{
    for (uint32_t pe = 0; pe < c->npes; pe++)
        if (cluster_node_of(c, pe) == node && !ft_set_has(c->dead_pes, pe))
            return false;
    return true;
}

/* The decision against all contributions. */
static void audit_decision(struct audit *a, uint32_t team, uint32_t seq,
                           const struct outcome *o)
{
    struct cluster *c = a->c;
    uint64_t max = 0;

    for (uint32_t i = 0; i < c->config.nnodes; i++) {
        bool member = ft_set_has(c->team[team].members, i);
        bool in = (o->words.word[0] & UINT64_C(1) << i) == 0;
        bool gave = c->agent[i].outcome[team][seq].contributed;

        AUDIT(a, !in || gave, "decision %u: node %u has not contributed", seq, i);
        if (gave && 100 * (uint64_t)seq + i > max)
            max = 100 * (uint64_t)seq + i;
        for (uint32_t pe = 0; member && !in && pe < c->npes; pe++)
            AUDIT(a, cluster_node_of(c, pe) != i || ft_set_has(o->failed, pe),
                  "decision %u: node %u did not contribute, but PE %u counts as live",
                  seq, i, pe);
        AUDIT(a, in || !member || !gave || !cluster_alive(c, i) || node_is_empty(c, i),
              "decision %u ignores live node %u", seq, i);
    }
    for (uint32_t pe = 0; pe < c->npes; pe++)
        AUDIT(a, !ft_set_has(o->failed, pe) || ft_set_has(c->dead_pes, pe),
              "decision %u counts PE %u as failed", seq, pe);
    AUDIT(a, o->words.word[2] <= max, "decision %u: maximum %u", seq,
          (unsigned)o->words.word[2]);
}

static void audit_agreement(struct audit *a, uint32_t team, uint32_t seq)
{
    struct cluster *c = a->c;
    const struct outcome *first = NULL;

    for (uint32_t i = 0; i < c->config.nnodes; i++) {
        const struct outcome *o = &c->agent[i].outcome[team][seq];

        /* What PEs have decided that have failed since does not matter. */
        if (!ft_set_has(c->team[team].members, i) || !cluster_alive(c, i) ||
            node_is_empty(c, i))
            continue;
        AUDIT(a, o->decided, "node %u has no decision %u of team %u", i, seq, team);
        if (!o->decided)
            continue;
        if (first == NULL) {
            first = o;
            audit_decision(a, team, seq, o);
        }
        AUDIT(a,
              memcmp(&o->words, &first->words, sizeof o->words) == 0 &&
                  memcmp(o->failed, first->failed, FT_SET_WORDS(c->npes) * 8) == 0,
              "node %u has another decision %u of team %u", i, seq, team);
    }
}

static bool cluster_audit(struct cluster *c, bool say)
{
    struct audit a = {.c = c, .say = say, .good = true};

    audit_failed_sets(&a);
    audit_payloads(&a);
    for (uint32_t team = 0; team < c->nteams; team++)
        for (uint32_t seq = 0; seq < c->team[team].rounds; seq++)
            audit_agreement(&a, team, seq);
    return a.good;
}

bool cluster_is_quiet(struct cluster *c)
{
    return cluster_audit(c, false);
}

void cluster_check(struct cluster *c)
{
    cluster_audit(c, true);
}
