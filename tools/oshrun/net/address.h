/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * address.h - addresses of this host and of others, as texts and as the system's structs.
 *
 * Uses nothing of ours.  Used by link.c, auth.c, listener.c, connector.c.
 */
#ifndef OSHRUN_NET_ADDRESS_H
#define OSHRUN_NET_ADDRESS_H

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

/* "10.77.0.2:43210", "[fd00::1]:43210"; of what is no internet address "?". */
void address_text(const struct address *a, char text[ADDRESS_TEXT]);

/* Reads such a text (len bytes of it).  0, or -1. */
int address_parse(struct address *a, const char *text, size_t len);

/* This end and the other end of a connected socket. */
void address_of_socket(struct address *a, int fd);
void address_of_peer(struct address *a, int fd);

/*
 * The addresses of this host, with port 0, that `which` chooses (listener_open in
 * listener.h says how).  Their number, at least 1; or 0 after a sentence in why (of len
 * bytes).
 */
size_t address_choose(const char *which, struct address *list, size_t max, char *why,
                      size_t len);

/* A socket for connections of ours: does not block, is not inherited.  -1: errno. */
int address_socket(const struct address *a);

#endif
