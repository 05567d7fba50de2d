/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi.c - the libfabric transport: its table, open and close (see ofi.h). */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/transport/ofi/ofi_blocks.h"

#define PROVIDER_NAMES 64 /* characters */

/* ---- open and close -------------------------------------------------------------- */

static int ofi_net_error(char *why, const char *what, int rc)
{
    snprintf(why, TRANSPORT_TEXT_MAX, "libfabric: %s failed: %s", what,
             ofi_lib.strerror(-rc));
    return -ofi_errno(-rc);
}

static void ofi_net_describe(struct transport_net *net)
{
    const struct fi_info *info = net->info;
    char address[PROVIDER_NAMES];

    ofi_select_address(info, address, sizeof address);
    snprintf(net->text, sizeof net->text, "%s on %s%s%s%s, %s atomics, %s",
             info->fabric_attr->prov_name, info->domain_attr->name,
             *address != '\0' ? " (" : "", address, *address != '\0' ? ")" : "",
             net->native[0] != 0 ? "native" : "software",
             net->ordered ? "ordered" : "delivery complete");
}

static int ofi_net_select(struct transport_net *net, char *why)
{
    enum transport_order order =
        net->avoid[CAPABILITY_ORDER] ? TRANSPORT_ORDER_NO : net->world->order;
    int rc = ofi_select(net->world, order, &net->info, why);

    if (rc != 0)
        return rc;
    net->ordered = ofi_select_in_order(net->info, order);
    net->registers = (net->info->domain_attr->mr_mode & FI_MR_LOCAL) != 0 ||
                     net->avoid[CAPABILITY_LOCAL];
    net->fragment_max = net->info->ep_attr->max_msg_size;
    if (net->avoid[CAPABILITY_SIZE])
        net->fragment_max = OFI_SMALL_FRAGMENT;
    net->immediate = ofi_window_is_supported(net);
    return 0;
}

static int ofi_net_open_domain(struct transport_net *net, char *why)
{
    struct fi_av_attr attr = {.type = FI_AV_UNSPEC};
    int rc = ofi_lib.fabric(net->info->fabric_attr, &net->fabric, NULL);

    if (rc != 0)
        return ofi_net_error(why, "fi_fabric", rc);
    rc = fi_domain(net->fabric, net->info, &net->domain, NULL);
    if (rc != 0)
        return ofi_net_error(why, "fi_domain", rc);
    rc = fi_av_open(net->domain, &attr, &net->av, NULL);
    return rc == 0 ? 0 : ofi_net_error(why, "fi_av_open", rc);
}

static int ofi_net_open_all(struct transport_net *net, char *why)
{
    int rc = ofi_load(why, TRANSPORT_TEXT_MAX);

    if (rc == 0)
        rc = ofi_net_select(net, why);
    if (rc == 0)
        rc = ofi_net_open_domain(net, why);
    if (rc == 0)
        rc = ofi_ctx_make(net, &net->ctx_0, why);
    if (rc == 0)
        rc = ofi_address_make(net, why);
    if (rc != 0)
        return rc;
    rc = ofi_am_post_recvs(net->ctx_0);
    if (rc != 0)
        return ofi_net_error(why, "fi_recv", rc);
    ofi_amo_query(net);
    ofi_net_describe(net);
    return 0;
}

static void ofi_net_close_fid(struct fid *fid)
{
    if (fid != NULL)
        fi_close(fid);
}

static void ofi_net_close(struct transport_net *net)
{
    for (int s = 0; s < SEGMENTS; s++)
        ofi_net_close_fid(net->mr[s] == NULL ? NULL : &net->mr[s]->fid);
    ofi_windows_close(net);
    while (net->contexts != NULL)
        ofi_ctx_free(net->contexts);
    ofi_net_close_fid(net->av == NULL ? NULL : &net->av->fid);
    ofi_net_close_fid(net->domain == NULL ? NULL : &net->domain->fid);
    ofi_net_close_fid(net->fabric == NULL ? NULL : &net->fabric->fid);
    if (net->info != NULL)
        ofi_lib.freeinfo(net->info);
    ofi_peers_free(net);
    ofi_windows_free(net);
    pthread_mutex_destroy(&net->lock);
    free(net);
}

static int ofi_net_open(const struct transport_world *world, struct transport_net **net,
                        char why[TRANSPORT_TEXT_MAX])
{
    struct transport_net *n = calloc(1, sizeof *n);
    size_t nchunks = ((size_t)world->npes + OFI_CHUNK_PEERS - 1) / OFI_CHUNK_PEERS;
    struct ofi_process_state process_state;
    size_t len; /* of an unknown word; net.c has reported it */

    snprintf(why, TRANSPORT_TEXT_MAX, "libfabric: no memory");
    if (n == NULL)
        return -ENOMEM;
    n->world = world;
    n->next_key = 1;
    pthread_mutex_init(&n->lock, NULL);
    (void)capability_read(world->avoid, n->avoid, &len);
    n->survives = world->survives;
    n->chunks = calloc(nchunks, sizeof n->chunks[0]);
    int rc = -ENOMEM;
    if (n->chunks != NULL) {
        ofi_process_state_enter(&process_state);
        rc = ofi_net_open_all(n, why);
        ofi_process_state_restore(&process_state);
    }
    if (rc != 0)
        ofi_net_close(n);
    else
        *net = n;
    return rc;
}

/* ---- the table ------------------------------------------------------------------- */

static size_t ofi_net_address(struct transport_net *net, void *to)
{
    memcpy(to, net->address, net->address_len);
    return net->address_len;
}

static const char *ofi_net_text(struct transport_net *net)
{
    return net->text;
}

static struct transport_ctx *ofi_net_ctx_0(struct transport_net *net)
{
    return net->ctx_0;
}

static int ofi_net_ctx_open(struct transport_net *net, struct transport_ctx **ctx)
{
    char why[TRANSPORT_TEXT_MAX];

    return net->avoid[CAPABILITY_CONTEXTS] ? -ENOSPC : ofi_ctx_make(net, ctx, why);
}

const struct transport transport_ofi = {
    .name = "ofi",
    .text = "libfabric: any provider with reliable endpoints",
    .open = ofi_net_open,
    .close = ofi_net_close,
    .address = ofi_net_address,
    .describe = ofi_net_text,
    .ctx_0 = ofi_net_ctx_0,
    .ctx_open = ofi_net_ctx_open,
    .ctx_close = ofi_ctx_free,
    .put = ofi_put,
    .get = ofi_get,
    .amo = ofi_amo,
    .signal_max = ofi_signal_max,
    .put_signal = ofi_put_signal,
    .blocks_max = ofi_blocks_max,
    .put_blocks = ofi_put_blocks,
    .get_blocks = ofi_get_blocks,
    .fence = ofi_fence,
    .quiet = ofi_quiet,
    .quiet_all = ofi_quiet_all,
    .pending = ofi_pending,
    .lost = ofi_lost,
    .progress = ofi_progress,
    .fd = ofi_fd,
    .arm = ofi_arm,
};
