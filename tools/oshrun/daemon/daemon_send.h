/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon_send.h - a daemon's events as messages to the front.
 *
 * Uses daemon.h, route.h, pack.h.  Used by daemon_main.c.
 *
 * Output is sent ahead of the front's confirmation up to a window; then the daemon stops
 * reading from its PEs, whose writes wait.  So the front never holds more than the
 * windows of all nodes, and a reader that is slow, or stopped, holds the PEs and nothing
 * else.
 */
#ifndef OSHRUN_DAEMON_DAEMON_SEND_H
#define OSHRUN_DAEMON_DAEMON_SEND_H

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/net/pack.h"
#include "tools/oshrun/net/route.h"
#include "tools/oshrun/daemon/daemon.h"

struct daemon_send {
    struct route *route;
    struct daemon *d;
    uint64_t window;
    uint64_t ahead[DAEMON_STREAMS]; /* bytes sent and not confirmed */
    bool held[DAEMON_STREAMS];
    uint32_t report;       /* the number of the one that is going on; 0: none */
    char why[ERROR_BYTES]; /* the last error */
};

/* The events; their `front` is a struct daemon_send. */
extern const struct daemon_events daemon_say_events;

void daemon_send(struct daemon_send *s, enum wire_type type, struct pack *p);
void daemon_say_text(struct daemon_send *s, enum wire_type type, const char *text);

/* The daemon cannot do its part, as s->why says. */
void daemon_say_failed(struct daemon_send *s, int status);

/* The front has space for so much again. */
void daemon_say_taken(struct daemon_send *s, enum daemon_stream which, uint64_t bytes);

#endif
