/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iobuf.c - splits the output of one process into whole lines.
 *
 * Uses nothing of ours.  Used by pe_io.c, agent.c.
 */
#include "config.h"

#include "tools/oshrun/util/iobuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void iobuf_drop(struct iobuf *b)
{
    free(b->data);
    *b = (struct iobuf){0};
}

void iobuf_flush(struct iobuf *b, iobuf_lines_fn *lines, void *arg)
{
    if (b->len > 0 && lines != NULL)
        lines(arg, b->data, b->len);
    iobuf_drop(b);
}

/* Number of bytes to pass on: up to the last newline, or all if !whole_lines or if a
 * line fills the buffer. */
static size_t iobuf_complete(const struct iobuf *b, bool whole_lines)
{
    if (!whole_lines)
        return b->len;
    const char *end = memrchr(b->data, '\n', b->len);
    if (end != NULL)
        return (size_t)(end - b->data) + 1;
    return b->len == IOBUF_MAX ? b->len : 0;
}

static void iobuf_pass_on(struct iobuf *b, bool whole_lines, iobuf_lines_fn *lines,
                          void *arg)
{
    size_t n = iobuf_complete(b, whole_lines);
    if (n > 0)
        lines(arg, b->data, n);
    b->len -= n;
    if (b->len == 0)
        iobuf_drop(b);
    else if (n > 0)
        memmove(b->data, b->data + n, b->len);
}

/* Reserves at least one byte. */
static bool iobuf_reserve(struct iobuf *b)
{
    if (b->len < b->capacity)
        return true;
    size_t capacity = b->capacity > 0 ? b->capacity * 2 : IOBUF_FIRST;
    char *more = realloc(b->data, capacity);
    if (more == NULL)
        return false;
    b->data = more;
    b->capacity = capacity;
    return true;
}

enum iobuf_status iobuf_read(struct iobuf *b, int fd, bool whole_lines,
                             iobuf_lines_fn *lines, void *arg)
{
    if (!iobuf_reserve(b))
        return IOBUF_EMPTY; /* out of memory: retry when fd is reported again */
    ssize_t n = read(fd, b->data + b->len, b->capacity - b->len);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        if (b->len == 0)
            iobuf_drop(b);
        return IOBUF_EMPTY;
    }
    if (n <= 0) {
        iobuf_flush(b, lines, arg);
        return IOBUF_END;
    }
    b->len += (size_t)n;
    iobuf_pass_on(b, whole_lines, lines, arg);
    return IOBUF_MORE;
}
