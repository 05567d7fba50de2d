/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_kinds.h - one test function per kind of parameter (check.def).
 * Uses: core/peer, team, ctx, heap.  Used by: check.c.
 */
#ifndef PGAS_CORE_CHECK_KINDS_H
#define PGAS_CORE_CHECK_KINDS_H

#include "pgas/core/check/check.h"

enum { CHECK_TEXT_MAX = 512, CHECK_VALUE_MAX = 32 };

/* Parameter i of a call. */
struct check_param {
    const struct check_call *call;
    int i;
    uint64_t value;
};

/* Ends the job with "fn: argument 4 'pe' = 64, but " and the formatted text. */
_Noreturn void check_bad(const struct check_param *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define K(name, same, shown, test) void check_##test(const struct check_param *p);
CHECK_KINDS(K)
#undef K

#endif
