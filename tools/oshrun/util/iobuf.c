/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iobuf.c - see iobuf.h.  Uses libevent, error.c.
 */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/iobuf.h"

#include <errno.h>
#include <event2/buffer.h>
#include <string.h>
#include <unistd.h>

void iobuf_add(struct evbuffer **b, const void *data, size_t len)
{
    if (len == 0)
        return;
    if (*b == NULL)
        *b = evbuffer_new();
    if (*b == NULL || evbuffer_add(*b, data, len) != 0)
        error_no_memory();
}

void iobuf_free(struct evbuffer **b)
{
    if (*b != NULL)
        evbuffer_free(*b);
    *b = NULL;
}

void iobuf_flush(struct evbuffer **half, iobuf_lines_fn *lines, void *arg)
{
    struct evbuffer *b = *half;
    if (b == NULL)
        return;
    *half = NULL;
    const unsigned char *text = evbuffer_pullup(b, -1);
    if (text == NULL)
        error_no_memory();
    lines(arg, (const char *)text, evbuffer_get_length(b));
    evbuffer_free(b);
}

enum iobuf_status iobuf_read(struct evbuffer **half, int fd, bool whole_lines,
                             iobuf_lines_fn *lines, void *arg)
{
    char text[2 * IOBUF_READ];
    size_t had = *half != NULL ? evbuffer_get_length(*half) : 0;
    size_t kept = had <= IOBUF_READ ? had : 0; /* copied to the start of `text` */
    size_t max = IOBUF_MAX - had < IOBUF_READ ? IOBUF_MAX - had : IOBUF_READ;
    if (kept > 0)
        evbuffer_copyout(*half, text, kept);
    ssize_t n = read(fd, text + kept, max);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return IOBUF_EMPTY;
    if (n <= 0) {
        iobuf_flush(half, lines, arg);
        return IOBUF_END;
    }
    size_t len = kept + (size_t)n, whole = len;
    const char *end = whole_lines ? memrchr(text + kept, '\n', (size_t)n) : NULL;
    if (end != NULL) {
        whole = (size_t)(end - text) + 1;
    } else if (whole_lines && had + (size_t)n < IOBUF_MAX) {
        iobuf_add(half, text + kept, (size_t)n);
        return IOBUF_MORE;
    }
    if (kept == had) {
        iobuf_free(half);
        lines(arg, text, whole);
    } else {
        iobuf_add(half, text, whole);
        iobuf_flush(half, lines, arg);
    }
    iobuf_add(half, text + whole, len - whole);
    return IOBUF_MORE;
}
