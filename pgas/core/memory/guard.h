/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard.h - hold up other threads' stores to pages that are being moved.
 *
 * The pages are made read-only; a thread that stores into them takes a SIGSEGV and waits
 * in its handler until the pages are writable again, then stores anew.  (A system call
 * that writes into them meanwhile fails with EFAULT.)  Nothing is done in a process with
 * one thread.  Uses: threads/pause.  Used by: data.
 */
#ifndef PGAS_CORE_GUARD_H
#define PGAS_CORE_GUARD_H

#include <stddef.h>

/* 0, or -1 with errno. */
int guard_begin(void *pages, size_t len);
void guard_end(void *pages, size_t len);

#endif
