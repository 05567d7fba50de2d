/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pgas_assert.h - assertions: conditions that hold unless this code has a defect.
 *
 * PGAS_ASSERT(condition)       costs a comparison: compiled in at level cheap and above
 * PGAS_ASSERT_FULL(condition)  may walk a whole structure: compiled in at level full
 *
 * The level is chosen by configure (--enable-assert=off|cheap|full).  A condition that
 * the level excludes is compiled but not evaluated, so it must have no side effects.  The
 * user's arguments and the results of system calls are not asserted: they are checked at
 * every level.  Include config.h first.  The program that uses this header defines
 * pgas_assert_failed(); libpgas defines it in log.c.  Uses: nothing.
 */
#ifndef PGAS_CORE_PGAS_ASSERT_H
#define PGAS_CORE_PGAS_ASSERT_H

#define PGAS_ASSERT_OFF   0
#define PGAS_ASSERT_CHEAP 1
#define PGAS_ASSERT_WALK  2

#ifndef PGAS_ASSERT_LEVEL
#define PGAS_ASSERT_LEVEL PGAS_ASSERT_OFF
#endif

/* Prints the PE, file:line, the function and the condition; then calls abort(). */
_Noreturn void pgas_assert_failed(const char *condition, const char *file, int line,
                                  const char *function) __attribute__((cold));

#define PGAS_ASSERT_EVALUATED(condition)                                                 \
    (__builtin_expect(!!(condition), 1)                                                  \
         ? (void)0                                                                       \
         : pgas_assert_failed(#condition, __FILE__, __LINE__, __func__))
#define PGAS_ASSERT_UNEVALUATED(condition) ((void)sizeof(!(condition)))

#if PGAS_ASSERT_LEVEL >= PGAS_ASSERT_CHEAP
#define PGAS_ASSERT(condition) PGAS_ASSERT_EVALUATED(condition)
#else
#define PGAS_ASSERT(condition) PGAS_ASSERT_UNEVALUATED(condition)
#endif

#if PGAS_ASSERT_LEVEL >= PGAS_ASSERT_WALK
#define PGAS_ASSERT_FULL(condition) PGAS_ASSERT_EVALUATED(condition)
#else
#define PGAS_ASSERT_FULL(condition) PGAS_ASSERT_UNEVALUATED(condition)
#endif

#endif
