/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.h - compare a symmetric word of this PE with a value, once or until it holds
 * (9.11).  Uses: compare, core/block.  Used by: api_wait, wait_set.
 */
#ifndef PGAS_RMA_WAIT_H
#define PGAS_RMA_WAIT_H

#include "pgas/rma/compare.h"

/* Does `*word cmp value` hold?  size is 2, 4 or 8; value is converted to 64 bits with
 * the sign that kind says.  fn is the public routine, for reports. */
bool wait_test(const void *word, size_t size, enum wait_kind kind, int cmp,
               uint64_t value, const char *fn);

/* Return when it holds, with the effect of an acquire: the value that satisfied it. */
uint64_t wait_until(const void *word, size_t size, enum wait_kind kind, int cmp,
                    uint64_t value, const char *fn);

/* The same for a comparison that has been made an interval. */
uint64_t wait_for(const void *word, size_t size, enum wait_kind kind,
                  const struct interval *interval, const char *fn);

#endif
