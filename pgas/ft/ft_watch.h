/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_watch.h - the local watch: each PE finds out from the kernel which PEs of its node
 * have died.
 *
 * A thread of each PE owns a robust futex, the PE's word in the alive map: its value is
 * the thread's ID and FUTEX_WAITERS.  When the process dies for whatever reason, the
 * kernel sets FUTEX_OWNER_DIED at the beginning of the exit, before it releases the
 * address space, and wakes one waiter.  The thread sleeps in futex_waitv on the words of
 * up to FT_WATCHED local PEs that follow it, cyclically, and on the epoch of the map. The
 * thread that finds the bit marks the PE in the map, which wakes all others.  If the one
 * that the kernel has woken dies itself, the thread that finds its death finds the other,
 * too, because it reads all words after each wake-up.  Witnesses beside it: the pidfd in
 * the node daemon or the agent, and a check of all words every TIMING_FT_CHECK.
 *
 * A stopped process is not dead.  There are no time limits and no false verdicts.
 * Uses: ft_map.  Used by: ft.c.
 */
#ifndef PGAS_FT_WATCH_H
#define PGAS_FT_WATCH_H

#include <stdbool.h>

/* futex_waitv takes 128 words; two of them are for the epoch and in reserve. */
enum { FT_WATCHED = 126 };

/* Starts the thread, which calls ft_process after each change of the map, and never code
 * of the user.  False: errno. */
bool ft_watch_start(void);
/* Announces that the PE departs, and ends the thread. */
void ft_watch_stop(void);

#endif
