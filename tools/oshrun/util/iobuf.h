/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iobuf.h - cuts the output of one PE into whole lines.
 *
 * Uses nothing of ours.  Used by daemon.c.
 */
#ifndef OSHRUN_UTIL_IOBUF_H
#define OSHRUN_UTIL_IOBUF_H

#include <stdbool.h>
#include <stddef.h>

#define IOBUF_FIRST ((size_t)64 << 10) /* bytes at first */
#define IOBUF_MAX   ((size_t)1 << 20)  /* the longest line that others never cut */

/* Zeroed = empty.  Has memory only while it holds half a line. */
struct iobuf {
    char *data;
    size_t len, capacity;
};

enum iobuf_status { IOBUF_MORE, IOBUF_EMPTY, IOBUF_END };

/* Whole lines, or a piece of a line that is longer than the buffer. */
typedef void iobuf_lines_fn(void *arg, const char *text, size_t len);

/* Reads once from the non-blocking fd and passes on what is complete (everything at
 * once if !whole_lines).  IOBUF_END: end of file, the last half line is passed on. */
enum iobuf_status iobuf_read(struct iobuf *b, int fd, bool whole_lines,
                             iobuf_lines_fn *lines, void *arg);

/* Passes on the half line that is left (lines = NULL: drops it), frees the memory. */
void iobuf_flush(struct iobuf *b, iobuf_lines_fn *lines, void *arg);

#endif
