/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.h - the arrival profile: when PEs come to collectives, for
 * SHMEM_PROFILE_ARRIVAL.
 *
 * Each PE keeps a record of each of its calls of a collective.  At the end of the job
 * they are brought together at PE 0, which finds for each call how far apart the PEs
 * came, and writes a report: text, and a web page. Uses: core/check, core/team, barrier,
 * rma.  Used by: life.
 */
#ifndef PGAS_COLL_PROFILE_H
#define PGAS_COLL_PROFILE_H

/* Watch the collectives from now on, if that is wanted; after team_init.  It must be
 * wanted on all PEs: ends the job if not. */
void profile_init(void);

/* Bring the records together and write the report.  All PEs of the node are here, and all
 * others come; what the user called waits for nobody here any more. */
void profile_end(void);

#endif
