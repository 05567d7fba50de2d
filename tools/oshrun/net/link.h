/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link.h - one connection between the front and a daemon, or between two daemons: frames
 * both ways, never blocking, and the certainty that the other side lives.
 *
 * Uses loop.h, wire.h.  Used by route.c, daemons*.c, daemon_main.c.
 *
 * Liveness of the other side is decided by three witnesses:
 *   - the connection: a process that exits closes it, which is noticed immediately;
 *   - its host's kernel, which acknowledges keep-alive probes whatever the process does:
 * a host that acknowledges nothing for min(timeout, LINK_HOST_MS) is unreachable;
 *   - the process: each side sends PING when it has sent nothing for a quarter of that
 * time. A side that must answer (LINK_AWAKE) is down after `timeout_ms` without a frame.
 * This limit must be long: a process that is starved of the processor, or in a long
 * callback, is not dead.  A side that may be stopped on purpose (LINK_MAY_STOP: the front
 * end, by Ctrl-Z) has no such limit.
 */
#ifndef OSHRUN_NET_LINK_H
#define OSHRUN_NET_LINK_H

#include "tools/oshrun/util/loop.h"
#include "tools/oshrun/net/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_PEER_TEXT 80

struct link;

enum link_life { LINK_AWAKE, LINK_MAY_STOP };

#define LINK_HOST_MS 3000

/* The time-out of an unreachable host, given that of a silent process. */
static inline uint32_t link_host_ms(uint32_t timeout_ms)
{
    return timeout_ms < LINK_HOST_MS ? timeout_ms : LINK_HOST_MS;
}

struct link_events {
    /* One whole frame, but no PING; its data is valid during the call.  This link and any
     * other may be freed in it. */
    void (*frame)(void *arg, struct link *l, const struct frame *f);
    /* Once, and the last event: why = "closed the connection", "has not answered for 3.0
     * s", "has lost its connection (Connection reset by peer)", "sent what is no message
     * (type 77)" ...  The receiver calls link_free, in it or later. */
    void (*down)(void *arg, struct link *l, const char *why);
};

/* Takes over a connected, authenticated socket.  timeout_ms: see above.  NULL: out of
 * memory (fd is closed). */
struct link *link_open(struct loop *loop, int fd, uint32_t timeout_ms,
                       enum link_life peer, const struct link_events *events, void *arg);

/* Appends a frame to what is to be sent.  Never blocks.  On a link that is down: nothing.
 * When there is no memory for it the link goes down. */
void link_send(struct link *l, const struct frame *f);

/* Bytes that wait to be sent. */
size_t link_queued(const struct link *l);

/* "10.77.0.2:43210" */
const char *link_peer(const struct link *l);

/* For the owner: whatever it wants to find again. */
void *link_user(const struct link *l);
void link_set_user(struct link *l, void *user);

/* Sends what waits, for at most ms milliseconds, and closes the sending side.  Blocks. */
void link_flush(struct link *l, uint32_t ms);

/* Closes; no event comes any more. */
void link_free(struct link *l);

#endif
