/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_wire.h - the messages of the tcp transport.
 *
 * A connection carries requests from a context of one PE to another PE, and the replies
 * to them.  Both directions are streams of messages in the byte order of the job, each
 * with a head of TCP_HEAD bytes.  The target performs the requests in their order, so
 * that a reply needs no number: the n-th reply with data belongs to the n-th request for
 * data, and each reply acknowledges all requests that were performed before it.
 *
 * A run is several operations of one kind on words of one segment, with one head: each
 * counts as a request, for results and acknowledgements.
 *
 * A connection begins with a handshake (tcp_auth.c), in which each end proves that it
 * knows the secret of the target, which never travels on a connection:
 *
 *     initiator -> target   struct tcp_hello      its PE, its challenge
 *     target -> initiator   struct tcp_challenge  its challenge, its MAC
 *     initiator -> target   struct tcp_proof      its MAC
 *     target -> initiator   TCP_WELCOME           the requests may follow
 *
 * Nothing in a message is trusted: tcp_auth.c, tcp_serve.c and tcp_reply.c check it.
 */
#ifndef PGAS_TRANSPORT_TCP_WIRE_H
#define PGAS_TRANSPORT_TCP_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "pgas/core/base/seal.h"

enum {
    TCP_HEAD = 16,    /* bytes of the head of a message */
    TCP_WHOLE = 1024, /* payloads up to this length are received before they are stored,
                        so that a word is never torn */
    TCP_VERSION = 3,
};
#define TCP_MAGIC UINT64_C(0x7067617374637031) /* also the byte order */

/* ---- the handshake ----------------------------------------------------------------- */

struct tcp_hello {
    uint64_t magic;
    uint32_t version;
    int32_t pe; /* of the initiator */
    unsigned char challenge[SEAL_CHALLENGE];
};
_Static_assert(sizeof(struct tcp_hello) == TCP_HEAD + SEAL_CHALLENGE, "no padding");

struct tcp_challenge {
    uint64_t magic;
    unsigned char challenge[SEAL_CHALLENGE], mac[SEAL_MAC];
};
_Static_assert(sizeof(struct tcp_challenge) == 8 + SEAL_CHALLENGE + SEAL_MAC,
               "no padding");

/* With magic bytes, so that a second one is not taken as a request. */
struct tcp_proof {
    uint64_t magic;
    unsigned char mac[SEAL_MAC];
};
_Static_assert(sizeof(struct tcp_proof) == 8 + SEAL_MAC, "no padding");

/* What the MACs cover, in addition to the role of the sender: what both ends know alike,
 * whatever translates addresses between them. */
struct tcp_transcript {
    uint64_t magic;
    uint32_t version, port; /* at which the target listens */
    int32_t initiator, target;
    unsigned char initiator_challenge[SEAL_CHALLENGE], target_challenge[SEAL_CHALLENGE];
};
_Static_assert(sizeof(struct tcp_transcript) == 24 + 2 * SEAL_CHALLENGE, "no padding");

/* ---- requests and replies ---------------------------------------------------------- */

enum tcp_request_kind {
    TCP_PUT,        /* payload: len bytes for (segment, offset) */
    TCP_PUT_SIGNAL, /* struct tcp_signal, payload; then the update */
    TCP_GET,        /* reply: len bytes of (segment, offset) */
    TCP_AMO,        /* struct tcp_operands; reply: len bytes if TCP_RESULT */
    TCP_PUT_BLOCKS, /* payload: offset vectors, packed bytes; len bytes in all */
    TCP_GET_BLOCKS, /* payload: len bytes of vectors; reply: offset packed bytes */
    TCP_FLUSH,      /* only acknowledged */
    TCP_PUT_RUN,    /* payload: a struct tcp_record for each word */
    TCP_GET_RUN,    /* payload: a uint64_t offset for each word; reply: TCP_DATA_RUN */
    TCP_AMO_RUN,    /* as TCP_PUT_RUN; reply: TCP_DATA_RUN if TCP_RESULT */
    TCP_REQUESTS
};

enum tcp_flag {
    TCP_ACKED = 1,   /* counts in tcp_reply.acked */
    TCP_RESULT = 2,  /* the old value is the reply */
    TCP_LONG = 4,    /* the word has 8 bytes, not 4 */
    TCP_DELAYED = 8, /* with TCP_ACKED: the acknowledgement may be delayed */
};

struct tcp_request {
    uint8_t kind, segment, op, flags;
    uint32_t len_low;
    uint64_t place; /* offset: 48 bits; the highest bits of len: 16 */
};
_Static_assert(sizeof(struct tcp_request) == TCP_HEAD, "no padding");
_Static_assert((TCP_MAGIC & 0xff) >= TCP_REQUESTS && TCP_MAGIC >> 56 >= TCP_REQUESTS,
               "no request begins like a message of the handshake");

struct tcp_signal {
    uint64_t offset, operand;
    uint32_t segment, unused;
};

struct tcp_operands {
    uint64_t operand, cond;
};

struct tcp_record {
    uint64_t offset, operand; /* its first bytes are the word of a put */
};

enum { TCP_OFFSET_BITS = 48, TCP_LOW_BITS = 32 };

static inline uint64_t tcp_request_offset(const struct tcp_request *r)
{
    return r->place & ((UINT64_C(1) << TCP_OFFSET_BITS) - 1);
}

static inline uint64_t tcp_request_len(const struct tcp_request *r)
{
    return r->len_low | r->place >> TCP_OFFSET_BITS << TCP_LOW_BITS;
}

static inline void tcp_request_set(struct tcp_request *r, uint64_t offset, uint64_t len)
{
    r->len_low = (uint32_t)len;
    r->place = offset | len >> TCP_LOW_BITS << TCP_OFFSET_BITS;
}

enum tcp_reply_kind {
    TCP_WELCOME, /* ends the handshake */
    TCP_ACK,
    TCP_DATA,     /* payload: len bytes */
    TCP_DATA_RUN, /* payload: len bytes, the results of several requests */
    TCP_REPLIES
};

struct tcp_reply {
    uint32_t kind;
    uint32_t acked; /* number of requests with TCP_ACKED that were performed, mod 2^32 */
    uint64_t len;
};
_Static_assert(sizeof(struct tcp_reply) == TCP_HEAD, "no padding");

#endif
