/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * old.c - deprecated names that must still work: start_pes and exit without
 * shmem_finalize, atomics without "atomic" in their names, names older than OpenSHMEM,
 * constants with a leading underscore.
 */
#include "tests/api/conform/conform.h"
#include "tests/api/conform/types.h"

/* Every step uses the value that the previous step left in the neighbour's word. */
/* clang-format off */
#define CASE(fn, ok)                                                                     \
    (cf_case(CF_NAME(fn)), cf_check(ok, "step %d, first value %d", __LINE__, v))
#define OLD_EXT(N, C)                                                                    \
    static void ext_##N(int v)                                                           \
    {                                                                                    \
        static C word;                                                                   \
        int to = cf_target(CF_RIGHT);                                                    \
        C back;                                                                          \
        word = (C)v;                                                                     \
        shmem_barrier_all();                                                             \
        back = shmem_##N##_fetch(&word, to);                                             \
        CASE(shmem_##N##_fetch, back == (C)v);                                           \
        back = shmem_##N##_swap(&word, (C)-7, to);                                       \
        CASE(shmem_##N##_swap, back == (C)v && shmem_##N##_g(&word, to) == (C)-7);       \
        shmem_##N##_set(&word, (C)(v + 3.5), to);                                        \
        CASE(shmem_##N##_set, shmem_##N##_fetch(&word, to) == (C)(v + 3.5));             \
        shmem_barrier_all();                                                             \
    }
#define OLD_AMO(N, C)                                                                    \
    static void amo_##N(int v)                                                           \
    {                                                                                    \
        static C word;                                                                   \
        int to = cf_target(CF_RIGHT);                                                    \
        C back;                                                                          \
        word = (C)v;                                                                     \
        shmem_barrier_all();                                                             \
        back = shmem_##N##_finc(&word, to);                                              \
        CASE(shmem_##N##_finc, back == (C)v && shmem_##N##_g(&word, to) == (C)(v + 1));  \
        shmem_##N##_inc(&word, to);                                                      \
        CASE(shmem_##N##_inc, shmem_##N##_fetch(&word, to) == (C)(v + 2));               \
        back = shmem_##N##_fadd(&word, (C)-9, to);                                       \
        CASE(shmem_##N##_fadd, back == (C)(v + 2));                                      \
        shmem_##N##_add(&word, (C)100, to);                                              \
        CASE(shmem_##N##_add, shmem_##N##_fetch(&word, to) == (C)(v + 93));              \
        back = shmem_##N##_cswap(&word, (C)(v + 92), (C)1, to);                          \
        CASE(shmem_##N##_cswap, back == (C)(v + 93));                                    \
        back = shmem_##N##_cswap(&word, (C)(v + 93), (C)1, to);                          \
        CASE(shmem_##N##_cswap, back == (C)(v + 93) && shmem_##N##_g(&word, to) == 1);   \
        shmem_barrier_all();                                                             \
    }
CF_OLD_EXT(OLD_EXT)
CF_OLD_AMO(OLD_AMO)
#define CALL_EXT(N, C) ext_##N(values[i]);
#define CALL_AMO(N, C) amo_##N(values[i]);
/* clang-format on */

static void run_memory(void)
{
    unsigned char *block = shmalloc(1000), *other = shmemalign(4096, 100);

    cf_case("shmalloc");
    cf_check(block != NULL && shmem_addr_accessible(block, cf_target(CF_RIGHT)), "%p",
             (void *)block);
    cf_case("shmemalign");
    cf_check(other != NULL && (uintptr_t)other % 4096 == 0, "%p", (void *)other);
    check_fill(block, 1000, 3);
    block = shrealloc(block, 50000);
    cf_case("shrealloc");
    cf_check(block != NULL && check_find_wrong(block, 1000, 3) == 1000, "changed");
    shfree(other);
    shfree(block);
    cf_case("shfree");
    block = shmem_malloc(1000); /* reuses the freed space */
    cf_check(block != NULL, "did not free the block");
    shmem_free(block);
    cf_check(shmalloc(0) == NULL, "shmalloc(0) returned a block");
}

static void run_names(void)
{
    static int line = 3;

    cf_case("_my_pe");
    cf_check(_my_pe() == cf_me, "%d, not %d", _my_pe(), cf_me);
    cf_case("_num_pes");
    cf_check(_num_pes() == cf_npes, "%d, not %d", _num_pes(), cf_npes);
    /* Cache control, no longer in the specification, has no effect. */
    shmem_set_cache_inv();
    shmem_set_cache_line_inv(&line);
    shmem_clear_cache_inv();
    shmem_clear_cache_line_inv(&line);
    shmem_udcflush();
    shmem_udcflush_line(&line);
    cf_check(line == 3, "cache control changed a word to %d", line);
}

_Static_assert(_SHMEM_MAJOR_VERSION == SHMEM_MAJOR_VERSION &&
                   _SHMEM_MINOR_VERSION == SHMEM_MINOR_VERSION &&
                   _SHMEM_MAX_NAME_LEN == SHMEM_MAX_NAME_LEN &&
                   _SHMEM_SYNC_VALUE == SHMEM_SYNC_VALUE &&
                   _SHMEM_BCAST_SYNC_SIZE == SHMEM_BCAST_SYNC_SIZE &&
                   _SHMEM_REDUCE_SYNC_SIZE == SHMEM_REDUCE_SYNC_SIZE &&
                   _SHMEM_BARRIER_SYNC_SIZE == SHMEM_BARRIER_SYNC_SIZE &&
                   _SHMEM_COLLECT_SYNC_SIZE == SHMEM_COLLECT_SYNC_SIZE &&
                   _SHMEM_REDUCE_MIN_WRKDATA_SIZE == SHMEM_REDUCE_MIN_WRKDATA_SIZE,
               "an old constant has a different value");
_Static_assert(_SHMEM_CMP_EQ == SHMEM_CMP_EQ && _SHMEM_CMP_NE == SHMEM_CMP_NE &&
                   _SHMEM_CMP_GT == SHMEM_CMP_GT && _SHMEM_CMP_GE == SHMEM_CMP_GE &&
                   _SHMEM_CMP_LT == SHMEM_CMP_LT && _SHMEM_CMP_LE == SHMEM_CMP_LE,
               "an old comparison has a different value");

int main(void)
{
    static const int values[] = {0, 1, -1, 12345, -100000};

    start_pes(0);
    cf_begin("old");
    start_pes(cf_npes); /* a second call has no effect */
    cf_case("start_pes");
    cf_check(shmem_my_pe() == cf_me && shmem_n_pes() == cf_npes, "changed the PEs");
    for (size_t i = 0; i < CF_COUNT(values); i++) {
        CF_OLD_EXT(CALL_EXT)
        CF_OLD_AMO(CALL_AMO)
    }
    run_memory();
    run_names();
    cf_report();
    return 0; /* without shmem_finalize: the library finalizes at exit */
}
