/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.h - arrival profile of collectives (SHMEM_PROFILE_ARRIVAL).
 *
 * Each PE records its calls of collectives.  At the end of the job PE 0 collects the
 * records in one file (profile_file.h), from which tools/oshprof makes a report: the
 * library computes no statistics.  Uses: core/check, core/team, coll/barrier, rma.  Used
 * by: life.
 */
#ifndef PGAS_PROFILE_PROFILE_H
#define PGAS_PROFILE_PROFILE_H

/* Start recording if SHMEM_PROFILE_ARRIVAL is set; after team_init.  Ends the job if it
 * is not set on all PEs, or if the file cannot be written. */
void profile_init(void);

/* Write the file.  Collective; no user thread of this PE waits in a collective. */
void profile_end(void);

#endif
