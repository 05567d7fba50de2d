/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verify.h - verification of collective arguments across PEs (SHMEM_DEBUG=2).
 * Uses: barrier, core/check.  Used by: life.
 */
#ifndef PGAS_COLL_MEET_H
#define PGAS_COLL_MEET_H

/* Register the comparison function with core/check. */
void verify_init(void);

#endif
