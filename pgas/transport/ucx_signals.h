/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_signals.h - what a library does to signals while it starts is undone.
 * Uses: nothing of ours.  Used by: ucx.
 */
#ifndef PGAS_TRANSPORT_UCX_SIGNALS_H
#define PGAS_TRANSPORT_UCX_SIGNALS_H

#include <signal.h>

struct ucx_signals {
    sigset_t mask;
    struct sigaction action[NSIG];
};

/* Remember every disposition, and block all signals in this thread: threads that are
 * started until the restore take no signal of the program. */
void ucx_signals_save(struct ucx_signals *saved);
void ucx_signals_restore(const struct ucx_signals *saved);

#endif
