/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.c - the front end: decides what happens to the job, and talks to the user.
 *
 * Uses daemon.h (the seam), out.c, verdict.c, timing.c, loop.c.  Used by main.c.
 *
 * A job runs, is perhaps ended (SIGTERM to all, SIGKILL half a second later), and is
 * over when the daemon has seen all PEs end and has sent all of their output.  The first
 * failure in time decides the exit status.
 */
#include "config.h"

#include "tools/oshrun/node/daemon.h"
#include "tools/oshrun/front.h"
#include "tools/oshrun/out.h"
#include "tools/oshrun/timing.h"
#include "tools/oshrun/verdict.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#define EXIT_ERROR    1
#define EXIT_TIMEOUT  124
#define STATUS_SIGNAL 128
#define STATUS_MASK   255
#define MS_PER_S      1000u
#define KILL_MS       500     /* between SIGTERM and SIGKILL */
#define GIVE_UP_MS    1500    /* after SIGKILL: do not wait for output any longer */
#define UNFINISHED_MS 1000    /* others may follow a PE that left without finalizing */
#define LAST_WORDS_MS 300     /* for output that is left when an ended job is over */
#define HOUR_MS       3600000 /* for output that is left when a good job is over */
#define INPUT_MAX     65536
#define LINE_BYTES    512
#define TAG_BYTES     16
#define HOST_BYTES    256

struct front {
    const struct options *o;
    struct loop loop;
    struct job job;
    struct job_node node;
    char host[HOST_BYTES];
    char input[INPUT_MAX];
    struct daemon *d;
    struct timing timing;

    struct out out[DAEMON_STREAMS];
    bool *mid_line[DAEMON_STREAMS]; /* per PE: its last output was half a line */

    struct loop_watch signals;
    struct loop_watch input_watch;
    bool input_wanted; /* the daemon has room; perhaps the terminal is not ours now */

    uint32_t ended;
    bool failed; /* status is decided */
    int status;
    bool ending;
    bool over;
    bool timed_out;
    struct loop_timer timeout, kill_all, give_up, unfinished;
    struct daemon_end first_unfinished; /* why timer unfinished runs */
    bool connected;                     /* some PE has connected to PMIx */
    bool absent;                        /* some PE left without that */
    struct daemon_end first_absent;
};

/* ---- words ----------------------------------------------------------------------------
 */

__attribute__((format(printf, 2, 3))) static void say(struct front *f, const char *format,
                                                      ...)
{
    char line[LINE_BYTES] = "oshrun: ";
    size_t n = strlen(line);
    va_list ap;
    va_start(ap, format);
    vsnprintf(line + n, sizeof line - n - 1, format, ap);
    va_end(ap);
    n = strlen(line);
    line[n] = '\n';
    out_put(&f->out[DAEMON_STDERR], line, n + 1);
}

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- ending the job
 * -------------------------------------------------------------------- */

static void set_status(struct front *f, int status)
{
    if (!f->failed)
        f->status = status;
    f->failed = true;
}

static void on_kill_all(void *arg)
{
    struct front *f = arg;
    daemon_signal(f->d, SIGKILL);
    loop_after(&f->loop, &f->give_up, GIVE_UP_MS);
}

static void on_give_up(void *arg)
{
    struct front *f = arg;
    if (f->ended < f->job.npes)
        say(f, "%u PE%s cannot be killed; leaving without", f->job.npes - f->ended,
            plural(f->job.npes - f->ended));
    f->loop.stop = true;
}

/* A stopped process takes SIGTERM only when it is continued. */
static void end_job(struct front *f, int sig)
{
    if (f->ending)
        return;
    f->ending = true;
    daemon_signal(f->d, sig);
    daemon_signal(f->d, SIGCONT);
    loop_after(&f->loop, &f->kill_all, KILL_MS);
}

/* True if what PEs do now is a consequence.  A failed PE that others do not depend on
 * decides the status only. */
static bool is_decided(const struct front *f)
{
    return f->ending || f->timed_out;
}

/* Says why, and ends what is left. */
static void fail_by(struct front *f, const struct daemon_end *end)
{
    char why[LINE_BYTES];
    uint32_t others = f->job.npes - f->ended;
    verdict_sentence(end, why, sizeof why);
    set_status(f, verdict_status(end));
    if (end->signalled && end->code == SIGPIPE && f->out[DAEMON_STDOUT].closed)
        ; /* as in `yes | head`: no news */
    else if (others > 0)
        say(f, "%s; ending %u other PE%s", why, others, plural(others));
    else
        say(f, "%s", why);
    end_job(f, SIGTERM);
}

static void on_unfinished(void *arg)
{
    struct front *f = arg;
    if (!is_decided(f) && f->ended < f->job.npes)
        fail_by(f, &f->first_unfinished);
}

/* The others would wait for this PE for ever, unless they leave too. */
static void await_others(struct front *f, const struct daemon_end *end)
{
    if (f->unfinished.due_ns != 0)
        return;
    f->first_unfinished = *end;
    loop_after(&f->loop, &f->unfinished, UNFINISHED_MS);
}

/* ---- events of the daemon
 * --------------------------------------------------------------- */

static void on_connected(void *arg, uint32_t rank)
{
    struct front *f = arg;
    f->connected = true;
    if (f->absent && f->first_absent.rank == rank) {
        f->absent = false; /* a process that it left behind is the PE */
        if (f->first_unfinished.rank == rank)
            loop_cancel(&f->loop, &f->unfinished);
    }
    if (f->absent)
        await_others(f, &f->first_absent);
}

/* After the end of the process that we started: one that it left behind is the PE, and
 * had connected before we saw that end. */
static void on_finalized(void *arg, uint32_t rank)
{
    struct front *f = arg;
    if (f->first_unfinished.rank == rank)
        loop_cancel(&f->loop, &f->unfinished);
}

static void on_ended(void *arg, const struct daemon_end *end)
{
    struct front *f = arg;
    char why[LINE_BYTES];
    f->ended++;
    timing_pe(&f->timing, end);
    if (is_decided(f))
        return;
    switch (verdict_of(end)) {
    case VERDICT_GOOD:
        break;
    case VERDICT_COUNTS:
        verdict_sentence(end, why, sizeof why);
        say(f, "%s", why);
        set_status(f, verdict_status(end));
        break;
    case VERDICT_WAIT:
        await_others(f, end);
        break;
    case VERDICT_ABSENT: /* the program uses no PMIx, or this PE failed to */
        if (!f->absent)
            f->first_absent = *end;
        f->absent = true;
        if (f->connected)
            await_others(f, end);
        break;
    case VERDICT_END:
        fail_by(f, end);
        break;
    }
}

static void on_aborted(void *arg, uint32_t rank, int status, const char *text)
{
    struct front *f = arg;
    if (is_decided(f))
        return;
    set_status(f, status & STATUS_MASK);
    if (status != 0)
        say(f, "PE %u ended the job with status %d%s%s", rank, status & STATUS_MASK,
            text[0] ? ": " : "", text);
    end_job(f, SIGTERM);
}

/* Puts "[PE] " before each line; a line may come in pieces. */
static void put_tagged(struct front *f, struct out *o, uint32_t rank, bool *mid,
                       const char *text, size_t len)
{
    char tag[TAG_BYTES];
    size_t tag_len = (size_t)snprintf(tag, sizeof tag, "[%u] ", rank);
    (void)f;
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

static void on_output(void *arg, uint32_t rank, enum daemon_stream s, const char *text,
                      size_t len)
{
    struct front *f = arg;
    struct out *o = &f->out[s];
    if (!f->o->tag_output) {
        out_put(o, text, len);
        return;
    }
    bool *mid = &f->mid_line[s][rank];
    if (len == 0 && *mid)
        out_put(o, "\n", 1);
    put_tagged(f, o, rank, mid, text, len);
}

static void on_report(void *arg, const char *line)
{
    say(arg, "%s", line);
}

static void on_reported(void *arg)
{
    struct front *f = arg;
    if (!f->timed_out)
        return;
    say(f, "ending %u PE%s", f->job.npes - f->ended, plural(f->job.npes - f->ended));
    end_job(f, SIGTERM);
}

static void on_stage(void *arg, enum daemon_stage stage)
{
    struct front *f = arg;
    timing_stage(&f->timing, stage);
}

static void on_drained(void *arg)
{
    struct front *f = arg;
    f->over = true;
    f->loop.stop = true;
}

/* ---- input
 * ------------------------------------------------------------------------------ */

/* Reading a terminal from the background would stop us. */
static bool may_read_input(void)
{
    return !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void update_input(struct front *f)
{
    bool go = f->input_wanted && may_read_input();
    loop_want(&f->loop, &f->input_watch, go ? LOOP_IN : 0);
}

static void on_input(void *arg, bool open)
{
    struct front *f = arg;
    f->input_wanted = open;
    update_input(f);
}

static void on_input_ready(void *arg, unsigned ready)
{
    struct front *f = arg;
    (void)ready;
    update_input(f);
    if (f->input_watch.want == 0)
        return;
    ssize_t n = read(STDIN_FILENO, f->input, sizeof f->input);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    on_input(f, false); /* until the daemon has room again */
    daemon_input(f->d, f->input, n > 0 ? (size_t)n : 0);
}

static const struct daemon_events events = {
    .output = on_output,
    .connected = on_connected,
    .finalized = on_finalized,
    .ended = on_ended,
    .aborted = on_aborted,
    .input = on_input,
    .report = on_report,
    .reported = on_reported,
    .stage = on_stage,
    .drained = on_drained,
};

/* ---- signals and timers
 * ------------------------------------------------------------------ */

static void stop_and_continue(struct front *f)
{
    daemon_signal(f->d, SIGSTOP);
    raise(SIGSTOP); /* returns when somebody continues us */
    daemon_signal(f->d, SIGCONT);
    update_input(f);
}

/* The user wants the end; the second time without delay. */
static void interrupt(struct front *f, int sig)
{
    if (f->ending) {
        daemon_signal(f->d, SIGKILL);
        return;
    }
    say(f, "got signal %d (%s); ending %u PE%s", sig, strsignal(sig),
        f->job.npes - f->ended, plural(f->job.npes - f->ended));
    set_status(f, STATUS_SIGNAL + sig);
    end_job(f, sig);
}

static void on_signal(void *arg, unsigned ready)
{
    struct front *f = arg;
    struct signalfd_siginfo si;
    (void)ready;
    if (read(f->signals.fd, &si, sizeof si) != sizeof si)
        return;
    int sig = (int)si.ssi_signo;
    switch (sig) {
    case SIGUSR1:
        say(f, "state of %u PEs:", f->job.npes);
        daemon_report(f->d, false);
        break;
    case SIGTSTP:
        stop_and_continue(f);
        break;
    case SIGCONT:
        update_input(f);
        daemon_signal(f->d, sig);
        break;
    case SIGUSR2:
    case SIGWINCH:
        daemon_signal(f->d, sig);
        break;
    default:
        interrupt(f, sig);
    }
}

static void on_timeout(void *arg)
{
    struct front *f = arg;
    if (f->ending)
        return;
    f->timed_out = true;
    set_status(f, EXIT_TIMEOUT);
    say(f, "the job has not ended after %u s; state of its PEs:", f->o->timeout_s);
    daemon_report(f->d, true);
}

static int watch_signals(struct front *f)
{
    static const int watched[] = {SIGINT,  SIGTERM, SIGQUIT, SIGUSR1,
                                  SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};
    sigset_t set;
    struct sigaction hup;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(&set, watched[i]);
    sigaction(SIGHUP, NULL, &hup);
    if (hup.sa_handler != SIG_IGN) /* nohup oshrun ... */
        sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    f->signals = (struct loop_watch){.fd = fd, .fn = on_signal, .arg = f};
    if (fd < 0)
        return -1;
    loop_want(&f->loop, &f->signals, LOOP_IN);
    return 0;
}

/* ---- start and end
 * ------------------------------------------------------------------------ */

static void flow_stdout(void *arg, bool go)
{
    struct front *f = arg;
    if (f->d != NULL)
        daemon_flow(f->d, DAEMON_STDOUT, go);
}

static void flow_stderr(void *arg, bool go)
{
    struct front *f = arg;
    if (f->d != NULL)
        daemon_flow(f->d, DAEMON_STDERR, go);
}

/* A reader that leaves has seen enough; any other error has lost output. */
static void lose_output(struct front *f, enum daemon_stream s, int err)
{
    if (err != EPIPE) {
        say(f, "cannot write the standard %s: %s",
            s == DAEMON_STDOUT ? "output" : "error", strerror(err));
        set_status(f, EXIT_ERROR);
    }
    if (f->d != NULL)
        daemon_close_output(f->d, s);
}

static void gone_stdout(void *arg, int err)
{
    lose_output(arg, DAEMON_STDOUT, err);
}

static void gone_stderr(void *arg, int err)
{
    lose_output(arg, DAEMON_STDERR, err);
}

static int make_job(struct front *f, const struct options *o)
{
    if (gethostname(f->host, sizeof f->host - 1) != 0)
        strcpy(f->host, "localhost");
    f->o = o;
    f->node = (struct job_node){.name = f->host, .npes = o->npes};
    f->node.rank = calloc(o->npes, sizeof *f->node.rank);
    if (f->node.rank == NULL) {
        fprintf(stderr, "oshrun: no memory for %u PEs\n", o->npes);
        return EXIT_ERROR;
    }
    for (uint32_t i = 0; i < o->npes; i++)
        f->node.rank[i] = i;
    f->job = (struct job){.npes = o->npes,
                          .nnodes = 1,
                          .node = &f->node,
                          .argv = o->argv,
                          .env = o->env,
                          .wdir = o->wdir,
                          .bind = o->bind,
                          .bind_report = o->report_bindings,
                          .valgrind = o->valgrind,
                          .whole_lines = o->npes > 1 || o->tag_output,
                          .stdin_pe = o->gdb_pe == JOB_NO_PE ? 0 : JOB_NO_PE,
                          .gdb_pe = o->gdb_pe};
    snprintf(f->job.nspace, sizeof f->job.nspace, "oshrun-%d", (int)getpid());
    return 0;
}

static int set_up(struct front *f)
{
    if (loop_open(&f->loop) != 0 || watch_signals(f) != 0) {
        fprintf(stderr, "oshrun: cannot make an event loop: %s\n", strerror(errno));
        return EXIT_ERROR;
    }
    for (int i = 0; i < DAEMON_STREAMS; i++) {
        out_open(&f->out[i], &f->loop,
                 i == DAEMON_STDOUT ? STDOUT_FILENO : STDERR_FILENO);
        f->out[i].flow = i == DAEMON_STDOUT ? flow_stdout : flow_stderr;
        f->out[i].gone = i == DAEMON_STDOUT ? gone_stdout : gone_stderr;
        f->out[i].arg = f;
        f->mid_line[i] = calloc(f->job.npes, sizeof *f->mid_line[i]);
        if (f->mid_line[i] == NULL)
            return EXIT_ERROR;
    }
    f->input_watch =
        (struct loop_watch){.fd = STDIN_FILENO, .fn = on_input_ready, .arg = f};
    f->timeout = (struct loop_timer){.fn = on_timeout, .arg = f};
    f->kill_all = (struct loop_timer){.fn = on_kill_all, .arg = f};
    f->give_up = (struct loop_timer){.fn = on_give_up, .arg = f};
    f->unfinished = (struct loop_timer){.fn = on_unfinished, .arg = f};
    if (f->o->timeout_s > 0)
        loop_after(&f->loop, &f->timeout, (uint64_t)f->o->timeout_s * MS_PER_S);
    return 0;
}

/* A debugger had the terminal: take it back. */
static void recover_terminal(const struct front *f)
{
    sigset_t ttou;
    if (f->job.gdb_pe == JOB_NO_PE || !isatty(STDIN_FILENO))
        return;
    sigemptyset(&ttou);
    sigaddset(&ttou, SIGTTOU);
    sigprocmask(SIG_BLOCK, &ttou, NULL);
    tcsetpgrp(STDIN_FILENO, getpgrp());
}

static void print_timing(struct front *f)
{
    char *text, *line;
    size_t len;
    FILE *m = open_memstream(&text, &len);
    if (m == NULL)
        return;
    timing_print(&f->timing, m);
    if (fclose(m) != 0)
        return;
    char *rest = text;
    while ((line = strsep(&rest, "\n")) != NULL)
        if (*line != '\0')
            say(f, "%s", line);
    free(text);
}

/* Returns the exit status: only now all output is known to be written. */
static int clean_up(struct front *f)
{
    for (int i = 0; i < DAEMON_STREAMS; i++) {
        out_finish(&f->out[i], f->ending ? LAST_WORDS_MS : HOUR_MS);
        free(f->mid_line[i]);
    }
    timing_free(&f->timing);
    free(f->node.rank);
    loop_close(&f->loop);
    int status = f->status;
    free(f);
    return status;
}

int front_run(const struct options *o, const struct janitor *janitor, struct rlimit files,
              uint64_t start_ns)
{
    struct front *f = calloc(1, sizeof *f);
    int rc = f != NULL ? make_job(f, o) : EXIT_ERROR;
    if (rc != 0)
        return rc;
    rc = timing_open(&f->timing, o->npes, start_ns) != 0 ? EXIT_ERROR : set_up(f);
    if (rc == 0)
        rc = daemon_start(&f->d, &f->job, &events, f, &f->loop, janitor, files,
                          NULL);
    if (rc == 0)
        loop_run(&f->loop);
    else
        set_status(f, rc);
    if (rc == 0 && !f->ending)
        janitor_announce(janitor->fd, JANITOR_SPARE);
    daemon_stop(f->d);
    f->d = NULL;
    recover_terminal(f);
    if (o->verbose && rc == 0)
        print_timing(f);
    return clean_up(f);
}

int front_dry_run(const struct options *o)
{
    struct front f = {0};
    int rc = make_job(&f, o);
    if (rc == 0)
        rc = daemon_dry_run(&f.job);
    free(f.node.rank);
    return rc;
}
