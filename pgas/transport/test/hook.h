/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hook.h - the hook transport: any other one, with delay, another order, refusals, peers
 * that die, and a trace, as SHMEM_FAULTS says (transport_world.faults).
 *
 *   seed=N          the same N and PE: the same choices (default 1)
 *   delay=T         an operation waits 0..T (ns, us, ms) before the inner one gets it
 *   reorder         operations between two fences, and those to different PEs always, go
 *                   out in random order
 *   eagain=PERCENT  so many posts are refused with -EAGAIN
 *   drop=PE@N       from this PE's N-th operation on (from 1), those to PE are swallowed:
 *                   never done
 *   fail=PE@N       likewise, they fail with -EHOSTDOWN: the first after it was posted,
 *                   the others when they are posted
 *   kill=[PE@]N     this process (or that of PE alone) ends by SIGKILL at its N-th
 *   trace=FILE      a line per operation; %p in FILE stands for the PE's number
 *
 * Words are separated by commas; drop, fail and kill may come several times.
 * Uses: transport.h.  Used by: net, tests.
 */
#ifndef PGAS_TRANSPORT_HOOK_H
#define PGAS_TRANSPORT_HOOK_H

#include "pgas/transport/transport.h"

/* Check the text for PE me of npes. 0; or -EINVAL and a sentence. */
int hook_check(const char *faults, int me, int npes, char why[TRANSPORT_TEXT_MAX]);

/* Set the transport to wrap, once per process, before transport_hook is opened. */
void hook_wrap(const struct transport *inner);

/* Before open: use another clock than CLOCK_MONOTONIC, for transports on virtual time
 * (sim_now_ns), and a function to be called with the time at which progress must be
 * called again (sim_alarm_ns). NULL restores the default: CLOCK_MONOTONIC; none. */
void hook_clock(uint64_t (*now_ns)(void));
void hook_alarm(void (*alarm_ns)(uint64_t at));

#endif
