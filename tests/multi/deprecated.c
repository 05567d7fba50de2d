/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deprecated.c - the old names of set-up and memory, the old atomics with contention, the
 * old waits, and cache control, which does nothing.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/multi/check.h"

static void test_names(void)
{
    enum { BYTES = 1000, ALIGNMENT = 256 };
    CHECK_EQ(_my_pe(), shmem_my_pe());
    CHECK_EQ(_num_pes(), shmem_n_pes());
    char *block = shmalloc(BYTES);
    CHECK(block != NULL && shmem_addr_accessible(block, 0));
    check_fill(block, BYTES, 1);
    block = shrealloc(block, 2 * BYTES);
    CHECK(block != NULL && check_find_wrong(block, BYTES, 1) == BYTES);
    shfree(block);
    block = shmemalign(ALIGNMENT, BYTES);
    CHECK(block != NULL && (uintptr_t)block % ALIGNMENT == 0);
    shfree(block);
    CHECK(shmalloc(0) == NULL);
}

/* One PE after the other sets, swaps and fetches the word of the next PE. */
#define VALUES(NAME, C, KIND)                                                            \
    static void values_##NAME(int pe)                                                    \
    {                                                                                    \
        static C word;                                                                   \
        word = (C)7;                                                                     \
        shmem_barrier_all();                                                             \
        CHECK(shmem_##NAME##_fetch(&word, pe) == (C)7);                                  \
        shmem_barrier_all();                                                             \
        AGAIN(NAME, C)                                                                   \
    }
#define AGAIN(NAME, C)                                                                   \
    shmem_##NAME##_set(&word, (C)(-3.5), pe);                                            \
    CHECK(shmem_##NAME##_fetch(&word, pe) == (C)(-3.5));                                 \
    CHECK(shmem_##NAME##_swap(&word, (C)11, pe) == (C)(-3.5));                           \
    CHECK(shmem_##NAME##_fetch(&word, pe) == (C)11);                                     \
    shmem_barrier_all();                                                                 \
    CHECK(word == (C)11);                                                                \
    shmem_barrier_all();
SHMEM_TYPES_OLD_SET(VALUES)

enum { ADDS = 500 };

/* All PEs add to one word of PE 0, in four ways; each fetched value is there once. */
#define CONTEND(NAME, C, KIND)                                                           \
    static void contend_##NAME(uint64_t *seed)                                           \
    {                                                                                    \
        static C sum;                                                                    \
        sum = 0;                                                                         \
        shmem_barrier_all();                                                             \
        ADD_ALL(NAME, C)                                                                 \
        CHECK(sum == (shmem_my_pe() == 0 ? (C)(ADDS * 7 * shmem_n_pes()) : 0));          \
    }
#define ADD_ALL(NAME, C)                                                                 \
    for (int i = 0; i < ADDS; i++, check_delay(seed)) {                                  \
        C before = shmem_##NAME##_finc(&sum, 0);                                         \
        shmem_##NAME##_inc(&sum, 0);                                                     \
        CHECK(shmem_##NAME##_fadd(&sum, 3, 0) > before);                                 \
        shmem_##NAME##_add(&sum, 2, 0);                                                  \
    }                                                                                    \
    shmem_barrier_all();
SHMEM_TYPES_OLD_AMO(CONTEND)

/* A lock made of cswap: the count inside is not atomic. */
#define CSWAP(NAME, C, KIND)                                                             \
    static void cswap_##NAME(uint64_t *seed)                                             \
    {                                                                                    \
        static C owner, count;                                                           \
        owner = count = 0;                                                               \
        shmem_barrier_all();                                                             \
        COUNT_ALL(NAME, C)                                                               \
        CHECK(count == (shmem_my_pe() == 0 ? (C)(LOCKS * shmem_n_pes()) : 0));           \
    }
enum { LOCKS = 50 };
#define COUNT_ALL(NAME, C)                                                               \
    for (int i = 0; i < LOCKS; i++, check_delay(seed)) {                                 \
        while (shmem_##NAME##_cswap(&owner, 0, (C)(shmem_my_pe() + 1), 0) != 0)          \
            sched_yield();                                                               \
        shmem_##NAME##_p(&count, (C)(shmem_##NAME##_g(&count, 0) + 1), 0);               \
        CHECK(shmem_##NAME##_cswap(&owner, (C)(shmem_my_pe() + 1), 0, 0) != 0);          \
    }                                                                                    \
    shmem_barrier_all();
SHMEM_TYPES_OLD_AMO(CSWAP)

/* A token goes round: `wait` returns when the word is no longer what it was. */
#define WAIT(NAME, C, KIND)                                                              \
    static void wait_##NAME(uint64_t *seed)                                              \
    {                                                                                    \
        static C word;                                                                   \
        word = -5;                                                                       \
        shmem_barrier_all();                                                             \
        ROUND(NAME, C)                                                                   \
        shmem_barrier_all();                                                             \
    }
#define ROUND(NAME, C)                                                                   \
    if (shmem_my_pe() > 0) {                                                             \
        shmem_##NAME##_wait(&word, (C)-5);                                               \
        CHECK_EQ(word, (C)(-6));                                                         \
    }                                                                                    \
    check_delay(seed);                                                                   \
    if (shmem_my_pe() + 1 < shmem_n_pes())                                               \
        shmem_##NAME##_p(&word, (C)-6, shmem_my_pe() + 1);
SHMEM_TYPES_OLD_WAIT(WAIT)

/* The two of C that have no type in their names; parentheses keep C11's macro away. */
static void test_long_waits(void)
{
    enum { LATE_US = 20000 };
    static long word, other;
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    check_sleep_us(LATE_US * (shmem_my_pe() % 2));
    shmem_long_atomic_set(&word, 1, next);
    shmem_long_atomic_set(&other, -1, next);
    shmem_wait(&word, 0);
    CHECK_EQ(word, 1);
    (shmem_wait_until)(&other, SHMEM_CMP_LT, 0);
    CHECK_EQ(other, -1);
    shmem_barrier_all();
}

static void test_cache(void)
{
    static int line = 3;
    shmem_set_cache_inv();
    shmem_set_cache_line_inv(&line);
    shmem_clear_cache_inv();
    shmem_clear_cache_line_inv(&line);
    shmem_udcflush();
    shmem_udcflush_line(&line);
    CHECK_EQ(line, 3);
}

#define CALL_VALUES(NAME, C, KIND) values_##NAME((shmem_my_pe() + 1) % shmem_n_pes());
#define CALL_AMO(NAME, C, KIND)    contend_##NAME(&seed), cswap_##NAME(&seed);
#define CALL_WAIT(NAME, C, KIND)   wait_##NAME(&seed);

int main(void)
{
    start_pes(0);
    uint64_t seed = check_seed(shmem_my_pe());
    test_names();
    SHMEM_TYPES_OLD_SET(CALL_VALUES)
    SHMEM_TYPES_OLD_AMO(CALL_AMO)
    SHMEM_TYPES_OLD_WAIT(CALL_WAIT)
    test_long_waits();
    test_cache();
    return 0; /* implicit finalization is deprecated too */
}
