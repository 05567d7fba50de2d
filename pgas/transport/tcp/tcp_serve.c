/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_serve.c - performs the requests of other PEs (see tcp.h).  A request that is not
 * valid ends the connection, with -EPROTO or the error of its check.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/datatype/copy.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/perform_blocks.h"
#include "pgas/transport/tcp/tcp.h"

static struct tcp_client *tcp_client_of(struct tcp_stream *s)
{
    return (struct tcp_client *)s; /* its first member */
}

/* ---- checks ------------------------------------------------------------------------ */

/* The memory of (segment, offset); NULL: it is not inside the segment. */
static char *tcp_serve_memory(const struct tcp_client *client, unsigned segment,
                              uint64_t offset, uint64_t len)
{
    const struct transport_world *world = client->ctx->net->world;

    if (segment >= SEGMENTS)
        return NULL;
    uint64_t space = world->segment[segment].len;
    if (len > space || offset > space - len)
        return NULL;
    return (char *)world->segment[segment].base + offset;
}

/* A word of an atomic operation or a signal; NULL: it is not aligned or not inside. */
static void *tcp_serve_word(const struct tcp_client *client, unsigned segment,
                            uint64_t offset, unsigned flags)
{
    size_t size = tcp_serve_word_size(flags);
    char *at = tcp_serve_memory(client, segment, offset, size);

    return at == NULL || (uintptr_t)at % size != 0 ? NULL : at;
}

/* ---- requests ---------------------------------------------------------------------- */

int tcp_serve_done(struct tcp_client *client, unsigned flags, uint32_t n)
{
    client->performed += flags & TCP_ACKED ? n : 0;
    client->ack_now |= (flags & (TCP_ACKED | TCP_DELAYED)) == TCP_ACKED;
    client->events++;
    return 0;
}

/* All of a put, signal included, is here. */
static int tcp_serve_put_end(struct tcp_client *client)
{
    const struct tcp_request *r = &client->request;
    const struct tcp_signal *signal = &client->signal;

    if (r->kind == TCP_PUT_SIGNAL) {
        void *word = tcp_serve_word(client, signal->segment, signal->offset, r->flags);
        perform_op((enum transport_amo_op)r->op, word, signal->operand, 0,
                   tcp_serve_word_size(r->flags));
    }
    return tcp_serve_done(client, r->flags, 1);
}

/* `payload`: of a short put, else it follows. */
static int tcp_serve_put(struct tcp_client *client, const struct tcp_request *r,
                         const char *payload)
{
    uint64_t len = tcp_request_len(r);
    char *to = tcp_serve_memory(client, r->segment, tcp_request_offset(r), len);

    if (to == NULL)
        return -EFAULT;
    client->request = *r;
    if (len > TCP_WHOLE) {
        tcp_input_payload(&client->stream, to, len);
        return 0;
    }
    copy_bytes(to, payload, len);
    return tcp_serve_put_end(client);
}

static int tcp_serve_put_signal(struct tcp_client *client, const struct tcp_request *r,
                                const char *body)
{
    struct tcp_signal *signal = &client->signal;

    memcpy(signal, body, sizeof *signal);
    if (r->op != TRANSPORT_AMO_SET && r->op != TRANSPORT_AMO_ADD)
        return -EPROTO;
    if (tcp_serve_word(client, signal->segment, signal->offset, r->flags) == NULL)
        return -EFAULT;
    return tcp_serve_put(client, r, body + sizeof *signal);
}

static int tcp_serve_get(struct tcp_client *client, const struct tcp_request *r,
                         const char *body)
{
    uint64_t len = tcp_request_len(r);
    const char *from = tcp_serve_memory(client, r->segment, tcp_request_offset(r), len);

    (void)body;
    if (from == NULL)
        return -EFAULT;
    client->events++;
    if (tcp_client_reply(client, TCP_DATA, len) != 0)
        return -ENOMEM;
    if (len > TCP_COPY_MAX)
        return tcp_output_refer(&client->stream, from, len, NULL) ? 0 : -ENOMEM;
    char *to = tcp_output_reserve(&client->stream, len);
    if (to == NULL)
        return -ENOMEM;
    copy_bytes(to, from, len); /* a word is loaded at once */
    return 0;
}

static int tcp_serve_amo(struct tcp_client *client, const struct tcp_request *r,
                         const char *body)
{
    void *word = tcp_serve_word(client, r->segment, tcp_request_offset(r), r->flags);
    size_t size = tcp_serve_word_size(r->flags);
    struct tcp_operands operands;

    memcpy(&operands, body, sizeof operands);
    if (word == NULL)
        return -EFAULT;
    if (r->op >= TRANSPORT_AMO_OPS || tcp_request_len(r) != size)
        return -EPROTO;
    uint64_t old = perform_op((enum transport_amo_op)r->op, word, operands.operand,
                              operands.cond, size);
    tcp_serve_done(client, r->flags, 1);
    if ((r->flags & TCP_RESULT) == 0)
        return 0;
    if (tcp_client_reply(client, TCP_DATA, size) != 0 ||
        !tcp_output_add(&client->stream, &old, size)) /* low bytes first */
        return -ENOMEM;
    return 0;
}

static int tcp_serve_put_blocks(struct tcp_client *client, const struct tcp_request *r,
                                const char *body)
{
    int error = perform_put_message(client->ctx->net->world, tcp_request_offset(r), body,
                                    tcp_request_len(r));

    return error != 0 ? error : tcp_serve_done(client, r->flags, 1);
}

static int tcp_serve_get_blocks(struct tcp_client *client, const struct tcp_request *r,
                                const char *body)
{
    uint64_t bytes = tcp_request_offset(r), len = tcp_request_len(r);

    if (bytes > TCP_BLOCKS_MAX)
        return -EPROTO;
    client->events++;
    if (tcp_client_reply(client, TCP_DATA, bytes) != 0)
        return -ENOMEM;
    char *packed = tcp_output_reserve(&client->stream, bytes);
    if (packed == NULL)
        return -ENOMEM;
    return perform_get_message(client->ctx->net->world,
                               len / sizeof(struct transport_vector), body, len, packed,
                               bytes);
}

static int tcp_serve_flush(struct tcp_client *client, const struct tcp_request *r,
                           const char *body)
{
    (void)body;
    return tcp_serve_done(client, r->flags, 1);
}

/* ---- the reader -------------------------------------------------------------------- */

/* `fixed`: bytes after the head; `payload`: how much of len bytes must be received before
 * the request is evaluated. */
enum tcp_payload { PAYLOAD_NONE, PAYLOAD_SHORT, PAYLOAD_ALL };
struct tcp_request_type {
    int (*serve)(struct tcp_client *client, const struct tcp_request *r,
                 const char *body);
    size_t fixed;
    enum tcp_payload payload;
};

static const struct tcp_request_type tcp_request_types[TCP_REQUESTS] = {
    [TCP_PUT] = {tcp_serve_put, 0, PAYLOAD_SHORT},
    [TCP_PUT_SIGNAL] = {tcp_serve_put_signal, sizeof(struct tcp_signal), PAYLOAD_SHORT},
    [TCP_GET] = {tcp_serve_get, 0, PAYLOAD_NONE},
    [TCP_AMO] = {tcp_serve_amo, sizeof(struct tcp_operands), PAYLOAD_NONE},
    [TCP_PUT_BLOCKS] = {tcp_serve_put_blocks, 0, PAYLOAD_ALL},
    [TCP_GET_BLOCKS] = {tcp_serve_get_blocks, 0, PAYLOAD_ALL},
    [TCP_FLUSH] = {tcp_serve_flush, 0, PAYLOAD_NONE},
    [TCP_PUT_RUN] = {tcp_serve_put_run, 0, PAYLOAD_ALL},
    [TCP_GET_RUN] = {tcp_serve_get_run, 0, PAYLOAD_ALL},
    [TCP_AMO_RUN] = {tcp_serve_amo_run, 0, PAYLOAD_ALL},
};

static ptrdiff_t tcp_request_size(struct tcp_stream *s, const void *head)
{
    struct tcp_request r;

    if (unlikely(tcp_client_of(s)->pe < 0))
        return tcp_auth_request_size(tcp_client_of(s), head);
    memcpy(&r, head, sizeof r);
    if (r.kind >= TCP_REQUESTS)
        return tcp_auth_has_magic(head) ? TCP_REPEATED : TCP_MALFORMED;
    const struct tcp_request_type *type = &tcp_request_types[r.kind];
    uint64_t len = tcp_request_len(&r);
    size_t size = TCP_HEAD + type->fixed;
    if (type->payload == PAYLOAD_ALL && len > TCP_BLOCKS_MAX)
        return TCP_MALFORMED;
    if (type->payload == PAYLOAD_ALL ||
        (type->payload == PAYLOAD_SHORT && len <= TCP_WHOLE))
        size += len;
    return (ptrdiff_t)size;
}

static int tcp_request_evaluate(struct tcp_stream *s, const void *message)
{
    struct tcp_client *client = tcp_client_of(s);
    struct tcp_request r;

    if (unlikely(client->pe < 0))
        return tcp_auth_request(client, message);
    memcpy(&r, message, sizeof r);
    return tcp_request_types[r.kind].serve(client, &r, (const char *)message + TCP_HEAD);
}

static int tcp_request_filled(struct tcp_stream *s)
{
    return tcp_serve_put_end(tcp_client_of(s));
}

const struct tcp_reader tcp_request_reader = {.size = tcp_request_size,
                                              .evaluate = tcp_request_evaluate,
                                              .filled = tcp_request_filled};
