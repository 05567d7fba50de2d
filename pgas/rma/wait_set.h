/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_set.h - test and wait_until on arrays: compare the words of an array with values,
 * once or until all, any or some of the comparisons hold (9.11.2-7, 9.11.9-14).
 * Uses: compare, wait, core/block.  Used by: api_wait.
 */
#ifndef PGAS_RMA_WAIT_SET_H
#define PGAS_RMA_WAIT_SET_H

#include "pgas/rma/compare.h"

/* n words of this PE and the values they are compared with. */
struct wait_set {
    const void *words;
    size_t n;
    size_t size; /* of a word: 4 or 8 */
    enum wait_kind kind;
    const int *status; /* elements with a nonzero status are excluded; NULL: none is */
    int cmp;
    const void *values; /* one value per word, or NULL to use `value` for all words */
    uint64_t value;     /* extended to 64 bits by `kind` */
};

/* `fn` is the name of the public routine, for error messages.
 * True if all comparisons hold; true for an empty set. */
bool wait_set_test_all(const struct wait_set *set, const char *fn);

/* The index of an element that holds, or SIZE_MAX.  An element that keeps holding is
 * returned eventually, however calls on several sets are interleaved. */
size_t wait_set_test_any(const struct wait_set *set, const char *fn);

/* Writes the indices of the elements that hold to indices[n] and returns their number. */
size_t wait_set_test_some(const struct wait_set *set, size_t *indices, const char *fn);

/* Blocking forms: they return when all, any or at least one of the comparisons hold, and
 * immediately for an empty set. */
void wait_set_all(const struct wait_set *set, const char *fn);
size_t wait_set_any(const struct wait_set *set, const char *fn);
size_t wait_set_some(const struct wait_set *set, size_t *indices, const char *fn);

#endif
