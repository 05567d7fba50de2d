/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * address.h - IPv4 and IPv6 socket addresses: parsing, formatting, interfaces of this
 * host.
 *
 * A leaf.  Used by: ft, tools/oshrun/net.
 */
#ifndef PGAS_CORE_ADDRESS_H
#define PGAS_CORE_ADDRESS_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

#define ADDRESS_TEXT 64 /* bytes of "[fd00::1]:40000" with its zero, at most */

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } as;
    socklen_t len;
};

/* Formats "10.77.0.2:43210" or "[fd00::1]:43210"; "?" for other address families. */
void address_text(const struct address *a, char text[ADDRESS_TEXT]);

/* Parses such a text of len bytes.  0, or -1. */
int address_parse(struct address *a, const char *text, size_t len);

/* The local and the remote address of a connected socket. */
void address_of_socket(struct address *a, int fd);
void address_of_peer(struct address *a, int fd);

/*
 * Lists the addresses of this host that `which` selects (see listener_open in
 * listener.h), with port 0.  Returns their number, or 0 with an error message in why (of
 * len bytes), which begins with the item of `which` that is wrong; the caller names the
 * option or variable that it comes from.
 */
size_t address_choose(const char *which, struct address *list, size_t max, char *why,
                      size_t len);

/* A TCP socket, non-blocking and close-on-exec.  -1: errno. */
int address_socket(const struct address *a);

#endif
