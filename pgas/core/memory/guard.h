/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard.h - delays stores of other threads to pages that are being replaced.
 *
 * The pages are made read-only; a thread that stores to them receives SIGSEGV, waits in
 * the handler until the pages are writable again, and retries the store.  A system call
 * that writes to them in the meantime fails with EFAULT.  No effect in a single-threaded
 * process.  Used by: data.
 */
#ifndef PGAS_CORE_GUARD_H
#define PGAS_CORE_GUARD_H

#include <stddef.h>

/* Returns 0, or -1 with errno. */
int guard_begin(void *pages, size_t len);
void guard_end(void *pages, size_t len);

#endif
