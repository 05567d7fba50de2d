/* SPDX-License-Identifier: BSD-3-Clause */
/* api_wait.c - rows of wait_until and test of one word (9.11).  Uses: wait, amo. */
#include "config.h"

#include "pgas/rma/amo.h"
#include "pgas/rma/api.h"
#include "pgas/rma/wait.h"

/* A value with its sign in 64 bits, by KIND */
#define WIDE_SINT(value) ((uint64_t)(int64_t)(value))
#define WIDE_UINT(value) ((uint64_t)(value))

/* clang-format off */
#define WORD(C, KIND) sizeof(C), WAIT_##KIND, cmp, WIDE_##KIND(value)
#define ONE(NAME, C, KIND)                                                               \
    API(void, shmem_##NAME##_wait_until, (C *ivar, int cmp, C value))                    \
    { wait_until(ivar, WORD(C, KIND), "shmem_" #NAME "_wait_until"); }                   \
    API(int, shmem_##NAME##_test, (C *ivar, int cmp, C value))                           \
    { return wait_test(ivar, WORD(C, KIND), "shmem_" #NAME "_test"); }
SHMEM_TYPES_SYNC_ONE(ONE)
#undef ONE
/* clang-format on */

API(uint64_t, shmem_signal_wait_until, (uint64_t * sig_addr, int cmp, uint64_t value))
{
    return wait_signal(sig_addr, cmp, value, "shmem_signal_wait_until");
}
