/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.c - see wire.h.  Uses pack.c, error.h. */
#include "config.h"

#include "tools/oshrun/net/wire.h"
#include "tools/oshrun/util/error.h"

#define X(name, contents) [WIRE_##name] = #name,
static const char *const names[WIRE_TYPES] = {WIRE_TABLE(X)};
#undef X

const char *wire_name(enum wire_type type)
{
    return (unsigned)type < WIRE_TYPES ? names[type] : "unknown";
}

void net_out_send(const struct net_out *out, enum wire_type type, uint32_t from,
                  uint32_t to, struct pack *p)
{
    out->send(out->arg,
              &(struct frame){
                  .type = type, .from = from, .to = to, .data = p->data, .len = p->len});
    pack_free(p);
}

struct unpack frame_unpack(const struct frame *f)
{
    struct unpack u = unpack_of(f->data, f->len);
    u.rest = f->rest;
    u.rest_len = f->rest_len;
    return u;
}
