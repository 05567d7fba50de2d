/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * data.h - makes the global and static variables of the executable symmetric.
 *
 * The writable part of the executable's data segment (.data and .bss after RELRO) is
 * copied into a memfd, which then replaces it at the same address as a shared mapping;
 * peers map the memfd.  PIE and ASLR do not matter: a variable has the same offset in the
 * data segment of each PE.  Variables of shared libraries and thread-local variables stay
 * private.
 * Uses: pgas.h, segment, log.  Used by: coll/life.
 */
#ifndef PGAS_CORE_DATA_H
#define PGAS_CORE_DATA_H

/* Has an effect once per process.  Other threads may run: their stores to the pages are
 * delayed while these are replaced (guard.h).  Warns and leaves the globals private on
 * failure. */
void data_share(void);

/* In a forked child: makes the globals private with their current values.  Returns 0, or
 * -1 with errno. */
int data_unshare(void);

#endif
