/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front_io.c - see front_int.h: the standard files of oshrun.
 *
 * Uses nodes.h, out.c, loop.c, front_merge.c.
 */
#include "config.h"

#include "tools/oshrun/front/front_int.h"

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
    if (f->o->tag_output && len == 0 && *mid) {
        out_put(o, "\n", 1);
    } else if (f->o->tag_output) {
        front_io_put_tagged(o, rank, mid, text, len);
    } else if (len > 0) {
        out_put(o, text, len);
        *mid = text[len - 1] != '\n';
    }
}

void front_on_output(void *arg, uint32_t rank, enum daemon_stream s, const char *text,
                     size_t len)
{
    if (s == DAEMON_STDERR && len > 0)
        front_merge_put(arg, rank, text, len);
    else
        front_write(arg, rank, s, text, len);
}

static void front_io_flow_stdout(void *arg, bool go)
{
    struct front *f = arg;
    if (f->nodes != NULL)
        nodes_flow(f->nodes, DAEMON_STDOUT, go);
}

static void front_io_flow_stderr(void *arg, bool go)
{
    struct front *f = arg;
    if (f->nodes != NULL)
        nodes_flow(f->nodes, DAEMON_STDERR, go);
}

/* EPIPE: the reader has exited, which is not an error.  Other errors lose output. */
static void front_io_discard_output(struct front *f, enum daemon_stream s, int err)
{
    if (err != EPIPE) {
        front_say(f, "cannot write the standard %s: %s",
                  s == DAEMON_STDOUT ? "output" : "error", strerror(err));
        front_set_status(f, FRONT_EXIT_ERROR);
    }
    if (f->nodes != NULL)
        nodes_close_output(f->nodes, s);
}

static void front_io_on_stdout_closed(void *arg, int err)
{
    front_io_discard_output(arg, DAEMON_STDOUT, err);
}

static void front_io_on_stderr_closed(void *arg, int err)
{
    front_io_discard_output(arg, DAEMON_STDERR, err);
}

/* ---- input ------------------------------------------------------------------------ */

/* Reading the terminal from a background process group would stop us (SIGTTIN). */
static bool front_io_may_read_input(void)
{
    return !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void front_update_input(struct front *f)
{
    bool go = f->input_wanted && front_io_may_read_input();
    loop_want(&f->loop, &f->input_watch, go ? LOOP_IN : 0);
}

void front_on_input(void *arg, bool open)
{
    struct front *f = arg;
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
    nodes_input(f->nodes, f->input, n > 0 ? (size_t)n : 0);
}

/* ---- start and end ---------------------------------------------------------------- */

int front_open_files(struct front *f)
{
    for (int i = 0; i < DAEMON_STREAMS; i++) {
        out_open(&f->out[i], &f->loop,
                 i == DAEMON_STDOUT ? STDOUT_FILENO : STDERR_FILENO);
        f->out[i].flow = i == DAEMON_STDOUT ? front_io_flow_stdout : front_io_flow_stderr;
        f->out[i].gone =
            i == DAEMON_STDOUT ? front_io_on_stdout_closed : front_io_on_stderr_closed;
        f->out[i].arg = f;
        f->mid_line[i] = calloc(f->job.npes, sizeof *f->mid_line[i]);
        if (f->mid_line[i] == NULL)
            return -1;
    }
    if (front_merge_open(f) != 0)
        return -1;
    f->input_watch =
        (struct loop_watch){.fd = STDIN_FILENO, .fn = front_io_on_input_ready, .arg = f};
    return 0;
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
