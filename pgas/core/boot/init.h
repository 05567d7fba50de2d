/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * init.h - start and stop of the library, as stages.
 * Uses: all of core.  Used by: coll/life.
 */
#ifndef PGAS_CORE_INIT_H
#define PGAS_CORE_INIT_H

#include <stdbool.h>

/* Bring up everything but what needs collectives.  thread_level is what the user asked
 * for.  prepare is called before the PEs of the node meet, with the environment read.
 * Returns true if this call did it, false if the library was up already. */
bool init_up(int thread_level, void (*prepare)(void));

/* True if this call is the one that must take the library down. */
bool init_last(void);

/* Take down what init_up brought up, after nodeseg_leave; `exiting`: the process ends, so
 * memory stays mapped. */
void init_down(bool exiting);

/* End the job with this status; does not return. */
_Noreturn void init_abort(int status);

/* Called once per process at its exit with the library still up and status 0. */
void init_at_exit(void (*finalize)(void));

#endif
