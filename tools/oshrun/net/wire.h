/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.h - messages between the front and the node daemons: their types and their frame.
 *
 * Used by all of net/, daemons*.c, daemon_main.c, pmix_net.c.
 */
#ifndef OSHRUN_NET_WIRE_H
#define OSHRUN_NET_WIRE_H

#include "tools/oshrun/net/tree.h"
#include "tools/oshrun/net/wire.def"

#include <stddef.h>
#include <stdint.h>

#define WIRE_VERSION 4u /* changes with any change of the messages */

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
};

/* "OUTPUT" */
const char *wire_name(enum wire_type type);

#endif
