/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * active.c - the deprecated collectives over active sets against a serial model: several
 * strides, random delays, pSync restored by each call, consecutive barriers with one
 * pSync, arrays in the heap and in globals.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/api/multi/check.h"

#include <complex.h>

enum { PES_MAX = 16, MOST = 500, GUARD = 64, GUARD_BYTE = 0x66, WORDS = SHMEM_SYNC_SIZE };
struct set {
    int start, log, size, me;
};
static long globals[2][WORDS]; /* symmetric, and SHMEM_SYNC_VALUE, which is 0 */
static long barrier_sync[WORDS];
static long *syncs[4];
static unsigned char *dest, *source, *work;
static unsigned calls;
static uint64_t seed;

#define SET(s) (s)->start, (s)->log, (s)->size

static int world_of(const struct set *s, int i)
{
    return s->start + (i << s->log);
}

/* Returns a pSync that no PE still uses, since it was followed by a barrier; delays. */
static long *next_sync(const struct set *s)
{
    shmem_barrier(SET(s), barrier_sync);
    check_delay(&seed);
    return syncs[calls++ % 4];
}

static void check_sync(const long *sync, const char *what)
{
    for (int i = 0; i < WORDS; i++)
        CHECK_NAMED(sync[i] == SHMEM_SYNC_VALUE, "%s left pSync[%d] = %ld", what, i,
                    sync[i]);
}

/* -- barriers -------------------------------------------------------------------- */
static volatile long my_round;

static void test_barriers(const struct set *s, bool sync, int rounds, bool delays)
{
    long *words = syncs[0];
    my_round = 0;
    shmem_barrier(SET(s), barrier_sync);
    for (long round = 1; round <= rounds; round++) {
        if (delays)
            check_delay(&seed);
        my_round = round;
        if (sync)
            shmem_sync(SET(s), words);
        else
            shmem_barrier(SET(s), words);
        /* Another PE is in this round or, after leaving the barrier, in the next. */
        int other = world_of(s, (s->me + 1 + (int)(round % s->size)) % s->size);
        long seen = shmem_long_g((const long *)&my_round, other);
        CHECK_NAMED(seen == round || seen == round + 1, "in round %ld, but PE %d in %ld",
                    round, other, seen);
    }
    shmem_barrier(SET(s), barrier_sync);
    check_sync(words, "shmem_barrier");
}

/* One PE is so late that the others sleep. */
static void test_late(const struct set *s)
{
    enum { LATE_US = 20000 };
    for (int late = 0; late < s->size && late < 3; late++) {
        if (s->me == late)
            check_sleep_us(LATE_US);
        shmem_barrier(SET(s), barrier_sync);
    }
}

/* -- movement of data ------------------------------------------------------------ */
static void check_bytes(const unsigned char *at, size_t n, uint64_t salt,
                        const char *what)
{
    CHECK_NAMED(check_find_wrong(at, n, salt) == n, "%s: wrong bytes", what);
}

static void check_guard(const unsigned char *at, size_t n, const char *what)
{
    CHECK_NAMED(check_find_other(at, n, GUARD_BYTE) == n, "%s wrote where it must not",
                what);
}

static void broadcast(const struct set *s, size_t size, size_t n, int root)
{
    long *sync = next_sync(s);
    memset(dest, GUARD_BYTE, n * size + GUARD);
    check_fill(source, n * size, s->me == root ? n : 999);
    if (size == 4)
        shmem_broadcast32(dest, source, n, root, SET(s), sync);
    else
        shmem_broadcast64(dest, source, n, root, SET(s), sync);
    if (s->me == root)
        check_guard(dest, n * size + GUARD, "broadcast to the root");
    else
        check_bytes(dest, n * size, n, "broadcast");
    check_guard(dest + n * size, GUARD, "broadcast");
    check_sync(sync, "broadcast");
}

static void collect(const struct set *s, size_t size, size_t n, bool own)
{
    long *sync = next_sync(s);
    size_t mine = own ? n * (size_t)(s->me % 3) : n;
    memset(dest, GUARD_BYTE, n * 2 * size * (size_t)s->size + GUARD);
    check_fill(source, mine * size, (uint64_t)s->me);
    if (own && size == 4)
        shmem_collect32(dest, source, mine, SET(s), sync);
    else if (own)
        shmem_collect64(dest, source, mine, SET(s), sync);
    else if (size == 4)
        shmem_fcollect32(dest, source, mine, SET(s), sync);
    else
        shmem_fcollect64(dest, source, mine, SET(s), sync);
    const unsigned char *at = dest;
    for (int i = 0; i < s->size; i++) {
        size_t bytes = size * (own ? n * (size_t)(i % 3) : n);
        check_bytes(at, bytes, (uint64_t)i, own ? "collect" : "fcollect");
        at += bytes;
    }
    check_guard(at, GUARD, "collect");
    check_sync(sync, "collect");
}

/* With both strides 1: alltoall, otherwise alltoalls. */
static void alltoall(const struct set *s, size_t size, size_t n, ptrdiff_t dst,
                     ptrdiff_t sst)
{
    long *sync = next_sync(s);
    size_t all = n * (size_t)s->size, from = size * (size_t)sst, to = size * (size_t)dst;
    memset(dest, GUARD_BYTE, all * to + GUARD);
    for (size_t k = 0; k < all; k++)
        check_fill(source + k * from, size, (uint64_t)s->me * 100000 + k);
    if (size == 4 && dst == 1 && sst == 1)
        shmem_alltoall32(dest, source, n, SET(s), sync);
    else if (size == 4)
        shmem_alltoalls32(dest, source, dst, sst, n, SET(s), sync);
    else if (dst == 1 && sst == 1)
        shmem_alltoall64(dest, source, n, SET(s), sync);
    else
        shmem_alltoalls64(dest, source, dst, sst, n, SET(s), sync);
    for (size_t k = 0; k < all; k++) {
        uint64_t salt = k / n * 100000 + (size_t)s->me * n + k % n;
        check_bytes(dest + k * to, size, salt, "alltoall");
        check_guard(dest + k * to + size, to - size, "alltoalls");
    }
    check_sync(sync, "alltoall");
}

/* -- reductions ------------------------------------------------------------------ */
typedef void (*reduce_fn)(void *dest, const void *source, int n, int start, int log,
                          int size, void *work, long *sync);
struct row {
    const char *name;
    size_t size;
    reduce_fn reduce;
    void (*make)(void *element, long value);
    void (*combine)(void *into, const void *element);
    bool (*same)(const void *a, const void *b);
};
#define TYPE(NAME, C, KIND)                                                              \
    static void make_##NAME(void *element, long value)                                   \
    {                                                                                    \
        *(C *)element = (C)value;                                                        \
    }                                                                                    \
    static bool same_##NAME(const void *a, const void *b)                                \
    {                                                                                    \
        return *(const C *)a == *(const C *)b;                                           \
    }
#define OP(NAME, C, OP, EXPRESSION)                                                      \
    static void OP##_##NAME(void *d, const void *s, int n, int start, int log, int size, \
                            void *wrk, long *sync)                                       \
    {                                                                                    \
        shmem_##NAME##_##OP##_to_all(d, s, n, start, log, size, wrk, sync);              \
    }                                                                                    \
    MODEL(NAME, C, OP, EXPRESSION)
#define MODEL(NAME, C, OP, EXPRESSION)                                                   \
    static void model_##OP##_##NAME(void *into, const void *element)                     \
    {                                                                                    \
        C a = *(C *)into, b = *(const C *)element;                                       \
        *(C *)into = (C)(EXPRESSION);                                                    \
    }
#define NUM(NAME, C, KIND) OP(NAME, C, sum, a + b) OP(NAME, C, prod, a *b)
#define ORD(NAME, C, KIND) OP(NAME, C, max, a > b ? a : b) OP(NAME, C, min, a < b ? a : b)
#define BIT(NAME, C, KIND)                                                               \
    OP(NAME, C, and, a &b) OP(NAME, C, or, a | b) OP(NAME, C, xor, a ^ b)
SHMEM_TYPES_OLD_REDUCE_NUM(TYPE)
SHMEM_TYPES_OLD_REDUCE_NUM(NUM)
SHMEM_TYPES_OLD_REDUCE_ORD(ORD)
SHMEM_TYPES_OLD_REDUCE_BIT(BIT)

#define ROW(NAME, C, OP)                                                                 \
    {#NAME "_" #OP "_to_all", sizeof(C),  OP##_##NAME, make_##NAME,                      \
     model_##OP##_##NAME,     same_##NAME},
#define ROWS_NUM(NAME, C, KIND) ROW(NAME, C, sum) ROW(NAME, C, prod)
#define ROWS_ORD(NAME, C, KIND) ROW(NAME, C, max) ROW(NAME, C, min)
#define ROWS_BIT(NAME, C, KIND) ROW(NAME, C, and) ROW(NAME, C, or) ROW(NAME, C, xor)
static const struct row rows[] = {SHMEM_TYPES_OLD_REDUCE_NUM(
    ROWS_NUM) SHMEM_TYPES_OLD_REDUCE_ORD(ROWS_ORD) SHMEM_TYPES_OLD_REDUCE_BIT(ROWS_BIT)};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), ELEMENT = 16 };

/* Small values, so that no product of 16 PEs overflows. */
static long value_of(int i, int pe)
{
    return (pe * 31 + i) % 5 == 0 ? 2 : (pe + i) % 2 == 0 ? -1 : 1;
}

static void check_result(const struct row *row, const struct set *s, int n,
                         const unsigned char *at)
{
    unsigned char sum[ELEMENT] __attribute__((aligned(16)));
    unsigned char element[ELEMENT] __attribute__((aligned(16)));
    for (int i = 0; i < n; i++) {
        row->make(sum, value_of(i, 0));
        for (int pe = 1; pe < s->size; pe++) {
            row->make(element, value_of(i, pe));
            row->combine(sum, element);
        }
        CHECK_NAMED(row->same(at + (size_t)i * row->size, sum),
                    "%s of %d: element %d is wrong", row->name, n, i);
    }
    check_guard(at + (size_t)n * row->size, GUARD, row->name);
}

static void reduce(const struct row *row, const struct set *s, int n, bool in_place)
{
    long *sync = next_sync(s);
    unsigned char *to = in_place ? source : dest;
    memset(dest, GUARD_BYTE, (size_t)n * row->size + GUARD);
    memset(source, GUARD_BYTE, (size_t)n * row->size + GUARD);
    for (int i = 0; i < n; i++)
        row->make(source + (size_t)i * row->size, value_of(i, s->me));
    row->reduce(to, source, n, SET(s), work, sync);
    check_result(row, s, n, to);
    check_sync(sync, row->name);
}

/* -- all sets -------------------------------------------------------------------- */
static void test_set(const struct set *s)
{
    static const size_t counts[] = {0, 1, 3, MOST};
    test_barriers(s, false, 1000, false);
    test_barriers(s, true, 1000, false);
    test_barriers(s, false, 300, true);
    test_late(s);
    for (size_t size = 4; size <= 8; size += 4)
        for (int c = 0; c < 4; c++) {
            broadcast(s, size, counts[c], c % s->size);
            collect(s, size, counts[c], false);
            collect(s, size, counts[c], true);
            for (ptrdiff_t dst = 1; dst <= 2; dst++)
                for (ptrdiff_t sst = 1; sst <= 2; sst++)
                    alltoall(s, size, counts[c], dst, sst);
        }
    for (size_t i = 0; i < ROWS; i++)
        for (int c = 0; c < 4; c++)
            reduce(&rows[i], s, (int)counts[c], (i + (size_t)c) % 2 == 0);
}

static void test_sets(void)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (int log = 0; log < 3; log++)
        for (int start = 0; start < npes && start < 3; start++) {
            int stride = 1 << log, size = (npes - 1 - start) / stride + 1;
            struct set s = {start, log, size, (me - start) / stride};
            if (me >= start && (me - start) % stride == 0)
                test_set(&s);
            shmem_barrier_all();
        }
    /* A set of one PE: the stride has no effect. */
    struct set alone = {me, 20, 1, 0};
    shmem_barrier(SET(&alone), syncs[0]);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    CHECK(shmem_n_pes() <= PES_MAX);
    dest = check_alloc((size_t)MOST * ELEMENT * PES_MAX * 2);
    source = check_alloc((size_t)MOST * ELEMENT * PES_MAX * 2);
    work = check_alloc((size_t)(MOST + SHMEM_REDUCE_MIN_WRKDATA_SIZE) * ELEMENT);
    for (int i = 0; i < 4; i++)
        syncs[i] = i < 2 ? globals[i] : check_alloc(WORDS * sizeof(long));
    for (int i = 0; i < WORDS; i++)
        syncs[2][i] = syncs[3][i] = SHMEM_SYNC_VALUE;
    seed = check_seed(shmem_my_pe());
    shmem_barrier_all();
    test_sets();
    shmem_finalize();
    return 0;
}
