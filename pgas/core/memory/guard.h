/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard.h - delays stores of other threads to pages that are being moved.
 *
 * The pages are made read-only; a thread that stores to them receives SIGSEGV, waits in
 * the handler until the pages are writable again, and repeats the store.  (A system call
 * that writes to them meanwhile fails with EFAULT.)  No effect in a process with one
 * thread.  Used by: data.
 */
#ifndef PGAS_CORE_GUARD_H
#define PGAS_CORE_GUARD_H

#include <stddef.h>

/* 0, or -1 with errno. */
int guard_begin(void *pages, size_t len);
void guard_end(void *pages, size_t len);

#endif
