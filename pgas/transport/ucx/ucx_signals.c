/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx_signals.c - restores signal dispositions that UCX changes (see ucx.h). */
#include "config.h"

#include <pthread.h>
#include <stddef.h>

#include "pgas/transport/ucx/ucx.h"

void ucx_signals_save(struct ucx_signals *saved)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved->mask);
    for (int sig = 1; sig < NSIG; sig++)
        sigaction(sig, NULL, &saved->action[sig]);
}

/* Set only the dispositions that differ. */
void ucx_signals_restore(const struct ucx_signals *saved)
{
    struct sigaction now;

    for (int sig = 1; sig < NSIG; sig++)
        if (sigaction(sig, NULL, &now) == 0 &&
            now.sa_sigaction != saved->action[sig].sa_sigaction)
            sigaction(sig, &saved->action[sig], NULL);
    pthread_sigmask(SIG_SETMASK, &saved->mask, NULL);
}
