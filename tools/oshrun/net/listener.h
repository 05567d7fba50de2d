/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listener.h - accepts and opens TCP connections between processes of one job, and
 * authenticates both ends.
 *
 * Uses loop.h, auth.h, address.h, seal.h.  Used by daemons*.c and daemon_main.c.
 *
 * Both ends know the nonce of the job.  A daemon receives it on its standard input; it is
 * never sent over these connections.  Each end sends a random challenge and proves by a
 * MAC over both that it knows the nonce (auth.h).  An unauthenticated connection occupies
 * one slot of a fixed table and is closed after a timeout.  An authenticated one comes
 * with the seal for what follows.
 */
#ifndef OSHRUN_NET_LISTENER_H
#define OSHRUN_NET_LISTENER_H

#include "pgas/core/base/seal.h"
#include "tools/oshrun/util/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NONCE_BYTES     32
#define NONCE_HEX_BYTES (2 * NONCE_BYTES + 1)
#define ADDRESSES_MAX   1024 /* bytes of a list of addresses with its zero */

struct nonce {
    unsigned char byte[NONCE_BYTES];
};

/* Is in memory of seal_memory_alloc, and copied nowhere.  0, or -1 with errno: from
 * getrandom. */
int nonce_make(struct nonce *n);
void nonce_to_hex(const struct nonce *n, char hex[NONCE_HEX_BYTES]);
/* Returns 0, or -1 if hex is malformed. */
int nonce_from_hex(struct nonce *n, const char *hex);

struct listener_events {
    /* An authenticated connection.  The callee owns the descriptor and the seal. */
    void (*came)(void *arg, int fd, struct seal *seal);
    /* A connection was refused: an error message without newline ("refused a connection
     * from 10.0.0.3:4242: it does not know the nonce of this job").  A listener reports
     * at most 8 refusals; the last report says that further ones are suppressed. */
    void (*refused)(void *arg, const char *error_text);
};

struct listener;

/*
 * Listens on the addresses that `which` selects: NULL: all that are up, but the loopback
 * only if there is no other; "lo": the loopback; otherwise a comma-separated list of
 * interface names (eth0) and networks (10.0.0.0/8, fd00::/8).  addresses gets
 * "10.77.0.1:40000,[fd00::1]:40000".  The nonce outlives the listener.  NULL: an error
 * message is in why (of len bytes).
 */
struct listener *listener_open(struct loop *loop, const struct nonce *nonce,
                               const char *which, char addresses[ADDRESSES_MAX],
                               const struct listener_events *events, void *arg, char *why,
                               size_t len);
void listener_close(struct listener *d);

/* Whether connections are accepted, as after listener_open; others wait in the kernel. */
void listener_watch(struct listener *d, bool on);

struct connector;

struct connector_events {
    /* An authenticated connection.  The callee owns the descriptor and the seal. */
    void (*made)(void *arg, int fd, struct seal *seal);
    /* "cannot connect to 10.77.0.1:40000 (No route to host)", "... does not belong to
     * this job" */
    void (*failed)(void *arg, const char *why);
};

/* connect_ms: for a host to accept; prove_ms: for the process there, which may be busy
 * or stopped, to authenticate itself. */
struct connector_limits {
    uint32_t connect_ms, prove_ms;
};

/* Tries all addresses, one after the other at short intervals, until a connection is
 * authenticated; fails when all have failed or time is over.  The nonce outlives the
 * connector.  NULL: no memory. */
struct connector *connector_start(struct loop *loop, const struct nonce *nonce,
                                  const char *addresses, struct connector_limits limits,
                                  const struct connector_events *events, void *arg);
/* Must also be called after made or failed. */
void connector_free(struct connector *d);

#endif
