/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent.c - a process that starts a daemon on its node (ssh, srun), or is the daemon.
 *
 * Uses libevent, child.c, iobuf.c, loop.c.  Used by starter.c.
 *
 * Its standard input is a pipe that gets one line and is closed; its output is one pipe,
 * read line by line.  It has a session of its own, so that it cannot read our terminal
 * and gets no signals from its keys.
 */
#include "config.h"

#include "tools/oshrun/start/starter_int.h"

#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define DRAIN_MAX 64 /* reads of the pipe at once */
#define DELETE    127

static void agent_close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void agent_close_watch(struct agent *a, struct loop_watch *w)
{
    loop_want(starter_loop(a->s), w, 0);
    agent_close_fd(&w->fd);
}

static void agent_close_input(struct agent *a)
{
    agent_close_watch(a, &a->in);
    seal_memory_free(a->input, a->input_size);
    a->input = NULL;
}

/* ---- its output ------------------------------------------------------------------- */

/* Reports a line or part of one.  Control characters are replaced, since they could
 * affect the terminal. */
static void agent_report(struct agent *a, const char *text, size_t len)
{
    while (len > 0 && (text[len - 1] == '\r' || text[len - 1] == ' '))
        len--;
    if (len == 0)
        return;
    char line[LINE_BYTES];
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        line[i] = c == '\t' || (c >= ' ' && c != DELETE) ? text[i] : '?';
    }
    line[len] = '\0';
    starter_said(a, line);
}

static void agent_on_lines(void *arg, const char *text, size_t len)
{
    struct agent *a = arg;
    while (len > 0) {
        size_t max = len < LINE_BYTES - 1 ? len : LINE_BYTES - 1;
        const char *end = memchr(text, '\n', max);
        size_t n = end != NULL ? (size_t)(end - text) : max;
        agent_report(a, text, n);
        n += end != NULL;
        text += n;
        len -= n;
    }
}

static void agent_on_output(void *arg, unsigned ready)
{
    struct agent *a = arg;
    (void)ready;
    if (iobuf_read(&a->half, a->out.fd, true, agent_on_lines, a) == IOBUF_END)
        agent_close_watch(a, &a->out);
}

/* The pipe stays open if a process that the agent started holds it. */
void agent_drain(struct agent *a)
{
    enum iobuf_status s = IOBUF_MORE;
    for (int i = 0; i < DRAIN_MAX && s == IOBUF_MORE && a->out.fd >= 0; i++) {
        s = iobuf_read(&a->half, a->out.fd, true, agent_on_lines, a);
        if (s == IOBUF_END)
            agent_close_watch(a, &a->out);
    }
}

static void agent_drain_all(struct agent *a)
{
    agent_drain(a);
    iobuf_flush(&a->half, agent_on_lines, a);
}

/* ---- its input -------------------------------------------------------------------- */

static void agent_on_input(void *arg, unsigned ready)
{
    struct agent *a = arg;
    (void)ready;
    ssize_t n =
        write(a->in.fd, a->input + a->input_written, a->input_len - a->input_written);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    a->input_written += n > 0 ? (size_t)n : 0;
    if (n < 0 || a->input_written == a->input_len)
        agent_close_input(a); /* it does not read: its output or its end tells why */
}

/* ---- its end ---------------------------------------------------------------------- */

static bool agent_has_exited(struct agent *a, siginfo_t *how)
{
    *how = (siginfo_t){0};
    return waitid(P_PID, (id_t)a->pid, how, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           how->si_pid == a->pid;
}

static void agent_on_end(void *arg, unsigned ready)
{
    struct agent *a = arg;
    siginfo_t how;
    (void)ready;
    if (!agent_has_exited(a, &how))
        return;
    agent_close_watch(a, &a->end);
    agent_close_input(a);
    agent_drain_all(a);
    a->ended = true;
    starter_ended(a, &how);
}

/* ---- start and stop --------------------------------------------------------------- */

void agent_init(struct agent *a, struct starter *s, uint32_t node)
{
    a->s = s;
    a->node = node;
    a->in = (struct loop_watch){.fd = -1, .fn = agent_on_input, .arg = a};
    a->out = (struct loop_watch){.fd = -1, .fn = agent_on_output, .arg = a};
    a->end = (struct loop_watch){.fd = -1, .fn = agent_on_end, .arg = a};
}

/* Our end of the pipes does not block; theirs does, as programs expect. */
static int agent_open_pipes(struct agent *a, int theirs[2])
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0)
        return -1;
    a->in.fd = in[1];
    theirs[0] = in[0];
    if (pipe2(out, O_CLOEXEC) != 0)
        return -1;
    a->out.fd = out[0];
    theirs[1] = out[1];
    return fcntl(in[1], F_SETFL, O_NONBLOCK) != 0 ||
                   fcntl(out[0], F_SETFL, O_NONBLOCK) != 0
               ? -1
               : 0;
}

static int agent_spawn(struct agent *a, struct child_spec *spec, int theirs[2],
                       const char **step)
{
    *step = "make pipes";
    if (agent_open_pipes(a, theirs) != 0)
        return -1;
    spec->fd[STDIN_FILENO] = theirs[0];
    spec->fd[STDOUT_FILENO] = spec->fd[STDERR_FILENO] = theirs[1];
    spec->wdir_fd = -1;
    spec->session = true;
    pid_t pid = child_start(spec, step);
    if (pid < 0)
        return -1;
    a->pid = pid;
    *step = "watch it (pidfd_open)";
    a->end.fd = pidfd_open(pid, 0);
    return a->end.fd < 0 ? -1 : 0;
}

int agent_start(struct agent *a, struct child_spec *spec, const char **step)
{
    int theirs[2] = {-1, -1};
    int rc = agent_spawn(a, spec, theirs, step);
    int err = errno;
    agent_close_fd(&theirs[0]);
    agent_close_fd(&theirs[1]);
    if (rc != 0) {
        agent_silence(a);
        agent_close_fd(&a->out.fd);
        errno = err;
        return -1;
    }
    struct loop *loop = starter_loop(a->s);
    loop_want(loop, &a->in, LOOP_OUT);
    loop_want(loop, &a->out, LOOP_IN);
    loop_want(loop, &a->end, LOOP_IN);
    return 0;
}

void agent_silence(struct agent *a)
{
    agent_close_input(a);
    loop_want(starter_loop(a->s), &a->out, 0);
    loop_want(starter_loop(a->s), &a->end, 0);
}

void agent_wait(struct agent *a, uint64_t until_ns)
{
    siginfo_t how;
    while (a->pid > 0 && !a->ended && !(a->ended = agent_has_exited(a, &how))) {
        uint64_t now = loop_now_ns();
        if (now >= until_ns)
            return;
        struct pollfd p[2] = {{.fd = a->end.fd, .events = POLLIN},
                              {.fd = a->out.fd, .events = POLLIN}};
        if (poll(p, 2, (int)((until_ns - now) / NS_PER_MS) + 1) > 0 && p[1].revents != 0)
            agent_on_output(a, LOOP_IN);
    }
}

bool agent_finish(struct agent *a)
{
    if (a->out.fd >= 0)
        agent_drain_all(a);
    agent_close_watch(a, &a->out);
    agent_close_watch(a, &a->end);
    iobuf_free(&a->half);
    return a->pid == 0 || waitpid(a->pid, NULL, WNOHANG) == a->pid;
}
