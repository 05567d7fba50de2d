/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * out.h - oshrun's own standard output and error: bounded queues that never block.
 *
 * Uses libevent, loop.h.  Used by front.c, front_io.c and front_merge.c.
 */
#ifndef OSHRUN_FRONT_OUT_H
#define OSHRUN_FRONT_OUT_H

#include "tools/oshrun/util/loop.h"

#include <stdbool.h>
#include <stddef.h>

struct evbuffer;

struct out {
    struct loop *loop;
    struct loop_watch watch;
    int fd;        /* the inherited descriptor, or one reopened from it */
    bool reopened; /* fd was reopened and is non-blocking */
    bool full;     /* above HIGH_MARK: flow(arg, false) was called */
    bool closed;   /* a write failed */
    struct evbuffer *pending;
    void (*flow)(void *arg, bool go);
    /* Writing failed: EPIPE when the reader closed its end. */
    void (*gone)(void *arg, int err);
    void *arg;
};

void out_open(struct out *o, struct loop *loop, int fd);
void out_put(struct out *o, const char *text, size_t len);

/* Writes pending data for at most ms milliseconds, discards the rest and frees the
 * queue. */
void out_finish(struct out *o, int ms);

#endif
