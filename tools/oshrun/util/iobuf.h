/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iobuf.h - byte buffers (struct evbuffer of libevent) that exist only while they hold
 * data, and the output of a process, split into whole lines.
 *
 * Uses libevent, error.h.  Used by link.c, route.c, pe_io.c, agent.c.
 */
#ifndef OSHRUN_UTIL_IOBUF_H
#define OSHRUN_UTIL_IOBUF_H

#include <stdbool.h>
#include <stddef.h>

#define IOBUF_READ ((size_t)64 << 10) /* most bytes of one read */
#define IOBUF_MAX  ((size_t)1 << 20)  /* longest line that is passed on in one piece */

struct evbuffer;

/* Appends to *b, which is NULL if it is empty.  Without memory the process ends. */
void iobuf_add(struct evbuffer **b, const void *data, size_t len);

/* Frees *b and sets it to NULL. */
void iobuf_free(struct evbuffer **b);

enum iobuf_status { IOBUF_MORE, IOBUF_EMPTY, IOBUF_END };

/* Gets whole lines, part of a line that is longer than IOBUF_MAX, or any bytes if
 * !whole_lines. */
typedef void iobuf_lines_fn(void *arg, const char *text, size_t len);

/* Reads once from the non-blocking fd and passes on complete lines (all bytes if
 * !whole_lines).  *half holds the partial last line; NULL: there is none.  IOBUF_END: end
 * of file or error; a partial last line was passed on. */
enum iobuf_status iobuf_read(struct evbuffer **half, int fd, bool whole_lines,
                             iobuf_lines_fn *lines, void *arg);

/* Passes on the remaining partial line, if any, and frees its memory. */
void iobuf_flush(struct evbuffer **half, iobuf_lines_fn *lines, void *arg);

#endif
