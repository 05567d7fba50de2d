/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_proto_receive.c - frames of the failure protocol: parsing and reaction.  Each
 * function parses its frame completely before it acts: a malformed frame has no effect.
 */
#include "config.h"

#include "pgas/ft/protocol/ft_proto_int.h"

/* A received frame: the rest to be parsed, and the whole frame, for forwarding. */
struct ft_incoming {
    struct ft_reader r;
    uint32_t from;
    const uint8_t *frame;
    size_t len;
};

static bool ft_proto_parsed(const struct ft_incoming *m)
{
    return !m->r.bad && m->r.at == m->r.end;
}

static void ft_proto_get_sets(struct ft_proto *p, struct ft_reader *r)
{
    ft_wire_get_set(r, p->in.nodes, p->nnodes);
    ft_wire_get_set(r, p->in.pes, p->npes);
}

/* Whether this node knows of a failure that is not in p->in. */
static bool ft_proto_knows_more(const struct ft_proto *p)
{
    for (size_t i = 0; i < FT_SET_WORDS(p->nnodes); i++)
        if ((p->failed.nodes[i] & ~p->in.nodes[i]) != 0)
            return true;
    for (size_t i = 0; i < FT_SET_WORDS(p->npes); i++)
        if ((p->failed.pes[i] & ~p->in.pes[i]) != 0)
            return true;
    return false;
}

/* ---- ring
 * -------------------------------------------------------------------------------- */

static bool ft_proto_receive_request(struct ft_proto *p, struct ft_incoming *m)
{
    uint64_t flags = ft_wire_get(&m->r, 1);

    ft_proto_get_sets(p, &m->r);
    if (!ft_proto_parsed(m) || flags > FT_FLAG_PROBE)
        return false;
    bool more = ft_proto_knows_more(p);

    ft_proto_merge(p, p->me, NULL, 0);
    if (p->self_failed || !ft_ring_request(&p->ring, p->now, m->from))
        return true;
    ft_proto_send_simple(p, m->from, FT_FRAME_BEAT);
    if (flags & FT_FLAG_PROBE)
        return true;
    if (more)
        ft_proto_send_sets(p, m->from, FT_FRAME_SYNC, 0);
    ft_proto_send_log(p, m->from);
    return true;
}

static bool ft_proto_receive_sync(struct ft_proto *p, struct ft_incoming *m)
{
    uint64_t flags = ft_wire_get(&m->r, 1);

    ft_proto_get_sets(p, &m->r);
    if (!ft_proto_parsed(m) || flags > FT_FLAG_REPLY)
        return false;
    bool more = ft_proto_knows_more(p);

    ft_proto_merge(p, p->me, NULL, 0);
    if (p->self_failed || !(flags & FT_FLAG_REPLY))
        return true;
    if (more)
        ft_proto_send_sets(p, m->from, FT_FRAME_SYNC, 0);
    ft_proto_send_log(p, m->from);
    return true;
}

static bool ft_proto_receive_verdict(struct ft_proto *p, struct ft_incoming *m)
{
    if (!ft_proto_parsed(m))
        return false;
    ft_proto_set_self_failed(p);
    return true;
}

/* ---- agreement
 * --------------------------------------------------------------------------- */

static struct ft_key ft_proto_get_key(struct ft_reader *r)
{
    struct ft_key key = {.team = ft_wire_get(r, 8)};

    key.seq = (uint32_t)ft_wire_get(r, 4);
    return key;
}

static void ft_proto_get_words(struct ft_reader *r, struct ft_words *words)
{
    words->n_and = (uint32_t)ft_wire_get(r, 1);
    words->n_max = (uint32_t)ft_wire_get(r, 1);
    if (words->n_and + words->n_max > FT_WORDS_MAX) {
        r->bad = true;
        return;
    }
    for (uint32_t i = 0; i < words->n_and + words->n_max; i++)
        words->word[i] = ft_wire_get(r, 8);
}

static bool ft_proto_receive_contribution(struct ft_proto *p, struct ft_incoming *m)
{
    struct ft_contribution c = {.key = ft_proto_get_key(&m->r)};

    c.view = ft_wire_get(&m->r, 8);
    c.decided_view = ft_wire_get(&m->r, 8);
    ft_proto_get_words(&m->r, &c.words);
    ft_wire_get_set(&m->r, p->in.pes, p->npes);
    c.failed = p->in.pes;
    if (!ft_proto_parsed(m) || !ft_agree_view_valid(&p->agree, c.view) ||
        (c.decided_view != FT_VIEW_NONE &&
         !ft_agree_view_valid(&p->agree, c.decided_view)))
        return false;
    ft_agree_receive_contribution(&p->agree, m->from, &c);
    return true;
}

static bool ft_proto_receive_ask(struct ft_proto *p, struct ft_incoming *m)
{
    struct ft_key key = ft_proto_get_key(&m->r);
    uint64_t view = ft_wire_get(&m->r, 8);

    if (!ft_proto_parsed(m) || !ft_agree_view_valid(&p->agree, view))
        return false;
    ft_agree_receive_ask(&p->agree, m->from, key, view);
    return true;
}

/* The decision refers to p->in.pes. */
static bool ft_proto_get_decision(struct ft_proto *p, struct ft_incoming *m,
                                  struct ft_decision *d)
{
    *d = (struct ft_decision){.key = ft_proto_get_key(&m->r)};
    d->view = ft_wire_get(&m->r, 8);
    ft_proto_get_words(&m->r, &d->words);
    ft_wire_get_set(&m->r, p->in.pes, p->npes);
    d->failed = p->in.pes;
    return ft_proto_parsed(m) && ft_agree_view_valid(&p->agree, d->view);
}

static bool ft_proto_receive_decision(struct ft_proto *p, struct ft_incoming *m)
{
    struct ft_decision d;

    if (!ft_proto_get_decision(p, m, &d))
        return false;
    ft_agree_receive_decision(&p->agree, &d);
    return true;
}

/* ---- broadcasts
 * -------------------------------------------------------------------------- */

/* The initiator and number of a broadcast, and its frame. */
struct ft_received_cast {
    struct ft_incoming *m;
    uint32_t root;
    uint64_t seq;
};

/* Returns whether the broadcast is new here: then it is marked, logged and forwarded. */
static bool ft_proto_accept_cast(struct ft_proto *p, const struct ft_received_cast *c)
{
    if (!ft_bmg_mark(&p->bmg, c->root, c->seq))
        return false;
    ft_bmg_log_add(&p->bmg, c->m->frame, c->m->len);
    ft_proto_forward(p, c->root, c->m->frame, c->m->len);
    return true;
}

static bool ft_proto_receive_news(struct ft_proto *p, const struct ft_received_cast *c)
{
    ft_proto_get_sets(p, &c->m->r);
    if (!ft_proto_parsed(c->m))
        return false;
    if (ft_bmg_mark(&p->bmg, c->root, c->seq))
        ft_proto_merge(p, c->root, c->m->frame, c->m->len);
    return true;
}

static bool ft_proto_receive_payload(struct ft_proto *p, const struct ft_received_cast *c)
{
    uint32_t kind = (uint32_t)ft_wire_get(&c->m->r, 4);
    size_t len = ft_wire_get(&c->m->r, 2);
    const uint8_t *data = ft_wire_get_bytes(&c->m->r, len);

    if (!ft_proto_parsed(c->m) || len > FT_PAYLOAD_MAX)
        return false;
    if (ft_proto_accept_cast(p, c))
        p->calls.payload(p->host, c->root, kind, data, len);
    return true;
}

static bool ft_proto_receive_decided(struct ft_proto *p, const struct ft_received_cast *c)
{
    struct ft_decision d;

    if (!ft_proto_get_decision(p, c->m, &d))
        return false;
    if (ft_proto_accept_cast(p, c))
        ft_agree_receive_decision(&p->agree, &d);
    return true;
}

static bool ft_proto_receive_resumed(struct ft_proto *p, const struct ft_received_cast *c)
{
    uint32_t incarnation = (uint32_t)ft_wire_get(&c->m->r, 4);

    ft_proto_get_sets(p, &c->m->r);
    if (!ft_proto_parsed(c->m))
        return false;
    if (!ft_proto_accept_cast(p, c))
        return true;
    ft_proto_merge(p, c->root, NULL, 0);
    if (p->self_failed)
        return true;
    if (c->root == p->ring.observing) {
        /* The predecessor may have lost the request for heartbeats. */
        ft_proto_send_sets(p, c->root, FT_FRAME_REQUEST, 0);
        ft_proto_send_log(p, c->root);
    }
    ft_agree_resumed(&p->agree, c->root, incarnation);
    return true;
}

static bool ft_proto_receive_finish(struct ft_proto *p, const struct ft_received_cast *c)
{
    if (!ft_proto_parsed(c->m))
        return false;
    if (ft_proto_accept_cast(p, c)) {
        p->finished = true;
        ft_ring_stop(&p->ring);
    }
    return true;
}

static bool ft_proto_receive_cast(struct ft_proto *p, struct ft_incoming *m)
{
    struct ft_received_cast c = {.m = m, .root = (uint32_t)ft_wire_get(&m->r, 4)};
    uint64_t kind;

    c.seq = ft_wire_get(&m->r, 8);
    kind = ft_wire_get(&m->r, 1);
    if (m->r.bad || c.root >= p->nnodes || c.seq == 0)
        return false;
    switch (kind) {
    case FT_CAST_NEWS:
        return ft_proto_receive_news(p, &c);
    case FT_CAST_PAYLOAD:
        return ft_proto_receive_payload(p, &c);
    case FT_CAST_DECIDED:
        return ft_proto_receive_decided(p, &c);
    case FT_CAST_RESUMED:
        return ft_proto_receive_resumed(p, &c);
    case FT_CAST_FINISH:
        return ft_proto_receive_finish(p, &c);
    default:
        return false;
    }
}

/* ---- all frames
 * -------------------------------------------------------------------------- */

static bool ft_proto_dispatch(struct ft_proto *p, uint64_t type, struct ft_incoming *m)
{
    switch (type) {
    case FT_FRAME_BEAT:
        return ft_proto_parsed(m);
    case FT_FRAME_REQUEST:
        return ft_proto_receive_request(p, m);
    case FT_FRAME_SYNC:
        return ft_proto_receive_sync(p, m);
    case FT_FRAME_CAST:
        return ft_proto_receive_cast(p, m);
    case FT_FRAME_CONTRIBUTION:
        return ft_proto_receive_contribution(p, m);
    case FT_FRAME_ASK:
        return ft_proto_receive_ask(p, m);
    case FT_FRAME_DECISION:
        return ft_proto_receive_decision(p, m);
    case FT_FRAME_VERDICT:
        return ft_proto_receive_verdict(p, m);
    default:
        return false;
    }
}

int ft_proto_receive(struct ft_proto *p, uint64_t now, uint32_t from, const void *frame,
                     size_t len)
{
    const uint8_t *bytes = frame;
    struct ft_incoming m = {
        .r = {.at = bytes, .end = bytes + len}, .from = from, .frame = bytes, .len = len};

    if (p->self_failed)
        return 0;
    p->now = ft_ring_advance(&p->ring, now);
    uint64_t version = ft_wire_get(&m.r, 1), type = ft_wire_get(&m.r, 1);
    uint64_t zero = ft_wire_get(&m.r, 2);
    bool good = !m.r.bad && version == FT_WIRE_VERSION && zero == 0 && from < p->nnodes &&
                from != p->me && len <= p->message_max;

    if (good && ft_set_has(p->failed.nodes, from)) {
        ft_proto_tell(p, from); /* failed is permanent: the frame is ignored */
    } else if (good) {
        good = ft_proto_dispatch(p, type, &m);
        if (good)
            ft_ring_received(&p->ring, p->now, from);
    }
    ft_ring_wake(&p->ring);
    if (!good)
        p->malformed++;
    return good ? 0 : -1;
}
