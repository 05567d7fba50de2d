/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link.h - one connection between the front and a daemon, or between two daemons: frames
 * both ways, never blocking, and the certainty that the other side lives.
 *
 * Uses loop.h, wire.h.  Used by route.c, crew*.c, daemon_main.c.
 *
 * Sign of life: each side sends PING when it has sent nothing for a quarter of the
 * timeout.  A side that must answer (LINK_AWAKE) and from which nothing has come for the
 * timeout is down, whether its host is cut off, or its process stopped.  A side that may
 * be stopped on purpose (LINK_MAY_STOP: the front, by Ctrl-Z) is down only if its host no
 * longer acknowledges anything.  A callback that runs for longer than the timeout makes
 * the other side believe that this process is dead.
 */
#ifndef OSHRUN_NET_LINK_H
#define OSHRUN_NET_LINK_H

#include "tools/oshrun/loop.h"
#include "tools/oshrun/net/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_PEER_TEXT 80

struct link;

enum link_life { LINK_AWAKE, LINK_MAY_STOP };

struct link_events {
    /* One whole frame, but no PING; its data is valid during the call.  This link and any
     * other may be freed in it. */
    void (*frame)(void *arg, struct link *l, const struct frame *f);
    /* Once, and the last event: why = "closed the connection", "has not answered for 3.0
     * s", "has lost its connection (Connection reset by peer)", "sent what is no message
     * (type 77)" ...  The receiver calls link_free, in it or later. */
    void (*down)(void *arg, struct link *l, const char *why);
};

/* Takes over a connected, authenticated socket.  timeout_ms of silence = down.  NULL: no
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
