/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listener.h - where connections come in and go out, and both sides prove that they are
 * of this job.
 *
 * Uses loop.h, auth.h, address.h.  Used by daemons*.c and daemon_main.c.
 *
 * Both sides know the job's nonce, which travelled on the standard input of the daemon
 * and is never sent: each sends a random challenge and answers the other's with an
 * HMAC-SHA256 of it under the nonce (and of its own role, so that no answer can be sent
 * back).  An unauthenticated connection learns nothing, holds no memory of ours but a
 * small fixed one, and is shut out after a moment.
 */
#ifndef OSHRUN_NET_LISTENER_H
#define OSHRUN_NET_LISTENER_H

#include "tools/oshrun/util/loop.h"

#include <stddef.h>
#include <stdint.h>

#define NONCE_BYTES     32
#define NONCE_HEX_BYTES (2 * NONCE_BYTES + 1)
#define ADDRESSES_MAX   1024 /* bytes of a list of addresses with its zero */

struct nonce {
    unsigned char byte[NONCE_BYTES];
};

/* 0, or -1 with errno: from getrandom. */
int nonce_make(struct nonce *n);
void nonce_to_hex(const struct nonce *n, char hex[NONCE_HEX_BYTES]);
/* 0, or -1 if it is not one. */
int nonce_from_hex(struct nonce *n, const char *hex);

struct listener_events {
    /* A proven connection: its descriptor is the receiver's now. */
    void (*came)(void *arg, int fd);
    /* A connection was refused: a sentence without newline ("refused a connection from
     * 10.0.0.3:4242: it does not know the nonce of this job").  At most 8 of one
     * listener, the last of which says that further ones are not told. */
    void (*refused)(void *arg, const char *sentence);
};

struct listener;

/*
 * Listens on the addresses that `which` chooses: NULL: all that are up, but the loopback
 * only if there is no other; "lo": the loopback; otherwise a list with commas of
 * interface names (eth0) and networks (10.0.0.0/8, fd00::/8).  addresses gets
 * "10.77.0.1:40000,[fd00::1]:40000".  NULL after a sentence in why (of len bytes).
 */
struct listener *listener_open(struct loop *loop, const struct nonce *nonce,
                               const char *which, char addresses[ADDRESSES_MAX],
                               const struct listener_events *events, void *arg, char *why,
                               size_t len);
void listener_close(struct listener *d);

struct connector;

struct connector_events {
    void (*made)(void *arg, int fd); /* proven; the receiver's now */
    /* "cannot connect to 10.77.0.1:40000 (No route to host)", "... is not of this job" */
    void (*failed)(void *arg, const char *why);
};

/* connect_ms: for a host to accept; prove_ms: for the process there, which may be busy or
 * stopped, to prove itself. */
struct connector_limits {
    uint32_t connect_ms, prove_ms;
};

/* Tries all addresses, a little apart, until one is proven; fails when all have failed or
 * the time is over.  NULL: no memory. */
struct connector *connector_start(struct loop *loop, const struct nonce *nonce,
                                  const char *addresses, struct connector_limits limits,
                                  const struct connector_events *events, void *arg);
/* Also after made or failed. */
void connector_free(struct connector *d);

#endif
