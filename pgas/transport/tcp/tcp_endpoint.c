/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_endpoint.c - the endpoint descriptor (see tcp.h).
 *
 * A PE publishes the addresses that SHMEM_TCP_IF selects; it listens there and at the
 * loopback.  Two PEs in the same network namespace try the loopback first.  Otherwise an
 * address that the initiator's host has, too, such as that of a container bridge, is not
 * the target's.  The remaining ones are tried in the order in which the target's host
 * lists them.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pgas/transport/tcp/tcp.h"

enum { TEXT_SPACE = 160, BOOT_BYTES = 16 };

/* ---- the network namespace --------------------------------------------------------- */

/* The first bytes of boot_id, and the inode of the namespace. */
static void tcp_endpoint_read_space(struct tcp_endpoint *e)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    char boot[BOOT_BYTES + 1] = "";
    struct stat ns = {.st_ino = 0};

    if (file != NULL) {
        size_t n = fread(boot, 1, BOOT_BYTES, file);
        boot[n] = '\0';
        fclose(file);
    }
    (void)stat("/proc/self/ns/net", &ns);
    memcpy(e->space, boot, BOOT_BYTES);
    memcpy(e->space + BOOT_BYTES, &ns.st_ino, sizeof ns.st_ino);
}

/* ---- open ---------------------------------------------------------------------------
 */

static void tcp_endpoint_add(struct tcp_endpoint *e, const struct address *a)
{
    struct tcp_ip *ip = &e->address[e->naddresses++];

    ip->six = a->as.any.sa_family == AF_INET6;
    if (ip->six)
        memcpy(ip->bytes, &a->as.in6.sin6_addr, sizeof a->as.in6.sin6_addr);
    else
        memcpy(ip->bytes, &a->as.in.sin_addr, sizeof a->as.in.sin_addr);
}

static void tcp_endpoint_describe(struct transport_net *net, const struct address *list,
                                  size_t n)
{
    char text[ADDRESS_TEXT], all[TEXT_SPACE] = "";

    for (size_t i = 0; i < n; i++) {
        struct address a = list[i];
        address_text(&a, text);
        *strrchr(text, ':') = '\0';
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", text);
    }
    snprintf(net->text, sizeof net->text, "tcp on %s, port %u", all, net->endpoint.port);
}

int tcp_endpoint_open(struct transport_net *net, char why[TRANSPORT_TEXT_MAX])
{
    const char *which = net->world->interface;
    struct tcp_endpoint *e = &net->endpoint;
    struct address list[TCP_ADDRESSES];

    size_t n = address_choose(which != NULL && which[0] != '\0' ? which : NULL, list,
                              TCP_ADDRESSES, why, TRANSPORT_TEXT_MAX);
    if (n == 0)
        return -EADDRNOTAVAIL;
    if (!seal_random(net->secret, SEAL_SECRET)) {
        snprintf(why, TRANSPORT_TEXT_MAX, "the system has no random numbers");
        return -EIO;
    }
    int error = tcp_listen(net, list, n, why);
    if (error != 0)
        return error;
    tcp_endpoint_read_space(e);
    for (size_t i = 0; i < n; i++)
        tcp_endpoint_add(e, &list[i]);
    tcp_endpoint_describe(net, list, n);
    return 0;
}

/* ---- descriptors ------------------------------------------------------------------- */

size_t tcp_endpoint_size(const struct tcp_endpoint *e)
{
    return offsetof(struct tcp_endpoint, address) + e->naddresses * sizeof e->address[0];
}

bool tcp_endpoint_valid(const struct tcp_endpoint *e, size_t len)
{
    return len >= offsetof(struct tcp_endpoint, address) && e->naddresses > 0 &&
           e->naddresses <= TCP_ADDRESSES && len == tcp_endpoint_size(e);
}

static void tcp_ip_address(const struct tcp_ip *ip, uint32_t port, struct address *to)
{
    *to = (struct address){.len = ip->six ? sizeof to->as.in6 : sizeof to->as.in};
    if (ip->six) {
        to->as.in6.sin6_family = AF_INET6;
        to->as.in6.sin6_port = htons((uint16_t)port);
        memcpy(&to->as.in6.sin6_addr, ip->bytes, sizeof to->as.in6.sin6_addr);
    } else {
        to->as.in.sin_family = AF_INET;
        to->as.in.sin_port = htons((uint16_t)port);
        memcpy(&to->as.in.sin_addr, ip->bytes, sizeof to->as.in.sin_addr);
    }
}

static bool tcp_ip_is_own(const struct tcp_endpoint *own, const struct tcp_ip *ip)
{
    for (uint32_t i = 0; i < own->naddresses; i++)
        if (memcmp(&own->address[i], ip, sizeof *ip) == 0)
            return true;
    return false;
}

bool tcp_endpoint_loopback(uint32_t i, uint32_t port, struct address *to)
{
    const struct tcp_ip loop[TCP_LOOPBACKS] = {
        {.six = 0, .bytes = {127, 0, 0, 1}}, {.six = 1, .bytes = {[TCP_IP_MAX - 1] = 1}}};

    if (i >= TCP_LOOPBACKS)
        return false;
    tcp_ip_address(&loop[i], port, to);
    return true;
}

bool tcp_endpoint_target(const struct transport_net *net, const struct tcp_endpoint *e,
                         uint32_t i, struct address *to)
{
    const struct tcp_endpoint *own = &net->endpoint;
    bool same = memcmp(own->space, e->space, sizeof e->space) == 0;

    if (same && tcp_endpoint_loopback(i, e->port, to))
        return true;
    i -= same ? TCP_LOOPBACKS : 0;
    for (uint32_t k = 0; k < e->naddresses; k++) {
        if (!same && tcp_ip_is_own(own, &e->address[k]))
            continue;
        if (i-- == 0) {
            tcp_ip_address(&e->address[k], e->port, to);
            return true;
        }
    }
    return false;
}
