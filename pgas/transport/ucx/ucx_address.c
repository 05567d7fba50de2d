/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_address.c - endpoint descriptors (see ucx.h): a struct header, the packed keys of
 * the segments, the worker's address.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pgas/transport/ucx/ucx.h"

struct header {
    uint64_t base[SEGMENTS];
    uint16_t key_len[SEGMENTS]; /* 0: no such segment */
};

static ucs_status_t ucx_address_map_segment(struct transport_net *net, int segment)
{
    const ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .address = net->world->segment[segment].base,
        .length = net->world->segment[segment].len,
        /* Do not populate pages that are not used. */
        .flags = UCP_MEM_MAP_NONBLOCK,
    };

    return ucx_lib.mem_map(net->context, &params, &net->memory[segment]);
}

/* Append to the descriptor; false: it does not fit. */
static bool ucx_address_append(struct transport_net *net, const void *from, size_t len)
{
    if (len > sizeof net->address - net->address_len)
        return false;
    memcpy(net->address + net->address_len, from, len);
    net->address_len += len;
    return true;
}

static ucs_status_t ucx_address_append_key(struct transport_net *net, int segment,
                                           struct header *head)
{
    ucs_status_t status = ucx_address_map_segment(net, segment);
    void *key;
    size_t len;
    bool fits;

    if (status == UCS_OK)
        status = ucx_lib.rkey_pack(net->context, net->memory[segment], &key, &len);
    if (status != UCS_OK)
        return status;
    fits = len <= UINT16_MAX && ucx_address_append(net, key, len);
    ucx_lib.rkey_buffer_release(key);
    head->base[segment] = (uintptr_t)net->world->segment[segment].base;
    head->key_len[segment] = (uint16_t)len;
    return fits ? UCS_OK : UCS_ERR_BUFFER_TOO_SMALL;
}

static ucs_status_t ucx_address_append_worker(struct transport_net *net)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};
    ucs_status_t status = ucx_lib.worker_query(net->ctx_0->worker, &attr);
    bool fits;

    if (status != UCS_OK)
        return status;
    net->worker_address_len = attr.address_length;
    fits = ucx_address_append(net, attr.address, attr.address_length);
    ucx_lib.worker_release_address(net->ctx_0->worker, attr.address);
    return fits ? UCS_OK : UCS_ERR_BUFFER_TOO_SMALL;
}

int ucx_address_make(struct transport_net *net, char why[TRANSPORT_TEXT_MAX])
{
    struct header head = {0};
    ucs_status_t status = UCS_OK;

    net->address_len = sizeof head;
    for (int i = 0; i < SEGMENTS && status == UCS_OK; i++)
        if (net->world->segment[i].len > 0)
            status = ucx_address_append_key(net, i, &head);
    if (status == UCS_OK)
        status = ucx_address_append_worker(net);
    memcpy(net->address, &head, sizeof head);
    if (status == UCS_OK)
        return 0;
    snprintf(why, TRANSPORT_TEXT_MAX,
             "UCX cannot register symmetric memory or make an endpoint descriptor: %s",
             ucx_lib.status_string(status));
    return ucx_errno(status);
}

void ucx_address_free(struct transport_net *net)
{
    for (int i = 0; i < SEGMENTS; i++)
        if (net->memory[i] != NULL)
            ucx_lib.mem_unmap(net->context, net->memory[i]);
}

bool ucx_address_parse(const unsigned char *from, size_t len, struct ucx_address *to)
{
    struct header head;
    size_t at = sizeof head;

    if (len < sizeof head)
        return false;
    memcpy(&head, from, sizeof head);
    for (int i = 0; i < SEGMENTS; i++) {
        to->segment[i].base = head.base[i];
        to->segment[i].key = head.key_len[i] > 0 ? from + at : NULL;
        at += head.key_len[i];
    }
    to->worker = (const ucp_address_t *)(from + at);
    return at < len;
}
