/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bootstrap.h - the line on standard input that configures a node daemon.
 *
 *   oshrun WIRE-VERSION VERSION nonce=HEX at=ADDRESSES if=LIST timeout=MS start=MS
 *     window=BYTES [node=N]
 *
 * Written by daemons.c and starter.c.  Used by daemon_main.c and starter.c.
 */
#ifndef OSHRUN_DAEMON_BOOTSTRAP_H
#define OSHRUN_DAEMON_BOOTSTRAP_H

#include "tools/oshrun/net/listener.h"
#include "tools/oshrun/net/tree.h"

#define BOOTSTRAP_LINE 4096

/* Start of the first line that a daemon writes; its node (or WIRE_NONE) and host
 * follow. */
#define BOOTSTRAP_UP "node daemon is up: "

/* Is in memory of seal_memory_alloc, for the nonce. */
struct bootstrap {
    struct nonce nonce;
    char at[ADDRESSES_MAX];    /* where the front listens */
    char which[ADDRESSES_MAX]; /* interfaces for the listener of the daemon; "" = all */
    uint32_t timeout_ms;       /* limit for silence of a peer */
    uint32_t start_ms;         /* limit for a peer to authenticate itself */
    uint64_t window;           /* limit of unconfirmed output per stream, in bytes */
    uint32_t node;             /* WIRE_NONE: the front end finds it by the host name */
};

/* Reads the line from descriptor fd, for at most `wait_ms`.  0, or -1 after an error
 * message.
 */
int bootstrap_read(struct bootstrap *b, int fd, int wait_ms);

/* 0, or -1 after an error message.  Changes the line. */
int bootstrap_parse(struct bootstrap *b, char *line);

#endif
