/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hook.h - the hook transport: wraps another transport and injects delays, reordering,
 * refused posts and failed peers, and writes a trace, as specified by SHMEM_FAULTS
 * (transport_world.faults).
 *
 *   seed=N          random seed; equal seeds yield equal choices on a PE (default 1)
 *   delay=T         an operation is held 0..T (ns, us, ms) before it is forwarded
 *   reorder         operations between two fences, and operations to different PEs, are
 *                   forwarded in random order
 *   eagain=PERCENT  this percentage of posts is refused with -EAGAIN
 *   drop=PE@N       from this PE's N-th operation on (N >= 1), operations to PE are
 *                   dropped: they never complete, unless lost() is called
 *   fail=PE@N       likewise, operations to PE fail with -EHOSTDOWN: the first after it
 *                   was posted, later ones when they are posted
 *   kill=[PE@]N     every process (or only that of PE) kills itself by SIGKILL at its
 *                   N-th operation
 *   trace=FILE      write a line per operation; %p in FILE is replaced by the PE's number
 *
 * Settings are separated by commas; drop, fail and kill may be repeated.
 * Uses: transport.h.  Used by: net, tests.
 */
#ifndef PGAS_TRANSPORT_HOOK_H
#define PGAS_TRANSPORT_HOOK_H

#include "pgas/transport/transport.h"

/* Check the text for PE me of npes. 0; or -EINVAL and a message. */
int hook_check(const char *faults, int me, int npes, char why[TRANSPORT_TEXT_MAX]);

/* Set the transport to wrap, once per process, before transport_hook is opened. */
void hook_wrap(const struct transport *inner);

/* For transports with virtual time; call before open. hook_clock: use another clock
 * (sim_now_ns) than CLOCK_MONOTONIC. hook_alarm: call alarm_ns (sim_alarm_ns) with the
 * time at which progress must be called again. NULL restores the default:
 * CLOCK_MONOTONIC; no alarm. */
void hook_clock(uint64_t (*now_ns)(void));
void hook_alarm(void (*alarm_ns)(uint64_t at));

#endif
