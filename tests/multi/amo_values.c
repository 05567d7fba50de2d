/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * amo_values.c - every integer atomic, every type, every pair of boundary values, against
 * a model: result, word afterwards, and the bytes beside the word.  Floating fetch, set
 * and swap too.  Each PE works on a word of its own at its neighbour.
 */
#include "config.h"

#include "tests/multi/amo.h"

#include <float.h>

enum { VALUES = 9, WORD = 16, AT = 8, BYTES = 3 * WORD };
static unsigned char area[BYTES] __attribute__((aligned(16)));

static uint64_t value_of(size_t size, int which)
{
    uint64_t top = (uint64_t)1 << (8 * size - 1);
    const uint64_t value[VALUES] = {
        0, 1, 2, ~(uint64_t)0, ~(uint64_t)1, top, top - 1, top + 1, 0x1234567887654321u};
    return value[which];
}

static uint64_t read_word(const struct amo *a)
{
    uint64_t word = 0;
    memcpy(&word, area + WORD + AT, a->size);
    return amo_narrow(a, word);
}

static void write_word(const struct amo *a, uint64_t v)
{
    memset(area, 0xc3, BYTES);
    memcpy(area + WORD + AT, &v, a->size);
}

/* The neighbour looks at its own word; barriers keep the two in step. */
static void test_one(const struct amo *a, uint64_t old, uint64_t v, uint64_t cond, int to)
{
    write_word(a, old);
    shmem_barrier_all();
    uint64_t got = a->fn(area + WORD + AT, v, cond, to);
    shmem_barrier_all();
    old = amo_narrow(a, old);
    uint64_t expected = amo_model(a, old, v, cond), is = read_word(a);
    CHECK_NAMED(!amo_returns(a) || amo_narrow(a, got) == old,
                "%s of %llx with %llx returned %llx", a->name, (unsigned long long)old,
                (unsigned long long)v, (unsigned long long)got);
    CHECK_NAMED(!amo_returns(a) || got == old, "%s returned %llx: not of its sign",
                a->name, (unsigned long long)got);
    CHECK_NAMED(is == expected, "%s of %llx with %llx made %llx, should be %llx", a->name,
                (unsigned long long)old, (unsigned long long)v, (unsigned long long)is,
                (unsigned long long)expected);
    CHECK_NAMED(check_find_other(area, WORD + AT, 0xc3) == WORD + AT &&
                    check_find_other(area + WORD + AT + a->size,
                                     BYTES - WORD - AT - a->size,
                                     0xc3) == BYTES - WORD - AT - a->size,
                "%s changed bytes beside the word", a->name);
}

static void test_amo(const struct amo *a, int to)
{
    for (int i = 0; i < VALUES; i++) {
        uint64_t old = value_of(a->size, i), v = value_of(a->size, (i * 4 + 3) % VALUES);
        test_one(a, old, v, old, to);
        if (a->op == AMO_CSWAP) {
            test_one(a, old, v, old + 1, to);
            test_one(a, old, v, old ^ (uint64_t)1 << (8 * a->size - 1), to);
        }
    }
}

static double swap_float(void *d, double v, int pe)
{
    return (double)shmem_float_atomic_swap(d, (float)v, pe);
}

static double swap_double(void *d, double v, int pe)
{
    return shmem_double_atomic_swap(d, v, pe);
}

static float float_word;
static double double_word;

static void test_float(int to)
{
    static const double values[] = {0.0, -0.0, 1.5, -2.25, FLT_MAX, -FLT_MIN, 1e-40};
    float_word = 7.0f;
    double_word = 7.0;
    double last = 7.0;
    shmem_barrier_all();
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        CHECK(swap_float(&float_word, values[i], to) == (double)(float)last);
        CHECK(swap_double(&double_word, values[i], to) == last);
        last = values[i];
        CHECK(shmem_float_atomic_fetch(&float_word, to) == (float)last);
        CHECK(shmem_double_atomic_fetch(&double_word, to) == last);
    }
    shmem_float_atomic_set(&float_word, -0.5f, to);
    shmem_double_atomic_set(&double_word, -0.5, to);
    float fetched = 0;
    double fetched_too = 0;
    shmem_quiet();
    shmem_float_atomic_fetch_nbi(&fetched, &float_word, to);
    shmem_double_atomic_swap_nbi(&fetched_too, &double_word, 9.0, to);
    shmem_quiet();
    CHECK(fetched == -0.5f);
    CHECK(fetched_too == -0.5);
    shmem_barrier_all();
    CHECK(float_word == -0.5f);
    CHECK(double_word == 9.0);
}

int main(void)
{
    shmem_init();
    int to = (shmem_my_pe() + 1) % shmem_n_pes();
    for (size_t i = 0; i < AMOS; i++)
        test_amo(&amos[i], to);
    test_float(to);
    shmem_finalize();
    return 0;
}
