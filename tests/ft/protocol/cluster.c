/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster.c - a simulated cluster: network, hosts and faults (cluster.h). */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/ft/protocol/ft_proto_int.h"
#include "pgas/transport/test/random.h"
#include "tests/ft/protocol/cluster.h"

_Noreturn void pgas_assert_failed(const char *condition, const char *file, int line,
                                  const char *function)
{
    fprintf(stderr, "%s:%d: %s: assertion failed: %s\n", file, line, function, condition);
    abort();
}

void cluster_wrong(struct cluster *c, const char *format, ...)
{
    va_list args;
    int n;

    if (c->wrong[0] != '\0')
        return;
    n = snprintf(c->wrong, sizeof c->wrong,
                 "at %.3f delta: ", (double)c->now / (double)c->config.delta);
    va_start(args, format);
    vsnprintf(c->wrong + n, sizeof c->wrong - (size_t)n, format, args);
    va_end(args);
}

void cluster_trace(struct cluster *c, const char *format, ...)
{
    va_list args;

    if (!c->config.trace)
        return;
    printf("[%7.3f] ", (double)c->now / (double)c->config.delta);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static void *cluster_alloc(size_t n, size_t size)
{
    void *block = calloc(n > 0 ? n : 1, size);

    if (block == NULL)
        abort();
    return block;
}

uint32_t cluster_node_of(const struct cluster *c, uint32_t pe)
{
    return c->config.cyclic ? pe % c->config.nnodes : pe / c->config.pes_per_node;
}

bool cluster_alive(const struct cluster *c, uint32_t node)
{
    return !c->agent[node].dead && !c->agent[node].self_failed;
}

static uint64_t cluster_random(struct cluster *c, uint64_t min, uint64_t max)
{
    return max > min ? min + random_below(&c->random, max - min + 1) : min;
}

void cluster_at(struct cluster *c, uint64_t at, enum cluster_event kind, uint32_t node,
                uint32_t from, uint64_t arg)
{
    queue_push(&c->queue, (struct event){.at = at,
                                         .kind = kind,
                                         .node = node,
                                         .from = from,
                                         .len = (uint32_t)arg,
                                         .sent = arg});
}

/* ---- network
 * ----------------------------------------------------------------------------- */

static const char *cluster_frame_name(const uint8_t *frame)
{
    static const char *const names[] = {"?",    "beat",     "request",
                                        "sync", "cast",     "contribution",
                                        "ask",  "decision", "verdict"};
    static const char *const casts[] = {"?",       "news",    "payload",
                                        "decided", "resumed", "finish"};
    uint8_t type = frame[1] <= FT_FRAME_VERDICT ? frame[1] : 0;
    size_t kind_at = FT_WIRE_HEADER + 4 + 8;

    if (type == FT_FRAME_CAST)
        return frame[kind_at] <= FT_CAST_FINISH ? casts[frame[kind_at]] : "?";
    return names[type];
}

static uint64_t cluster_delay(struct cluster *c)
{
    uint64_t min = c->config.delay_min, max = c->config.delay_max;

    if (c->config.bursts && random_below(&c->random, 8) != 0)
        return cluster_random(c, min, min + (max - min) / 16);
    return cluster_random(c, min, max);
}

static void cluster_kill_pes(struct cluster *c, uint32_t node)
{
    for (uint32_t pe = 0; pe < c->npes; pe++)
        if (cluster_node_of(c, pe) == node)
            ft_set_add(c->dead_pes, pe);
}

static void agent_die(struct agent *a)
{
    struct cluster *c = a->cluster;
    uint32_t n = c->config.nnodes;

    if (a->dead)
        return;
    cluster_trace(c, "%u fails", a->id);
    a->dead = true;
    a->died_at = c->now;
    cluster_kill_pes(c, a->id);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t window = c->config.delay_max;

        a->cut[i] = UINT64_MAX;
        if (c->config.loses_last && random_below(&c->random, 2) == 0)
            a->cut[i] = c->now - cluster_random(c, 0, window < c->now ? window : c->now);
        if (c->config.closes && i != a->id && random_below(&c->random, 4) != 0)
            cluster_at(c, c->now + cluster_delay(c), EVENT_CLOSED, i, a->id, 0);
    }
}

/* The agent fails, but a successor takes over in time. */
static void agent_vanish(struct agent *a)
{
    struct cluster *c = a->cluster;

    cluster_trace(c, "the agent of %u fails", a->id);
    a->absent = true;
    a->sends_left = UINT64_MAX;
    cluster_at(c, c->now + a->restart_gap, EVENT_SUCCESSOR, a->id, 0, 0);
    a->restart_gap = 0;
    for (uint32_t i = 0; c->config.closes && i < c->config.nnodes; i++)
        if (i != a->id)
            cluster_at(c, c->now + cluster_delay(c), EVENT_CLOSED, i, a->id, 0);
}

/* A verdict is sent over another connection. */
static bool agent_frame_is_lost(const struct agent *a, uint32_t to, const uint8_t *frame,
                                uint64_t sent)
{
    return to == a->full_to && sent >= a->full_since && frame[1] != FT_FRAME_VERDICT;
}

/* Whether the queue of the agent overflows with this frame. */
static bool agent_overflows(struct agent *a, uint32_t to)
{
    struct cluster *c = a->cluster;
    uint64_t window = c->config.delay_max;

    if (to != a->full_to || a->full_since != FT_NEVER || a->full_after-- > 0)
        return false;
    cluster_trace(c, "%u drops frames to %u", a->id, to);
    a->full_since = c->now - cluster_random(c, 0, window < c->now ? window : c->now);
    a->full_report = true;
    c->agent[to].long_stop = true; /* it may be accused */
    return true;
}

static void agent_send(void *host, uint32_t to, const void *frame, size_t len)
{
    struct agent *a = host;
    struct cluster *c = a->cluster;
    const uint8_t *bytes = frame;
    uint64_t at = c->now;

    if (a->dead || a->absent)
        return;
    if (a->sends_left-- == 0) {
        if (a->restart_gap > 0)
            agent_vanish(a);
        else
            agent_die(a);
        return;
    }
    if (agent_overflows(a, to) || agent_frame_is_lost(a, to, bytes, c->now))
        return;
    if (bytes[1] != FT_FRAME_BEAT) {
        c->frames++;
        cluster_trace(c, "%u -> %u %s", a->id, to, cluster_frame_name(bytes));
    }
    if (c->config.port_time > 0) {
        at = at > a->port_free ? at : a->port_free;
        a->port_free = at + c->config.port_time;
    }
    at += cluster_delay(c);
    if (c->fifo != NULL) {
        uint64_t *last = &c->fifo[(size_t)a->id * c->config.nnodes + to];

        at = at > *last ? at : *last;
        *last = at;
    }
    struct event e = {.at = at,
                      .sent = c->now,
                      .kind = EVENT_FRAME,
                      .node = to,
                      .from = a->id,
                      .len = (uint32_t)len,
                      .bytes = malloc(len)};

    if (e.bytes == NULL)
        abort();
    memcpy(e.bytes, frame, len);
    queue_push(&c->queue, e);
}

/* ---- hosts
 * ------------------------------------------------------------------------------- */

static void agent_node_pes(void *host, uint32_t node, uint64_t *pes)
{
    struct agent *a = host;

    for (uint32_t pe = 0; pe < a->cluster->npes; pe++)
        if (cluster_node_of(a->cluster, pe) == node)
            ft_set_add(pes, pe);
}

static void agent_check_node_news(struct agent *a, uint32_t node)
{
    struct cluster *c = a->cluster;
    struct agent *victim = &c->agent[node];

    cluster_trace(c, "%u: node %u has failed", a->id, node);
    if (ft_set_has(a->map_nodes, node))
        cluster_wrong(c, "node %u delivers the failure of node %u twice", a->id, node);
    ft_set_add(a->map_nodes, node);
    if (a->declared)
        return; /* its PEs count as failed: what they are told does not matter */
    victim->declared = true;
    if (!victim->dead && !victim->long_stop)
        cluster_wrong(c, "node %u accuses node %u, which is alive", a->id, node);
    if (c->finished)
        cluster_wrong(c, "node %u accuses node %u after the end", a->id, node);
    if (c->first_verdict == 0)
        c->first_verdict = c->now;
}

static void agent_failed(void *host, const struct ft_news *news)
{
    struct agent *a = host;
    struct cluster *c = a->cluster;

    if (a->dead || a->absent)
        return;
    a->informed_at = c->now;
    for (uint32_t i = ft_set_next(news->nodes, c->config.nnodes, 0); i < c->config.nnodes;
         i = ft_set_next(news->nodes, c->config.nnodes, i + 1))
        agent_check_node_news(a, i);
    for (uint32_t i = ft_set_next(news->pes, c->npes, 0); i < c->npes;
         i = ft_set_next(news->pes, c->npes, i + 1)) {
        if (ft_set_has(a->map_pes, i))
            cluster_wrong(c, "node %u delivers the failure of PE %u twice", a->id, i);
        if (!ft_set_has(c->dead_pes, i) && !a->declared &&
            !c->agent[cluster_node_of(c, i)].declared)
            cluster_wrong(c, "node %u accuses PE %u, which is alive", a->id, i);
        if (news->nnodes_failed == 0)
            cluster_trace(c, "%u: PE %u has failed", a->id, i);
        ft_set_add(a->map_pes, i);
    }
    a->recheck = true;
}

static void agent_payload(void *host, uint32_t initiator, uint32_t kind, const void *data,
                          size_t len)
{
    struct agent *a = host;
    struct cluster *c = a->cluster;
    uint32_t id;

    if (a->dead || a->absent)
        return;
    if (len != sizeof id || kind >= c->npayloads ||
        (memcpy(&id, data, len), id != kind) || c->payload_root[kind] != initiator) {
        cluster_wrong(c, "node %u delivers a wrong payload", a->id);
        return;
    }
    a->informed_at = c->now;
    cluster_trace(c, "%u: payload of %u", a->id, initiator);
    if (a->payloads[kind]++ > 0 && (a->payloads_restart & 1u << kind) == 0)
        cluster_wrong(c, "node %u delivers payload %u twice", a->id, kind);
    a->payloads_restart &= ~(1u << kind);
}

static void agent_decision(void *host, const struct ft_decision *d)
{
    struct agent *a = host;
    struct cluster *c = a->cluster;
    struct outcome *o;

    if (a->dead || a->absent)
        return;
    if (d->key.team >= c->nteams || d->key.seq >= a->seq[d->key.team]) {
        cluster_wrong(c, "node %u delivers a decision without its contribution", a->id);
        return;
    }
    cluster_trace(c, "%u: decision %u of team %u", a->id, d->key.seq,
                  (unsigned)d->key.team);
    o = &a->outcome[d->key.team][d->key.seq];
    if (o->decided)
        cluster_wrong(c, "node %u delivers decision %u twice", a->id, d->key.seq);
    o->decided = true;
    o->view = d->view;
    o->words = d->words;
    o->at = c->now;
    memcpy(o->failed, d->failed, FT_SET_WORDS(c->npes) * 8);
    if (d->key.seq + 1 < c->team[d->key.team].rounds)
        cluster_at(c, c->now + 1 + cluster_random(c, 0, c->team[d->key.team].think_max),
                   EVENT_CONTRIBUTE, a->id, (uint32_t)d->key.team, 0);
}

static void agent_self_failed(void *host)
{
    struct agent *a = host;

    if (a->dead || a->absent)
        return;
    cluster_trace(a->cluster, "%u learns that it is considered failed", a->id);
    if (!a->long_stop)
        cluster_wrong(a->cluster, "node %u is told that it failed, but it is alive",
                      a->id);
    a->self_failed = true;
    cluster_kill_pes(a->cluster, a->id);
}

static const struct ft_callbacks agent_callbacks = {
    .send = agent_send,
    .node_pes = agent_node_pes,
    .failed = agent_failed,
    .payload = agent_payload,
    .decision = agent_decision,
    .self_failed = agent_self_failed,
};

/* ---- agreements of the hosts
 * ------------------------------------------------------------- */

/* Whether all PEs of the node are known as failed to this host. */
static bool agent_sees_empty(const struct agent *a, uint32_t node)
{
    const struct cluster *c = a->cluster;

    for (uint32_t pe = 0; pe < c->npes; pe++)
        if (cluster_node_of(c, pe) == node && !ft_set_has(a->map_pes, pe))
            return false;
    return true;
}

/* Each node clears its bit in the AND word and proposes its number as maximum. */
static void agent_contribute(struct agent *a, uint32_t team, uint32_t seq)
{
    struct cluster *c = a->cluster;
    uint64_t members[FT_SET_WORDS(64)] = {c->team[team].members[0]};
    struct ft_words words = {.n_and = 2, .n_max = 1};

    for (uint32_t i = 0; i < c->config.nnodes; i++)
        if (agent_sees_empty(a, i))
            ft_set_remove(members, i);
    words.word[0] = ~(UINT64_C(1) << a->id);
    words.word[1] = UINT64_MAX >> (a->id % 8);
    words.word[2] = 100 * (uint64_t)seq + a->id;
    a->outcome[team][seq].contributed = true;
    if (ft_proto_agree(a->p, c->now, (struct ft_key){team, seq}, members, &words) != 0)
        cluster_wrong(c, "node %u: no room for an agreement", a->id);
}

static void agent_contribute_next(struct agent *a, uint32_t team)
{
    struct cluster *c = a->cluster;

    /* The PEs here may have failed meanwhile. */
    for (uint32_t pe = 0; pe < c->npes; pe++)
        if (cluster_node_of(c, pe) == a->id && !ft_set_has(c->dead_pes, pe)) {
            cluster_trace(c, "%u contributes to agreement %u of team %u", a->id,
                          a->seq[team], team);
            agent_contribute(a, team, a->seq[team]++);
            return;
        }
}

static void agent_exclude(struct agent *a)
{
    struct cluster *c = a->cluster;

    a->recheck = false;
    for (uint32_t i = 0; c->nteams > 0 && i < c->config.nnodes; i++) {
        if (!agent_sees_empty(a, i))
            continue;
        for (uint32_t team = 0; team < c->nteams; team++)
            if (a->seq[team] > 0)
                ft_proto_agree_exclude(a->p, c->now,
                                       (struct ft_key){team, a->seq[team] - 1}, i);
    }
}

/* ---- agents
 * ------------------------------------------------------------------------------ */

static void agent_start(struct agent *a)
{
    struct cluster *c = a->cluster;
    struct ft_config config = {.me = a->id,
                               .nnodes = c->config.nnodes,
                               .npes = c->npes,
                               .incarnation = a->incarnation,
                               .order = c->config.order,
                               .delta = c->config.delta,
                               .eta = c->config.eta,
                               .grace = a->incarnation == 0 ? c->config.grace : 0,
                               .agreements = c->config.agreements,
                               .log_bytes = c->config.log_bytes,
                               .failed_pes = a->map_pes,
                               .failed_nodes = a->map_nodes,
                               .calls = &agent_callbacks,
                               .host = a};

    a->born_at = c->now;
    ft_proto_free(a->p);
    a->p = ft_proto_init(&config, c->now);
    if (a->p == NULL)
        abort();
    a->tick_at = FT_NEVER;
}

static void agent_schedule(struct agent *a)
{
    struct cluster *c = a->cluster;
    uint64_t wake;

    if (a->full_report && !a->dead && !a->absent) {
        a->full_report = false;
        ft_proto_node_lost(a->p, c->now, a->full_to);
    }
    while (a->recheck && !a->dead && !a->absent)
        agent_exclude(a);
    wake = a->dead || a->absent ? FT_NEVER : ft_proto_wake(a->p);
    if (wake == FT_NEVER || wake == a->tick_at)
        return;
    a->tick_at = wake;
    cluster_at(c, wake + cluster_random(c, 0, c->config.late_max), EVENT_TICK, a->id, 0,
               wake);
}

/* The successor of a failed agent takes over what the node segment holds. */
static void agent_succeed(struct agent *a)
{
    struct cluster *c = a->cluster;

    cluster_trace(c, "%u has a new agent", a->id);
    a->absent = false;
    a->incarnation++;
    for (uint32_t i = 0; i < c->npayloads; i++)
        if (a->payloads[i] > 0)
            a->payloads_restart |= 1u << i;
    agent_start(a);
    for (uint32_t team = 0; team < c->nteams; team++)
        for (uint32_t seq = 0; seq < a->seq[team]; seq++) {
            struct outcome *o = &a->outcome[team][seq];
            struct ft_decision d = {.key = {team, seq},
                                    .view = o->view,
                                    .words = o->words,
                                    .failed = o->failed};

            if (!o->decided)
                agent_contribute(a, team, seq);
            else if (seq + 2 >= a->seq[team])
                ft_proto_agree_restore(a->p, &d, c->team[team].members);
        }
    for (uint32_t pe = 0; pe < c->npes; pe++)
        if (cluster_node_of(c, pe) == a->id && ft_set_has(c->dead_pes, pe) &&
            !ft_set_has(a->map_pes, pe))
            ft_proto_pe_failed(a->p, c->now, &pe, 1);
}

static void agent_event(struct agent *a, const struct event *e)
{
    struct cluster *c = a->cluster;
    uint32_t pe = e->from;

    switch ((enum cluster_event)e->kind) {
    case EVENT_FRAME:
        if (ft_proto_receive(a->p, c->now, e->from, e->bytes, e->len) != 0)
            cluster_wrong(c, "node %u rejects a frame of node %u", a->id, e->from);
        break;
    case EVENT_TICK:
        if (a->tick_at == e->sent) {
            a->tick_at = FT_NEVER;
            ft_proto_tick(a->p, c->now);
        }
        break;
    case EVENT_CLOSED:
        ft_proto_closed(a->p, c->now, e->from);
        break;
    case EVENT_PE:
        ft_set_add(c->dead_pes, pe);
        ft_proto_pe_failed(a->p, c->now, &pe, 1);
        break;
    case EVENT_CAST:
        c->payload_root[e->from] = a->id;
        ft_proto_broadcast(a->p, c->now, e->from, &e->from, sizeof e->from);
        break;
    case EVENT_CONTRIBUTE:
        agent_contribute_next(a, e->from);
        break;
    case EVENT_FINISH:
        ft_proto_finish(a->p, c->now);
        break;
    default:
        break;
    }
    agent_schedule(a);
}

/* Faults are not inputs of the protocol.  Returns whether the event was one. */
static bool agent_fault(struct agent *a, const struct event *e)
{
    struct cluster *c = a->cluster;

    switch ((enum cluster_event)e->kind) {
    case EVENT_KILL:
        agent_die(a);
        return true;
    case EVENT_KILL_AFTER:
        a->sends_left = e->len;
        return true;
    case EVENT_STOP:
        a->stopped = true;
        a->continue_at = c->now + e->sent;
        a->long_stop = a->long_stop || e->from != 0;
        cluster_trace(c, "%u stops", a->id);
        cluster_at(c, a->continue_at, EVENT_CONTINUE, a->id, 0, 0);
        return true;
    case EVENT_CONTINUE:
        if (a->stopped && c->now >= a->continue_at) {
            a->stopped = false;
            cluster_trace(c, "%u continues", a->id);
        }
        return true;
    case EVENT_RESTART:
        a->restart_gap = e->sent;
        if (e->from == 0)
            agent_vanish(a);
        else
            a->sends_left = e->from - 1;
        return true;
    case EVENT_FULL:
        a->full_to = e->from;
        a->full_after = e->len;
        return true;
    case EVENT_SUCCESSOR:
        agent_succeed(a);
        agent_schedule(a);
        return true;
    default:
        return false;
    }
}

static void cluster_event(struct cluster *c, struct event *e)
{
    struct agent *a = &c->agent[e->node];
    const struct agent *sender = &c->agent[e->from < c->config.nnodes ? e->from : 0];

    if (a->dead || agent_fault(a, e))
        return;
    if (a->absent) {
        /* Frames are lost; what the PEs do waits for the successor. */
        if (e->kind != EVENT_FRAME && e->kind != EVENT_TICK && e->kind != EVENT_CLOSED) {
            struct event again = *e;

            again.at = c->now + c->config.delta / 16;
            queue_push(&c->queue, again);
        }
        return;
    }
    if (a->stopped) {
        struct event again = *e;

        /* The tick may come before or after the frames. */
        again.at = a->continue_at;
        if (e->kind == EVENT_TICK && random_below(&c->random, 2) == 0)
            again.at++;
        queue_push(&c->queue, again);
        e->bytes = NULL;
        return;
    }
    if (e->kind == EVENT_FRAME &&
        (e->sent < a->born_at || (sender->dead && e->sent >= sender->cut[a->id]) ||
         agent_frame_is_lost(sender, a->id, e->bytes, e->sent)))
        return;
    agent_event(a, e);
}

void cluster_run(struct cluster *c, uint64_t until)
{
    struct event e;

    while (c->wrong[0] == '\0' && c->queue.n > 0 && c->queue.heap[0].at < until) {
        queue_pop(&c->queue, &e);
        c->now = e.at;
        cluster_event(c, &e);
        free(e.bytes);
    }
    if (c->wrong[0] == '\0')
        c->now = until;
}

/* ---- the cluster
 * ------------------------------------------------------------------------- */

struct cluster *cluster_open(const struct cluster_config *config)
{
    struct cluster *c = cluster_alloc(1, sizeof *c);
    uint32_t n = config->nnodes;

    c->config = *config;
    c->npes = n * config->pes_per_node;
    c->random = random_stream(config->seed, 1);
    c->agent = cluster_alloc(n, sizeof *c->agent);
    c->dead_pes = cluster_alloc(FT_SET_WORDS(c->npes), 8);
    if (config->delay_min != config->delay_max)
        c->fifo = cluster_alloc((size_t)n * n, sizeof *c->fifo);
    for (uint32_t i = 0; i < n; i++) {
        struct agent *a = &c->agent[i];

        *a = (struct agent){.cluster = c,
                            .id = i,
                            .sends_left = UINT64_MAX,
                            .full_to = FT_NODE_NONE,
                            .full_since = FT_NEVER};
        a->map_nodes = cluster_alloc(FT_SET_WORDS(n), 8);
        a->map_pes = cluster_alloc(FT_SET_WORDS(c->npes), 8);
        a->cut = cluster_alloc(n, sizeof *a->cut);
        agent_start(a);
        agent_schedule(a);
    }
    return c;
}

void cluster_close(struct cluster *c)
{
    for (uint32_t i = 0; i < c->config.nnodes; i++) {
        ft_proto_free(c->agent[i].p);
        free(c->agent[i].map_nodes);
        free(c->agent[i].map_pes);
        free(c->agent[i].cut);
    }
    queue_clear(&c->queue);
    free(c->queue.heap);
    free(c->agent);
    free(c->fifo);
    free(c->dead_pes);
    free(c);
}

uint32_t cluster_add_team(struct cluster *c, const struct team *team)
{
    c->team[c->nteams] = *team;
    for (uint32_t i = 0; i < c->config.nnodes; i++)
        if (ft_set_has(team->members, i))
            cluster_at(c, 1 + cluster_random(c, 0, team->think_max), EVENT_CONTRIBUTE, i,
                       c->nteams, 0);
    return c->nteams++;
}

uint32_t cluster_add_payload(struct cluster *c, uint64_t at, uint32_t node)
{
    c->payload_root[c->npayloads] = node;
    cluster_at(c, at, EVENT_CAST, node, c->npayloads, 0);
    return c->npayloads++;
}
