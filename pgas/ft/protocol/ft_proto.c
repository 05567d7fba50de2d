/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_proto.c - the failure protocol of one node: state and inputs of the host
 * (ft_proto.h). */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/ft/protocol/ft_proto_int.h"

enum {
    DEFAULT_AGREEMENTS = 64,
    DEFAULT_LOG_BYTES = 64 * 1024,
    /* Header, kind, key, views, words: everything in a frame except sets and payloads. */
    FRAME_FIXED = 64 + FT_WORDS_MAX * 8,
};

/* ---- creation
 * ---------------------------------------------------------------------------- */

static bool ft_proto_order_valid(const struct ft_config *c)
{
    uint64_t seen[FT_SET_WORDS(FT_NODES_MAX)] = {0};

    for (uint32_t i = 0; c->order != NULL && i < c->nnodes; i++) {
        if (c->order[i] >= c->nnodes || ft_set_has(seen, c->order[i]))
            return false;
        ft_set_add(seen, c->order[i]);
    }
    return true;
}

static bool ft_proto_config_valid(const struct ft_config *c)
{
    return c->nnodes > 0 && c->nnodes <= FT_NODES_MAX && c->me < c->nnodes &&
           c->npes > 0 && c->npes <= FT_PES_MAX && c->delta > 0 &&
           c->delta < FT_NEVER / 8 &&
           (c->eta == 0 || (c->eta >= 2 * c->delta && c->eta < FT_NEVER / 4)) &&
           c->calls != NULL && ft_proto_order_valid(c);
}

/* Takes `size` bytes, 8-byte aligned, of a block.  With block == NULL only *used counts.
 */
static void *ft_proto_carve(uint8_t *block, size_t *used, size_t size)
{
    size_t at = *used;

    *used = at + (size + 7) / 8 * 8;
    return block != NULL ? block + at : NULL;
}

/* Lays out all arrays in one block; returns its size. */
static size_t ft_proto_layout(struct ft_proto *p, uint8_t *block)
{
    size_t used = 0, nodes = FT_SET_WORDS(p->nnodes) * 8, pes = FT_SET_WORDS(p->npes) * 8;
    struct ft_sets *sets[] = {&p->failed, &p->in, &p->fresh};

    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        sets[i]->nodes = ft_proto_carve(block, &used, nodes);
        sets[i]->pes = ft_proto_carve(block, &used, pes);
    }
    p->tell_at = ft_proto_carve(block, &used, p->nnodes * sizeof *p->tell_at);
    p->order = ft_proto_carve(block, &used, p->nnodes * sizeof *p->order);
    p->pos = ft_proto_carve(block, &used, p->nnodes * sizeof *p->pos);
    p->agree.incarnation = ft_proto_carve(block, &used, p->nnodes * sizeof(uint32_t));
    p->agree.slot =
        ft_proto_carve(block, &used, p->agree.nslots * sizeof(struct ft_agree_instance));
    for (uint32_t i = 0; i < p->agree.nslots; i++) {
        uint64_t *members = ft_proto_carve(block, &used, nodes);
        uint64_t *got = ft_proto_carve(block, &used, nodes);
        uint64_t *failed = ft_proto_carve(block, &used, pes);

        if (block != NULL)
            p->agree.slot[i] = (struct ft_agree_instance){
                .members = members, .got = got, .failed = failed};
    }
    p->out = ft_proto_carve(block, &used, p->message_max);
    p->bmg.seen = ft_proto_carve(block, &used, p->nnodes * sizeof(struct ft_bmg_seen));
    p->bmg.log = ft_proto_carve(block, &used, p->bmg.log_size);
    return used;
}

static void ft_proto_copy_known(struct ft_proto *p, const struct ft_config *c)
{
    for (uint32_t i = 0; i < p->nnodes; i++) {
        p->order[i] = c->order != NULL ? c->order[i] : i;
        p->pos[p->order[i]] = i;
    }
    if (c->failed_nodes != NULL)
        memcpy(p->failed.nodes, c->failed_nodes, FT_SET_WORDS(p->nnodes) * 8);
    if (c->failed_pes != NULL)
        memcpy(p->failed.pes, c->failed_pes, FT_SET_WORDS(p->npes) * 8);
}

static void ft_proto_connect_parts(struct ft_proto *p, const struct ft_config *c)
{
    p->ring = (struct ft_ring){.me = p->me,
                               .n = p->nnodes,
                               .order = p->order,
                               .pos = p->pos,
                               .failed = p->failed.nodes,
                               .delta = c->delta,
                               .eta = c->eta > 0 ? c->eta : 2 * c->delta};
    p->bmg.me = p->me;
    p->bmg.n = p->nnodes;
    p->bmg.order = p->order;
    p->bmg.pos = p->pos;
    p->bmg.failed = p->failed.nodes;
    p->agree.me = p->me;
    p->agree.nnodes = p->nnodes;
    p->agree.npes = p->npes;
    p->agree.failed_nodes = p->failed.nodes;
    p->agree.failed_pes = p->failed.pes;
    p->agree.outputs = &ft_proto_agree_outputs;
    p->agree.owner = p;
    p->agree.incarnation[p->me] = p->incarnation;
}

/* A successor agent: asks both ring neighbours for what its predecessor may have lost. */
static void ft_proto_resume(struct ft_proto *p)
{
    ft_proto_cast_resumed(p);
    if (p->ring.observing != FT_NODE_NONE)
        ft_proto_send_sets(p, p->ring.observing, FT_FRAME_REQUEST, 0);
    if (p->ring.observer != FT_NODE_NONE)
        ft_proto_send_sets(p, p->ring.observer, FT_FRAME_SYNC, FT_FLAG_REPLY);
}

struct ft_proto *ft_proto_init(const struct ft_config *c, uint64_t now)
{
    struct ft_proto *p, sized = {0};
    size_t header = (sizeof *p + 7) / 8 * 8;
    uint8_t *block;

    if (!ft_proto_config_valid(c))
        return NULL;
    sized.me = c->me;
    sized.nnodes = c->nnodes;
    sized.npes = c->npes;
    sized.incarnation = c->incarnation;
    sized.calls = *c->calls;
    sized.host = c->host;
    sized.now = now;
    sized.seq = (uint64_t)c->incarnation << 32;
    sized.message_max = FRAME_FIXED + FT_PAYLOAD_MAX + ft_wire_set_max(c->nnodes) +
                        ft_wire_set_max(c->npes);
    sized.agree.nslots = c->agreements > 0 ? c->agreements : DEFAULT_AGREEMENTS;
    sized.bmg.log_size = c->log_bytes > 0 ? c->log_bytes : DEFAULT_LOG_BYTES;
    block = calloc(1, header + ft_proto_layout(&sized, NULL));
    if (block == NULL)
        return NULL;
    p = (struct ft_proto *)(void *)block;
    *p = sized;
    ft_proto_layout(p, block + header);
    ft_proto_copy_known(p, c);
    ft_proto_connect_parts(p, c);
    ft_ring_init(&p->ring, now, c->grace);
    if (p->incarnation > 0)
        ft_proto_resume(p);
    return p;
}

void ft_proto_free(struct ft_proto *p)
{
    free(p);
}

/* ---- failures
 * ---------------------------------------------------------------------------- */

/* fresh = in minus failed; returns whether it has members, and counts them in news. */
static bool ft_proto_find_fresh(struct ft_proto *p, struct ft_news *news)
{
    for (size_t i = 0; i < FT_SET_WORDS(p->nnodes); i++)
        p->fresh.nodes[i] = p->in.nodes[i] & ~p->failed.nodes[i];
    for (size_t i = 0; i < FT_SET_WORDS(p->npes); i++)
        p->fresh.pes[i] = p->in.pes[i] & ~p->failed.pes[i];
    *news = (struct ft_news){.nodes = p->fresh.nodes,
                             .pes = p->fresh.pes,
                             .nnodes_failed = ft_set_count(p->fresh.nodes, p->nnodes),
                             .npes_failed = ft_set_count(p->fresh.pes, p->npes)};
    return news->nnodes_failed + news->npes_failed > 0;
}

void ft_proto_set_self_failed(struct ft_proto *p)
{
    p->self_failed = true;
    ft_ring_stop(&p->ring);
    p->calls.self_failed(p->host);
}

void ft_proto_tell(struct ft_proto *p, uint32_t node)
{
    if (p->now < p->tell_at[node])
        return;
    p->tell_at[node] = p->now + p->ring.delta;
    ft_proto_send_simple(p, node, FT_FRAME_VERDICT);
}

bool ft_proto_merge(struct ft_proto *p, uint32_t root, const uint8_t *cast, size_t len)
{
    struct ft_news news;

    if (!ft_proto_find_fresh(p, &news))
        return false;
    if (ft_set_has(p->in.nodes, p->me)) {
        ft_proto_set_self_failed(p);
        return true;
    }
    /* Marked before sending: a frame that names these again is not forwarded again. */
    for (size_t i = 0; i < FT_SET_WORDS(p->nnodes); i++)
        p->failed.nodes[i] |= p->fresh.nodes[i];
    for (size_t i = 0; i < FT_SET_WORDS(p->npes); i++)
        p->failed.pes[i] |= p->fresh.pes[i];
    if (cast != NULL)
        ft_proto_forward(p, root, cast, len);
    else
        ft_proto_cast_news(p, &p->fresh);
    p->calls.failed(p->host, &news);
    if (news.nnodes_failed == 0)
        return true;
    if (p->ring.observer != FT_NODE_NONE && ft_set_has(p->fresh.nodes, p->ring.observer))
        ft_proto_tell(p, p->ring.observer);
    if (ft_ring_mend(&p->ring, p->now)) {
        ft_proto_send_sets(p, p->ring.observing, FT_FRAME_REQUEST, 0);
        ft_proto_send_log(p, p->ring.observing);
    }
    ft_agree_nodes_failed(&p->agree);
    return true;
}

static void ft_proto_clear_in(struct ft_proto *p)
{
    memset(p->in.nodes, 0, FT_SET_WORDS(p->nnodes) * 8);
    memset(p->in.pes, 0, FT_SET_WORDS(p->npes) * 8);
}

/* This node has detected the failure of `node`, or has dropped frames for it: it looks up
 * the PEs. */
static void ft_proto_report_node(struct ft_proto *p, uint32_t node)
{
    ft_proto_clear_in(p);
    ft_set_add(p->in.nodes, node);
    p->calls.node_pes(p->host, node, p->in.pes);
    ft_proto_tell(p, node);
    ft_proto_merge(p, p->me, NULL, 0);
}

/* ---- inputs
 * ------------------------------------------------------------------------------ */

/* Returns whether the input is to be processed. */
static bool ft_proto_enter(struct ft_proto *p, uint64_t now)
{
    if (p->self_failed)
        return false;
    p->now = ft_ring_advance(&p->ring, now);
    return true;
}

uint64_t ft_proto_tick(struct ft_proto *p, uint64_t now)
{
    unsigned due;

    if (!ft_proto_enter(p, now))
        return FT_NEVER;
    if (p->ring.stalled && p->ring.observing != FT_NODE_NONE)
        ft_proto_send_sets(p, p->ring.observing, FT_FRAME_REQUEST, FT_FLAG_PROBE);
    p->ring.stalled = false;
    due = ft_ring_tick(&p->ring, p->now);
    if (due & FT_RING_BEAT)
        ft_proto_send_simple(p, p->ring.observer, FT_FRAME_BEAT);
    if (due & FT_RING_VERDICT)
        ft_proto_report_node(p, p->ring.observing);
    return ft_ring_wake(&p->ring);
}

uint64_t ft_proto_wake(const struct ft_proto *p)
{
    return p->self_failed ? FT_NEVER : p->ring.wake;
}

void ft_proto_closed(struct ft_proto *p, uint64_t now, uint32_t node)
{
    if (node >= p->nnodes || !ft_proto_enter(p, now))
        return;
    if (ft_ring_closed(&p->ring, p->now, node))
        ft_proto_send_sets(p, node, FT_FRAME_REQUEST, FT_FLAG_PROBE);
    ft_ring_wake(&p->ring);
}

void ft_proto_node_lost(struct ft_proto *p, uint64_t now, uint32_t node)
{
    if (node >= p->nnodes || node == p->me || !ft_proto_enter(p, now))
        return;
    if (!ft_set_has(p->failed.nodes, node))
        ft_proto_report_node(p, node);
    ft_ring_wake(&p->ring);
}

void ft_proto_pe_failed(struct ft_proto *p, uint64_t now, const uint32_t *pes, size_t n)
{
    if (!ft_proto_enter(p, now))
        return;
    ft_proto_clear_in(p);
    for (size_t i = 0; i < n; i++)
        if (pes[i] < p->npes)
            ft_set_add(p->in.pes, pes[i]);
    ft_proto_merge(p, p->me, NULL, 0);
    ft_ring_wake(&p->ring);
}

int ft_proto_broadcast(struct ft_proto *p, uint64_t now, uint32_t kind, const void *data,
                       size_t len)
{
    if (len > FT_PAYLOAD_MAX)
        return -1;
    if (!ft_proto_enter(p, now))
        return 0;
    ft_proto_cast_payload(p, kind, data, len);
    p->calls.payload(p->host, p->me, kind, data, len);
    ft_ring_wake(&p->ring);
    return 0;
}

int ft_proto_agree(struct ft_proto *p, uint64_t now, struct ft_key key,
                   const uint64_t *members, const struct ft_words *words)
{
    int status;

    if (words->n_and > FT_WORDS_MAX || words->n_max > FT_WORDS_MAX - words->n_and)
        return -1;
    if (!ft_proto_enter(p, now))
        return 0;
    status = ft_agree_contribute(&p->agree, key, members, words);
    ft_ring_wake(&p->ring);
    return status;
}

void ft_proto_agree_exclude(struct ft_proto *p, uint64_t now, struct ft_key key,
                            uint32_t node)
{
    if (node >= p->nnodes || !ft_proto_enter(p, now))
        return;
    ft_agree_exclude(&p->agree, key, node);
    ft_ring_wake(&p->ring);
}

int ft_proto_agree_restore(struct ft_proto *p, const struct ft_decision *decision,
                           const uint64_t *members)
{
    return ft_agree_restore(&p->agree, decision, members);
}

void ft_proto_agree_forget(struct ft_proto *p, uint64_t team)
{
    ft_agree_forget(&p->agree, team);
}

void ft_proto_finish(struct ft_proto *p, uint64_t now)
{
    if (!ft_proto_enter(p, now) || p->finished)
        return;
    p->finished = true;
    ft_proto_cast_finish(p);
    ft_ring_stop(&p->ring);
    ft_ring_wake(&p->ring);
}

/* ---- queries
 * ----------------------------------------------------------------------------- */

bool ft_proto_node_failed(const struct ft_proto *p, uint32_t node)
{
    return node < p->nnodes && ft_set_has(p->failed.nodes, node);
}

bool ft_proto_pe_is_failed(const struct ft_proto *p, uint32_t pe)
{
    return pe < p->npes && ft_set_has(p->failed.pes, pe);
}

const uint64_t *ft_proto_failed_nodes(const struct ft_proto *p)
{
    return p->failed.nodes;
}

const uint64_t *ft_proto_failed_pes(const struct ft_proto *p)
{
    return p->failed.pes;
}

bool ft_proto_is_self_failed(const struct ft_proto *p)
{
    return p->self_failed;
}

bool ft_proto_is_finished(const struct ft_proto *p)
{
    return p->finished;
}

size_t ft_proto_message_max(const struct ft_proto *p)
{
    return p->message_max;
}

uint32_t ft_proto_observing(const struct ft_proto *p)
{
    return p->ring.observing;
}

uint32_t ft_proto_observer(const struct ft_proto *p)
{
    return p->ring.observer;
}

uint64_t ft_proto_malformed(const struct ft_proto *p)
{
    return p->malformed;
}

uint64_t ft_proto_dropped(const struct ft_proto *p)
{
    return p->agree.dropped;
}
