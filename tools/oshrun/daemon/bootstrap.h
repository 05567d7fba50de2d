/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bootstrap.h - the line by which a node daemon learns what it belongs to.
 *
 *   oshrun WIRE-VERSION VERSION nonce=HEX at=ADDRESSES if=LIST timeout=MS start=MS
 * window=BYTES [node=N]
 *
 * Written by daemons.c and starter.c.  Used by daemon_main.c.
 */
#ifndef OSHRUN_DAEMON_BOOTSTRAP_H
#define OSHRUN_DAEMON_BOOTSTRAP_H

#include "tools/oshrun/net/listener.h"
#include "tools/oshrun/net/tree.h"

#define BOOTSTRAP_LINE 4096

/* What a daemon writes first, before its node (WIRE_NONE: not told) and host. */
#define BOOTSTRAP_UP "node daemon is up: "

struct bootstrap {
    struct nonce nonce;
    char at[ADDRESSES_MAX];    /* where the front listens */
    char which[ADDRESSES_MAX]; /* addresses to listen at ourselves; "" = all */
    uint32_t timeout_ms;       /* of silence */
    uint32_t start_ms;         /* for another daemon to answer our call */
    uint64_t window;           /* of output per stream that the front has not confirmed */
    uint32_t node;             /* WIRE_NONE: the front knows it by the host's name */
};

/* Reads the line from descriptor fd, for at most `wait_ms`.  0, or -1 after an error
 * message.
 */
int bootstrap_read(struct bootstrap *b, int fd, int wait_ms);

/* 0, or -1 after an error message.  Changes the line. */
int bootstrap_parse(struct bootstrap *b, char *line);

#endif
