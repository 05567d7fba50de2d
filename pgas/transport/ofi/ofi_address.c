/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_address.c - registers the segments; endpoint descriptors.
 *
 * A descriptor is a struct address, the name of context 0's endpoint, and the raw keys of
 * the segments if the provider uses raw keys (FI_MR_RAW).
 * Uses: ofi.h.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rdma/fi_cm.h>

#include "pgas/transport/ofi/ofi.h"

enum {
    ADDRESS_VERSION = 1,
    RAW_KEY_MAX = 512,
};

struct address {
    uint16_t version, name_len;
    uint32_t protocol, format; /* must be the same on both sides */
    uint16_t raw_len[SEGMENTS];
    uint64_t base[SEGMENTS]; /* added to the offset */
    uint64_t key[SEGMENTS];
    uint64_t len[SEGMENTS]; /* bytes; 0: no such segment */
};

/* ---- registration ---------------------------------------------------------------- */

static uint64_t ofi_mr_new_key(struct transport_net *net)
{
    pthread_mutex_lock(&net->lock);
    uint64_t key = net->next_key++;
    pthread_mutex_unlock(&net->lock);
    return key;
}

int ofi_register(struct transport_net *net, void *base, size_t len, bool for_peers,
                 struct fid_ep *ep, struct fid_mr **mr)
{
    const uint64_t ours = FI_READ | FI_WRITE | FI_SEND | FI_RECV;
    const uint64_t theirs = FI_REMOTE_READ | FI_REMOTE_WRITE;
    uint64_t access = for_peers ? ours | theirs : ours;
    int rc =
        fi_mr_reg(net->domain, base, len, access, 0, ofi_mr_new_key(net), 0, mr, NULL);

    if (rc != 0) {
        *mr = NULL;
        return -ofi_errno(-rc);
    }
    if ((net->info->domain_attr->mr_mode & FI_MR_ENDPOINT) == 0)
        return 0;
    rc = fi_mr_bind(*mr, &ep->fid, 0);
    if (rc == 0)
        rc = fi_mr_enable(*mr);
    if (rc == 0)
        return 0;
    fi_close(&(*mr)->fid);
    *mr = NULL;
    return -ofi_errno(-rc);
}

/* ---- this PE's descriptor -------------------------------------------------------- */

static int ofi_address_error(char *why, const char *what, int rc)
{
    snprintf(why, TRANSPORT_TEXT_MAX, "libfabric: %s: %s", what, ofi_lib.strerror(-rc));
    return -ofi_errno(-rc);
}

/* Append a segment's raw key to net->address, if the provider uses raw keys. */
static int ofi_address_add_raw_key(struct transport_net *net, struct address *head, int s)
{
    uint8_t raw[RAW_KEY_MAX];
    size_t len = sizeof raw;

    if ((net->info->domain_attr->mr_mode & FI_MR_RAW) == 0)
        return 0;
    int rc = fi_mr_raw_attr(net->mr[s], &head->base[s], raw, &len, 0);
    if (rc == 0 && net->address_len + len > sizeof net->address)
        rc = -ENOSPC;
    if (rc != 0)
        return rc;
    memcpy(net->address + net->address_len, raw, len);
    net->address_len += len;
    head->raw_len[s] = (uint16_t)len;
    return 0;
}

static int ofi_address_add_segment(struct transport_net *net, struct address *head, int s)
{
    void *base = net->world->segment[s].base;

    head->len[s] = net->world->segment[s].len;
    if (head->len[s] == 0)
        return 0;
    int rc = ofi_register(net, base, head->len[s], true, net->ctx_0->ep, &net->mr[s]);
    if (rc != 0)
        return rc;
    if ((net->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0)
        head->base[s] = (uint64_t)(uintptr_t)base;
    head->key[s] = fi_mr_key(net->mr[s]);
    return ofi_address_add_raw_key(net, head, s);
}

int ofi_address_make(struct transport_net *net, char why[TRANSPORT_TEXT_MAX])
{
    struct address head = {.version = ADDRESS_VERSION,
                           .name_len = net->ctx_0->name_len,
                           .protocol = net->info->ep_attr->protocol,
                           .format = net->info->addr_format};

    memcpy(net->address + sizeof head, net->ctx_0->name, head.name_len);
    net->address_len = sizeof head + head.name_len;
    for (int s = 0; s < SEGMENTS; s++) {
        int rc = ofi_address_add_segment(net, &head, s);
        if (rc != 0)
            return ofi_address_error(why,
                                     s == SEGMENT_HEAP
                                         ? "the symmetric heap cannot be registered"
                                         : "the global variables cannot be registered",
                                     rc);
    }
    memcpy(net->address, &head, sizeof head);
    return 0;
}

/* ---- descriptors of peers -------------------------------------------------------- */

/* True if version and lengths are valid. */
static bool ofi_address_is_valid(const struct address *head, size_t len)
{
    size_t sum = sizeof *head + head->name_len;

    for (int s = 0; s < SEGMENTS; s++)
        sum += head->raw_len[s];
    return head->version == ADDRESS_VERSION && sum == len;
}

static int ofi_address_map_keys(struct transport_net *net, const struct address *head,
                                const uint8_t *raw, struct ofi_peer *peer)
{
    for (int s = 0; s < SEGMENTS; s++) {
        peer->segment[s].base = head->base[s];
        peer->segment[s].key = head->key[s];
        if (head->raw_len[s] == 0)
            continue;
        uint8_t key[RAW_KEY_MAX];
        if (head->raw_len[s] > sizeof key)
            return -EINVAL;
        memcpy(key, raw, head->raw_len[s]);
        raw += head->raw_len[s];
        int rc = fi_mr_map_raw(net->domain, head->base[s], key, head->raw_len[s],
                               &peer->segment[s].key, 0);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int ofi_address_use(struct transport_net *net, int pe, const void *address, size_t len,
                    struct ofi_peer *peer, char why[TRANSPORT_TEXT_MAX])
{
    const uint8_t *bytes = address;
    struct address head;

    if (len < sizeof head)
        len = 0;
    memcpy(&head, bytes, len == 0 ? 0 : sizeof head);
    if (len == 0 || !ofi_address_is_valid(&head, len)) {
        snprintf(why, TRANSPORT_TEXT_MAX,
                 "libfabric: the endpoint descriptor of PE %d is invalid; all PEs must "
                 "use the same version of pgas",
                 pe);
        return -EINVAL;
    }
    if (head.protocol != net->info->ep_attr->protocol ||
        head.format != net->info->addr_format) {
        snprintf(why, TRANSPORT_TEXT_MAX,
                 "libfabric: PE %d uses another protocol or address format than %s on PE "
                 "%d; set SHMEM_OFI_PROVIDER to a provider that all hosts have",
                 pe, net->info->fabric_attr->prov_name, net->world->me);
        return -EPROTONOSUPPORT;
    }
    peer->flush = head.len[SEGMENT_HEAP] > 0 ? SEGMENT_HEAP : SEGMENT_DATA;
    peer->inserted =
        fi_av_insert(net->av, bytes + sizeof head, 1, &peer->addr, 0, NULL) == 1;
    int rc = peer->inserted ? 0 : -EADDRNOTAVAIL;
    if (rc == 0)
        rc = ofi_address_map_keys(net, &head, bytes + sizeof head + head.name_len, peer);
    if (rc != 0)
        snprintf(why, TRANSPORT_TEXT_MAX,
                 "libfabric: %s cannot use the endpoint descriptor of PE %d: %s",
                 net->info->fabric_attr->prov_name, pe, ofi_lib.strerror(-rc));
    return rc == 0 ? 0 : -ofi_errno(-rc);
}
