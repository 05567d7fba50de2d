/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_output.c - the queue of unsent bytes of a stream (see tcp_stream.h). */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/tcp/tcp_stream.h"

enum { FIRST_BYTES = 4096, FIRST_REFS = 16, IOVS = 32 };

/* ---- append ------------------------------------------------------------------------ */

/* Moves the copied bytes to the start of the buffer. */
static void tcp_output_compact(struct tcp_output *o)
{
    memmove(o->buf, o->buf + o->head, o->tail - o->head);
    o->base += o->head;
    o->tail -= o->head;
    o->head = 0;
}

bool tcp_output_grow(struct tcp_stream *s, size_t len)
{
    struct tcp_output *o = &s->out;
    size_t size = o->size == 0 ? FIRST_BYTES : o->size;

    if (o->head > 0)
        tcp_output_compact(o);
    while (size - o->tail < len)
        size *= 2;
    if (size == o->size)
        return true;
    char *buf = realloc(o->buf, size);
    if (buf == NULL)
        return false;
    o->buf = buf;
    o->size = size;
    return true;
}

static bool tcp_output_grow_refs(struct tcp_output *o)
{
    size_t n = o->nrefs - o->first_ref, size = o->refs_size;

    if (o->first_ref > 0)
        memmove(o->ref, o->ref + o->first_ref, n * sizeof *o->ref);
    o->first_ref = 0;
    o->nrefs = n;
    if (n < size)
        return true;
    size = size == 0 ? FIRST_REFS : size * 2;
    struct tcp_ref *ref = realloc(o->ref, size * sizeof *ref);
    if (ref == NULL)
        return false;
    o->ref = ref;
    o->refs_size = size;
    return true;
}

bool tcp_output_refer(struct tcp_stream *s, const void *from, size_t len,
                      struct transport_completion *done)
{
    struct tcp_output *o = &s->out;

    if (o->nrefs == o->refs_size && !tcp_output_grow_refs(o))
        return false;
    o->ref[o->nrefs++] =
        (struct tcp_ref){.at = o->base + o->tail, .from = from, .len = len, .done = done};
    o->unsent += len;
    return true;
}

/* ---- send -------------------------------------------------------------------------- */

static void tcp_iov_add(struct iovec *iov, size_t *n, const void *from, size_t len)
{
    if (len > 0)
        iov[(*n)++] = (struct iovec){(void *)from, len}; /* only read by sendmsg */
}

/* The beginning of the queue as at most IOVS parts; returns their number. */
static size_t tcp_output_iovs(const struct tcp_output *o, struct iovec *iov)
{
    size_t n = 0, at = o->head;

    for (size_t i = o->first_ref; i < o->nrefs && n + 2 < IOVS; i++) {
        size_t until = (size_t)(o->ref[i].at - o->base);
        tcp_iov_add(iov, &n, o->buf + at, until - at);
        tcp_iov_add(iov, &n, o->ref[i].from, o->ref[i].len);
        at = until;
        if (i + 1 == o->nrefs)
            tcp_iov_add(iov, &n, o->buf + at, o->tail - at);
    }
    if (o->first_ref == o->nrefs)
        tcp_iov_add(iov, &n, o->buf + at, o->tail - at);
    return n;
}

/* Takes n sent bytes from the head of the first reference, and completes it. */
static size_t tcp_output_take_ref(struct tcp_output *o, size_t n)
{
    struct tcp_ref *ref = &o->ref[o->first_ref];
    size_t part = n < ref->len ? n : ref->len;

    ref->from += part;
    ref->len -= part;
    if (ref->len == 0) {
        perform_completion(ref->done, 0);
        o->first_ref++;
    }
    return part;
}

static void tcp_output_take(struct tcp_output *o, size_t n)
{
    PGAS_ASSERT(n <= o->unsent);
    o->unsent -= n;
    while (n > 0) {
        bool refs = o->first_ref < o->nrefs;
        size_t copied = refs ? (size_t)(o->ref[o->first_ref].at - o->base) - o->head : n;
        size_t part = n < copied ? n : copied;
        o->head += part;
        n -= part;
        if (n > 0)
            n -= tcp_output_take_ref(o, n);
    }
    if (o->first_ref == o->nrefs)
        o->first_ref = o->nrefs = 0;
    if (o->head == o->tail && o->nrefs == 0) {
        o->large |= o->tail > TCP_OUTPUT_KEEP;
        o->base += o->tail;
        o->head = o->tail = 0;
    }
}

int tcp_output_send(struct tcp_stream *s)
{
    struct iovec iov[IOVS];

    while (s->out.unsent > 0) {
        struct msghdr message = {.msg_iov = iov};
        message.msg_iovlen = tcp_output_iovs(&s->out, iov);
        ssize_t n = sendmsg(s->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EWOULDBLOCK ? -EAGAIN : -errno;
        s->out.sends++;
        s->out.sent += (uint64_t)n;
        tcp_output_take(&s->out, (size_t)n);
    }
    return 0;
}

bool tcp_output_trim(struct tcp_stream *s)
{
    struct tcp_output *o = &s->out;
    bool used = o->large || o->tail > 0;

    if (o->size <= TCP_OUTPUT_KEEP)
        return false;
    o->large = false;
    if (used)
        return true;
    PGAS_ASSERT(o->nrefs == 0 && o->unsent == 0);
    free(o->buf);
    o->buf = NULL;
    o->size = 0;
    return false;
}

void tcp_output_drop(struct tcp_stream *s, int error)
{
    struct tcp_output *o = &s->out;

    for (size_t i = o->first_ref; i < o->nrefs; i++)
        perform_completion(o->ref[i].done, error);
    o->first_ref = o->nrefs = 0;
    o->head = o->tail = 0;
    o->unsent = 0;
}

void tcp_stream_free(struct tcp_stream *s)
{
    free(s->out.buf);
    free(s->out.ref);
    free(s->in.part);
    s->out = (struct tcp_output){.buf = NULL};
    s->in = (struct tcp_input){.to = NULL};
}
