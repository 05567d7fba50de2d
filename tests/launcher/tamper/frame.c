/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame.c - see proxy.h.  The lengths are those of auth.c and record.h of oshrun, of
 * ft_mesh_int.h, and of tcp_wire.h.
 */
#include "config.h"

#include <endian.h>
#include <string.h>

#include "pgas/ft/agent/ft_mesh_int.h"
#include "pgas/transport/tcp/tcp_wire.h"
#include "tests/launcher/tamper/proxy.h"
#include "tools/oshrun/net/auth.h"
#include "tools/oshrun/net/record.h"

enum {
    MAGIC = 6, /* letters; those of the mesh are followed by a kind and the version */
    LINK_FIRST_VERSION = 1,
    MESH_VERSION_AT = 7,
    MESH_VERSION = 2,
    PLAIN_HEADER = 20,
    PLAIN_LENGTH_AT = 12,
};

enum protocol frame_protocol(const unsigned char *bytes, size_t n)
{
    const struct tcp_hello tcp = {.magic = TCP_MAGIC, .version = TCP_VERSION};
    const size_t tcp_bytes = offsetof(struct tcp_hello, pe);

    if (n < AUTH_HEADER_BYTES)
        return UNKNOWN;
    if (memcmp(bytes, "oshrun", MAGIC) == 0)
        return LINK;
    if (memcmp(bytes, "pgasft", MAGIC) == 0)
        return MESH;
    return n >= tcp_bytes && memcmp(bytes, &tcp, tcp_bytes) == 0 ? TCP : OTHER;
}

/* A message that proves an end. */
static size_t frame_link_proof(struct stream *s, const unsigned char *bytes)
{
    enum { GREETING, PROOF, REPLY };
    static const size_t body[] = {
        [GREETING] = SEAL_CHALLENGE,
        [PROOF] = SEAL_CHALLENGE + SEAL_MAC,
        [REPLY] = SEAL_MAC,
    };
    unsigned kind = bytes[AUTH_HEADER_BYTES - 1];
    size_t len = AUTH_HEADER_BYTES + (kind <= REPLY ? body[kind] : 0);

    s->plain = bytes[MAGIC] == LINK_FIRST_VERSION;
    return len;
}

static size_t frame_link(struct stream *s, const unsigned char *bytes, size_t n)
{
    uint32_t len;
    uint64_t plain_len;

    if (s->stage < SEALED)
        return n < AUTH_HEADER_BYTES ? 0 : frame_link_proof(s, bytes);
    if (n < PLAIN_HEADER)
        return 0;
    memcpy(&len, bytes, sizeof len);
    memcpy(&plain_len, bytes + PLAIN_LENGTH_AT, sizeof plain_len);
    if (s->plain)
        return PLAIN_HEADER + le64toh(plain_len);
    return len == 0 ? RECORD_HEAD /* an alert */ : RECORD_HEAD + le32toh(len) + SEAL_TAG;
}

/* The proofs of another version have other lengths, but also arrive at once. */
static size_t frame_mesh(struct stream *s, const unsigned char *bytes, size_t n)
{
    if (n < AUTH_HEADER_BYTES)
        return 0;
    s->plain |= s->stage == 0 && bytes[MESH_VERSION_AT] != MESH_VERSION;
    if (s->plain || s->stage == SEALED)
        return n;
    if (s->side == CONNECTOR)
        return sizeof(struct ft_proof);
    return s->stage == 0 ? sizeof(struct ft_hello) : sizeof(struct ft_reply);
}

static size_t frame_tcp(const struct stream *s)
{
    static const size_t message[SIDES][2] = {
        [CONNECTOR] = {sizeof(struct tcp_hello), sizeof(struct tcp_proof)},
        [LISTENER] = {sizeof(struct tcp_challenge), sizeof(struct tcp_reply)}};

    return s->stage < SEALED ? message[s->side][s->stage] : SIZE_MAX;
}

void frame_end(struct stream *s)
{
    /* Of a link and of the mesh, the connector has one message. */
    bool once = s->side == CONNECTOR && s->protocol != TCP;

    s->stage = s->stage > 0 || once ? SEALED : 1;
}

size_t frame_length(struct stream *s, const unsigned char *bytes, size_t n)
{
    size_t len = SIZE_MAX;

    if (n == 0)
        return 0;
    if (s->protocol == LINK)
        len = frame_link(s, bytes, n);
    else if (s->protocol == MESH)
        len = frame_mesh(s, bytes, n);
    else if (s->protocol == TCP)
        len = frame_tcp(s);
    return len;
}
