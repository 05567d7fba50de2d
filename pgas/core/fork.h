/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fork.h - a forked child is not a PE: it gets a private copy of the globals that
 * data.c made shared, so that what it stores does not change its parent's.
 * Uses: pgas.h.  Used by: init.
 */
#ifndef PGAS_CORE_FORK_H
#define PGAS_CORE_FORK_H

/* Register the handlers; once per process, after data_share. */
void fork_init(void);

#endif
