/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.h - distributed locks (9.13): a FIFO MCS queue lock over PEs.
 * Uses: rma, amo, order, core/block.  Used by: api_order.
 */
#ifndef PGAS_RMA_LOCK_H
#define PGAS_RMA_LOCK_H

#include <stdbool.h>

void lock_set(long *lock, const char *fn);
void lock_clear(long *lock, const char *fn);

/* True if the lock was free and the caller now holds it. */
bool lock_try(long *lock, const char *fn);

/* After lock_try has returned false: 1, or SHMEMX_ERR_PE_FAILED if the state of the lock
 * is lost (lock_owner.h). */
int lock_status(const long *lock);

#endif
