/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_reply.c - evaluates the replies to the requests of a context (see tcp.h). */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/datatype/copy.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/tcp/tcp.h"

static struct tcp_peer *tcp_peer_of(struct tcp_stream *s)
{
    return (struct tcp_peer *)s; /* its first member */
}

static struct tcp_result *tcp_result_first(const struct tcp_peer *peer)
{
    return tcp_peer_result(peer, 0);
}

static void tcp_result_end(struct tcp_peer *peer)
{
    struct transport_completion *done = tcp_result_first(peer)->done;

    peer->first_result++;
    peer->nresults--;
    perform_completion(done, 0);
    peer->ctx->events++;
}

/* Complete the acknowledged requests at the head of the queue. */
static void tcp_reply_end_acked(struct tcp_peer *peer)
{
    while (peer->nresults > 0) {
        const struct tcp_result *r = tcp_result_first(peer);
        if (tcp_result_has_data(r) || (int32_t)(peer->acked - r->acked) < 0)
            return;
        tcp_result_end(peer);
    }
}

/* 0; -EPROTO: more requests are acknowledged than were posted. */
static int tcp_reply_acked(struct tcp_peer *peer, uint32_t acked)
{
    uint32_t n = acked - peer->acked;

    if (n > peer->posted - peer->acked)
        return -EPROTO;
    peer->acked = acked;
    if ((int32_t)(acked - peer->prompt) > 0)
        peer->prompt = acked;
    peer->ctx->pending -= n;
    peer->ctx->events += n > 0;
    tcp_reply_end_acked(peer);
    return 0;
}

/* True if the next data are those of get_blocks.  Acknowledgements may precede their
 * record in the queue. */
static bool tcp_reply_is_blocks(const struct tcp_peer *peer)
{
    for (uint32_t i = 0; peer->blocks > 0 && i < peer->nresults; i++) {
        const struct tcp_result *r = tcp_peer_result(peer, i);
        if (tcp_result_has_data(r))
            return r->blocks != NULL;
    }
    return false;
}

/* Short data and blocks are received before they are stored. */
static ptrdiff_t tcp_reply_size(struct tcp_stream *s, const void *head)
{
    struct tcp_peer *peer = tcp_peer_of(s);
    struct tcp_reply r;

    if (unlikely(peer->state != TCP_PEER_OPEN))
        return tcp_auth_reply_size(peer, head);
    memcpy(&r, head, sizeof r);
    if (r.kind >= TCP_REPLIES)
        return TCP_MALFORMED;
    if (r.kind == TCP_WELCOME)
        return TCP_REPEATED;
    if (r.kind == TCP_ACK)
        return TCP_HEAD;
    bool whole =
        r.kind == TCP_DATA_RUN || r.len <= TCP_WHOLE || tcp_reply_is_blocks(peer);
    if (whole && r.len > TCP_BLOCKS_MAX)
        return TCP_MALFORMED;
    return TCP_HEAD + (whole ? (ptrdiff_t)r.len : 0);
}

static void tcp_reply_end_data(struct tcp_peer *peer)
{
    peer->blocks -= tcp_result_first(peer)->blocks != NULL;
    peer->ctx->pending--;
    tcp_result_end(peer);
    tcp_reply_end_acked(peer);
}

static int tcp_reply_data(struct tcp_peer *peer, const struct tcp_reply *r,
                          const char *payload)
{
    if (peer->nresults == 0)
        return -EPROTO;
    const struct tcp_result *first = tcp_result_first(peer);
    if (first->len != r->len)
        return -EPROTO;
    if (first->blocks != NULL) {
        first->blocks->copy(first->blocks, (void *)payload);
    } else if (first->to == NULL) {
        return -EPROTO;
    } else if (r->len > TCP_WHOLE) {
        tcp_input_payload(&peer->stream, first->to, r->len);
        return 0;
    } else {
        copy_bytes(first->to, payload, r->len);
    }
    tcp_reply_end_data(peer);
    return 0;
}

/* The results of one or more consecutive requests, without padding. */
static int tcp_reply_data_run(struct tcp_peer *peer, const struct tcp_reply *r,
                              const char *payload)
{
    uint64_t at = 0;

    do {
        if (peer->nresults == 0)
            return -EPROTO;
        const struct tcp_result *first = tcp_result_first(peer);
        if (first->to == NULL || first->len == 0 || first->len > r->len - at)
            return -EPROTO;
        copy_bytes(first->to, payload + at, first->len);
        at += first->len;
        tcp_reply_end_data(peer);
    } while (at < r->len);
    return 0;
}

static int tcp_reply_evaluate(struct tcp_stream *s, const void *message)
{
    struct tcp_peer *peer = tcp_peer_of(s);
    const char *payload = (const char *)message + TCP_HEAD;
    struct tcp_reply r;

    if (unlikely(peer->state != TCP_PEER_OPEN))
        return tcp_auth_reply(peer, message);
    memcpy(&r, message, sizeof r);
    int error = tcp_reply_acked(peer, r.acked);
    if (error != 0 || r.kind == TCP_ACK)
        return error;
    return r.kind == TCP_DATA ? tcp_reply_data(peer, &r, payload)
                              : tcp_reply_data_run(peer, &r, payload);
}

static int tcp_reply_filled(struct tcp_stream *s)
{
    tcp_reply_end_data(tcp_peer_of(s));
    return 0;
}

const struct tcp_reader tcp_reply_reader = {
    .size = tcp_reply_size, .evaluate = tcp_reply_evaluate, .filled = tcp_reply_filled};
