/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iobuf.h - splits the output of one process into whole lines.
 *
 * Uses nothing of ours.  Used by pe_io.c, agent.c.
 */
#ifndef OSHRUN_UTIL_IOBUF_H
#define OSHRUN_UTIL_IOBUF_H

#include <stdbool.h>
#include <stddef.h>

#define IOBUF_FIRST ((size_t)64 << 10) /* initial capacity in bytes */
#define IOBUF_MAX   ((size_t)1 << 20)  /* longest line that is passed on in one piece */

/* Zero-initialized = empty.  Has memory only while it holds a partial line. */
struct iobuf {
    char *data;
    size_t len, capacity;
};

enum iobuf_status { IOBUF_MORE, IOBUF_EMPTY, IOBUF_END };

/* Gets whole lines, part of a line that is longer than IOBUF_MAX, or any bytes if
 * !whole_lines. */
typedef void iobuf_lines_fn(void *arg, const char *text, size_t len);

/* Reads once from the non-blocking fd and passes on complete lines (all bytes if
 * !whole_lines).  IOBUF_END: end of file or error; a partial last line was passed on. */
enum iobuf_status iobuf_read(struct iobuf *b, int fd, bool whole_lines,
                             iobuf_lines_fn *lines, void *arg);

/* Passes on the remaining partial line (lines = NULL: discards it) and frees the
 * memory. */
void iobuf_flush(struct iobuf *b, iobuf_lines_fn *lines, void *arg);

#endif
