/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front_io.c - see front_int.h: the standard files of oshrun.
 *
 * Uses daemons.h, out.c, loop.c, front_merge.c.
 */
#include "config.h"

#include "tools/oshrun/front/front_int.h"
#include "tools/oshrun/util/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define LAST_WORDS_MS 300     /* to write pending output of a terminated job */
#define HOUR_MS       3600000 /* to write pending output after a normal end */
#define TAG_BYTES     16

/* ---- output ----------------------------------------------------------------------- */

/* Prefixes each line with "[PE] "; a line may arrive in pieces. */
static void front_io_put_tagged(struct out *o, uint32_t rank, bool *mid, const char *text,
                                size_t len)
{
    char tag[TAG_BYTES];
    size_t tag_len = (size_t)snprintf(tag, sizeof tag, "[%u] ", rank);
    while (len > 0) {
        const char *end = memchr(text, '\n', len);
        size_t n = end != NULL ? (size_t)(end - text) + 1 : len;
        if (!*mid)
            out_put(o, tag, tag_len);
        out_put(o, text, n);
        *mid = end == NULL;
        text += n;
        len -= n;
    }
}

void front_write(struct front *f, uint32_t rank, enum daemon_stream s, const char *text,
                 size_t len)
{
    struct out *o = &f->out[s];
    bool *mid = &f->mid_line[s][rank];
    if (!f->o->tag_output)
        out_put(o, text, len);
    else if (len == 0 && *mid)
        out_put(o, "\n", 1);
    else
        front_io_put_tagged(o, rank, mid, text, len);
}

void front_on_output(struct front *f, uint32_t rank, enum daemon_stream s,
                     const char *text, size_t len)
{
    if (s == DAEMON_STDERR)
        front_merge_put(f, rank, text, len);
    else
        front_write(f, rank, s, text, len);
}

static void front_io_on_flow(void *arg, bool go)
{
    const struct front_stream *s = arg;
    if (s->front->daemons != NULL)
        daemons_flow(s->front->daemons, s->which, go);
}

/* EPIPE: the reader has exited, which is not an error.  Other errors lose output. */
static void front_io_on_closed(void *arg, int err)
{
    const struct front_stream *s = arg;
    if (err != EPIPE) {
        front_say(s->front, "cannot write the standard %s: %s",
                  s->which == DAEMON_STDOUT ? "output" : "error", strerror(err));
        front_set_status(s->front, FRONT_EXIT_ERROR);
    }
    if (s->front->daemons != NULL)
        daemons_close_output(s->front->daemons, s->which);
}

/* ---- input ------------------------------------------------------------------------ */

void front_update_input(struct front *f)
{
    /* Reading the terminal from a background process group would stop us (SIGTTIN). */
    bool go = f->input_wanted &&
              (!isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp());
    loop_want(&f->loop, &f->input_watch, go ? LOOP_IN : 0);
}

void front_on_input(struct front *f, bool open)
{
    f->input_wanted = open;
    front_update_input(f);
}

static void front_io_on_input_ready(void *arg, unsigned ready)
{
    struct front *f = arg;
    (void)ready;
    front_update_input(f);
    if (f->input_watch.want == 0)
        return;
    ssize_t n = read(STDIN_FILENO, f->input, sizeof f->input);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    front_on_input(f, false); /* until the daemon has space again */
    daemons_input(f->daemons, f->input, n > 0 ? (size_t)n : 0);
}

/* ---- start and end ---------------------------------------------------------------- */

void front_open_files(struct front *f)
{
    for (int i = 0; i < DAEMON_STREAMS; i++) {
        f->stream[i] = (struct front_stream){.front = f, .which = (enum daemon_stream)i};
        out_open(&f->out[i], &f->loop,
                 i == DAEMON_STDOUT ? STDOUT_FILENO : STDERR_FILENO);
        f->out[i].flow = front_io_on_flow;
        f->out[i].gone = front_io_on_closed;
        f->out[i].arg = &f->stream[i];
        f->mid_line[i] = mem_calloc(f->job.npes, sizeof *f->mid_line[i]);
    }
    front_merge_open(f);
    f->input_watch =
        (struct loop_watch){.fd = STDIN_FILENO, .fn = front_io_on_input_ready, .arg = f};
}

void front_close_files(struct front *f)
{
    front_merge_close(f);
    front_sites_free(f);
    for (int i = 0; i < DAEMON_STREAMS; i++) {
        out_finish(&f->out[i], f->ending ? LAST_WORDS_MS : HOUR_MS);
        free(f->mid_line[i]);
    }
}
