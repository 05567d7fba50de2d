/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx.c - the UCX transport: its table, open and close (see ucx.h). */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/transport/avoid.h"
#include "pgas/transport/ucx/ucx.h"

/* ---- open and close ---------------------------------------------------------------- */

/* Close a net, which may be opened only in part. */
static void ucx_net_close(struct transport_net *net)
{
    ucx_address_free(net);
    while (net->contexts != NULL)
        ucx_ctx_close(net->contexts);
    if (net->context != NULL)
        ucx_lib.cleanup(net->context);
    pthread_mutex_destroy(&net->lock);
    free(net->lost);
    free(net);
}

static int ucx_net_open_all(struct transport_net *net, char why[TRANSPORT_TEXT_MAX])
{
    int err = ucx_load(why, TRANSPORT_TEXT_MAX);

    if (err == 0)
        err = ucx_context_open(net, why);
    if (err != 0)
        return err;
    err = ucx_ctx_open(net, &net->ctx_0);
    if (err != 0) {
        snprintf(why, TRANSPORT_TEXT_MAX, "UCX cannot create a worker: %s",
                 strerror(-err));
        return err;
    }
    err = ucx_address_make(net, why);
    if (err == 0)
        ucx_context_describe(net);
    return err;
}

static int ucx_net_open(const struct transport_world *world, struct transport_net **net,
                        char why[TRANSPORT_TEXT_MAX])
{
    struct transport_net *n = calloc(1, sizeof *n);
    struct ucx_signals signals;
    bool avoid[CAPABILITIES];
    size_t len; /* of an unknown word; net.c has reported it */
    int err;

    if (n == NULL) {
        snprintf(why, TRANSPORT_TEXT_MAX, "no memory for the UCX transport");
        return -ENOMEM;
    }
    n->world = world;
    n->by_requests = world->survives;
    n->lost = calloc((size_t)world->npes, sizeof n->lost[0]);
    if (n->lost == NULL) {
        free(n);
        snprintf(why, TRANSPORT_TEXT_MAX, "no memory for the UCX transport");
        return -ENOMEM;
    }
    pthread_mutex_init(&n->lock, NULL);
    (void)capability_read(world->avoid, avoid, &len);
    n->disable_contexts = avoid[CAPABILITY_CONTEXTS];
    ucx_signals_save(&signals);
    err = ucx_net_open_all(n, why);
    ucx_signals_restore(&signals);
    if (err != 0)
        ucx_net_close(n);
    else
        *net = n;
    return err;
}

static size_t ucx_net_address(struct transport_net *net, void *to)
{
    memcpy(to, net->address, net->address_len);
    return net->address_len;
}

static const char *ucx_net_text(struct transport_net *net)
{
    return net->text;
}

static struct transport_ctx *ucx_net_ctx_0(struct transport_net *net)
{
    return net->ctx_0;
}

static int ucx_net_ctx_open(struct transport_net *net, struct transport_ctx **ctx)
{
    return net->disable_contexts ? -ENOTSUP : ucx_ctx_open(net, ctx);
}

const struct transport transport_ucx = {
    .name = "ucx",
    .text = "UCX (UCP): any network that UCX supports, atomics by the target's CPU",
    .quick_signal = true,
    .open = ucx_net_open,
    .close = ucx_net_close,
    .address = ucx_net_address,
    .describe = ucx_net_text,
    .ctx_0 = ucx_net_ctx_0,
    .ctx_open = ucx_net_ctx_open,
    .ctx_close = ucx_ctx_close,
    .put = ucx_put,
    .get = ucx_get,
    .amo = ucx_amo,
    .signal_max = ucx_signal_max,
    .put_signal = ucx_put_signal,
    .blocks_max = ucx_blocks_max,
    .put_blocks = ucx_put_blocks,
    .get_blocks = ucx_get_blocks,
    .fence = ucx_fence,
    .quiet = ucx_quiet,
    .quiet_all = ucx_quiet_all,
    .pending = ucx_pending,
    .lost = ucx_lost,
    .progress = ucx_progress,
    .fd = ucx_fd,
    .arm = ucx_arm,
};
