/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.h - messages between the front end and the node daemons: their types and their
 * frame.
 *
 * Uses tree.h, pack.h.  Used by all of net/, daemons*.c, daemon*.c, pmix_net.c.
 */
#ifndef OSHRUN_NET_WIRE_H
#define OSHRUN_NET_WIRE_H

#include "tools/oshrun/net/pack.h"
#include "tools/oshrun/net/tree.h"
#include "tools/oshrun/net/wire.def"

#include <stddef.h>
#include <stdint.h>

#define WIRE_VERSION 8u /* changes with any change of the messages */

#define X(name, contents) WIRE_##name,
enum wire_type { WIRE_TABLE(X) WIRE_TYPES };
#undef X

/* The state of a PE in a QUERY_ANSWER. */
enum wire_pe { WIRE_PE_NOT_STARTED, WIRE_PE_RUNS, WIRE_PE_ENDED };

/* On the wire: u32 type, u32 from, u32 to, u64 length of the payload, all little-endian,
 * then the payload. */
struct frame {
    enum wire_type type;
    uint32_t from, to; /* a node, WIRE_FRONT or (to only) WIRE_ALL */
    const void *data;
    size_t len;
    /* The payload continues here, so that output need not be copied.  A frame that comes
     * from a link has none. */
    const void *rest;
    size_t rest_len;
};

/* Sends frames of the front end, or of a daemon: over the tree, or to the
 * other one in the same process.  The frame is valid during the call, which may cause
 * further frames in both directions. */
struct net_out {
    void (*send)(void *arg, const struct frame *f);
    void *arg;
};

/* Sends a frame with payload p, and frees p.  Without memory the process exits. */
void net_out_send(const struct net_out *out, enum wire_type type, uint32_t from,
                  uint32_t to, struct pack *p);

struct unpack frame_unpack(const struct frame *f);

/* "OUTPUT" */
const char *wire_name(enum wire_type type);

#endif
