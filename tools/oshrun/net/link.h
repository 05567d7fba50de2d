/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link.h - one connection between the front end and a daemon, or between two daemons:
 * sends and receives frames without blocking, and detects the loss of the other side.
 *
 * Uses libevent, heartbeat.h, loop.h, record.h, wire.h.  Used by route.c, daemons*.c,
 * daemon_main.c.
 *
 * All bytes are sealed (record.h) with the keys of this connection, which come from its
 * handshake (auth.h).  A record that is not the next one of the other side takes the link
 * down, at both ends if the other one can still be told.
 *
 * The other side is down if one of four checks fails:
 *   - the connection: a process that exits closes it, which is detected immediately;
 *   - the host: its kernel acknowledges keep-alive probes whatever the process does; a
 *     host that acknowledges nothing for min(timeout_ms, LINK_HOST_MS) is unreachable;
 *   - what arrives: bytes that complete no record for timeout_ms are not those of a peer
 *     that lives, whose records are short;
 *   - the process: on a link on which nothing was sent for a quarter of that time, the
 *     heartbeat thread (heartbeat.h) of each side sends PING, also while the loop is in a
 *     long callback or gets no processor time.  A side that must answer (LINK_AWAKE) is
 *     down after timeout_ms without a frame: it is stopped, or so starved that not even
 *     that thread runs.  A side that may be stopped on purpose (LINK_MAY_STOP: the front
 *     end, by Ctrl-Z) has no such limit.
 */
#ifndef OSHRUN_NET_LINK_H
#define OSHRUN_NET_LINK_H

#include "pgas/core/base/seal.h"
#include "tools/oshrun/util/loop.h"
#include "tools/oshrun/net/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_PEER_TEXT 80

struct evbuffer;
struct link;

enum link_life { LINK_AWAKE, LINK_MAY_STOP };

#define LINK_HOST_MS 3000

/* The time limit for the host, given that for the process. */
static inline uint32_t link_host_ms(uint32_t timeout_ms)
{
    return timeout_ms < LINK_HOST_MS ? timeout_ms : LINK_HOST_MS;
}

struct link_events {
    /* A complete frame other than PING; its data is valid during the call, which may
     * free any link, including this one. */
    void (*frame)(void *arg, struct link *l, const struct frame *f);
    /* Called once, as the last event.  why = "closed the connection", "has not answered
     * for 3.0 s", "has lost its connection (Connection reset by peer)", "sent an invalid
     * message (type 77)" ...: the subject is the other side.  The callee calls
     * link_free, during the call or later. */
    void (*down)(void *arg, struct link *l, const char *why);
};

/* Takes ownership of a connected, authenticated socket and its seal.  NULL: the heartbeat
 * thread cannot be created (fd is closed, the seal freed). */
struct link *link_open(struct loop *loop, int fd, struct seal *seal, uint32_t timeout_ms,
                       enum link_life peer, const struct link_events *events, void *arg);

/* Queues a frame.  Never blocks.  No effect on a link that is down. */
void link_send(struct link *l, const struct frame *f);

/* Appends the encoding of a frame to *to, as iobuf_add. */
void link_encode(struct evbuffer **to, const struct frame *f);
/* Sends encoded frames, and empties `frames`. */
void link_send_encoded(struct link *l, struct evbuffer *frames);

/* Writes what the socket accepts of the queue, which otherwise the loop does. */
void link_push(struct link *l);

/* Bytes in the send queue. */
size_t link_queued(struct link *l);

/* "10.77.0.2:43210" */
const char *link_peer(const struct link *l);

/* Whether it went down because a message, of either direction, was not authentic. */
bool link_not_authentic(const struct link *l);

/* A pointer for the owner's use. */
void *link_user(const struct link *l);
void link_set_user(struct link *l, void *user);

/* Sends the queue for at most ms milliseconds, then shuts down the sending side.
 * Blocks. */
void link_flush(struct link *l, uint32_t ms);

/* Closes the link; no event follows. */
void link_free(struct link *l);

#endif
