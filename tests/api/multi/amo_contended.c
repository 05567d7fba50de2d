/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * amo_contended.c - all PEs at one word: no update is lost, of any adding or bitwise
 * operation of any type; every fetched value is handed out once; a counter kept by
 * compare_swap; a token that swap passes around.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/api/multi/check.h"

/* The adding and bitwise operations of each type behind one prototype: operands are 64
 * bits wide.  The nbi forms fetch into a local word, which quiet completes. */
typedef void (*amo_fn)(void *dest, uint64_t v);

#define CTX SHMEM_CTX_DEFAULT
#define AMO(NAME, C, OP, CALL)                                                           \
    static void OP##_##NAME(void *d, uint64_t v)                                         \
    {                                                                                    \
        (void)v, (void)CALL;                                                             \
    }
#define AMO_NBI(NAME, C, OP, CALL)                                                       \
    static void OP##_nbi_##NAME(void *d, uint64_t v)                                     \
    {                                                                                    \
        C f = 0;                                                                         \
        (void)v, CALL, shmem_quiet();                                                    \
    }
#define AMO_ADDS(NAME, C, KIND)                                                          \
    AMO(NAME, C, inc, shmem_##NAME##_atomic_inc(d, 0))                                   \
    AMO(NAME, C, add, shmem_##NAME##_atomic_add(d, (C)v, 0))                             \
    AMO(NAME, C, finc, shmem_##NAME##_atomic_fetch_inc(d, 0))                            \
    AMO(NAME, C, fadd, shmem_##NAME##_atomic_fetch_add(d, (C)v, 0))                      \
    AMO(NAME, C, ctx_inc, shmem_ctx_##NAME##_atomic_inc(CTX, d, 0))                      \
    AMO(NAME, C, ctx_add, shmem_ctx_##NAME##_atomic_add(CTX, d, (C)v, 0))                \
    AMO(NAME, C, ctx_finc, shmem_ctx_##NAME##_atomic_fetch_inc(CTX, d, 0))               \
    AMO(NAME, C, ctx_fadd, shmem_ctx_##NAME##_atomic_fetch_add(CTX, d, (C)v, 0))         \
    AMO_NBI(NAME, C, finc, shmem_##NAME##_atomic_fetch_inc_nbi(&f, d, 0))                \
    AMO_NBI(NAME, C, fadd, shmem_##NAME##_atomic_fetch_add_nbi(&f, d, (C)v, 0))
#define AMO_BITS(NAME, C, KIND)                                                          \
    AMO_BIT(NAME, C, and) AMO_BIT(NAME, C, or) AMO_BIT(NAME, C, xor)
#define AMO_BIT(NAME, C, OP)                                                             \
    AMO(NAME, C, bit_##OP, shmem_##NAME##_atomic_##OP(d, (C)v, 0))                       \
    AMO(NAME, C, ctx_bit_##OP, shmem_ctx_##NAME##_atomic_##OP(CTX, d, (C)v, 0))          \
    AMO(NAME, C, f##OP, shmem_##NAME##_atomic_fetch_##OP(d, (C)v, 0))                    \
    AMO(NAME, C, ctx_f##OP, shmem_ctx_##NAME##_atomic_fetch_##OP(CTX, d, (C)v, 0))       \
    AMO_NBI(NAME, C, f##OP, shmem_##NAME##_atomic_fetch_##OP##_nbi(&f, d, (C)v, 0))

SHMEM_TYPES_AMO(AMO_ADDS)
SHMEM_TYPES_AMO_BIT(AMO_BITS)

enum amo_op { AMO_INC, AMO_ADD, AMO_AND, AMO_OR_XOR };
struct amo {
    const char *name;
    enum amo_op op;
    size_t size;
    bool is_signed;
    amo_fn fn;
};
enum { SINT = 1, UINT = 0 };

#define AMO_ROW(NAME, C, KIND, FN, OP) {#NAME " " #FN, OP, sizeof(C), KIND, FN##_##NAME},
/* clang-format off */
#define AMO_ROWS_ADDS(NAME, C, KIND)                                                     \
    AMO_ROW(NAME, C, KIND, inc, AMO_INC) AMO_ROW(NAME, C, KIND, add, AMO_ADD)            \
    AMO_ROW(NAME, C, KIND, finc, AMO_INC) AMO_ROW(NAME, C, KIND, fadd, AMO_ADD)          \
    AMO_ROW(NAME, C, KIND, ctx_inc, AMO_INC) AMO_ROW(NAME, C, KIND, ctx_add, AMO_ADD)    \
    AMO_ROW(NAME, C, KIND, ctx_finc, AMO_INC) AMO_ROW(NAME, C, KIND, ctx_fadd, AMO_ADD)  \
    AMO_ROW(NAME, C, KIND, finc_nbi, AMO_INC) AMO_ROW(NAME, C, KIND, fadd_nbi, AMO_ADD)
#define AMO_ROWS_BITS(NAME, C, KIND)                                                     \
    AMO_ROWS_BIT(NAME, C, KIND, and, AMO_AND)                                            \
    AMO_ROWS_BIT(NAME, C, KIND, or, AMO_OR_XOR)                                          \
    AMO_ROWS_BIT(NAME, C, KIND, xor, AMO_OR_XOR)
#define AMO_ROWS_BIT(NAME, C, KIND, OP, MODEL)                                           \
    AMO_ROW(NAME, C, KIND, bit_##OP, MODEL) AMO_ROW(NAME, C, KIND, ctx_bit_##OP, MODEL)  \
    AMO_ROW(NAME, C, KIND, f##OP, MODEL) AMO_ROW(NAME, C, KIND, ctx_f##OP, MODEL)        \
    AMO_ROW(NAME, C, KIND, f##OP##_nbi, MODEL)
/* clang-format on */

static const struct amo amos[] = {SHMEM_TYPES_AMO(AMO_ROWS_ADDS)
                                      SHMEM_TYPES_AMO_BIT(AMO_ROWS_BITS)};
enum { AMOS = sizeof amos / sizeof amos[0] };

enum { ADDS = 200, CAS_ADDS = 500, TICKETS = 400, SWAPS = 500, PES_MAX = 64 };
static uint64_t word;
static uint64_t seed;

/* The low bytes of v as the type reads them. */
static uint64_t amo_narrow(const struct amo *a, uint64_t v)
{
    unsigned shift = (unsigned)(64 - 8 * a->size);

    v <<= shift;
    return a->is_signed ? (uint64_t)((int64_t)v >> shift) : v >> shift;
}

static uint64_t read_as(const struct amo *a)
{
    uint64_t v = 0;
    memcpy(&v, &word, a->size);
    return amo_narrow(a, v);
}

/* Adding: PE 0's word must hold the sum of what all added. */
static void test_adding(const struct amo *a)
{
    uint64_t each = a->op == AMO_INC ? 1 : (uint64_t)-3;
    word = 0;
    shmem_barrier_all();
    for (int i = 0; i < ADDS; i++) {
        a->fn(&word, each);
        if (i % 64 == 0)
            check_delay(&seed);
    }
    shmem_barrier_all();
    uint64_t all = (uint64_t)shmem_n_pes() * ADDS;
    uint64_t is = shmem_my_pe() == 0 ? read_as(a) : amo_narrow(a, all * each);
    CHECK_NAMED(is == amo_narrow(a, all * each), "%s by all PEs made %lld", a->name,
                (long long)is);
    shmem_barrier_all();
}

/* xor an odd number of times each with one's own bit; and / or of own bits. */
static void test_bits(const struct amo *a)
{
    unsigned bits = (unsigned)(8 * a->size), me = (unsigned)shmem_my_pe();
    uint64_t mine = me < bits ? (uint64_t)1 << me : 0, all = 0;
    bool is_and = a->op == AMO_AND;
    for (unsigned pe = 0; pe < (unsigned)shmem_n_pes() && pe < bits; pe++)
        all |= (uint64_t)1 << pe;
    word = is_and ? ~(uint64_t)0 : 0;
    shmem_barrier_all();
    for (int i = 0; i < ADDS + 1; i++)
        a->fn(&word, is_and ? ~mine : mine);
    shmem_barrier_all();
    uint64_t expected = amo_narrow(a, is_and ? ~all : all);
    uint64_t is = me == 0 ? read_as(a) : expected;
    CHECK_NAMED(is == expected, "%s by all PEs made %llx, should be %llx", a->name,
                (unsigned long long)is, (unsigned long long)expected);
    shmem_barrier_all();
}

/* fetch_add hands out every number exactly once, and in rising order to each PE. */
static long next_ticket;
static int taken[TICKETS * PES_MAX];

static void test_tickets(void)
{
    long all = (long)TICKETS * shmem_n_pes(), last = -1;
    for (int i = 0; i < TICKETS; i++) {
        long ticket = i % 2 != 0 ? shmem_long_atomic_fetch_inc(&next_ticket, 0)
                                 : shmem_long_atomic_fetch_add(&next_ticket, 1, 0);
        CHECK(ticket > last && ticket < all);
        last = ticket;
        shmem_int_atomic_inc(&taken[ticket], 0);
        check_delay(&seed);
    }
    shmem_barrier_all();
    for (long i = 0; shmem_my_pe() == 0 && i < all; i++)
        CHECK_NAMED(taken[i] == 1, "ticket %ld was taken %d times", i, taken[i]);
}

static int cas_word;
static unsigned long long cas_word_long;

static void test_compare_swap(void)
{
    for (int i = 0; i < CAS_ADDS; i++) {
        int seen = shmem_int_atomic_fetch(&cas_word, 0), was;
        while ((was = shmem_int_atomic_compare_swap(&cas_word, seen, seen + 1, 0)) !=
               seen)
            seen = was;
        unsigned long long v = 0, old;
        while ((old = shmem_ulonglong_atomic_compare_swap(&cas_word_long, v, v - 1, 0)) !=
               v)
            v = old;
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        CHECK_EQ(cas_word, CAS_ADDS * shmem_n_pes());
        CHECK_EQ(cas_word_long, -(uint64_t)CAS_ADDS * (uint64_t)shmem_n_pes());
    }
    shmem_barrier_all();
}

/* Every PE swaps its own number in: each number comes out once, but for the last. */
static long holder = -1, seen_sum;

static void test_swap(void)
{
    long me = shmem_my_pe(), n = shmem_n_pes(), sum = 0;
    for (int i = 0; i < SWAPS; i++) {
        sum += shmem_long_atomic_swap(&holder, me * SWAPS + i, 0);
        check_delay(&seed);
    }
    shmem_long_atomic_add(&seen_sum, sum, 0);
    shmem_barrier_all();
    long all = n * SWAPS * (n * SWAPS - 1) / 2 - 1; /* every number and the first -1 */
    if (me == 0)
        CHECK_EQ(seen_sum + holder, all);
}

int main(void)
{
    shmem_init();
    seed = check_seed(shmem_my_pe());
    CHECK(shmem_n_pes() <= PES_MAX);
    for (size_t i = 0; i < AMOS; i++) {
        const struct amo *a = &amos[i];
        if (a->op == AMO_INC || a->op == AMO_ADD)
            test_adding(a);
        else
            test_bits(a);
    }
    test_tickets();
    test_compare_swap();
    test_swap();
    shmem_finalize();
    return 0;
}
