/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generics.c - for every type, the C11 generic names call the routine of that type, with
 * and without a context.  Each PE is the target of its own operations and the only member
 * of its team.
 */
#include "tests/api/conform/conform.h"
#include "tests/api/conform/types.h"

enum { LENGTH = 8, EQ = SHMEM_CMP_EQ, NE = SHMEM_CMP_NE, GE = SHMEM_CMP_GE };
#define CTX SHMEM_CTX_DEFAULT

static shmem_team_t alone;
static uint64_t signal_word;

/* clang-format off */
#define CASE(name, ok)                                                                   \
    (cf_case(CF_NAME(name)), cf_check(ok, "with %s, line %d", type, __LINE__))
#define ONCE(name, ok, ...) (memset(to, 0, sizeof(to)), name(__VA_ARGS__), CASE(name, ok))
#define TWICE(name, ok, ...)                                                             \
    (ONCE(name, ok, __VA_ARGS__), ONCE(name, ok, CTX, __VA_ARGS__))
#define LATER(ok) (shmem_quiet(), ok)
#define BEGIN(N, C)                                                                      \
    static C to[LENGTH], from[LENGTH];                                                   \
    const char *type = #N;                                                               \
    int me = cf_me;                                                                      \
    for (int i = 0; i < LENGTH; i++)                                                     \
        from[i] = (C)(i + 1);

#define RMA(N, C)                                                                        \
    static void rma_##N(void)                                                            \
    {                                                                                    \
        BEGIN(N, C)                                                                      \
        TWICE(shmem_put, to[7] == (C)8, to, from, LENGTH, me);                           \
        TWICE(shmem_get, to[7] == (C)8, to, from, LENGTH, me);                           \
        TWICE(shmem_put_nbi, LATER(to[7] == (C)8), to, from, LENGTH, me);                \
        TWICE(shmem_get_nbi, LATER(to[7] == (C)8), to, from, LENGTH, me);                \
        TWICE(shmem_p, to[0] == (C)5, to, (C)5, me);                                     \
        CASE(shmem_g, shmem_g(from + 2, me) == (C)3);                                    \
        CASE(shmem_g, shmem_g(CTX, from + 3, me) == (C)4);                               \
        TWICE(shmem_iput, to[4] == (C)3 && to[3] == (C)0, to, from, 2, 1, 3, me);        \
        TWICE(shmem_iget, to[2] == (C)5 && to[3] == (C)0, to, from, 1, 2, 3, me);        \
        TWICE(shmem_ibput, to[4] == (C)4 && to[2] == (C)0, to, from, 3, 2, 2, 2, me);    \
        TWICE(shmem_ibget, to[3] == (C)5 && to[4] == (C)0, to, from, 2, 3, 2, 2, me);    \
        signal_word = 0;                                                                 \
        TWICE(shmem_put_signal, to[7] == (C)8, to, from, LENGTH, &signal_word, 1,        \
              SHMEM_SIGNAL_ADD, me);                                                     \
        TWICE(shmem_put_signal_nbi, LATER(to[7] == (C)8), to, from, LENGTH,              \
              &signal_word, 1, SHMEM_SIGNAL_ADD, me);                                    \
        cf_check(signal_word == 4, "with %s: signalled %d times", type,                  \
                 (int)signal_word);                                                      \
        ONCE(shmem_broadcast, to[7] == (C)8, alone, to, from, LENGTH, 0);                \
        ONCE(shmem_collect, to[7] == (C)8, alone, to, from, LENGTH);                     \
        ONCE(shmem_fcollect, to[7] == (C)8, alone, to, from, LENGTH);                    \
        ONCE(shmem_alltoall, to[7] == (C)8, alone, to, from, LENGTH);                    \
        ONCE(shmem_alltoalls, to[4] == (C)3, alone, to, from, 2, 1, 3);                  \
    }
CF_RMA(RMA)

/* Set a word to `first` and make one call; check the word and the fetched value. */
#define WORD(name, first, then, ...)                                                     \
    (to[0] = (first), name(__VA_ARGS__), CASE(name, to[0] == (then)))
#define FETCH(name, first, then, ...)                                                    \
    (to[0] = (first), to[1] = name(__VA_ARGS__),                                         \
     CASE(name, to[0] == (then) && to[1] == (first)))
#define NBI(name, first, then, ...)                                                      \
    (to[0] = (first), name(__VA_ARGS__), shmem_quiet(),                                  \
     CASE(name, to[0] == (then) && to[1] == (first)))
#define WORD2(name, first, then, ...)                                                    \
    (WORD(name, first, then, __VA_ARGS__), WORD(name, first, then, CTX, __VA_ARGS__))
#define FETCH2(name, first, then, ...)                                                   \
    (FETCH(name, first, then, to, __VA_ARGS__),                                          \
     FETCH(name, first, then, CTX, to, __VA_ARGS__),                                     \
     NBI(name##_nbi, first, then, to + 1, to, __VA_ARGS__),                              \
     NBI(name##_nbi, first, then, CTX, to + 1, to, __VA_ARGS__))
#define EXT(N, C)                                                                        \
    static void ext_##N(void)                                                            \
    {                                                                                    \
        BEGIN(N, C)                                                                      \
        FETCH2(shmem_atomic_fetch, (C)3, (C)3, me);                                      \
        FETCH2(shmem_atomic_swap, (C)3, from[4], from[4], me);                           \
        WORD2(shmem_atomic_set, (C)3, (C)9, to, (C)9, me);                               \
    }
#define AMO(N, C)                                                                        \
    static void amo_##N(void)                                                            \
    {                                                                                    \
        BEGIN(N, C)                                                                      \
        FETCH2(shmem_atomic_compare_swap, from[2], (C)9, (C)3, (C)9, me);                \
        FETCH2(shmem_atomic_fetch_inc, (C)3, (C)4, me);                                  \
        FETCH2(shmem_atomic_fetch_add, (C)3, (C)-2, (C)-5, me);                          \
        WORD2(shmem_atomic_inc, (C)3, (C)4, to, me);                                     \
        WORD2(shmem_atomic_add, (C)3, (C)-2, to, (C)-5, me);                             \
    }
#define BIT(N, C)                                                                        \
    static void bit_##N(void)                                                            \
    {                                                                                    \
        BEGIN(N, C)                                                                      \
        FETCH2(shmem_atomic_fetch_and, (C)6, (C)2, from[2], me);                         \
        FETCH2(shmem_atomic_fetch_or, (C)6, (C)7, (C)3, me);                             \
        FETCH2(shmem_atomic_fetch_xor, (C)6, (C)5, (C)3, me);                            \
        WORD2(shmem_atomic_and, (C)6, (C)2, to, (C)3, me);                               \
        WORD2(shmem_atomic_or, (C)6, (C)7, to, (C)3, me);                                \
        WORD2(shmem_atomic_xor, (C)6, (C)5, to, (C)3, me);                               \
    }
#define OLD_EXT(N, C)                                                                    \
    static void old_ext_##N(void)                                                        \
    {                                                                                    \
        BEGIN(N, C)                                                                      \
        FETCH(shmem_fetch, (C)3, (C)3, to, me);                                          \
        FETCH(shmem_swap, (C)3, from[4], to, from[4], me);                               \
        WORD(shmem_set, (C)3, (C)9, to, (C)9, me);                                       \
    }
#define OLD_AMO(N, C)                                                                    \
    static void old_amo_##N(void)                                                        \
    {                                                                                    \
        BEGIN(N, C)                                                                      \
        FETCH(shmem_cswap, from[2], (C)9, to, (C)3, (C)9, me);                           \
        FETCH(shmem_finc, (C)3, (C)4, to, me);                                           \
        FETCH(shmem_fadd, (C)3, (C)-2, to, (C)-5, me);                                   \
        WORD(shmem_inc, (C)3, (C)4, to, me);                                             \
        WORD(shmem_add, (C)3, (C)-2, to, (C)-5, me);                                     \
    }
CF_EXT(EXT)
CF_AMO(AMO)
CF_BIT(BIT)
CF_OLD_EXT(OLD_EXT)
CF_OLD_AMO(OLD_AMO)

#define SYNC_ONE(N, C)                                                                   \
    static void one_##N(void)                                                            \
    {                                                                                    \
        BEGIN(N, C)                                                                      \
        (void)me, (void)to;                                                              \
        shmem_wait_until(from, SHMEM_CMP_EQ, (C)1);                                      \
        CASE(shmem_wait_until, from[0] == (C)1);                                         \
        CASE(shmem_test, shmem_test(from, SHMEM_CMP_EQ, (C)1) == 1);                     \
        CASE(shmem_test, shmem_test(from, SHMEM_CMP_GT, (C)1) == 0);                     \
    }
#define SYNC_SET(N, C)                                                                   \
    static void set_##N(void)                                                            \
    {                                                                                    \
        BEGIN(N, C)                                                                      \
        size_t at[LENGTH];                                                               \
        (void)me, memcpy(to, from, sizeof(to)), to[0] = (C)0;                            \
        shmem_wait_until_all(from, LENGTH, NULL, GE, (C)1);                              \
        CASE(shmem_wait_until_all, true);                                                \
        CASE(shmem_wait_until_any, shmem_wait_until_any(from, LENGTH, NULL,              \
                                                       EQ, (C)4) == 3);                  \
        CASE(shmem_wait_until_some, shmem_wait_until_some(from, LENGTH, at, NULL,        \
                                                         EQ, (C)4) == 1);                \
        shmem_wait_until_all_vector(from, LENGTH, NULL, EQ, from);                       \
        CASE(shmem_wait_until_all_vector, true);                                         \
        CASE(shmem_wait_until_any_vector,                                                \
            shmem_wait_until_any_vector(from, LENGTH, NULL, NE, to) == 0);               \
        CASE(shmem_wait_until_some_vector,                                               \
            shmem_wait_until_some_vector(from, LENGTH, at, NULL, NE, to) == 1);          \
        CASE(shmem_test_all, shmem_test_all(from, LENGTH, NULL, GE, (C)1) == 1);         \
        CASE(shmem_test_any, shmem_test_any(from, LENGTH, NULL, EQ, (C)4) == 3);         \
        CASE(shmem_test_some,                                                            \
            shmem_test_some(from, LENGTH, at, NULL, EQ, (C)4) == 1);                     \
        CASE(shmem_test_all_vector,                                                      \
            shmem_test_all_vector(from, LENGTH, NULL, EQ, to) == 0);                     \
        CASE(shmem_test_any_vector,                                                      \
            shmem_test_any_vector(from, LENGTH, NULL, NE, to) == 0);                     \
        CASE(shmem_test_some_vector,                                                     \
            shmem_test_some_vector(from, LENGTH, at, NULL, NE, to) == 1);                \
    }
CF_SYNC_ONE(SYNC_ONE)
CF_AMO(SYNC_SET)

#define REDUCE(op, N, C)                                                                 \
    static void op##_##N(void)                                                           \
    {                                                                                    \
        BEGIN(N, C)                                                                      \
        (void)me;                                                                        \
        ONCE(shmem_##op##_reduce, to[7] == (C)8, alone, to, from, LENGTH);               \
    }
#define AND(N, C)  REDUCE(and, N, C)
#define OR(N, C)   REDUCE(or, N, C)
#define XOR(N, C)  REDUCE(xor, N, C)
#define MAX(N, C)  REDUCE(max, N, C)
#define MIN(N, C)  REDUCE(min, N, C)
#define SUM(N, C)  REDUCE(sum, N, C) SCAN(N, C)
#define PROD(N, C) REDUCE(prod, N, C)
#define SCAN(N, C)                                                                       \
    static void scan_##N(void)                                                           \
    {                                                                                    \
        BEGIN(N, C)                                                                      \
        (void)me;                                                                        \
        ONCE(shmem_sum_inscan, to[7] == (C)8, alone, to, from, LENGTH);                  \
        ONCE(shmem_sum_exscan, to[7] == (C)0, alone, to, from, LENGTH);                  \
    }
CF_TEAM_AND(AND)
CF_TEAM_OR(OR)
CF_TEAM_XOR(XOR)
CF_TEAM_MAX(MAX)
CF_TEAM_MIN(MIN)
CF_TEAM_SUM(SUM)
CF_TEAM_PROD(PROD)

#define F_rma(N, C) rma_##N,
#define F_ext(N, C) ext_##N,
#define F_amo(N, C) amo_##N,
#define F_bit(N, C) bit_##N,
#define F_old_ext(N, C) old_ext_##N,
#define F_old_amo(N, C) old_amo_##N,
#define F_one(N, C) one_##N,
#define F_set(N, C) set_##N,
#define F_and(N, C) and_##N,
#define F_or(N, C) or_##N,
#define F_xor(N, C) xor_##N,
#define F_max(N, C) max_##N,
#define F_min(N, C) min_##N,
#define F_sum(N, C) sum_##N, scan_##N,
#define F_prod(N, C) prod_##N,
static void (*const functions[])(void) = {
    CF_RMA(F_rma) CF_EXT(F_ext) CF_AMO(F_amo) CF_BIT(F_bit) CF_OLD_EXT(F_old_ext)
    CF_OLD_AMO(F_old_amo) CF_SYNC_ONE(F_one) CF_AMO(F_set) CF_TEAM_AND(F_and)
    CF_TEAM_OR(F_or) CF_TEAM_XOR(F_xor) CF_TEAM_MAX(F_max) CF_TEAM_MIN(F_min)
    CF_TEAM_SUM(F_sum) CF_TEAM_PROD(F_prod)
};
/* clang-format on */

static void run_rest(void)
{
    signal_word = 5;
    shmem_signal_add(CTX, &signal_word, 2, cf_me);
    cf_case("shmem_signal_add");
    cf_check(signal_word == 7, "made %d", (int)signal_word);
    shmem_signal_set(CTX, &signal_word, 3, cf_me);
    cf_case("shmem_signal_set");
    cf_check(signal_word == 3, "made %d", (int)signal_word);
    cf_case("shmem_sync");
    cf_check(shmem_sync(alone) == 0 && shmem_sync(SHMEM_TEAM_WORLD) == 0, "failed");
}

int main(void)
{
    shmem_team_t column;

    cf_start("generics");
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &alone, NULL, 0, &column) ==
          0);
    for (size_t i = 0; i < CF_COUNT(functions); i++)
        functions[i]();
    run_rest();
    shmem_team_destroy(alone);
    shmem_team_destroy(column);
    return cf_finish();
}
