/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon_send.h - a daemon's events as messages to the front.
 *
 * Uses daemon.h, route.h, pack.h.  Used by daemon_main.c.
 *
 * Flow control: when a stream has a window of unconfirmed output, the daemon stops
 * reading it from its PEs, which then block in write.  So the front end buffers at most
 * the windows of all nodes, and a slow or stopped reader delays the PEs only.
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
    uint32_t report;       /* number of the report in progress; 0: none */
    char why[ERROR_BYTES]; /* the last error */
};

/* The events; their `front` is a struct daemon_send. */
extern const struct daemon_events daemon_say_events;

void daemon_send(struct daemon_send *s, enum wire_type type, struct pack *p);
void daemon_say_text(struct daemon_send *s, enum wire_type type, const char *text);

/* Sends FAILED with the reason s->why. */
void daemon_say_failed(struct daemon_send *s, int status);

/* The front end has confirmed this many bytes. */
void daemon_say_taken(struct daemon_send *s, enum daemon_stream which, uint64_t bytes);

#endif
