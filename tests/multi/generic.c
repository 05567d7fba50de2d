/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generic.c - the type-generic C11 names, with and without a context, of every type: each
 * must choose the routine of its type, which the bits that arrive tell.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/multi/check.h"

static int to;

/* RMA: put, get, p, g, nbi and put_signal on one element of each type. */
#define RMA(NAME, C, KIND)                                                               \
    static void rma_##NAME(void)                                                         \
    {                                                                                    \
        static C dest, other;                                                            \
        C one = (C)3, two = (C)5, got = (C)0, got_too = (C)0;                            \
        RMA_PUT(one, two) RMA_GET(got, got_too)                                          \
    }
#define RMA_PUT(ONE, TWO)                                                                \
    shmem_barrier_all();                                                                 \
    shmem_put(&dest, &ONE, 1, to), shmem_put(SHMEM_CTX_DEFAULT, &other, &TWO, 1, to);    \
    shmem_put_nbi(&dest, &ONE, 1, to);                                                   \
    shmem_put_nbi(SHMEM_CTX_DEFAULT, &other, &TWO, 1, to);                               \
    shmem_quiet();                                                                       \
    check_one(shmem_g(&dest, to) == ONE, __LINE__);                                      \
    check_one(shmem_g(SHMEM_CTX_DEFAULT, &other, to) == TWO, __LINE__);
#define RMA_GET(ONE, TWO)                                                                \
    shmem_get(&ONE, &dest, 1, to), shmem_get(SHMEM_CTX_DEFAULT, &TWO, &other, 1, to);    \
    check_one(ONE == one && TWO == two, __LINE__);                                       \
    shmem_get_nbi(&ONE, &other, 1, to);                                                  \
    shmem_get_nbi(SHMEM_CTX_DEFAULT, &TWO, &dest, 1, to), shmem_quiet();                 \
    check_one(ONE == two && TWO == one, __LINE__);                                       \
    shmem_p(&dest, two, to), shmem_p(SHMEM_CTX_DEFAULT, &other, one, to), shmem_quiet(); \
    check_one(shmem_g(&dest, to) == two && shmem_g(&other, to) == one, __LINE__);

static void check_one(bool ok, int line)
{
    CHECK_NAMED(ok, "generic.c:%d: a generic routine gave a wrong value", line);
}
SHMEM_TYPES_RMA(RMA)

/* Atomics: add below zero, so that a routine of another width or sign shows. */
#define AMO(NAME, C, KIND)                                                               \
    static void amo_##NAME(void)                                                         \
    {                                                                                    \
        static C word;                                                                   \
        C f = 0;                                                                         \
        AMO_STD(C) AMO_CTX(C) AMO_NBI(C)                                                 \
    }
#define AMO_STD(C)                                                                       \
    word = 0, shmem_barrier_all(), shmem_atomic_add(&word, (C)-3, to);                   \
    check_one(shmem_atomic_fetch(&word, to) == (C)-3, __LINE__);                         \
    check_one(shmem_atomic_fetch_add(&word, (C)1, to) == (C)-3, __LINE__);               \
    check_one(shmem_atomic_fetch_inc(&word, to) == (C)-2, __LINE__);                     \
    shmem_atomic_inc(&word, to), shmem_atomic_set(&word, (C)-9, to);                     \
    check_one(shmem_atomic_swap(&word, (C)-7, to) == (C)-9, __LINE__);                   \
    check_one(shmem_atomic_compare_swap(&word, (C)-7, (C)4, to) == (C)-7, __LINE__);
#define AMO_CTX(C)                                                                       \
    shmem_atomic_add(CTX, &word, (C)-3, to), shmem_atomic_inc(CTX, &word, to);           \
    check_one(shmem_atomic_fetch(CTX, &word, to) == (C)2, __LINE__);                     \
    check_one(shmem_atomic_fetch_add(CTX, &word, (C)1, to) == (C)2, __LINE__);           \
    check_one(shmem_atomic_fetch_inc(CTX, &word, to) == (C)3, __LINE__);                 \
    shmem_atomic_set(CTX, &word, (C)-9, to);                                             \
    check_one(shmem_atomic_swap(CTX, &word, (C)-7, to) == (C)-9, __LINE__);              \
    check_one(shmem_atomic_compare_swap(CTX, &word, (C)-7, (C)4, to) == (C)-7, __LINE__);
#define AMO_NBI(C)                                                                       \
    shmem_atomic_fetch_add_nbi(&f, &word, (C)1, to), shmem_quiet();                      \
    check_one(f == (C)4, __LINE__);                                                      \
    shmem_atomic_fetch_nbi(CTX, &f, &word, to), shmem_quiet();                           \
    check_one(f == (C)5, __LINE__);                                                      \
    shmem_atomic_swap_nbi(&f, &word, (C)-1, to), shmem_quiet();                          \
    shmem_atomic_compare_swap_nbi(&f, &word, (C)-1, (C)6, to), shmem_quiet();            \
    check_one(f == (C)-1 && shmem_atomic_fetch(&word, to) == (C)6, __LINE__);
#define CTX SHMEM_CTX_DEFAULT
SHMEM_TYPES_AMO(AMO)

#define BIT(NAME, C, KIND)                                                               \
    static void bit_##NAME(void)                                                         \
    {                                                                                    \
        static C word;                                                                   \
        C f = 0;                                                                         \
        BIT_STD(C) BIT_CTX(C)                                                            \
    }
#define BIT_STD(C)                                                                       \
    word = 0, shmem_barrier_all(), shmem_atomic_or(&word, (C)-1, to);                    \
    shmem_atomic_and(&word, (C)-4, to), shmem_atomic_xor(&word, (C)1, to);               \
    check_one(shmem_atomic_fetch_or(&word, (C)2, to) == (C)-3, __LINE__);                \
    check_one(shmem_atomic_fetch_and(&word, (C)-3, to) == (C)-1, __LINE__);              \
    check_one(shmem_atomic_fetch_xor(&word, (C)-1, to) == (C)-3, __LINE__);              \
    shmem_atomic_fetch_or_nbi(&f, &word, (C)1, to), shmem_quiet();                       \
    check_one(f == (C)2, __LINE__);
#define BIT_CTX(C)                                                                       \
    shmem_atomic_or(CTX, &word, (C)-1, to), shmem_atomic_and(CTX, &word, (C)-4, to);     \
    shmem_atomic_xor(CTX, &word, (C)1, to);                                              \
    check_one(shmem_atomic_fetch_or(CTX, &word, (C)2, to) == (C)-3, __LINE__);           \
    check_one(shmem_atomic_fetch_and(CTX, &word, (C)-3, to) == (C)-1, __LINE__);         \
    check_one(shmem_atomic_fetch_xor(CTX, &word, (C)-1, to) == (C)-3, __LINE__);
SHMEM_TYPES_AMO_BIT(BIT)

#define SYNC(NAME, C, KIND)                                                              \
    static void sync_##NAME(void)                                                        \
    {                                                                                    \
        static C word;                                                                   \
        word = 0, shmem_barrier_all(), shmem_p(&word, (C)-3, to);                        \
        shmem_wait_until(&word, SHMEM_CMP_EQ, (C)-3);                                    \
        check_one(shmem_test(&word, SHMEM_CMP_NE, (C)-3) == 0, __LINE__);                \
    }
SHMEM_TYPES_SYNC_ONE(SYNC)

#define SUM(NAME, C, KIND)                                                               \
    static void sum_##NAME(void)                                                         \
    {                                                                                    \
        static C from, dest;                                                             \
        from = (C)1, shmem_barrier_all();                                                \
        check_one(shmem_sum_reduce(SHMEM_TEAM_WORLD, &dest, &from, 1) == 0, __LINE__);   \
        check_one(dest == (C)shmem_n_pes(), __LINE__), shmem_barrier_all();              \
    }
#define ORD(NAME, C, KIND)                                                               \
    static void ord_##NAME(void)                                                         \
    {                                                                                    \
        static C from, dest;                                                             \
        from = (C)(shmem_my_pe() + 1), shmem_barrier_all();                              \
        ORD_CALLS(C)                                                                     \
    }
#define ORD_CALLS(C)                                                                     \
    shmem_max_reduce(SHMEM_TEAM_WORLD, &dest, &from, 1), shmem_barrier_all();            \
    check_one(dest == (C)shmem_n_pes(), __LINE__);                                       \
    shmem_min_reduce(SHMEM_TEAM_WORLD, &dest, &from, 1), shmem_barrier_all();            \
    check_one(dest == (C)1, __LINE__);                                                   \
    shmem_broadcast(SHMEM_TEAM_WORLD, &dest, &from, 1, shmem_n_pes() - 1);               \
    check_one(dest == (C)shmem_n_pes(), __LINE__), shmem_barrier_all();
SHMEM_TYPES_REDUCE_NUM(SUM)
SHMEM_TYPES_REDUCE_ORD(ORD)

#define CALL_RMA(NAME, C, KIND)  rma_##NAME,
#define CALL_AMO(NAME, C, KIND)  amo_##NAME,
#define CALL_BIT(NAME, C, KIND)  bit_##NAME,
#define CALL_SYNC(NAME, C, KIND) sync_##NAME,
#define CALL_SUM(NAME, C, KIND)  sum_##NAME,
#define CALL_ORD(NAME, C, KIND)  ord_##NAME,

int main(void)
{
    static void (*const calls[])(void) = {
        SHMEM_TYPES_RMA(CALL_RMA) SHMEM_TYPES_AMO(CALL_AMO) SHMEM_TYPES_AMO_BIT(CALL_BIT)
            SHMEM_TYPES_SYNC_ONE(CALL_SYNC) SHMEM_TYPES_REDUCE_NUM(CALL_SUM)
                SHMEM_TYPES_REDUCE_ORD(CALL_ORD)};
    shmem_init();
    to = (shmem_my_pe() + 1) % shmem_n_pes();
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        calls[i]();
        shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}
