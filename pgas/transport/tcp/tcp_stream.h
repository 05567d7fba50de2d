/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_stream.h - a socket with a queue of bytes to send and a parser of received
 * messages.  Both ends of a connection are streams: struct tcp_peer and struct
 * tcp_client (tcp.h).  One thread at a time uses a stream.  Uses: transport.h.
 */
#ifndef PGAS_TRANSPORT_TCP_STREAM_H
#define PGAS_TRANSPORT_TCP_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pgas/threads/atomic.h"
#include "pgas/transport/tcp/tcp_wire.h"
#include "pgas/transport/transport.h"

/* Memory of the caller in the queue, sent without a copy. */
struct tcp_ref {
    uint64_t at; /* position in the queue: number of copied bytes before it */
    const char *from;
    size_t len;
    struct transport_completion *done; /* completes when all is sent; or NULL */
};

/* The unsent bytes: copied ones, buf[head..tail), and references, which are inserted at
 * their positions.  The position of buf[i] is base + i. */
struct tcp_output {
    char *buf;
    size_t head, tail, size;
    bool large; /* more than TCP_OUTPUT_KEEP was used since the last tcp_output_trim */
    uint64_t base;
    struct tcp_ref *ref; /* ref[first_ref..nrefs) */
    size_t first_ref, nrefs, refs_size;
    uint64_t unsent;      /* bytes, those of references included */
    uint64_t sends, sent; /* successful system calls and their bytes */
};

/* The region that the next received bytes fill: a part of a message that must be
 * contiguous before it is evaluated (to = part + ..), or its payload's destination. */
struct tcp_input {
    char *to;
    uint64_t left;
    bool in_part;
    unsigned char *part;
    size_t have, part_size; /* bytes of `part` in use after the region is full; allocated
                             */
};

enum tcp_stream_kind { TCP_STREAM_LISTENER, TCP_STREAM_PEER, TCP_STREAM_CLIENT };

struct tcp_stream {
    enum tcp_stream_kind kind;
    int fd;              /* -1: none */
    bool watches_output; /* registered for EPOLLOUT */
    struct tcp_output out;
    struct tcp_input in;
};

/* Of tcp_message_size.  TCP_REPEATED: a message of the handshake after it. */
enum { TCP_MALFORMED = -1, TCP_REPEATED = -2 };

/* The end of a stream that evaluates its messages.  size: the number of bytes, at least
 * TCP_HEAD, that `message` needs before it is evaluated, given its head; or
 * TCP_MALFORMED, TCP_REPEATED.  evaluate: 0; or -errno.  It may direct payload by
 * tcp_input_payload. filled: all of the payload has been stored. */
struct tcp_reader {
    ptrdiff_t (*size)(struct tcp_stream *s, const void *head);
    int (*evaluate)(struct tcp_stream *s, const void *message);
    int (*filled)(struct tcp_stream *s);
};

void tcp_stream_free(struct tcp_stream *s);

/* ---- output (tcp_output.c) ---- */

/* Make space for len bytes at the end; false: no memory. */
bool tcp_output_grow(struct tcp_stream *s, size_t len);
/* Reserve len contiguous bytes at the end; NULL: no memory. */
ALWAYS_INLINE char *tcp_output_reserve(struct tcp_stream *s, size_t len)
{
    struct tcp_output *o = &s->out;

    if (unlikely(o->size - o->tail < len) && !tcp_output_grow(s, len))
        return NULL;
    char *at = o->buf + o->tail;
    o->tail += len;
    o->unsent += len;
    return at;
}
/* Append a copy; false: no memory. */
ALWAYS_INLINE bool tcp_output_add(struct tcp_stream *s, const void *from, size_t len)
{
    char *at = tcp_output_reserve(s, len);

    if (likely(at != NULL))
        memcpy(at, from, len);
    return at != NULL;
}
/* Append a reference; false: no memory. */
bool tcp_output_refer(struct tcp_stream *s, const void *from, size_t len,
                      struct transport_completion *done);
/* Send what the socket accepts.  0: all was sent; -EAGAIN; or another error. */
int tcp_output_send(struct tcp_stream *s);
/* Frees an empty buffer of more than TCP_OUTPUT_KEEP bytes that was not needed since the
 * last call.  True if the buffer still has more: call it again later. */
enum { TCP_OUTPUT_KEEP = 64 << 10 };
bool tcp_output_trim(struct tcp_stream *s);
/* Forget all, and complete the references with the error. */
void tcp_output_drop(struct tcp_stream *s, int error);

/* ---- input (tcp_input.c) ---- */

/* Called by evaluate: the next len > 0 bytes are stored at `to`. */
void tcp_input_payload(struct tcp_stream *s, void *to, uint64_t len);
/* Receive once and evaluate complete messages.  1: there may be more; 0: no more at
 * present; -ESHUTDOWN: the other end has closed the connection; or another error. */
int tcp_input_read(struct tcp_stream *s, const struct tcp_reader *reader, void *scratch,
                   size_t size);

#endif
