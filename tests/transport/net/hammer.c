/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hammer.c - PEs of the same and of other nodes update one word concurrently with all
 * kinds of atomics: no update is lost, whether performed by CPU atomics or through the
 * network.  Also counters that are protected by a lock.
 *   hammer [rounds]
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum { ROUNDS = 400, LOCKED = 25, PES_MAX = 16, OWN_BITS = 2, KINDS = 9 };
/* Low half: a counter; high half: OWN_BITS bits per PE. */
#define COUNT_MASK 0xffffffffu

static uint64_t word; /* used on the target PE of a phase */
static uint64_t added, drained;
static uint32_t pair[2]; /* two words in the same 8 bytes */
static long lock, locked_count;
static int me, npes;
static uint64_t seed;

static uint64_t own_bit(int i)
{
    return (uint64_t)1 << (32 + OWN_BITS * me + i);
}
static uint64_t own_bits(void)
{
    return own_bit(0) | own_bit(1);
}

/* ---- counting and bits in one word ----------------------------------------------- */

static uint64_t count_by_swap(shmem_ctx_t ctx, int to)
{
    uint64_t seen = shmem_ctx_uint64_atomic_fetch(ctx, &word, to), was;

    while ((was = shmem_ctx_uint64_atomic_compare_swap(ctx, &word, seen, seen + 1, to)) !=
           seen)
        seen = was;
    return seen;
}

static uint64_t count_nbi(shmem_ctx_t ctx, int to)
{
    uint64_t was;

    shmem_ctx_uint64_atomic_fetch_add_nbi(ctx, &was, &word, 1, to);
    shmem_ctx_quiet(ctx);
    return was;
}

/* Adds 1 to the counter or changes this PE's bits; returns the new value of the bits.
 * Fetched values must have this PE's bits as `own`: no other PE changes them. */
static uint64_t update(shmem_ctx_t ctx, int kind, uint64_t own, int to)
{
    uint64_t bit = own_bit(kind % OWN_BITS), was = own;

    switch (kind) {
    case 0:
        shmem_ctx_uint64_atomic_add(ctx, &word, 1, to);
        break;
    case 1:
        shmem_ctx_uint64_atomic_inc(ctx, &word, to);
        break;
    case 2:
        was = shmem_ctx_uint64_atomic_fetch_inc(ctx, &word, to);
        break;
    case 3:
        was = count_by_swap(ctx, to);
        break;
    case 4:
        was = count_nbi(ctx, to);
        break;
    case 5:
        was = shmem_ctx_uint64_atomic_fetch_xor(ctx, &word, bit, to);
        own ^= bit;
        CHECK_EQ(was & own_bits(), own ^ bit);
        return own;
    case 6:
        was = shmem_ctx_uint64_atomic_fetch_or(ctx, &word, bit, to);
        CHECK_EQ(was & own_bits(), own);
        return own | bit;
    case 7:
        was = shmem_ctx_uint64_atomic_fetch_and(ctx, &word, ~bit, to);
        CHECK_EQ(was & own_bits(), own);
        return own & ~bit;
    default:
        shmem_ctx_uint64_atomic_xor(ctx, &word, bit, to);
        shmem_ctx_quiet(ctx); /* otherwise the next fetch may overtake it */
        return own ^ bit;
    }
    CHECK_EQ(was & own_bits(), own);
    return own;
}

static void mixed(shmem_ctx_t ctx, int to, long rounds)
{
    uint64_t own = 0, mine = 0;

    word = added = 0;
    shmem_barrier_all();
    for (long i = 0; i < rounds; i++) {
        int kind = (int)(check_random(&seed) >> 33) % KINDS;
        own = update(ctx, kind, own, to);
        mine += kind <= 4;
        check_delay(&seed);
    }
    shmem_ctx_quiet(ctx);
    CHECK_EQ(shmem_uint64_atomic_fetch(&word, to) & own_bits(), own);
    shmem_uint64_atomic_add(&added, mine, to);
    shmem_barrier_all();
    if (me == to)
        CHECK_EQ(word & COUNT_MASK, added);
    shmem_barrier_all();
}

/* ---- swap removes what others add ------------------------------------------------ */

static void draining(int to, long rounds)
{
    uint64_t removed = 0, inserted = 0;

    word = added = drained = 0;
    shmem_barrier_all();
    for (long i = 0; i < rounds; i++) {
        uint64_t value = check_random(&seed) >> 40;
        if (i % 3 == 0)
            removed += shmem_uint64_atomic_swap(&word, 0, to);
        else
            shmem_uint64_atomic_add(&word, value, to), inserted += value;
        check_delay(&seed);
    }
    shmem_uint64_atomic_add(&added, inserted, to);
    shmem_uint64_atomic_add(&drained, removed, to);
    shmem_barrier_all();
    if (me == to)
        CHECK_EQ(word + drained, added);
    shmem_barrier_all();
}

/* ---- adjacent words of 4 bytes --------------------------------------------------- */

static void neighbours(int to, long rounds)
{
    uint32_t last = 0;

    pair[0] = pair[1] = 0;
    shmem_barrier_all();
    for (long i = 1; i <= rounds; i++) {
        if (me == npes - 1) {
            shmem_uint32_atomic_set(&pair[1], (uint32_t)i, to);
            shmem_fence(); /* before the next one */
        } else {
            shmem_uint32_atomic_inc(&pair[0], to);
        }
        uint32_t seen = shmem_uint32_atomic_fetch(&pair[1], to);
        CHECK(seen >= last && seen <= (uint32_t)rounds);
        last = seen;
    }
    shmem_barrier_all();
    if (me == to) {
        CHECK_EQ(pair[0], (uint32_t)rounds * (uint32_t)(npes - 1));
        CHECK_EQ(pair[1], rounds);
    }
    shmem_barrier_all();
}

/* ---- a counter protected by a lock ----------------------------------------------- */

static void locked(int to)
{
    locked_count = 0;
    shmem_barrier_all();
    for (int i = 0; i < LOCKED; i++) {
        shmem_set_lock(&lock);
        shmem_long_p(&locked_count, shmem_long_g(&locked_count, to) + 1, to);
        shmem_clear_lock(&lock);
        check_delay(&seed);
    }
    shmem_barrier_all();
    if (me == to)
        CHECK_EQ(locked_count, (long)LOCKED * npes);
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : ROUNDS;
    shmem_ctx_t own;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    seed = check_seed(me);
    CHECK(npes <= PES_MAX);
    double begin = check_now();
    CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &own) == 0);
    const int targets[] = {0, npes - 1};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        mixed(SHMEM_CTX_DEFAULT, targets[i], rounds);
        mixed(me % 2 == 0 ? own : SHMEM_CTX_DEFAULT, targets[i], rounds);
        draining(targets[i], rounds);
        neighbours(targets[i], rounds);
        locked(targets[i]);
    }
    shmem_ctx_destroy(own);
    if (me == 0)
        printf("hammer: %ld rounds of %d PEs, 4 tests on 2 target PEs, no update lost, "
               "%.2f s\n",
               rounds, npes, check_now() - begin);
    shmem_finalize();
    return 0;
}
