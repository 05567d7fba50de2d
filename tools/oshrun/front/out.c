/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * out.c - oshrun's own standard output and error: bounded queues that never block.
 *
 * Uses libevent, loop.c, error.c.  Used by front.c, front_io.c and front_merge.c.
 *
 * The open file descriptions of the inherited descriptors are shared with other
 * processes, so they must stay blocking.  A pipe or a terminal is reopened through /proc,
 * which gives a private, non-blocking description.  Where that fails, we write at most
 * PIPE_BUF bytes after poll has reported space, which does not block unless another
 * process fills the same pipe in between.
 */
#include "config.h"

#include "tools/oshrun/front/out.h"
#include "tools/oshrun/util/error.h"

#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>

#define HIGH_MARK      ((size_t)512 * 1024) /* above it we stop reading from the PEs */
#define LOW_MARK       ((size_t)64 * 1024)  /* below it we resume */
#define WRITE_MAX      (64 * 1024)
#define WRITES_AT_ONCE 16
#define PROC_PATH      32

static int out_reopen_nonblocking(int fd)
{
    char path[PROC_PATH];
    struct stat st;
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
        return -1; /* not open for writing; /proc might allow it anyway */
    if (fstat(fd, &st) != 0 || !(S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* True if nothing is pending, or a write has failed. */
static bool out_empty(const struct out *o)
{
    return o->closed || evbuffer_get_length(o->pending) == 0;
}

static void out_close_queue(struct out *o, int err)
{
    o->closed = true;
    loop_want(o->loop, &o->watch, 0);
    evbuffer_drain(o->pending, evbuffer_get_length(o->pending));
    if (o->gone != NULL)
        o->gone(o->arg, err);
}

/* One write of pending data.  True if more can be written now. */
static bool out_write_some(struct out *o)
{
    struct pollfd p = {.fd = o->fd, .events = POLLOUT};
    int n = evbuffer_write_atmost(o->pending, o->fd, o->reopened ? WRITE_MAX : PIPE_BUF);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        out_close_queue(o, errno);
    return n >= 0 && !out_empty(o) && (o->reopened || poll(&p, 1, 0) == 1);
}

static void out_on_writable(void *arg, unsigned ready)
{
    struct out *o = arg;
    (void)ready;
    for (int i = 0; i < WRITES_AT_ONCE && !out_empty(o); i++)
        if (!out_write_some(o))
            break;
    if (out_empty(o))
        loop_want(o->loop, &o->watch, 0);
    if (o->full && evbuffer_get_length(o->pending) <= LOW_MARK) {
        o->full = false;
        o->flow(o->arg, true);
    }
}

void out_open(struct out *o, struct loop *loop, int fd)
{
    int reopened = out_reopen_nonblocking(fd);
    *o = (struct out){
        .loop = loop, .fd = reopened >= 0 ? reopened : fd, .reopened = reopened >= 0};
    o->watch = (struct loop_watch){.fd = o->fd, .fn = out_on_writable, .arg = o};
    o->pending = evbuffer_new();
    if (o->pending == NULL)
        error_no_memory();
}

void out_put(struct out *o, const char *text, size_t len)
{
    if (o->closed || len == 0)
        return;
    if (evbuffer_add(o->pending, text, len) != 0)
        error_no_memory();
    loop_want(o->loop, &o->watch, LOOP_OUT);
    if (!o->full && evbuffer_get_length(o->pending) >= HIGH_MARK && o->flow != NULL) {
        o->full = true;
        o->flow(o->arg, false);
    }
}

void out_finish(struct out *o, int ms)
{
    uint64_t end = loop_now_ns() + (uint64_t)ms * NS_PER_MS;
    if (o->pending == NULL)
        return; /* out_open was not called */
    while (!out_empty(o) && loop_now_ns() < end) {
        struct pollfd p = {.fd = o->fd, .events = POLLOUT};
        if (poll(&p, 1, ms) > 0)
            out_on_writable(o, LOOP_OUT);
    }
    loop_want(o->loop, &o->watch, 0);
    evbuffer_free(o->pending);
    o->pending = NULL;
}
