/* SPDX-License-Identifier: BSD-3-Clause */
/* api_wait.c - rows of point-to-point synchronisation (9.11).  Uses: wait, wait_set. */
#include "config.h"

#include "pgas/rma/api.h"
#include "pgas/rma/wait.h"
#include "pgas/rma/wait_set.h"

/* A value extended to 64 bits by KIND */
#define WIDE_SINT(value) ((uint64_t)(int64_t)(value))
#define WIDE_UINT(value) ((uint64_t)(value))

/* clang-format off */

/* One word */
#define COMPARE(C, KIND) ivar, sizeof(C), WAIT_##KIND, cmp, WIDE_##KIND(cmp_value)
#define ONE(NAME, C, KIND)                                                               \
    ROUTINE(void, shmem_##NAME##_wait_until, sizeof(C), ALONE,                           \
            (C *, ivar, WORD), (int, cmp, CMP), (C, cmp_value, ANY))                     \
    { wait_until(COMPARE(C, KIND), fn); }                                                \
    ROUTINE(int, shmem_##NAME##_test, sizeof(C), ALONE,                                  \
            (C *, ivar, WORD), (int, cmp, CMP), (C, cmp_value, ANY))                     \
    { return wait_test(COMPARE(C, KIND), fn); }
SHMEM_TYPES_SYNC_ONE(ONE)
#undef ONE

ROUTINE(uint64_t, shmem_signal_wait_until, sizeof(uint64_t), ALONE,
        (uint64_t *, sig_addr, SIGNAL), (int, cmp, CMP), (uint64_t, cmp_value, ANY))
{
    return wait_until(sig_addr, sizeof *sig_addr, WAIT_UINT, cmp, cmp_value, fn);
}

/* An array of words against one value, or against an array of values (a vector) */
#define WORDS(C)     (C *, ivars, WORDS), (size_t, nelems, COUNT)
#define STATUS       (const int *, status, STATUS), (int, cmp, CMP)
#define INDICES      (size_t *, indices, INDICES)
#define VALUE(C)     (C, cmp_value, ANY)
#define VALUES(C)    (const C *, cmp_values, LOCAL)
#define ARRAY(C, KIND)                                                                   \
    .words = ivars, .n = nelems, .size = sizeof(C), .kind = WAIT_##KIND,                 \
    .status = status, .cmp = cmp
#define SET(C, KIND)                                                                     \
    &(struct wait_set){ARRAY(C, KIND), .value = WIDE_##KIND(cmp_value)}
#define VECTOR(C, KIND)                                                                  \
    &(struct wait_set){ARRAY(C, KIND), .values = cmp_values}

#define WAITS(NAME, C, END, AGAINST, THE_SET)                                            \
    ROUTINE(void, shmem_##NAME##_wait_until_all##END, sizeof(C), ALONE,                  \
            WORDS(C), STATUS, AGAINST) { wait_set_all(THE_SET, fn); }                    \
    ROUTINE(size_t, shmem_##NAME##_wait_until_any##END, sizeof(C), ALONE,                \
            WORDS(C), STATUS, AGAINST) { return wait_set_any(THE_SET, fn); }             \
    ROUTINE(size_t, shmem_##NAME##_wait_until_some##END, sizeof(C), ALONE,               \
            WORDS(C), INDICES, STATUS, AGAINST)                                          \
    { return wait_set_some(THE_SET, indices, fn); }
#define TESTS(NAME, C, END, AGAINST, THE_SET)                                            \
    ROUTINE(int, shmem_##NAME##_test_all##END, sizeof(C), ALONE,                         \
            WORDS(C), STATUS, AGAINST) { return wait_set_test_all(THE_SET, fn); }        \
    ROUTINE(size_t, shmem_##NAME##_test_any##END, sizeof(C), ALONE,                      \
            WORDS(C), STATUS, AGAINST) { return wait_set_test_any(THE_SET, fn); }        \
    ROUTINE(size_t, shmem_##NAME##_test_some##END, sizeof(C), ALONE,                     \
            WORDS(C), INDICES, STATUS, AGAINST)                                          \
    { return wait_set_test_some(THE_SET, indices, fn); }
#define MANY(NAME, C, KIND)                                                              \
    WAITS(NAME, C, , VALUE(C), SET(C, KIND)) TESTS(NAME, C, , VALUE(C), SET(C, KIND))    \
    WAITS(NAME, C, _vector, VALUES(C), VECTOR(C, KIND))                                  \
    TESTS(NAME, C, _vector, VALUES(C), VECTOR(C, KIND))
SHMEM_TYPES_SYNC(MANY)
#undef MANY
/* clang-format on */
