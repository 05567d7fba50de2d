/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_select.c - chooses the provider (see ofi.h). */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "pgas/transport/ofi/ofi.h"

static bool ofi_select_is_set(const char *word)
{
    return word != NULL && *word != '\0';
}

static const struct sockaddr *ofi_select_sockaddr(const struct fi_info *info)
{
    bool ip = info->addr_format == FI_SOCKADDR_IN || info->addr_format == FI_SOCKADDR_IN6;

    return ip ? info->src_addr : NULL;
}

void ofi_select_address(const struct fi_info *info, char *to, size_t space)
{
    const struct sockaddr *any = ofi_select_sockaddr(info);
    const void *bytes = NULL;

    *to = '\0';
    if (any != NULL)
        bytes =
            any->sa_family == AF_INET
                ? (const void *)&((const struct sockaddr_in *)(const void *)any)->sin_addr
                : &((const struct sockaddr_in6 *)(const void *)any)->sin6_addr;
    if (bytes != NULL && inet_ntop(any->sa_family, bytes, to, (socklen_t)space) == NULL)
        *to = '\0';
}

/* ---- order and atomics ----------------------------------------------------------- */

/*
 * Order.  ofi_rxm uses one reliable connection per pair of endpoints for all operations
 * (RMA, messages, and atomics, which are messages), in the order of posting.  A completed
 * read therefore implies that the writes posted before it are in the target's memory, and
 * a message arrives after them.  An atomic is performed when the target reads its
 * messages, possibly after a write that was posted later.
 *
 * libfabric does not guarantee this (max_order_*_size is 0, FI_ORDER_SAW is not set), so
 * we rely on it only where all tests of this library have passed with it: over tcp, in
 * the versions of order_tested.  Everywhere else a put completes at delivery, which
 * libfabric does guarantee and which costs a reply per put.  A test at start-up would
 * detect only the violations that it happens to provoke, might decide differently on each
 * PE, and would cost each PE a connection to itself.
 *
 * To add a version: run tests/transport/ofi.sh and tests/transport/net with
 * SHMEM_OFI_ORDER=yes.
 */
static const uint32_t order_tested[] = {FI_VERSION(1, 17)};

static bool ofi_select_order_was_tested(const struct fi_info *info)
{
    uint32_t version = ofi_lib.version();

    if (strcmp(info->fabric_attr->prov_name, "tcp;ofi_rxm") != 0)
        return false;
    for (size_t i = 0; i < sizeof order_tested / sizeof order_tested[0]; i++)
        if (FI_MAJOR(version) == FI_MAJOR(order_tested[i]) &&
            FI_MINOR(version) == FI_MINOR(order_tested[i]))
            return true;
    return false;
}

bool ofi_select_in_order(const struct fi_info *info, enum transport_order order)
{
    const uint64_t needed = FI_ORDER_RMA_WAW | FI_ORDER_RMA_RAW;
    bool possible = info->ep_attr->protocol == FI_PROTO_RXM &&
                    (info->tx_attr->msg_order & needed) == needed &&
                    (info->rx_attr->msg_order & needed) == needed;

    return possible &&
           (order == TRANSPORT_ORDER_YES ||
            (order == TRANSPORT_ORDER_AUTO && ofi_select_order_was_tested(info)));
}

/* A provider with manual progress whose protocol sends atomics as messages performs them
 * in the target process.  A device may perform an atomic as a read and a write, between
 * which an update by a CPU atomic is lost. */
bool ofi_select_coherent(const struct fi_info *info)
{
    uint32_t protocol = info->ep_attr->protocol;

    return info->domain_attr->data_progress == FI_PROGRESS_MANUAL &&
           (protocol == FI_PROTO_RXM || protocol == FI_PROTO_RXD);
}

/* FI_PROTO_XNET (provider net), which the headers of libfabric 1.14 do not define. */
enum { PROTO_XNET = 25 };

/* Not with net 1.17: exchanges that take 1 s without the descriptor take 10 s with it. */
bool ofi_select_fd_is_reliable(const struct fi_info *info)
{
    return info->ep_attr->protocol != PROTO_XNET;
}

/* ---- rank ------------------------------------------------------------------------ */

/* Lower is better. */
enum rank {
    RANK_FIRST,
    RANK_IP6,
    RANK_LINK_LOCAL,
    RANK_LOOPBACK,
    RANK_DATAGRAM = 4, /* added to the rank of the address */
    RANK_REFUSED = 8,
};

static enum rank ofi_select_rank_ip6(const struct in6_addr *addr)
{
    if (IN6_IS_ADDR_LOOPBACK(addr))
        return RANK_LOOPBACK;
    return IN6_IS_ADDR_LINKLOCAL(addr) ? RANK_LINK_LOCAL : RANK_IP6;
}

static enum rank ofi_select_rank_address(const struct fi_info *info)
{
    const struct sockaddr *any = ofi_select_sockaddr(info);

    if (any == NULL)
        return RANK_FIRST;
    if (any->sa_family == AF_INET6)
        return ofi_select_rank_ip6(
            &((const struct sockaddr_in6 *)(const void *)any)->sin6_addr);

    uint32_t addr =
        ntohl(((const struct sockaddr_in *)(const void *)any)->sin_addr.s_addr);
    if (addr >> 24 == IN_LOOPBACKNET)
        return RANK_LOOPBACK;
    return addr >> 16 == 0xa9fe ? RANK_LINK_LOCAL : RANK_FIRST; /* 169.254/16 */
}

/* Provider sockets is deprecated and stalls for 10 ms at a time: it is used only if the
 * user names it. Protocols over datagrams (rxd) are slow: they rank last. */
static enum rank ofi_select_rank(const struct fi_info *info, bool named)
{
    uint32_t protocol = info->ep_attr->protocol;

    if (info->ep_attr->type != FI_EP_RDM)
        return RANK_REFUSED;
    if (named)
        return ofi_select_rank_address(info);
    if (protocol == FI_PROTO_SOCK_TCP)
        return RANK_REFUSED;
    return ofi_select_rank_address(info) + (protocol == FI_PROTO_RXD ? RANK_DATAGRAM : 0);
}

/* ---- the choice ------------------------------------------------------------------ */

/* Layered providers ignore fabric and domain as hints, so check them here. */
static bool ofi_select_matches(const struct transport_world *world,
                               const struct fi_info *info)
{
    return (!ofi_select_is_set(world->fabric) ||
            strcmp(world->fabric, info->fabric_attr->name) == 0) &&
           (!ofi_select_is_set(world->domain) ||
            strcmp(world->domain, info->domain_attr->name) == 0);
}

static char *ofi_select_strdup(const char *word)
{
    return ofi_select_is_set(word) ? strdup(word) : NULL;
}

static struct fi_info *ofi_select_hints(const struct transport_world *world,
                                        uint64_t caps)
{
    struct fi_info *hints = ofi_lib.dupinfo(NULL);

    if (hints == NULL)
        return NULL;
    hints->caps = caps | FI_REMOTE_COMM; /* excludes shm and similar providers */
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_COMPLETION;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_RAW | FI_MR_VIRT_ADDR |
                                  FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->fabric_attr->prov_name = ofi_select_strdup(world->provider);
    return hints;
}

/* All matching interfaces; NULL: none. */
static struct fi_info *ofi_select_getinfo(const struct transport_world *world,
                                          uint64_t caps)
{
    struct fi_info *hints = ofi_select_hints(world, caps), *list = NULL;

    if (hints == NULL)
        return NULL;
    if (ofi_lib.getinfo(OFI_VERSION, NULL, NULL, 0, hints, &list) != 0)
        list = NULL;
    ofi_lib.freeinfo(hints);
    return list;
}

/* The same interface with FI_DELIVERY_COMPLETE; NULL: not supported. */
static struct fi_info *ofi_select_delivery_complete(const struct fi_info *info)
{
    struct fi_info *hints = ofi_lib.dupinfo(info), *list = NULL;

    if (hints == NULL)
        return NULL;
    hints->tx_attr->op_flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
    if (ofi_lib.getinfo(OFI_VERSION, NULL, NULL, 0, hints, &list) != 0)
        list = NULL;
    ofi_lib.freeinfo(hints);
    if (list != NULL)
        list->tx_attr->op_flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
    return list;
}

static struct fi_info *ofi_select_dup_usable(const struct fi_info *info,
                                             enum transport_order order)
{
    struct fi_info *one;

    if (!ofi_select_in_order(info, order))
        return ofi_select_delivery_complete(info);
    one = ofi_lib.dupinfo(info);
    if (one != NULL)
        one->tx_attr->op_flags = FI_COMPLETION;
    return one;
}

/* The first usable interface of the best rank; NULL: none. */
static struct fi_info *ofi_select_best(const struct fi_info *list,
                                       const struct transport_world *world,
                                       enum transport_order order)
{
    bool named = ofi_select_is_set(world->provider);

    for (unsigned rank = RANK_FIRST; rank < RANK_REFUSED; rank++)
        for (const struct fi_info *i = list; i != NULL; i = i->next) {
            if (ofi_select_rank(i, named) != rank || !ofi_select_matches(world, i))
                continue;
            struct fi_info *one = ofi_select_dup_usable(i, order);
            if (one != NULL)
                return one;
        }
    return NULL;
}

/* Append "provider on domain (fabric)" of each interface once, as far as it fits. */
static void ofi_select_list(const struct fi_info *list, char *to, size_t space)
{
    size_t len = strlen(to);
    char one[TRANSPORT_TEXT_MAX];

    for (const struct fi_info *i = list; i != NULL; i = i->next) {
        snprintf(one, sizeof one, " %s on %s (%s)", i->fabric_attr->prov_name,
                 i->domain_attr->name, i->fabric_attr->name);
        if (strstr(to, one) != NULL || len + strlen(one) + sizeof "," > space)
            continue;
        len += (size_t)snprintf(to + len, space - len, "%s%s", i == list ? "" : ",", one);
    }
}

static int ofi_select_none_found(const struct transport_world *world, char *why)
{
    const struct transport_world any = {.me = world->me};
    struct fi_info *list = ofi_select_getinfo(&any, FI_MSG | FI_RMA);

    snprintf(why, TRANSPORT_TEXT_MAX,
             "no libfabric provider supports RMA between hosts%s%s%s%s%s%s; available:%s",
             ofi_select_is_set(world->provider) ? " with provider " : "",
             ofi_select_is_set(world->provider) ? world->provider : "",
             ofi_select_is_set(world->fabric) ? " on fabric " : "",
             ofi_select_is_set(world->fabric) ? world->fabric : "",
             ofi_select_is_set(world->domain) ? " on domain " : "",
             ofi_select_is_set(world->domain) ? world->domain : "",
             list == NULL ? " none" : "");
    ofi_select_list(list, why, TRANSPORT_TEXT_MAX);
    if (list != NULL)
        ofi_lib.freeinfo(list);
    return -ENODEV;
}

int ofi_select(const struct transport_world *world, enum transport_order order,
               struct fi_info **chosen, char why[TRANSPORT_TEXT_MAX])
{
    /* Atomics are preferred; without them amos are messages. */
    static const uint64_t caps[] = {FI_MSG | FI_RMA | FI_ATOMIC, FI_MSG | FI_RMA};

    *chosen = NULL;
    for (size_t i = 0; i < sizeof caps / sizeof caps[0] && *chosen == NULL; i++) {
        struct fi_info *list = ofi_select_getinfo(world, caps[i]);
        *chosen = ofi_select_best(list, world, order);
        if (list != NULL)
            ofi_lib.freeinfo(list);
    }
    return *chosen != NULL ? 0 : ofi_select_none_found(world, why);
}
