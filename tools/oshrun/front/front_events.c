/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front_events.c - see front_int.h: events of the daemons, and termination of the job:
 * SIGTERM to all PEs, SIGKILL half a second later.  The job is complete when all PEs have
 * ended and all of their output has arrived.
 *
 * Uses daemons.h, exit_status.c.  Events are called by daemons_recv.c.
 */
#include "config.h"

#include "tools/oshrun/front/front_int.h"
#include "tools/oshrun/front/exit_status.h"

#include <signal.h>

#define STATUS_MASK   255
#define KILL_MS       500  /* between SIGTERM and SIGKILL */
#define GIVE_UP_MS    1500 /* after SIGKILL: stop waiting for exits and output */
#define UNFINISHED_MS 1000 /* others may exit soon after a PE that did not finalize */
#define LINE_BYTES    512

/* ---- ending the job --------------------------------------------------------------- */

void front_set_status(struct front *f, int status)
{
    if (!f->failed)
        f->status = status;
    f->failed = true;
}

static void front_events_on_kill_all(void *arg)
{
    struct front *f = arg;
    if (f->ended == f->job.npes) { /* only output is pending, which nobody reads */
        f->loop.stop = true;
        return;
    }
    daemons_signal(f->daemons, SIGKILL);
    loop_after(&f->loop, &f->give_up, GIVE_UP_MS);
}

static void front_events_on_give_up(void *arg)
{
    struct front *f = arg;
    if (f->ended < f->job.npes)
        front_say(f, "%u PE%s cannot be killed; exiting without waiting for them",
                  f->job.npes - f->ended, front_plural(f->job.npes - f->ended));
    f->loop.stop = true;
}

/* A stopped process handles SIGTERM only after SIGCONT. */
void front_end_job(struct front *f, int sig)
{
    if (f->ending)
        return;
    f->ending = true;
    daemons_signal(f->daemons, sig);
    daemons_signal(f->daemons, SIGCONT);
    loop_after(&f->loop, &f->kill_all, KILL_MS);
}

bool front_is_decided(const struct front *f)
{
    return f->ending || f->timed_out;
}

/* Reports the reason and terminates the other PEs. */
static void front_events_fail_by(struct front *f, const struct daemon_end *end)
{
    char why[LINE_BYTES];
    uint32_t others = f->job.npes - f->ended;
    exit_status_text(end, why, sizeof why);
    front_set_status(f, exit_status_code(end));
    if (end->signalled && end->code == SIGPIPE && f->out[DAEMON_STDOUT].closed)
        ; /* as in `yes | head`: not an error */
    else if (others > 0)
        front_say(f, "%s; ending %u other PE%s", why, others, front_plural(others));
    else
        front_say(f, "%s", why);
    front_end_job(f, SIGTERM);
}

static void front_events_on_unfinished(void *arg)
{
    struct front *f = arg;
    if (!front_is_decided(f) && f->ended < f->job.npes)
        front_events_fail_by(f, &f->first_unfinished);
}

/* The others would wait for this PE forever, unless they exit soon. */
static void front_events_await_others(struct front *f, const struct daemon_end *end)
{
    if (f->unfinished.running)
        return;
    f->first_unfinished = *end;
    loop_after(&f->loop, &f->unfinished, UNFINISHED_MS);
}

/* ---- events of the daemons -------------------------------------------------------- */

void front_on_connected(struct front *f, uint32_t rank)
{
    f->connected = true;
    if (f->ft.pe != NULL)
        front_ft_connected(f, rank);
    if (f->absent && f->first_absent.rank == rank) {
        f->absent = false; /* a descendant of the exited process is the PE */
        if (f->first_unfinished.rank == rank)
            loop_cancel(&f->loop, &f->unfinished);
    }
    if (f->absent)
        front_events_await_others(f, &f->first_absent);
}

/* The process that we started has exited, but a descendant is the PE, which connected
 * before we saw the exit. */
void front_on_finalized(struct front *f, uint32_t rank)
{
    if (f->ft.pe != NULL)
        front_ft_finalized(f, rank);
    if (f->first_unfinished.rank == rank)
        loop_cancel(&f->loop, &f->unfinished);
}

void front_on_ended(struct front *f, const struct daemon_end *end)
{
    char why[LINE_BYTES];
    f->ended++;
    timing_pe(&f->timing, end);
    if (front_is_decided(f))
        return;
    if (f->ft.pe != NULL) {
        front_ft_ended(f, end);
        return;
    }
    switch (exit_status_classify(end)) {
    case EXIT_STATUS_GOOD:
        break;
    case EXIT_STATUS_COUNTS:
        exit_status_text(end, why, sizeof why);
        front_say(f, "%s", why);
        front_set_status(f, exit_status_code(end));
        break;
    case EXIT_STATUS_WAIT:
        front_events_await_others(f, end);
        break;
    case EXIT_STATUS_ABSENT: /* the program does not use PMIx, or this PE failed to */
        if (!f->absent)
            f->first_absent = *end;
        f->absent = true;
        if (f->connected)
            front_events_await_others(f, end);
        break;
    case EXIT_STATUS_END:
        front_events_fail_by(f, end);
        break;
    }
}

void front_on_aborted(struct front *f, uint32_t rank, int status, const char *text)
{
    if (front_is_decided(f))
        return;
    front_set_status(f, status & STATUS_MASK);
    if (status != 0)
        front_say(f, "PE %u ended the job with status %d%s%s", rank, status & STATUS_MASK,
                  text[0] ? ": " : "", text);
    front_end_job(f, SIGTERM);
}

void front_on_reported(struct front *f)
{
    if (!front_report_end(f) || !f->timed_out)
        return;
    front_say(f, "ending %u PE%s", f->job.npes - f->ended,
              front_plural(f->job.npes - f->ended));
    front_end_job(f, SIGTERM);
}

/* The job cannot run: daemons_stop kills all PEs that were started. */
void front_on_failed(struct front *f, int status)
{
    front_set_status(f, status);
    f->unstarted = true;
    f->ending = true;
    f->loop.stop = true;
}

void front_on_lost(struct front *f, uint32_t own, uint32_t pes, const char *error_text)
{
    uint32_t others = f->job.npes - f->ended - own;
    f->ended += pes;
    if (front_is_decided(f))
        return;
    front_set_status(f, FRONT_EXIT_ERROR);
    front_say(f, "%s; ending %u other PE%s", error_text, others, front_plural(others));
    front_end_job(f, SIGTERM);
}

void front_open_timers(struct front *f)
{
    f->kill_all = (struct loop_timer){.fn = front_events_on_kill_all, .arg = f};
    f->give_up = (struct loop_timer){.fn = front_events_on_give_up, .arg = f};
    f->unfinished = (struct loop_timer){.fn = front_events_on_unfinished, .arg = f};
}
