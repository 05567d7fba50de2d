/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pe_io.c - the pipes between the daemon and its PEs.
 *
 * Uses libevent, iobuf.c, loop.c, daemon_wire.c.  Used by daemon.c, daemon_wire.c.
 *
 * Our ends are non-blocking.  When the front end cannot accept more output, we stop
 * reading, the pipe fills, and the PE blocks in write: there is no other flow control.
 */
#include "config.h"

#include "tools/oshrun/daemon/daemon_int.h"

#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <unistd.h>

#define READS_PER_TURN 4 /* so that one chatty PE does not starve the others */

static void pe_io_close_fd(int fd)
{
    if (fd > STDERR_FILENO)
        close(fd);
}

/* ---- output ----------------------------------------------------------------------- */

void pe_io_close_stream(struct pe_stream *s)
{
    if (s->watch.fd < 0)
        return;
    struct daemon *d = s->pe->d;
    loop_want(d->loop, &s->watch, 0);
    close(s->watch.fd);
    s->watch.fd = -1;
    iobuf_free(&s->half);
    d->open_streams--;
}

static void pe_io_on_lines(void *arg, const char *text, size_t len)
{
    struct pe_stream *s = arg;
    s->pe->d->bytes_read += len;
    daemon_send_output(s, text, len);
}

static void pe_io_end_stream(struct pe_stream *s)
{
    pe_io_close_stream(s);
    daemon_send_output(s, NULL, 0);
}

/* Reads at most `turns` times.  The output of a single PE (!whole_lines) is passed on at
 * once, as a terminal would show it. */
static void pe_io_read_stream(struct pe_stream *s, int turns)
{
    enum iobuf_status st = IOBUF_MORE;
    struct daemon *d = s->pe->d;
    while (st == IOBUF_MORE && turns-- > 0 && s->watch.fd >= 0 && !d->paused[s->which])
        st = iobuf_read(&s->half, s->watch.fd, d->job->whole_lines, pe_io_on_lines, s);
    if (st == IOBUF_END && s->watch.fd >= 0) {
        pe_io_end_stream(s);
        daemon_stream_ended(d);
    }
}

static void pe_io_on_readable(void *arg, unsigned ready)
{
    (void)ready;
    pe_io_read_stream(arg, READS_PER_TURN);
}

void pe_io_finish(struct pe *pe)
{
    for (int i = 0; i < DAEMON_STREAMS; i++) {
        struct pe_stream *s = &pe->out[i];
        if (s->watch.fd < 0)
            continue;
        for (int turns = 0; turns < READS_PER_TURN; turns++)
            if (iobuf_read(&s->half, s->watch.fd, false, pe_io_on_lines, s) != IOBUF_MORE)
                break;
        iobuf_flush(&s->half, pe_io_on_lines, s);
        pe_io_end_stream(s);
    }
}

void pe_io_flow(struct daemon *d, enum daemon_stream which, bool go)
{
    d->paused[which] = !go;
    for (uint32_t i = 0; i < d->npes; i++) {
        struct pe_stream *s = &d->pe[i].out[which];
        if (s->watch.fd >= 0)
            loop_want(d->loop, &s->watch, go ? LOOP_IN : 0);
    }
}

void pe_io_close_output(struct daemon *d, enum daemon_stream which)
{
    d->closed[which] = true;
    for (uint32_t i = 0; i < d->npes; i++)
        pe_io_close_stream(&d->pe[i].out[which]);
    daemon_stream_ended(d);
}

/* ---- input ------------------------------------------------------------------------ */

void pe_io_close_input(struct daemon *d)
{
    struct pe_input *in = &d->input;
    if (in->watch.fd < 0)
        return;
    loop_want(d->loop, &in->watch, 0);
    close(in->watch.fd);
    in->watch.fd = -1;
    iobuf_free(&in->pending);
}

static void pe_io_on_writable(void *arg, unsigned ready)
{
    struct daemon *d = arg;
    struct pe_input *in = &d->input;
    (void)ready;
    int n = evbuffer_write(in->pending, in->watch.fd);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) { /* EPIPE: the PE has closed its input */
        pe_io_close_input(d);
        daemon_send_u32(d, WIRE_INPUT_WANTED, false);
        return;
    }
    if (evbuffer_get_length(in->pending) > 0)
        return;
    iobuf_free(&in->pending);
    loop_want(d->loop, &in->watch, 0);
    daemon_send_u32(d, WIRE_INPUT_WANTED, true);
}

void pe_io_input(struct daemon *d, const char *text, size_t len)
{
    struct pe_input *in = &d->input;
    if (in->watch.fd < 0)
        return;
    if (len == 0 || len > DAEMON_INPUT_SIZE) {
        pe_io_close_input(d);
        return;
    }
    iobuf_add(&in->pending, text, len);
    loop_want(d->loop, &in->watch, LOOP_OUT);
}

/* ---- pipes ------------------------------------------------------------------------ */

/* Creates a pipe.  Our end is non-blocking: the read end if ours_reads, else the write
 * end. */
static int pe_io_make_pipe(int *ours, int *theirs, bool ours_reads)
{
    int p[2];
    if (pipe2(p, O_CLOEXEC) != 0)
        return -1;
    *ours = p[ours_reads ? 0 : 1];
    *theirs = p[ours_reads ? 1 : 0];
    return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

static void pe_io_watch_stream(struct pe *pe, enum daemon_stream which, int fd)
{
    struct pe_stream *s = &pe->out[which];
    s->watch = (struct loop_watch){.fd = fd, .fn = pe_io_on_readable, .arg = s};
    pe->d->open_streams++;
}

int pe_io_open(struct pe *pe, int child[3])
{
    struct daemon *d = pe->d;
    int ours;
    for (int i = 0; i <= STDERR_FILENO; i++)
        child[i] = i; /* under gdb: the standard files of oshrun */
    if (pe->rank == d->job->gdb_pe)
        return 0;
    if (pe->rank == d->job->stdin_pe) {
        if (pe_io_make_pipe(&ours, &child[STDIN_FILENO], false) != 0)
            return -1;
        d->input.watch =
            (struct loop_watch){.fd = ours, .fn = pe_io_on_writable, .arg = d};
    } else {
        child[STDIN_FILENO] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    if (child[STDIN_FILENO] < 0 ||
        pe_io_make_pipe(&ours, &child[STDOUT_FILENO], true) != 0)
        return -1;
    pe_io_watch_stream(pe, DAEMON_STDOUT, ours);
    if (pe_io_make_pipe(&ours, &child[STDERR_FILENO], true) != 0)
        return -1;
    pe_io_watch_stream(pe, DAEMON_STDERR, ours);
    return 0;
}

void pe_io_started(struct pe *pe, const int child[3])
{
    struct daemon *d = pe->d;
    for (int i = 0; i <= STDERR_FILENO; i++)
        pe_io_close_fd(child[i]);
    for (int i = 0; i < DAEMON_STREAMS; i++)
        if (d->closed[i])
            pe_io_close_stream(&pe->out[i]);
        else if (pe->out[i].watch.fd >= 0)
            loop_want(d->loop, &pe->out[i].watch, d->paused[i] ? 0 : LOOP_IN);
}
