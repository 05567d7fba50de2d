/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_mesh_listen.c - the listening sockets of the mesh.
 *
 * When FT_MESH_PENDING accepted connections are not yet authenticated, the oldest is
 * closed in favour of a new one: an agent of the job needs its place for one round trip
 * only, and tries again, so a few silent peers cannot block the mesh.
 * Uses: ft_mesh_int.h, core/base/address.h.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pgas/ft/agent/ft_mesh_int.h"

enum {
    ADDRESSES_SEEN = 16, /* of this host */
    ACCEPTS = 16,        /* for each event */
    PAUSE_MS = 100,      /* before accepting again after EMFILE or ENOMEM */
};

bool ft_listen_sockaddr(const struct ft_address *from, struct address *to)
{
    *to = (struct address){.len = 0};
    if (from->family == AF_INET) {
        to->len = sizeof to->as.in;
        to->as.in.sin_family = AF_INET;
        to->as.in.sin_port = htons(from->port);
        memcpy(&to->as.in.sin_addr, from->ip, sizeof to->as.in.sin_addr);
    } else if (from->family == AF_INET6) {
        to->len = sizeof to->as.in6;
        to->as.in6.sin6_family = AF_INET6;
        to->as.in6.sin6_port = htons(from->port);
        memcpy(&to->as.in6.sin6_addr, from->ip, sizeof to->as.in6.sin6_addr);
        to->as.in6.sin6_scope_id = from->scope;
    }
    return to->len > 0 && from->port != 0;
}

static struct ft_address ft_listen_address_of(const struct address *from)
{
    struct ft_address to = {.family = from->as.any.sa_family};

    if (to.family == AF_INET) {
        to.port = ntohs(from->as.in.sin_port);
        memcpy(to.ip, &from->as.in.sin_addr, sizeof from->as.in.sin_addr);
    } else {
        to.port = ntohs(from->as.in6.sin6_port);
        memcpy(to.ip, &from->as.in6.sin6_addr, sizeof from->as.in6.sin6_addr);
        to.scope = from->as.in6.sin6_scope_id;
    }
    return to;
}

/* Adds a socket that listens at the address.  False: errno. */
static bool ft_listen_add(struct ft_mesh *mesh, const struct address *at)
{
    struct address bound;
    int fd = address_socket(at), err;

    if (fd < 0)
        return false;
    if (bind(fd, &at->as.any, at->len) == 0 && listen(fd, SOMAXCONN) == 0) {
        address_of_socket(&bound, fd);
        mesh->own.address[mesh->listeners] = ft_listen_address_of(&bound);
        mesh->listener[mesh->listeners++] = fd;
        return true;
    }
    err = errno;
    close(fd);
    errno = err;
    return false;
}

/* Succeeds if one address can be bound: an interface may have gone down since it was
 * listed. */
bool ft_listen_open(struct ft_mesh *mesh, const char *which, char *why, size_t size)
{
    struct address at[ADDRESSES_SEEN];
    char text[ADDRESS_TEXT];
    size_t n = address_choose(which, at, ADDRESSES_SEEN, why, size);

    for (size_t i = 0; i < n && mesh->listeners < FT_ADDRESSES; i++) {
        if (ft_listen_add(mesh, &at[i]))
            continue;
        address_text(&at[i], text);
        snprintf(why, size, "cannot listen at %s: %s", text, strerror(errno));
    }
    return mesh->listeners > 0;
}

void ft_listen_enable(struct ft_mesh *mesh, bool on)
{
    mesh->accepts = on;
    for (int i = 0; i < mesh->listeners; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &mesh->listener[i]};
        epoll_ctl(mesh->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, mesh->listener[i], &e);
    }
}

static void ft_listen_evict(struct ft_mesh *mesh)
{
    struct ft_link *oldest = NULL;

    for (struct ft_link *l = mesh->pending; l != NULL; l = l->next)
        if (l->state == FT_LINK_ACCEPTED)
            oldest = l;
    if (oldest != NULL)
        ft_link_close(oldest);
}

static void ft_listen_admit(struct ft_mesh *mesh, int fd, uint64_t now)
{
    uint64_t limit = (uint64_t)FT_MESH_PROVE_MS * FT_NS_PER_MS;

    if (mesh->npending >= FT_MESH_PENDING)
        ft_listen_evict(mesh);
    struct ft_link *link = ft_link_new(mesh, fd, FT_LINK_ACCEPTED, now + limit);
    if (link == NULL)
        return;
    /* The message fits into the socket buffer of a new connection. */
    link->written = sizeof link->hello;
    if (!ft_auth_make_hello(&link->hello) ||
        send(fd, &link->hello, sizeof link->hello, MSG_NOSIGNAL) !=
            (ssize_t)sizeof link->hello)
        ft_link_close(link);
}

void ft_listen_accept(struct ft_mesh *mesh, int listener, uint64_t now)
{
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            ft_listen_admit(mesh, fd, now);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
                   errno == ENOMEM) {
            ft_listen_enable(mesh, false); /* another accept at once would fail too */
            mesh->resume_ns = now + (uint64_t)PAUSE_MS * FT_NS_PER_MS;
            ft_mesh_set_timer(mesh, mesh->resume_ns);
            return;
        } else if (errno == EAGAIN) {
            return;
        }
    }
}
