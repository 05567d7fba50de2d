/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front_signals.c - see front_int.h: signals to oshrun, and --timeout.
 *
 * Uses daemons.h, loop.c, front_report.c.
 */
#include "config.h"

#include "tools/oshrun/front/front_int.h"

#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define MS_PER_S   1000u
#define SUSPEND_MS 20 /* for the loop to send SIGSTOP to the daemons */

static void front_signals_on_suspend(void *arg)
{
    struct front *f = arg;
    sigset_t pending;
    /* SIGSTOP would discard a SIGCONT that is pending on the signalfd. */
    if (sigpending(&pending) != 0 || !sigismember(&pending, SIGCONT))
        raise(SIGSTOP); /* returns after SIGCONT */
    daemons_signal(f->daemons, SIGCONT);
    front_update_input(f);
}

/* Terminates the job; a second signal kills the PEs immediately. */
static void front_signals_interrupt(struct front *f, int sig)
{
    if (f->ending) {
        daemons_signal(f->daemons, SIGKILL);
        f->loop.stop = f->ended == f->job.npes;
        return;
    }
    front_say(f, "got signal %d (%s); ending %u PE%s", sig, strsignal(sig),
              f->job.npes - f->ended, front_plural(f->job.npes - f->ended));
    front_set_status(f, FRONT_STATUS_SIGNAL + sig);
    front_end_job(f, sig);
}

static void front_signals_on_signal(void *arg, unsigned ready)
{
    struct front *f = arg;
    struct signalfd_siginfo si;
    (void)ready;
    if (read(f->signals.fd, &si, sizeof si) != sizeof si)
        return;
    int sig = (int)si.ssi_signo;
    switch (sig) {
    case SIGUSR1:
        front_say(f, "state of %u PEs:", f->job.npes);
        front_report_request(f);
        break;
    case SIGTSTP:
        if (f->suspend.running)
            break;
        /* The PEs stop first, this process when the loop has notified the daemons. */
        daemons_signal(f->daemons, SIGSTOP);
        f->suspend = (struct loop_timer){.fn = front_signals_on_suspend, .arg = f};
        loop_after(&f->loop, &f->suspend, SUSPEND_MS);
        break;
    case SIGCONT:
        loop_cancel(&f->loop, &f->suspend); /* SIGCONT cancels a pending stop */
        front_update_input(f);
        daemons_signal(f->daemons, sig);
        break;
    case SIGUSR2:
    case SIGWINCH:
        daemons_signal(f->daemons, sig);
        break;
    default:
        front_signals_interrupt(f, sig);
    }
}

static void front_signals_on_timeout(void *arg)
{
    struct front *f = arg;
    if (f->ending)
        return;
    f->timed_out = true;
    front_set_status(f, FRONT_EXIT_TIMEOUT);
    front_say(f, "the job has not ended after %u s; state of its PEs:", f->o->timeout_s);
    front_report_request(f);
}

int front_watch_signals(struct front *f)
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
    f->signals = (struct loop_watch){.fd = fd, .fn = front_signals_on_signal, .arg = f};
    if (fd < 0)
        return -1;
    loop_want(&f->loop, &f->signals, LOOP_IN);
    f->timeout = (struct loop_timer){.fn = front_signals_on_timeout, .arg = f};
    if (f->o->timeout_s > 0)
        loop_after(&f->loop, &f->timeout, (uint64_t)f->o->timeout_s * MS_PER_S);
    return 0;
}
