/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_handler.h - the thread that calls the function of shmemx_failure_handler.
 *
 * It is a thread of its own because the function is the user's and may run for long: the
 * watch thread (ft_watch.h) must not wait for it.  It starts when the first function is
 * set, and sleeps on the epoch of the alive map.  Since only this thread calls the
 * function, the calls do not overlap, and each is for failures that have become known
 * since the one before it.
 * Uses: ft, ft_map.  Used by: ft.c.
 */
#ifndef PGAS_FT_HANDLER_H
#define PGAS_FT_HANDLER_H

#include <stdbool.h>

/* A function was set: starts the thread, or wakes it.  Called with the lock of the state.
 * False: no thread could be started. */
bool ft_handler_wake(void);
/* Calls the function for the failures that are known, and ends the thread.  Waits for the
 * function to return. */
void ft_handler_stop(void);

#endif
