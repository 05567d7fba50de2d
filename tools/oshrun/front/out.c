/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * out.c - oshrun's own standard output and error: bounded queues that never block.
 *
 * Uses loop.c.  Used by front.c.
 *
 * The open file descriptions of the inherited descriptors are shared with other
 * processes, so they must stay blocking.  A pipe or a terminal is reopened through /proc,
 * which gives a private, non-blocking description.  Where that fails, we write at most
 * PIPE_BUF bytes after poll has reported space, which does not block unless another
 * process fills the same pipe in between.
 */
#include "config.h"

#include "tools/oshrun/front/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HIGH_MARK      ((size_t)512 * 1024) /* above it we stop reading from the PEs */
#define LOW_MARK       ((size_t)64 * 1024)  /* below it we resume */
#define FIRST_CAPACITY ((size_t)16 * 1024)
#define WRITE_MAX      ((size_t)64 * 1024)
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

bool out_empty(const struct out *o)
{
    return o->closed || o->head == o->tail;
}

static void out_close_queue(struct out *o, int err)
{
    o->closed = true;
    loop_want(o->loop, &o->watch, 0);
    o->head = o->tail = 0;
    if (o->gone != NULL)
        o->gone(o->arg, err);
}

/* One write of pending data.  True if more can be written now. */
static bool out_write_some(struct out *o)
{
    size_t max = o->reopened ? WRITE_MAX : PIPE_BUF;
    size_t len = o->tail - o->head;
    ssize_t n = write(o->fd, o->data + o->head, len < max ? len : max);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n < 0) {
        out_close_queue(o, errno);
        return false;
    }
    o->head += (size_t)n;
    if (o->head < o->tail) {
        struct pollfd p = {.fd = o->fd, .events = POLLOUT};
        return o->reopened || poll(&p, 1, 0) == 1;
    }
    o->head = o->tail = 0;
    return false;
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
    if (o->full && o->tail - o->head <= LOW_MARK) {
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
}

/* Makes space for len bytes after the tail. */
static bool out_reserve(struct out *o, size_t len)
{
    if (o->head > 0) {
        memmove(o->data, o->data + o->head, o->tail - o->head);
        o->tail -= o->head;
        o->head = 0;
    }
    size_t capacity = o->capacity ? o->capacity : FIRST_CAPACITY;
    while (capacity < o->tail + len)
        capacity *= 2;
    char *more = realloc(o->data, capacity);
    if (more == NULL)
        return false;
    o->data = more;
    o->capacity = capacity;
    return true;
}

void out_put(struct out *o, const char *text, size_t len)
{
    if (o->closed || len == 0)
        return;
    if (o->capacity - o->tail < len && !out_reserve(o, len))
        return;
    memcpy(o->data + o->tail, text, len);
    o->tail += len;
    loop_want(o->loop, &o->watch, LOOP_OUT);
    if (!o->full && o->tail - o->head >= HIGH_MARK && o->flow != NULL) {
        o->full = true;
        o->flow(o->arg, false);
    }
}

void out_finish(struct out *o, int ms)
{
    uint64_t end = loop_now_ns() + (uint64_t)ms * 1000000u;
    while (!out_empty(o) && loop_now_ns() < end) {
        struct pollfd p = {.fd = o->fd, .events = POLLOUT};
        if (poll(&p, 1, ms) > 0)
            out_on_writable(o, LOOP_OUT);
    }
    loop_want(o->loop, &o->watch, 0);
    free(o->data);
    o->data = NULL;
    o->head = o->tail = o->capacity = 0;
}
