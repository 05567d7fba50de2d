/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * init.h - initialisation and finalisation of the library, in stages.
 * Uses: all of core.  Used by: coll/life.
 */
#ifndef PGAS_CORE_INIT_H
#define PGAS_CORE_INIT_H

#include <stdbool.h>

/* Initialises everything that does not need collectives.  thread_level is the requested
 * one.  prepare is called with the environment read and before the PEs of the node
 * synchronise.  Returns false if the library was initialised already. */
bool init_up(int thread_level, void (*prepare)(void));

/* True if this call must finalise the library. */
bool init_last(void);

/* Finalises what init_up has initialised; after nodeseg_leave.  `exiting`: the process
 * ends, so memory stays mapped. */
void init_down(bool exiting);

/* Ends the job with this status; does not return. */
_Noreturn void init_abort(int status);

/* Registers the function that is called once if the process exits with status 0 and
 * without shmem_finalize. */
void init_at_exit(void (*finalize)(void));

#endif
