/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_set.h - compare the words of an array with values, once or until all, any or some
 * of the comparisons hold (9.11.2-7, 9.11.9-14).
 * Uses: compare, wait, core/block.  Used by: api_wait.
 */
#ifndef PGAS_RMA_WAIT_SET_H
#define PGAS_RMA_WAIT_SET_H

#include "pgas/rma/compare.h"

/* n words of this PE, and what each is compared with. */
struct wait_set {
    const void *words;
    size_t n;
    size_t size; /* of a word: 4 or 8 */
    enum wait_kind kind;
    const int *status; /* words whose status is not 0 are left out; NULL: none is */
    int cmp;
    const void *values; /* one for each word; or NULL: */
    uint64_t value;     /* one for all, in 64 bits with the sign that kind says */
};

/* `fn` is the public routine, for reports.
 * Do all hold?  Yes for a set of no words. */
bool wait_set_test_all(const struct wait_set *set, const char *fn);

/* The index of one that holds, or SIZE_MAX.  Each that keeps to hold is found in time,
 * however calls for several sets follow each other. */
size_t wait_set_test_any(const struct wait_set *set, const char *fn);

/* Write the indices of those that hold to indices[n], and return how many they are. */
size_t wait_set_test_some(const struct wait_set *set, size_t *indices, const char *fn);

/* The same, but they return when the answer is yes, an index, or at least one; at once
 * for a set of no words. */
void wait_set_all(const struct wait_set *set, const char *fn);
size_t wait_set_any(const struct wait_set *set, const char *fn);
size_t wait_set_some(const struct wait_set *set, size_t *indices, const char *fn);

#endif
