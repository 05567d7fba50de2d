/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_input.c - receives and splits a stream into messages (see tcp_stream.h).
 *
 * A receive fills the current region directly, so that a long payload is not copied, and
 * puts what follows into a scratch buffer that the streams of a context share.  Complete
 * messages are evaluated in the scratch buffer.  An incomplete one is moved to the
 * stream's own buffer, `part`, whose remaining bytes are the next region: first the head,
 * then what the head says.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/datatype/copy.h"
#include "pgas/transport/tcp/tcp_stream.h"

enum { PART_FIRST = 256, MESSAGE_MAX = 1 << 20 };

void tcp_input_payload(struct tcp_stream *s, void *to, uint64_t len)
{
    PGAS_ASSERT(s->in.left == 0 && len > 0);
    s->in.to = to;
    s->in.left = len;
    s->in.in_part = false;
}

/* The region is the rest of a message of `need` bytes, of which part has s->in.have. */
static int tcp_input_want(struct tcp_stream *s, size_t need)
{
    struct tcp_input *in = &s->in;

    if (need > in->part_size) {
        size_t size = need < PART_FIRST ? PART_FIRST : need;
        unsigned char *part = realloc(in->part, size);
        if (part == NULL)
            return -ENOMEM;
        in->part = part;
        in->part_size = size;
    }
    in->to = (char *)in->part + in->have;
    in->left = need - in->have;
    in->have = need;
    in->in_part = true;
    return 0;
}

/* The size of the message at `head`; or -EBADMSG (it is repeated), -EPROTO. */
static ptrdiff_t tcp_input_size(struct tcp_stream *s, const struct tcp_reader *reader,
                                const void *head)
{
    ptrdiff_t size = reader->size(s, head);

    if (size == TCP_REPEATED)
        return -EBADMSG;
    return size < TCP_HEAD || size > MESSAGE_MAX ? -EPROTO : size;
}

/* The region is full. */
static int tcp_input_full(struct tcp_stream *s, const struct tcp_reader *reader)
{
    struct tcp_input *in = &s->in;

    if (!in->in_part)
        return reader->filled(s);
    if (in->have == TCP_HEAD) {
        ptrdiff_t size = tcp_input_size(s, reader, in->part);
        if (size < 0)
            return (int)size;
        if (size > TCP_HEAD)
            return tcp_input_want(s, (size_t)size);
    }
    in->have = 0;
    return reader->evaluate(s, in->part);
}

/* Moves bytes of the scratch buffer to the region; returns their number or an error. */
static ptrdiff_t tcp_input_fill(struct tcp_stream *s, const struct tcp_reader *reader,
                                const char *from, size_t len)
{
    struct tcp_input *in = &s->in;
    size_t n = len < in->left ? len : (size_t)in->left;

    copy_bytes(in->to, from, n);
    in->to += n;
    in->left -= n;
    int error = in->left == 0 ? tcp_input_full(s, reader) : 0;
    return error != 0 ? error : (ptrdiff_t)n;
}

/* Evaluates the message at `from` if it is complete, else begins a part. */
static ptrdiff_t tcp_input_message(struct tcp_stream *s, const struct tcp_reader *reader,
                                   const char *from, size_t len)
{
    ptrdiff_t size = TCP_HEAD;
    int error;

    if (len >= TCP_HEAD)
        size = tcp_input_size(s, reader, from);
    if (size < 0)
        return size;
    if ((size_t)size <= len) {
        error = reader->evaluate(s, from);
        return error != 0 ? error : size;
    }
    PGAS_ASSERT(s->in.have == 0);
    /* Of a complete head the size is computed again, when the part has the head. */
    error = tcp_input_want(s, TCP_HEAD);
    return error;
}

static int tcp_input_parse(struct tcp_stream *s, const struct tcp_reader *reader,
                           const char *from, size_t len)
{
    while (len > 0) {
        ptrdiff_t n = s->in.left > 0 ? tcp_input_fill(s, reader, from, len)
                                     : tcp_input_message(s, reader, from, len);
        if (n < 0)
            return (int)n;
        from += n;
        len -= (size_t)n;
    }
    return 0;
}

/* n bytes were received: first into the region, then into the scratch buffer. */
static int tcp_input_received(struct tcp_stream *s, const struct tcp_reader *reader,
                              const char *scratch, size_t n)
{
    size_t direct = n < s->in.left ? n : (size_t)s->in.left;
    int error = 0;

    s->in.to += direct;
    s->in.left -= direct;
    if (direct > 0 && s->in.left == 0)
        error = tcp_input_full(s, reader);
    return error != 0 ? error : tcp_input_parse(s, reader, scratch, n - direct);
}

int tcp_input_read(struct tcp_stream *s, const struct tcp_reader *reader, void *scratch,
                   size_t size)
{
    size_t region = (size_t)s->in.left;
    struct iovec iov[] = {{s->in.to, region}, {scratch, size}};
    struct msghdr message = {.msg_iov = region > 0 ? iov : iov + 1,
                             .msg_iovlen = region > 0 ? 2 : 1};
    ssize_t n = recvmsg(s->fd, &message, MSG_DONTWAIT);

    if (n == 0)
        return -ESHUTDOWN;
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -errno;
    int error = tcp_input_received(s, reader, scratch, (size_t)n);
    if (error != 0)
        return error;
    return (size_t)n == region + size ? 1 : 0;
}
