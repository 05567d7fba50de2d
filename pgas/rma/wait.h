/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.h - compare a symmetric word of this PE with a value, once or until it holds
 * (9.11).  Uses: core/block.  Used by: api_wait.
 */
#ifndef PGAS_RMA_WAIT_H
#define PGAS_RMA_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a word is to be read: bytes and sign. */
enum wait_kind { WAIT_SINT, WAIT_UINT };

/* Does `*word cmp value` hold?  size is 2, 4 or 8; value is converted to 64 bits with
 * the sign that kind says.  Ends the job with a sentence on an unknown cmp. */
bool wait_test(const void *word, size_t size, enum wait_kind kind, int cmp,
               uint64_t value, const char *fn);

/* Return when it holds, with the effect of an acquire. */
void wait_until(const void *word, size_t size, enum wait_kind kind, int cmp,
                uint64_t value, const char *fn);

/* The same for a signal word; returns the value that satisfied the condition. */
uint64_t wait_signal(const uint64_t *word, int cmp, uint64_t value, const char *fn);

#endif
