/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_proto_send.c - frames of the failure protocol: building and sending. */
#include "config.h"

#include "pgas/core/base/pgas_assert.h"
#include "pgas/ft/protocol/ft_proto_int.h"

static struct ft_writer ft_proto_frame(struct ft_proto *p, enum ft_frame type)
{
    struct ft_writer w = {.at = p->out, .end = p->out + p->message_max};

    ft_wire_put(&w, FT_WIRE_VERSION, 1);
    ft_wire_put(&w, type, 1);
    ft_wire_put(&w, 0, 2);
    return w;
}

static void ft_proto_send(struct ft_proto *p, uint32_t to, const struct ft_writer *w)
{
    PGAS_ASSERT(!w->bad && to != p->me);
    p->calls.send(p->host, to, p->out, (size_t)(w->at - p->out));
}

static void ft_proto_put_sets(struct ft_proto *p, struct ft_writer *w,
                              const struct ft_sets *sets)
{
    ft_wire_put_set(w, sets->nodes, p->nnodes);
    ft_wire_put_set(w, sets->pes, p->npes);
}

void ft_proto_send_simple(struct ft_proto *p, uint32_t to, enum ft_frame type)
{
    struct ft_writer w = ft_proto_frame(p, type);

    ft_proto_send(p, to, &w);
}

void ft_proto_send_sets(struct ft_proto *p, uint32_t to, enum ft_frame type,
                        unsigned flags)
{
    struct ft_writer w = ft_proto_frame(p, type);

    ft_wire_put(&w, flags, 1);
    ft_proto_put_sets(p, &w, &p->failed);
    ft_proto_send(p, to, &w);
}

void ft_proto_send_log(struct ft_proto *p, uint32_t to)
{
    const uint8_t *frame;
    size_t cursor = 0, len;

    while ((frame = ft_bmg_log_next(&p->bmg, &cursor, &len)) != NULL)
        p->calls.send(p->host, to, frame, len);
}

/* ---- broadcasts
 * -------------------------------------------------------------------------- */

void ft_proto_forward(struct ft_proto *p, uint32_t root, const uint8_t *frame, size_t len)
{
    uint32_t extra[FT_BMG_EXTRA] = {p->ring.observing, p->ring.observer};
    uint32_t to[FT_BMG_DEGREE_MAX], n = ft_bmg_targets(&p->bmg, root, extra, to);

    for (uint32_t i = 0; i < n; i++)
        p->calls.send(p->host, to[i], frame, len);
}

static struct ft_writer ft_proto_cast(struct ft_proto *p, enum ft_cast kind)
{
    struct ft_writer w = ft_proto_frame(p, FT_FRAME_CAST);

    p->seq++;
    ft_bmg_mark(&p->bmg, p->me, p->seq);
    ft_wire_put(&w, p->me, 4);
    ft_wire_put(&w, p->seq, 8);
    ft_wire_put(&w, kind, 1);
    return w;
}

static void ft_proto_cast_end(struct ft_proto *p, const struct ft_writer *w, bool log)
{
    size_t len = (size_t)(w->at - p->out);

    PGAS_ASSERT(!w->bad);
    if (log)
        ft_bmg_log_add(&p->bmg, p->out, len);
    ft_proto_forward(p, p->me, p->out, len);
}

/* Not logged: new ring neighbours exchange their failed sets in full. */
void ft_proto_cast_news(struct ft_proto *p, const struct ft_sets *sets)
{
    struct ft_writer w = ft_proto_cast(p, FT_CAST_NEWS);

    ft_proto_put_sets(p, &w, sets);
    ft_proto_cast_end(p, &w, false);
}

void ft_proto_cast_payload(struct ft_proto *p, uint32_t kind, const void *data,
                           size_t len)
{
    struct ft_writer w = ft_proto_cast(p, FT_CAST_PAYLOAD);

    ft_wire_put(&w, kind, 4);
    ft_wire_put(&w, len, 2);
    ft_wire_put_bytes(&w, data, len);
    ft_proto_cast_end(p, &w, true);
}

/* To all nodes directly: the observer may be one that the predecessor did not know. */
void ft_proto_cast_resumed(struct ft_proto *p)
{
    struct ft_writer w = ft_proto_cast(p, FT_CAST_RESUMED);

    ft_wire_put(&w, p->incarnation, 4);
    ft_proto_put_sets(p, &w, &p->failed);
    ft_bmg_log_add(&p->bmg, p->out, (size_t)(w.at - p->out));
    for (uint32_t i = 0; i < p->nnodes; i++)
        if (i != p->me && !ft_set_has(p->failed.nodes, i))
            ft_proto_send(p, i, &w);
}

void ft_proto_cast_finish(struct ft_proto *p)
{
    struct ft_writer w = ft_proto_cast(p, FT_CAST_FINISH);

    ft_proto_cast_end(p, &w, true);
}

/* ---- agreement
 * --------------------------------------------------------------------------- */

static void ft_proto_put_key(struct ft_writer *w, struct ft_key key)
{
    ft_wire_put(w, key.team, 8);
    ft_wire_put(w, key.seq, 4);
}

static void ft_proto_put_words(struct ft_writer *w, const struct ft_words *words)
{
    uint32_t n = words->n_and + words->n_max;

    ft_wire_put(w, words->n_and, 1);
    ft_wire_put(w, words->n_max, 1);
    for (uint32_t i = 0; i < n; i++)
        ft_wire_put(w, words->word[i], 8);
}

static void ft_proto_put_decision(struct ft_proto *p, struct ft_writer *w,
                                  const struct ft_decision *d)
{
    ft_proto_put_key(w, d->key);
    ft_wire_put(w, d->view, 8);
    ft_proto_put_words(w, &d->words);
    ft_wire_put_set(w, d->failed, p->npes);
}

static void ft_proto_send_contribution(void *owner, uint32_t to,
                                       const struct ft_contribution *c)
{
    struct ft_proto *p = owner;
    struct ft_writer w = ft_proto_frame(p, FT_FRAME_CONTRIBUTION);

    ft_proto_put_key(&w, c->key);
    ft_wire_put(&w, c->view, 8);
    ft_wire_put(&w, c->decided_view, 8);
    ft_proto_put_words(&w, &c->words);
    ft_wire_put_set(&w, c->failed, p->npes);
    ft_proto_send(p, to, &w);
}

static void ft_proto_send_ask(void *owner, uint32_t to, struct ft_key key, uint64_t view)
{
    struct ft_proto *p = owner;
    struct ft_writer w = ft_proto_frame(p, FT_FRAME_ASK);

    ft_proto_put_key(&w, key);
    ft_wire_put(&w, view, 8);
    ft_proto_send(p, to, &w);
}

static void ft_proto_cast_decision(void *owner, const struct ft_decision *d)
{
    struct ft_proto *p = owner;
    struct ft_writer w = ft_proto_cast(p, FT_CAST_DECIDED);

    ft_proto_put_decision(p, &w, d);
    ft_proto_cast_end(p, &w, true);
}

static void ft_proto_send_decision(void *owner, uint32_t to, const struct ft_decision *d)
{
    struct ft_proto *p = owner;
    struct ft_writer w = ft_proto_frame(p, FT_FRAME_DECISION);

    ft_proto_put_decision(p, &w, d);
    ft_proto_send(p, to, &w);
}

static void ft_proto_deliver_decision(void *owner, const struct ft_decision *d)
{
    struct ft_proto *p = owner;

    p->calls.decision(p->host, d);
}

const struct ft_agree_outputs ft_proto_agree_outputs = {
    .contribute = ft_proto_send_contribution,
    .ask = ft_proto_send_ask,
    .announce = ft_proto_cast_decision,
    .reply = ft_proto_send_decision,
    .deliver = ft_proto_deliver_decision,
};
