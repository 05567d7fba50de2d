/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.c - see wire.h.  Pure. */
#include "config.h"

#include "tools/oshrun/net/wire.h"

#define X(name, contents) [WIRE_##name] = #name,
static const char *const names[WIRE_TYPES] = {WIRE_TABLE(X)};
#undef X

const char *wire_name(enum wire_type type)
{
    return (unsigned)type < WIRE_TYPES ? names[type] : "unknown";
}
