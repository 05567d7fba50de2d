/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_listen.c - the listening sockets of a PE: at the chosen addresses and at the
 * loopback, nowhere else, all on one port (see tcp.h).
 *
 * The loopback is the first: PEs of a host that start at once get different ports there,
 * and so do not collide at their other addresses.  Where another socket has the port at
 * one of the addresses, the kernel chooses another port.  Meanwhile the first socket
 * holds the useless port, which the kernel would choose again.
 *
 * A chosen address may be missing for a while: an IPv6 address is tentative until the
 * host knows that no other one has it, and an interface may go down and up again.
 * IP_FREEBIND lets a socket listen there all the same.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pgas/transport/tcp/tcp.h"

enum { BACKLOG = 4096, PORT_TRIES = 100 };

/* A listening socket; or -errno. */
static int tcp_listen_at(const struct address *at, bool may_be_missing)
{
    int on = 1, error;
    int fd = tcp_ctx_socket(at->as.any.sa_family);

    if (fd < 0)
        return fd;
    if (at->as.any.sa_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (may_be_missing)
        (void)setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, &at->as.any, at->len) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    error = errno;
    close(fd);
    return -error;
}

static in_port_t *tcp_port_in(struct address *a)
{
    return a->as.any.sa_family == AF_INET6 ? &a->as.in6.sin6_port : &a->as.in.sin_port;
}

static bool tcp_is_loopback(const struct address *a)
{
    struct address loop;

    for (uint32_t i = 0; tcp_endpoint_loopback(i, 0, &loop); i++)
        if (loop.len == a->len && memcmp(&loop.as, &a->as, a->len) == 0)
            return true;
    return false;
}

/* The addresses to listen at: those of the loopback, then the others; returns their
 * number. */
static size_t tcp_listen_list(const struct address *list, size_t n,
                              struct address at[TCP_LISTENERS])
{
    size_t all = 0;

    while (tcp_endpoint_loopback((uint32_t)all, 0, &at[all]))
        all++;
    for (size_t i = 0; i < n; i++)
        if (!tcp_is_loopback(&list[i]))
            at[all++] = list[i];
    return all;
}

/* True if a host may lack this address of the loopback, or the address family. */
static bool tcp_listen_may_skip(int error)
{
    return error == -EADDRNOTAVAIL || error == -EAFNOSUPPORT;
}

/* Listen at all addresses on one port, which the kernel chooses at the first.  0; or
 * -errno, *failed: the address. */
static int tcp_listen_all(struct transport_net *net, struct address *at, size_t n,
                          size_t *failed)
{
    in_port_t port = 0;

    for (size_t i = 0; i < n; i++) {
        bool chosen = i >= TCP_LOOPBACKS;
        *tcp_port_in(&at[i]) = port;
        int fd = tcp_listen_at(&at[i], chosen);
        *failed = i;
        if (!chosen && tcp_listen_may_skip(fd))
            continue;
        if (fd < 0)
            return fd;
        net->listener[i].fd = fd;
        if (port != 0)
            continue;
        struct address own;
        address_of_socket(&own, fd);
        port = *tcp_port_in(&own);
    }
    net->endpoint.port = ntohs(port);
    return port != 0 ? 0 : -EADDRNOTAVAIL;
}

void tcp_listen_close(struct transport_net *net)
{
    for (size_t i = 0; i < TCP_LISTENERS; i++)
        tcp_ctx_close_socket(net->ctx_0, &net->listener[i]);
}

/* Close all but the first socket, which is returned; -1: there is none. */
static int tcp_listen_hold(struct transport_net *net)
{
    int fd = -1;

    for (size_t i = 0; i < TCP_LISTENERS && fd < 0; i++) {
        fd = net->listener[i].fd;
        net->listener[i].fd = -1;
    }
    tcp_listen_close(net);
    return fd;
}

int tcp_listen(struct transport_net *net, const struct address *list, size_t n,
               char why[TRANSPORT_TEXT_MAX])
{
    struct address at[TCP_LISTENERS];
    char text[ADDRESS_TEXT];
    size_t all = tcp_listen_list(list, n, at), failed = 0;
    int held[PORT_TRIES], nheld = 0;
    int error = tcp_listen_all(net, at, all, &failed);

    while (error == -EADDRINUSE && nheld < PORT_TRIES) {
        held[nheld] = tcp_listen_hold(net);
        if (held[nheld] < 0)
            break; /* no port is left */
        nheld++;
        error = tcp_listen_all(net, at, all, &failed);
    }
    while (nheld > 0)
        close(held[--nheld]);
    for (size_t i = 0; i < all && error == 0; i++)
        if (net->listener[i].fd >= 0)
            error = tcp_ctx_watch(net->ctx_0, &net->listener[i], false);
    if (error == 0)
        return 0;
    address_text(&at[failed], text);
    if (error == -EADDRINUSE)
        snprintf(why, TRANSPORT_TEXT_MAX,
                 "no port is free at all of %zu addresses (the last was %s); extend "
                 "net.ipv4.ip_local_port_range",
                 all, text);
    else
        snprintf(why, TRANSPORT_TEXT_MAX, "cannot listen on %s: %s", text,
                 strerror(-error));
    return error;
}
