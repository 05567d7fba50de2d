/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * data.h - make the global and static variables of the executable symmetric.
 *
 * The writable part of the executable's data segment (.data and .bss behind RELRO) is
 * copied into a memfd which then replaces it, at its address, as a shared mapping; peers
 * map the memfd.  PIE and ASLR do not matter: a variable has the same offset in each PE's
 * segment.  Variables of shared libraries and thread-local ones stay private.
 * Uses: pgas.h, segment, log.  Used by: coll/life.
 */
#ifndef PGAS_CORE_DATA_H
#define PGAS_CORE_DATA_H

/* Once per process.  Other threads may run: their stores wait while the pages move.  On
 * failure warns and leaves the globals private. */
void data_share(void);

/* In a forked child: make the globals private again, as they are now.  0 or -1. */
int data_unshare(void);

#endif
