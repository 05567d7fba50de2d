/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_post.c - posts operations: appends requests to the queue of a peer and decides when
 * the queue is sent (see tcp.h).
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/perform_blocks.h"
#include "pgas/transport/tcp/tcp.h"

enum {
    BLOCKS_OUTSTANDING = 8, /* get_blocks per peer: bounds the target's memory */
    RESULTS_FIRST = 32,
    RUN_MAX = 4096, /* bytes of a run, which the target receives before it performs it */
    DELAYED_AFTER = 7, /* notifications of a PE since the last quiet: before that limit,
                          one will probably follow soon */
};
_Static_assert(TCP_RESULTS_MAX % RESULTS_FIRST == 0, "the ring doubles up to the limit");

/* How an operation is sent and completed. */
struct tcp_post {
    struct tcp_peer *peer;
    bool first; /* no reply is awaited (tcp_peer_is_awaited): send at once */
    bool now;   /* someone waits for the result */
};

/* ---- admission --------------------------------------------------------------------- */

static bool tcp_peer_is_full(const struct tcp_peer *peer)
{
    const struct tcp_output *o = &peer->stream.out;

    return o->tail - o->head >= TCP_QUEUE_MAX ||
           o->nrefs - o->first_ref >= TCP_REFS_MAX || peer->nresults == TCP_RESULTS_MAX;
}

static int tcp_post_begin_slow(struct tcp_peer *peer)
{
    tcp_peer_send(peer);
    if (peer->state == TCP_PEER_FAILED)
        return peer->error;
    return tcp_peer_is_full(peer) ? -EAGAIN : 0;
}

/* 0: the operation is accepted if there is memory; else -EAGAIN or another error. */
ALWAYS_INLINE int tcp_post_begin(struct transport_ctx *ctx, int pe, struct tcp_post *post)
{
    int error = tcp_peer_find(ctx, pe, &post->peer);

    if (unlikely(error != 0))
        return error;
    if (unlikely(tcp_peer_is_full(post->peer))) {
        error = tcp_post_begin_slow(post->peer);
        if (error != 0)
            return error;
    }
    post->first = !tcp_peer_is_awaited(post->peer);
    return 0;
}

/* The operation is in the queue. */
ALWAYS_INLINE void tcp_post_end(struct tcp_post *post)
{
    struct tcp_peer *peer = post->peer;
    const struct tcp_output *o = &peer->stream.out;
    bool now = post->first || post->now || peer->ctx->fenced;

    peer->ctx->posts++;
    peer->ctx->fenced = false;
    if (!peer->stream.watches_output &&
        (now || o->nrefs > 0 || o->tail - o->head >= peer->ctx->frame))
        tcp_peer_send(peer);
    tcp_peer_update(peer);
}

/* A larger ring.  False: no memory. */
static __attribute__((noinline)) bool tcp_post_grow_results(struct tcp_peer *peer)
{
    uint32_t size = peer->results_size == 0 ? RESULTS_FIRST : peer->results_size * 2;
    struct tcp_result *result = malloc(size * sizeof *result);

    if (result == NULL)
        return false;
    for (uint32_t i = 0; i < peer->nresults; i++)
        result[i] = *tcp_peer_result(peer, i);
    free(peer->result);
    peer->result = result;
    peer->results_size = size;
    peer->first_result = 0;
    return true;
}

/* Space for one more result. */
static bool tcp_post_has_results(struct tcp_peer *peer)
{
    PGAS_ASSERT(peer->nresults < TCP_RESULTS_MAX);
    return likely(peer->nresults < peer->results_size) || tcp_post_grow_results(peer);
}

static void tcp_post_result(struct tcp_peer *peer, struct tcp_result result)
{
    PGAS_ASSERT(peer->nresults < peer->results_size);
    *tcp_peer_result(peer, peer->nresults) = result;
    peer->nresults++;
}

/* Reserve `len` bytes of a request; NULL: no memory. */
static char *tcp_post_request(struct tcp_peer *peer, const struct tcp_request *request,
                              size_t len)
{
    char *at = tcp_output_reserve(&peer->stream, sizeof *request + len);

    if (at == NULL)
        return NULL;
    memcpy(at, request, sizeof *request);
    return at + sizeof *request;
}

/* An operation on `len` bytes that nobody waits for may join a run. */
static bool tcp_post_joins(const struct tcp_post *post, size_t len)
{
    return !post->first && !post->now && !post->peer->ctx->fenced &&
           (len == sizeof(uint64_t) || len == sizeof(uint32_t));
}

/* Of a run: the first bytes of its head; and it does not span a fence. */
ALWAYS_INLINE uint64_t tcp_run_kind(const struct transport_ctx *ctx,
                                    const struct tcp_request *request)
{
    uint32_t bytes;

    memcpy(&bytes, request, sizeof bytes);
    return (uint64_t)ctx->fences << 32 | bytes;
}

/* Append to the run at the end of the queue, if it is of the same kind, unsent and not
 * full.  Requests and references behind it have other positions than its end. */
ALWAYS_INLINE bool tcp_post_to_run(struct tcp_peer *peer, uint64_t kind,
                                   const void *record, size_t len)
{
    struct tcp_output *o = &peer->stream.out;
    struct tcp_run *run = &peer->run;
    struct tcp_request head;

    if (run->kind != kind || run->end != o->base + o->tail ||
        run->at < o->base + o->head || run->end - run->at >= RUN_MAX ||
        !tcp_output_add(&peer->stream, record, len))
        return false;
    run->end += len;
    char *at = o->buf + (run->at - o->base);
    memcpy(&head, at, sizeof head);
    head.len_low += (uint32_t)len;
    memcpy(at, &head, sizeof head);
    return true;
}

/* Append an operation with a record of `len` bytes to a run, or begin one.  The request
 * has no offset.  False: no memory. */
ALWAYS_INLINE bool tcp_post_record(struct tcp_peer *peer, struct tcp_request request,
                                   size_t size, const void *record, size_t len)
{
    const struct tcp_output *o = &peer->stream.out;
    uint64_t kind;

    request.flags |= size == sizeof(uint64_t) ? TCP_LONG : 0;
    kind = tcp_run_kind(peer->ctx, &request);
    if (likely(tcp_post_to_run(peer, kind, record, len)))
        return true;
    request.len_low = (uint32_t)len;
    char *at = tcp_post_request(peer, &request, len);
    if (at == NULL)
        return false;
    memcpy(at, record, len);
    peer->run.end = o->base + o->tail;
    peer->run.at = peer->run.end - len - sizeof request;
    peer->run.kind = kind;
    return true;
}

/* The request with these flags will be acknowledged.  done: completes then; or NULL. */
static void tcp_post_acked(struct tcp_peer *peer, unsigned flags,
                           struct transport_completion *done)
{
    peer->posted++;
    peer->ctx->pending++;
    peer->unconfirmed = false;
    if ((flags & TCP_DELAYED) == 0)
        peer->prompt = peer->posted;
    if (done != NULL)
        tcp_post_result(peer, (struct tcp_result){.acked = peer->posted, .done = done});
}

/* The flags of an operation without a result.  `notifies`: it is a put with signal, or a
 * short one that is the first after a fence. */
static uint8_t tcp_post_flags(struct tcp_peer *peer, bool notifies)
{
    if (!notifies)
        return TCP_ACKED;
    if (peer->notified_quiets != peer->ctx->quiets)
        peer->notified = 0;
    peer->notified_quiets = peer->ctx->quiets;
    if (peer->notified == DELAYED_AFTER)
        return TCP_ACKED | TCP_DELAYED;
    peer->notified++;
    return TCP_ACKED;
}

/* ---- puts -------------------------------------------------------------------------- */

/* Append the payload of a put.  False: no memory, and nothing was appended. */
static bool tcp_post_payload(struct tcp_peer *peer, const void *from, size_t len,
                             struct transport_completion *done)
{
    if (len > TCP_COPY_MAX)
        return tcp_output_refer(&peer->stream, from, len, done);
    if (len > 0 && !tcp_output_add(&peer->stream, from, len))
        return false;
    perform_completion(done, 0);
    return true;
}

/* Undo the reservation of the last `len` bytes. */
static void tcp_post_undo(struct tcp_peer *peer, size_t len)
{
    peer->stream.out.tail -= len;
    peer->stream.out.unsent -= len;
}

/* False: no memory. */
static bool tcp_put_word(struct tcp_post *post, const struct transport_symaddr *to,
                         const void *from, size_t len)
{
    const struct tcp_request request = {
        .kind = TCP_PUT_RUN, .segment = (uint8_t)to->segment, .flags = TCP_ACKED};
    struct tcp_record record = {.offset = to->offset};

    memcpy(&record.operand, from, len);
    if (!tcp_post_record(post->peer, request, len, &record, sizeof record))
        return false;
    tcp_post_acked(post->peer, TCP_ACKED, NULL);
    tcp_post_end(post);
    return true;
}

int tcp_put(struct transport_ctx *ctx, const struct transport_symaddr *to,
            const void *from, size_t len, struct transport_completion *done)
{
    struct tcp_post post = {.now = false};
    struct tcp_request request = {.kind = TCP_PUT, .segment = (uint8_t)to->segment};
    int error = tcp_post_begin(ctx, to->pe, &post);

    if (error != 0)
        return error;
    if (tcp_post_joins(&post, len) && tcp_put_word(&post, to, from, len)) {
        perform_completion(done, 0);
        return 0;
    }
    request.flags = tcp_post_flags(post.peer, ctx->fenced && len <= TCP_COPY_MAX);
    tcp_request_set(&request, to->offset, len);
    if (tcp_post_request(post.peer, &request, 0) == NULL)
        return -EAGAIN;
    if (!tcp_post_payload(post.peer, from, len, done)) {
        tcp_post_undo(post.peer, sizeof request);
        return -EAGAIN;
    }
    tcp_post_acked(post.peer, request.flags, NULL);
    tcp_post_end(&post);
    return 0;
}

size_t tcp_signal_max(struct transport_net *net)
{
    (void)net;
    return SIZE_MAX;
}

int tcp_put_signal(struct transport_ctx *ctx, const struct transport_symaddr *to,
                   const void *from, size_t len, const struct transport_signal *signal,
                   struct transport_completion *done)
{
    struct tcp_post post = {.now = true};
    struct tcp_signal update = {.offset = signal->at.offset,
                                .operand = signal->operand,
                                .segment = signal->at.segment};
    struct tcp_request request = {.kind = TCP_PUT_SIGNAL,
                                  .segment = (uint8_t)to->segment,
                                  .op = (uint8_t)signal->op,
                                  .flags =
                                      signal->size == sizeof(uint64_t) ? TCP_LONG : 0};
    int error = tcp_post_begin(ctx, to->pe, &post);

    if (error != 0)
        return error;
    if (!signal->unacked)
        request.flags |= tcp_post_flags(post.peer, true);
    tcp_request_set(&request, len > 0 ? to->offset : 0, len);
    char *at = tcp_post_request(post.peer, &request, sizeof update);
    if (at == NULL)
        return -EAGAIN;
    memcpy(at, &update, sizeof update);
    if (!tcp_post_payload(post.peer, from, len, done)) {
        tcp_post_undo(post.peer, sizeof request + sizeof update);
        return -EAGAIN;
    }
    if (signal->unacked) {
        post.peer->unsent++;
        post.peer->unconfirmed = true;
        ctx->pending++;
    } else {
        tcp_post_acked(post.peer, request.flags, NULL);
    }
    tcp_post_end(&post);
    return 0;
}

/* ---- gets and atomics -------------------------------------------------------------- */

/* False: no memory. */
static bool tcp_get_word(struct tcp_post *post, const struct transport_symaddr *from,
                         size_t len)
{
    const struct tcp_request request = {.kind = TCP_GET_RUN,
                                        .segment = (uint8_t)from->segment};

    return tcp_post_record(post->peer, request, len, &from->offset, sizeof from->offset);
}

int tcp_get(struct transport_ctx *ctx, void *to, const struct transport_symaddr *from,
            size_t len, struct transport_completion *done)
{
    struct tcp_post post = {.now = done != NULL};
    struct tcp_request request = {.kind = TCP_GET, .segment = (uint8_t)from->segment};
    int error = tcp_post_begin(ctx, from->pe, &post);

    if (error != 0)
        return error;
    if (len > sizeof(uint64_t) && post.peer->nresults >= TCP_LONG_RESULTS_MAX) {
        tcp_peer_send(post.peer);
        return -EAGAIN;
    }
    tcp_request_set(&request, from->offset, len);
    if (!tcp_post_has_results(post.peer) ||
        (!(tcp_post_joins(&post, len) && tcp_get_word(&post, from, len)) &&
         tcp_post_request(post.peer, &request, 0) == NULL))
        return -EAGAIN;
    tcp_post_result(post.peer, (struct tcp_result){.to = to, .len = len, .done = done});
    ctx->pending++;
    tcp_post_end(&post);
    return 0;
}

/* False: no memory, or it cannot be in a run. */
static bool tcp_amo_word(struct tcp_post *post, const struct transport_symaddr *at,
                         const struct transport_amo *amo, uint8_t flags)
{
    const struct tcp_request request = {.kind = TCP_AMO_RUN,
                                        .segment = (uint8_t)at->segment,
                                        .op = (uint8_t)amo->op,
                                        .flags = flags};
    const struct tcp_record record = {.offset = at->offset, .operand = amo->operand};

    return tcp_post_joins(post, amo->size) && amo->op != TRANSPORT_AMO_COMPARE_SWAP &&
           tcp_post_record(post->peer, request, amo->size, &record, sizeof record);
}

/* False: no memory. */
static bool tcp_amo_alone(struct tcp_peer *peer, const struct transport_symaddr *at,
                          const struct transport_amo *amo, uint8_t flags)
{
    const struct tcp_operands operands = {.operand = amo->operand, .cond = amo->cond};
    struct tcp_request request = {.kind = TCP_AMO,
                                  .segment = (uint8_t)at->segment,
                                  .op = (uint8_t)amo->op,
                                  .flags = flags};

    request.flags |= amo->size == sizeof(uint64_t) ? TCP_LONG : 0;
    tcp_request_set(&request, at->offset, amo->size);
    char *body = tcp_post_request(peer, &request, sizeof operands);
    if (body != NULL)
        memcpy(body, &operands, sizeof operands);
    return body != NULL;
}

int tcp_amo(struct transport_ctx *ctx, const struct transport_symaddr *at,
            const struct transport_amo *amo, struct transport_completion *done)
{
    struct tcp_post post = {.now = done != NULL};
    bool result = amo->result != NULL;
    int error = tcp_post_begin(ctx, at->pe, &post);

    if (error != 0)
        return error;
    uint8_t flags =
        result ? TCP_RESULT : tcp_post_flags(post.peer, ctx->fenced && done == NULL);
    if (!tcp_post_has_results(post.peer) || !(tcp_amo_word(&post, at, amo, flags) ||
                                              tcp_amo_alone(post.peer, at, amo, flags)))
        return -EAGAIN;
    if (result) {
        tcp_post_result(
            post.peer,
            (struct tcp_result){.to = amo->result, .len = amo->size, .done = done});
        ctx->pending++;
    } else {
        tcp_post_acked(post.peer, flags, done);
    }
    tcp_post_end(&post);
    return 0;
}

/* ---- blocks ------------------------------------------------------------------------ */

size_t tcp_blocks_max(struct transport_ctx *ctx, int pe, size_t bytes)
{
    const struct tcp_peer *peer = ctx->peer[pe];

    (void)bytes;
    if (peer == NULL || peer->state == TCP_PEER_FAILED || tcp_is_lost(ctx->net, pe))
        return TCP_BLOCKS_MAX; /* the post says what is wrong */
    return tcp_peer_is_full(peer) || peer->blocks >= BLOCKS_OUTSTANDING ? 0
                                                                        : TCP_BLOCKS_MAX;
}

int tcp_put_blocks(struct transport_ctx *ctx, const struct transport_blocks *blocks)
{
    struct tcp_post post = {.now = false};
    struct tcp_request request = {.kind = TCP_PUT_BLOCKS, .flags = TCP_ACKED};
    size_t vectors = perform_vectors_size(blocks->nvectors);
    int error = tcp_post_begin(ctx, blocks->pe, &post);

    PGAS_ASSERT(vectors + blocks->bytes <= TCP_BLOCKS_MAX);
    if (error != 0)
        return error;
    tcp_request_set(&request, blocks->nvectors, vectors + blocks->bytes);
    char *at = tcp_post_request(post.peer, &request, vectors + blocks->bytes);
    if (at == NULL)
        return -EAGAIN;
    memcpy(at, blocks->vector, vectors);
    blocks->copy(blocks, at + vectors);
    tcp_post_acked(post.peer, request.flags, NULL);
    tcp_post_end(&post);
    return 0;
}

int tcp_get_blocks(struct transport_ctx *ctx, const struct transport_blocks *blocks,
                   struct transport_completion *done)
{
    struct tcp_post post = {.now = done != NULL};
    struct tcp_request request = {.kind = TCP_GET_BLOCKS};
    size_t vectors = perform_vectors_size(blocks->nvectors);
    int error = tcp_post_begin(ctx, blocks->pe, &post);

    PGAS_ASSERT(vectors + blocks->bytes <= TCP_BLOCKS_MAX);
    if (error != 0)
        return error;
    if (post.peer->blocks >= BLOCKS_OUTSTANDING || !tcp_post_has_results(post.peer))
        return -EAGAIN;
    tcp_request_set(&request, blocks->bytes, vectors);
    char *at = tcp_post_request(post.peer, &request, vectors);
    if (at == NULL)
        return -EAGAIN;
    memcpy(at, blocks->vector, vectors);
    tcp_post_result(post.peer, (struct tcp_result){
                                   .len = blocks->bytes, .blocks = blocks, .done = done});
    post.peer->blocks++;
    ctx->pending++;
    tcp_post_end(&post);
    return 0;
}

/* ---- confirmation ------------------------------------------------------------------ */

/* The target acknowledges all requests.  False: no memory. */
static bool tcp_post_flush(struct tcp_peer *peer)
{
    const struct tcp_request request = {.kind = TCP_FLUSH, .flags = TCP_ACKED};

    PGAS_ASSERT(peer->state != TCP_PEER_IDLE);
    if (tcp_post_request(peer, &request, 0) == NULL)
        return false;
    tcp_post_acked(peer, request.flags, NULL);
    tcp_peer_send(peer);
    tcp_peer_update(peer);
    return true;
}

bool tcp_post_confirm(struct tcp_peer *peer)
{
    return !peer->unconfirmed || peer->state == TCP_PEER_FAILED || tcp_post_flush(peer);
}

bool tcp_post_confirm_delayed(struct tcp_peer *peer)
{
    return peer->prompt == peer->posted || peer->state == TCP_PEER_FAILED ||
           tcp_post_flush(peer);
}
