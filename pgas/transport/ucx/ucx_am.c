/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_am.c - performs incoming requests and replies to them (see ucx.h).
 *
 * A reply is sent on the endpoint that UCX passes with the message (reply_ep), to the
 * worker that sent it.  UCX may read the reply until the send completes.
 * Uses: ucx.h, perform.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/threads/atomic.h"
#include "pgas/datatype/copy.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/perform_blocks.h"
#include "pgas/transport/ucx/ucx.h"

/* A reply in flight. */
struct ucx_reply {
    struct ucx_reply **link, *next; /* in ctx->replies */
    struct ucx_reply_header head;
    void *packed; /* packed_len bytes of blocks, or NULL */
    size_t packed_len;
    struct transport_ctx *ctx;
};

/* ---- performing requests ----------------------------------------------------------- */

/* The local address of [offset, offset + len) in a segment; NULL: out of bounds. */
static char *ucx_am_local_address(const struct transport_net *net, unsigned segment,
                                  uint64_t offset, size_t len)
{
    if (segment >= SEGMENTS || len > net->world->segment[segment].len ||
        offset > net->world->segment[segment].len - len)
        return NULL;
    return (char *)net->world->segment[segment].base + offset;
}

static bool ucx_am_is_valid_word(const struct ucx_request_header *head)
{
    return head->op < TRANSPORT_AMO_OPS &&
           (head->size == sizeof(uint32_t) || head->size == sizeof(uint64_t)) &&
           head->word_offset % head->size == 0;
}

static bool ucx_am_is_valid_signal(const struct ucx_request_header *head)
{
    return ucx_am_is_valid_word(head) &&
           (head->op == TRANSPORT_AMO_SET || head->op == TRANSPORT_AMO_ADD);
}

/* The word of an amo or signal; NULL: out of bounds. */
static char *ucx_am_word(const struct transport_net *net,
                         const struct ucx_request_header *head)
{
    return ucx_am_local_address(net, head->word_segment, head->word_offset, head->size);
}

static int ucx_am_perform_put(const struct transport_net *net,
                              const struct ucx_request_header *head, const void *data,
                              size_t len)
{
    char *to = ucx_am_local_address(net, head->segment, head->offset, len);

    if (to == NULL)
        return -EFAULT;
    if (len > 0)
        copy_bytes(to, data, len); /* stores a word whole */
    return 0;
}

/* Copy the bytes, then update the word (a release). */
static int ucx_am_perform_signal(const struct transport_net *net,
                                 const struct ucx_request_header *head, const void *data,
                                 size_t len)
{
    const struct transport_signal signal = {.op = (enum transport_amo_op)head->op,
                                            .size = head->size,
                                            .operand = head->operand};

    if (!ucx_am_is_valid_signal(head))
        return -EINVAL;
    char *word = ucx_am_word(net, head);
    int error = word == NULL ? -EFAULT : ucx_am_perform_put(net, head, data, len);
    if (error == 0)
        perform_signal(word, &signal);
    return error;
}

static int ucx_am_perform_amo(const struct transport_net *net,
                              const struct ucx_request_header *head, uint64_t *before)
{
    const struct transport_amo amo = {.op = (enum transport_amo_op)head->op,
                                      .size = head->size,
                                      .operand = head->operand,
                                      .cond = head->cond};

    if (!ucx_am_is_valid_word(head))
        return -EINVAL;
    char *word = ucx_am_word(net, head);
    if (word == NULL)
        return -EFAULT;
    *before = perform_amo(word, &amo);
    return 0;
}

/* Perform a request other than a get.  0; or -errno, and nothing was written. */
static int ucx_am_perform(const struct transport_net *net,
                          const struct ucx_request_header *head, const void *data,
                          size_t len, uint64_t *before)
{
    switch ((enum ucx_request_type)head->type) {
    case UCX_REQUEST_SIGNAL:
        return ucx_am_perform_signal(net, head, data, len);
    case UCX_REQUEST_PUT:
        return ucx_am_perform_put(net, head, data, len);
    case UCX_REQUEST_AMO:
        return ucx_am_perform_amo(net, head, before);
    case UCX_REQUEST_PUT_BLOCKS:
        return perform_put_message(net->world, head->operand, data, len);
    case UCX_REQUEST_GET:
    case UCX_REQUEST_GET_BLOCKS:
        break;
    }
    return -EINVAL;
}

/* ---- replies ----------------------------------------------------------------------- */

static void ucx_reply_free(struct ucx_reply *reply)
{
    *reply->link = reply->next;
    if (reply->next != NULL)
        reply->next->link = reply->link;
    ucx_message_free(reply->ctx, reply->packed, reply->packed_len);
    free(reply);
}

static void ucx_reply_sent(void *request, ucs_status_t status, void *arg)
{
    (void)status; /* errors are ignored: the requester has failed */
    ucx_lib.request_free(request);
    ucx_reply_free(arg);
}

/* Send a reply with len bytes of the symmetric memory or, if `packed`, of memory from
 * ucx_message_alloc that is freed after the reply was sent. */
static void ucx_am_send_reply(struct transport_ctx *ctx, ucp_ep_h to,
                              const struct ucx_reply_header *head, const void *data,
                              size_t len, void *packed)
{
    struct ucx_reply *reply = malloc(sizeof *reply);
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FIELD_FLAGS,
        .cb.send = ucx_reply_sent,
        .user_data = reply,
        .flags = UCP_AM_SEND_FLAG_EAGER,
    };

    if (reply == NULL) {
        ucx_message_free(ctx, packed, len);
        ctx->net->world->failed(ctx->net->world, -1, "no memory for a reply");
        return;
    }
    *reply = (struct ucx_reply){.link = &ctx->replies,
                                .next = ctx->replies,
                                .head = *head,
                                .packed = packed,
                                .packed_len = len,
                                .ctx = ctx};
    if (reply->next != NULL)
        reply->next->link = &reply->next;
    ctx->replies = reply;
    ucs_status_ptr_t request = ucx_lib.am_send_nbx(to, UCX_REPLY_ID, &reply->head,
                                                   sizeof reply->head, data, len, &param);
    if (!UCS_PTR_IS_PTR(request))
        ucx_reply_free(reply);
}

/* Reply to a get with its bytes.  0 or -errno. */
static int ucx_am_reply_bytes(struct transport_ctx *ctx, ucp_ep_h to,
                              const struct ucx_request_header *head)
{
    const char *from =
        ucx_am_local_address(ctx->net, head->segment, head->offset, head->len);

    if (from == NULL || head->len == 0)
        return -EFAULT;
    for (uint64_t at = 0; at < head->len; at += UCX_DATA_MAX) {
        const struct ucx_reply_header reply = {.token = head->token, .value = at};
        uint64_t left = head->len - at;
        ucx_am_send_reply(ctx, to, &reply, from + at,
                          left < UCX_DATA_MAX ? left : UCX_DATA_MAX, NULL);
    }
    return 0;
}

/* Reply to a get of blocks, whose vectors are the len bytes at `vectors`.  0 or -errno.
 */
static int ucx_am_reply_blocks(struct transport_ctx *ctx, ucp_ep_h to,
                               const struct ucx_request_header *head, const void *vectors,
                               size_t len)
{
    const struct ucx_reply_header reply = {.token = head->token};

    if (head->len == 0 || head->len > UCX_DATA_MAX)
        return -EINVAL;
    char *packed = ucx_message_alloc(ctx, head->len);
    if (packed == NULL)
        return -ENOMEM;
    int error = perform_get_message(ctx->net->world, head->operand, vectors, len, packed,
                                    head->len);
    if (error == 0)
        ucx_am_send_reply(ctx, to, &reply, packed, head->len, packed);
    else
        ucx_message_free(ctx, packed, head->len);
    return error;
}

/* ---- received messages ------------------------------------------------------------- */

/* Report a bad target address at the target: no reply reports it to the sender. */
static void ucx_am_report_bad_target(const struct transport_net *net, int pe)
{
    char text[TRANSPORT_TEXT_MAX];

    snprintf(text, sizeof text,
             "put with signal from PE %d: the target address is outside the symmetric "
             "memory of PE %d",
             pe, net->world->me);
    net->world->failed(net->world, -1, text);
}

/* Why a request is malformed; NULL: it is valid. Performing it checks addresses. */
static const char *ucx_message_fault(const struct transport_ctx *ctx,
                                     const struct ucx_request_header *head, size_t len,
                                     const ucp_am_recv_param_t *param)
{
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 || len > UCX_DATA_MAX)
        return "it is longer than the limit";
    if (ctx != ctx->net->ctx_0)
        return "it is a request to a context that receives only replies";
    if (head->pe < 0 || head->pe >= ctx->net->world->npes)
        return "its sender is not a PE of this job";
    return NULL;
}

/* Report a message that this library never sends; no part of it was performed. */
static void ucx_am_report_malformed(const struct transport_net *net, size_t header_len,
                                    size_t len, const char *why)
{
    char text[TRANSPORT_TEXT_MAX];

    snprintf(text, sizeof text,
             "PE %d rejected a malformed message of %zu + %zu bytes from UCX: %s. A PE's "
             "memory is corrupted, or another program sends to this port.",
             net->world->me, header_len, len, why);
    net->world->failed(net->world, -1, text);
}

/* ucp_am_recv_callback_t, inside the progress of context 0 */
static ucs_status_t ucx_am_handle_request(void *arg, const void *header,
                                          size_t header_len, void *data, size_t len,
                                          const ucp_am_recv_param_t *param)
{
    struct transport_ctx *ctx = arg;
    struct ucx_request_header head;

    if (header_len != sizeof head) {
        ucx_am_report_malformed(ctx->net, header_len, len,
                                "its header has a wrong length");
        return UCS_OK;
    }
    memcpy(&head, header, sizeof head);
    const char *why = ucx_message_fault(ctx, &head, len, param);
    if (why != NULL) {
        ucx_am_report_malformed(ctx->net, header_len, len, why);
        return UCS_OK;
    }
    bool replies = (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0;
    struct ucx_reply_header reply = {.token = head.token};
    if (replies && head.type == UCX_REQUEST_GET) {
        reply.error = ucx_am_reply_bytes(ctx, param->reply_ep, &head);
        replies = reply.error != 0;
    } else if (replies && head.type == UCX_REQUEST_GET_BLOCKS) {
        reply.error = ucx_am_reply_blocks(ctx, param->reply_ep, &head, data, len);
        replies = reply.error != 0;
    } else {
        reply.error = ucx_am_perform(ctx->net, &head, data, len, &reply.value);
    }
    if (replies)
        ucx_am_send_reply(ctx, param->reply_ep, &reply, NULL, 0, NULL);
    else if (reply.error != 0)
        ucx_am_report_bad_target(ctx->net, head.pe);
    return UCS_OK;
}

/* ucp_am_recv_callback_t, inside the progress of the context that sent the request */
static ucs_status_t ucx_am_handle_reply(void *arg, const void *header, size_t header_len,
                                        void *data, size_t len,
                                        const ucp_am_recv_param_t *param)
{
    struct transport_ctx *ctx = arg;
    struct ucx_reply_header head;

    (void)param;
    if (header_len == sizeof head)
        memcpy(&head, header, sizeof head);
    if (header_len != sizeof head ||
        (len > 0 && !ucx_request_takes_data(ctx, head.token))) {
        ucx_am_report_malformed(ctx->net, header_len, len,
                                "it is a reply of a wrong length");
        return UCS_OK;
    }
    if (!ucx_request_handle_reply(ctx, &head, data, len))
        ucx_am_report_malformed(ctx->net, header_len, len,
                                "it is a reply to no operation");
    return UCS_OK;
}

static ucs_status_t ucx_am_set_handler(struct transport_ctx *ctx, unsigned id,
                                       ucp_am_recv_callback_t handler)
{
    const ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = id,
        .flags = UCP_AM_FLAG_WHOLE_MSG,
        .cb = handler,
        .arg = ctx,
    };

    return ucx_lib.worker_set_am_recv_handler(ctx->worker, &param);
}

ucs_status_t ucx_am_set_handlers(struct transport_ctx *ctx)
{
    ucs_status_t status = ucx_am_set_handler(ctx, UCX_REQUEST_ID, ucx_am_handle_request);

    return status == UCS_OK ? ucx_am_set_handler(ctx, UCX_REPLY_ID, ucx_am_handle_reply)
                            : status;
}

void ucx_am_free(struct transport_ctx *ctx)
{
    while (ctx->replies != NULL)
        ucx_reply_free(ctx->replies);
}
