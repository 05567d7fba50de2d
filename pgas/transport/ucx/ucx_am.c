/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_am.c - puts with signal as they come: performed, and answered (see ucx.h).
 *
 * An answer is sent on the endpoint that UCX gives with the message, which leads to the
 * worker that has sent it.  UCX may read it until it has left.
 * Uses: ucx.h, perform.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/threads/atomic.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/ucx/ucx.h"

/* An answer under way. */
struct ucx_answer {
    struct ucx_answer **link, *next; /* in ctx->answers */
    struct ucx_answer_head head;
};

/* ---- performing ----------------------------------------------------------------------
 */

/* Where len bytes of ours are; NULL: nowhere. */
static char *place_of(const struct transport_net *net, unsigned segment, uint64_t offset,
                      size_t len)
{
    if (segment >= SEGMENTS || len > net->world->segment[segment].len ||
        offset > net->world->segment[segment].len - len)
        return NULL;
    return (char *)net->world->segment[segment].base + offset;
}

static bool is_sound(const struct ucx_signal_head *head)
{
    return (head->op == TRANSPORT_AMO_SET || head->op == TRANSPORT_AMO_ADD) &&
           (head->size == sizeof(uint32_t) || head->size == sizeof(uint64_t)) &&
           head->word_offset % head->size == 0;
}

/* The word comes last, as a release.  0 or -errno. */
static int perform(const struct transport_net *net, const struct ucx_signal_head *head,
                   const void *data, size_t len)
{
    const struct transport_signal signal = {.op = (enum transport_amo_op)head->op,
                                            .size = head->size,
                                            .operand = head->operand};

    if (!is_sound(head))
        return -EINVAL;
    char *to = place_of(net, head->segment, head->offset, len);
    char *word = place_of(net, head->word_segment, head->word_offset, head->size);
    if (to == NULL || word == NULL)
        return -EFAULT;
    if (len > 0)
        memcpy(to, data, len);
    perform_signal(word, &signal);
    return 0;
}

/* ---- answering -----------------------------------------------------------------------
 */

static void drop(struct ucx_answer *answer)
{
    *answer->link = answer->next;
    if (answer->next != NULL)
        answer->next->link = answer->link;
    free(answer);
}

static void answer_sent(void *request, ucs_status_t status, void *arg)
{
    (void)status; /* nobody needs to know if the asker is gone */
    ucx_lib.request_free(request);
    drop(arg);
}

static void send_answer(struct transport_ctx *ctx, ucp_ep_h to, uint64_t token, int error)
{
    struct ucx_answer *answer = malloc(sizeof *answer);
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FIELD_FLAGS,
        .cb.send = answer_sent,
        .user_data = answer,
        .flags = UCP_AM_SEND_FLAG_EAGER,
    };

    if (answer == NULL) {
        ctx->net->world->failed(ctx->net->world, -1,
                                "no memory for the answer to a put with signal");
        return;
    }
    *answer = (struct ucx_answer){.link = &ctx->answers,
                                  .next = ctx->answers,
                                  .head = {.token = token, .error = error}};
    if (answer->next != NULL)
        answer->next->link = &answer->next;
    ctx->answers = answer;
    ucs_status_ptr_t request = ucx_lib.am_send_nbx(to, UCX_ANSWER_ID, &answer->head,
                                                   sizeof answer->head, NULL, 0, &param);
    if (!UCS_PTR_IS_PTR(request))
        drop(answer);
}

/* ---- what comes ----------------------------------------------------------------------
 */

/* Nobody else hears of it. */
static void tell_note(const struct transport_net *net, int pe)
{
    char sentence[TRANSPORT_TEXT_MAX];

    snprintf(sentence, sizeof sentence,
             "a put with signal from PE %d goes to a place that PE %d does not have", pe,
             net->world->me);
    net->world->failed(net->world, -1, sentence);
}

/* What is wrong with a put with signal; NULL: nothing.  Addresses are looked at by
 * perform. */
static const char *malformation(const struct transport_ctx *ctx,
                                const struct ucx_signal_head *head, size_t len,
                                const ucp_am_recv_param_t *param)
{
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 || len > UCX_SIGNAL_MAX)
        return "it is longer than such a message may be";
    if (ctx != ctx->net->ctx_0)
        return "it is a request to a context that serves none";
    if (head->pe < 0 || head->pe >= ctx->net->world->npes)
        return "its sender is not a PE of this job";
    return NULL;
}

/* A message that no PE of this library sends: memory of its sender is damaged, or it is
 * from somebody else.  Nothing of it has been performed. */
static void refuse_message(const struct transport_net *net, size_t header_len, size_t len,
                           const char *why)
{
    char sentence[TRANSPORT_TEXT_MAX];

    snprintf(sentence, sizeof sentence,
             "PE %d refused a malformed message of %zu + %zu bytes from UCX: %s; is the "
             "memory of a PE damaged, or does another program send to this port?",
             net->world->me, header_len, len, why);
    net->world->failed(net->world, -1, sentence);
}

/* ucp_am_recv_callback_t, inside the progress of context 0 */
static ucs_status_t signal_came(void *arg, const void *header, size_t header_len,
                                void *data, size_t len, const ucp_am_recv_param_t *param)
{
    struct transport_ctx *ctx = arg;
    struct ucx_signal_head head;

    if (header_len != sizeof head) {
        refuse_message(ctx->net, header_len, len, "its head has another length");
        return UCS_OK;
    }
    memcpy(&head, header, sizeof head);
    const char *why = malformation(ctx, &head, len, param);
    if (why != NULL) {
        refuse_message(ctx->net, header_len, len, why);
        return UCS_OK;
    }
    int error = perform(ctx->net, &head, data, len);
    if ((param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0)
        send_answer(ctx, param->reply_ep, head.token, error);
    else if (error != 0)
        tell_note(ctx->net, head.pe);
    return UCS_OK;
}

/* The same, of a context that has sent one */
static ucs_status_t answer_came(void *arg, const void *header, size_t header_len,
                                void *data, size_t len, const ucp_am_recv_param_t *param)
{
    struct transport_ctx *ctx = arg;
    struct ucx_answer_head head;

    (void)data;
    (void)param;
    if (header_len != sizeof head || len > 0) {
        refuse_message(ctx->net, header_len, len, "an answer has another length");
        return UCS_OK;
    }
    memcpy(&head, header, sizeof head);
    if (!ucx_op_answered(ctx, &head))
        refuse_message(ctx->net, header_len, len, "it answers no operation");
    return UCS_OK;
}

static ucs_status_t set_handler(struct transport_ctx *ctx, unsigned id,
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

ucs_status_t ucx_am_listen(struct transport_ctx *ctx)
{
    ucs_status_t status = set_handler(ctx, UCX_SIGNAL_ID, signal_came);

    return status == UCS_OK ? set_handler(ctx, UCX_ANSWER_ID, answer_came) : status;
}

void ucx_am_free(struct transport_ctx *ctx)
{
    while (ctx->answers != NULL)
        drop(ctx->answers);
}
