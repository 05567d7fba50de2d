/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * out.h - oshrun's own standard output and error: bounded queues that never block.
 *
 * Uses loop.h.  Used by front.c.
 */
#ifndef OSHRUN_FRONT_OUT_H
#define OSHRUN_FRONT_OUT_H

#include "tools/oshrun/util/loop.h"

#include <stdbool.h>
#include <stddef.h>

struct out {
    struct loop *loop;
    struct loop_watch watch;
    int fd;        /* what is written to: a reopened of the inherited descriptor, or it */
    bool reopened; /* opened anew by us and non-blocking */
    char *data;    /* [head, tail) waits to be written */
    size_t head, tail, capacity;
    bool full;   /* above the high mark: `flow` was told to stop */
    bool closed; /* nothing can be written any more */
    void (*flow)(void *arg, bool go);
    /* Writing failed: EPIPE when the reader closed its end. */
    void (*gone)(void *arg, int err);
    void *arg;
};

void out_open(struct out *o, struct loop *loop, int fd);
void out_put(struct out *o, const char *text, size_t len);

/* All written, or nobody to write to. */
bool out_empty(const struct out *o);

/* Waits up to ms for the rest to be written; then gives up. */
void out_finish(struct out *o, int ms);

#endif
