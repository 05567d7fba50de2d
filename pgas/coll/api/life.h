/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * life.h - initialisation, finalisation and abort of the library: one table of stages.
 * Uses: all of core.  Used by: api_life, api_deprecated.
 */
#ifndef PGAS_COLL_LIFE_H
#define PGAS_COLL_LIFE_H

/* Initialise the library, or increment its reference count.  Returns the thread level in
 * force. */
int life_start(int thread_level);

/* Undo one life_start: a barrier of all PEs, and with the last reference the finalisation
 * of the library, which may be initialised again.  fn is the public routine. */
void life_finalize(const char *fn);

/* Ends the job with this status. */
_Noreturn void life_abort(int status);

#endif
