/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.h - test and wait_until (9.11): compare a symmetric word of this PE with a value,
 * once or until the comparison holds.
 * Uses: compare, core/block.  Used by: api_wait, wait_set.
 */
#ifndef PGAS_RMA_WAIT_H
#define PGAS_RMA_WAIT_H

#include "pgas/rma/compare.h"

/* True if `*word cmp value` holds.  size is 2, 4 or 8 bytes; value is extended to 64 bits
 * by `kind`.  fn is the name of the public routine, for error messages. */
bool wait_test(const void *word, size_t size, enum wait_kind kind, int cmp,
               uint64_t value, const char *fn);

/* Blocks until the comparison holds and returns the value that satisfied it, loaded with
 * acquire semantics. */
uint64_t wait_until(const void *word, size_t size, enum wait_kind kind, int cmp,
                    uint64_t value, const char *fn);

/* As wait_until, for a comparison already converted to an interval. */
uint64_t wait_for(const void *word, size_t size, enum wait_kind kind,
                  const struct interval *interval, const char *fn);

#endif
