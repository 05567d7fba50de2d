/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * life.h - set-up and exit of the library above core: teams and what a PE owes the others
 * when it leaves.  Uses: core/init, core/team.  Used by: api_life, api_deprecated.
 */
#ifndef PGAS_COLL_LIFE_H
#define PGAS_COLL_LIFE_H

/* Make this process a PE, or count one more user of the library.  Returns the thread
 * level in force. */
int life_start(int thread_level);

/* Undo one life_start: meet all PEs, and with the last one leave the job.  It may be
 * joined again.  fn is the public routine. */
void life_finalize(const char *fn);

#endif
