/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aset.c - the deprecated collectives over active sets: barrier, sync, broadcast,
 * collect, fcollect, alltoall, alltoalls of 32 and 64 bits, and all reductions, with
 * several strides.  Each call must restore the initial values of its pSync.
 */
#include "tests/api/conform/conform.h"
#include "tests/api/conform/types.h"

struct set {
    int start, log, size;
};
enum { SETS_MAX = 8 };
static struct set sets[SETS_MAX];
static int nsets;

static void add_set(int start, int log, int size)
{
    if (size > 0 && start + ((size - 1) << log) < cf_npes)
        sets[nsets++] = (struct set){start, log, size};
}

static int world_of(const struct set *s, int rank)
{
    return s->start + (rank << s->log);
}

static int rank_of(const struct set *s)
{
    for (int i = 0; i < s->size; i++)
        if (world_of(s, i) == cf_me)
            return i;
    return -1;
}

/* -- work arrays --------------------------------------------------------------------- */
enum { SYNC_LONGS = 256, ARRAYS = 8 };
static long arrays[ARRAYS][SYNC_LONGS];
static size_t calls;

/* A pSync that no PE still uses: run_moves() calls a barrier before each call. */
static long *next_array(void)
{
    return arrays[calls++ % ARRAYS];
}

static void verify_array(const long *array)
{
    size_t i = 0;

    while (i < SYNC_LONGS && array[i] == SHMEM_SYNC_VALUE)
        i++;
    cf_check(i == SYNC_LONGS, "pSync[%zu] is %ld afterwards", i, array[i % SYNC_LONGS]);
}

/* -- moving data --------------------------------------------------------------------- */
enum kind { BROADCAST, COLLECT, FCOLLECT, ALLTOALL, ALLTOALLS };
struct call {
    void *d;
    const void *s;
    ptrdiff_t dst, sst;
    size_t n;
    int root;
    const struct set *set;
    long *sync;
};
typedef void (*call_fn)(const struct call *c);

/* clang-format off */
#define SET c->set->start, c->set->log, c->set->size
#define BODY(fn, bits, KIND, ...)                                                        \
    static void do_##fn##bits(const struct call *c)                                      \
    { shmem_##fn##bits(c->d, c->s, __VA_ARGS__, SET, c->sync); }
#define ROW(fn, bits, KIND, ...)                                                         \
    {CF_NAME(shmem_##fn##bits), bits / 8, KIND, do_##fn##bits},
#define FIVE(D, bits)                                                                    \
    D(broadcast, bits, BROADCAST, c->n, c->root) D(collect, bits, COLLECT, c->n)         \
    D(fcollect, bits, FCOLLECT, c->n) D(alltoall, bits, ALLTOALL, c->n)                  \
    D(alltoalls, bits, ALLTOALLS, c->dst, c->sst, c->n)
FIVE(BODY, 32)
FIVE(BODY, 64)
static const struct routine {
    const char *name;
    size_t size;
    enum kind kind;
    call_fn call;
} routines[] = {FIVE(ROW, 32) FIVE(ROW, 64)};
/* clang-format on */

enum { COUNTS = 4, LARGE = 50, STRIDE_MAX = 3 };
static const size_t counts[COUNTS] = {0, 1, 5, LARGE};
static unsigned char *to, *from, *model, *source;
static size_t buffer_size;

static size_t share(size_t n, int rank)
{
    return (n + 3 * (size_t)rank) % (LARGE + 2);
}

static void put_model(size_t size, size_t at, size_t i, size_t n)
{
    memcpy(model + at * size, source + i * size, n * size);
}

/* Adds to the model what this PE must receive from member `rank`. */
static void take_from(const struct routine *r, const struct call *c, int rank, size_t *at)
{
    size_t me = (size_t)rank_of(c->set), k = (size_t)rank, n = c->n, size = r->size;

    if (r->kind == BROADCAST && rank == c->root && me != k)
        put_model(size, 0, 0, n);
    if (r->kind == COLLECT) {
        put_model(size, *at, 0, share(n, rank));
        *at += share(n, rank);
    }
    if (r->kind == FCOLLECT)
        put_model(size, k * n, 0, n);
    if (r->kind == ALLTOALL)
        put_model(size, k * n, me * n, n);
    for (size_t i = 0; r->kind == ALLTOALLS && i < n; i++)
        put_model(size, (k * n + i) * (size_t)c->dst, (me * n + i) * (size_t)c->sst, 1);
}

static void run_call(const struct routine *r, struct call *c, uint64_t salt)
{
    size_t n = c->n, at = 0;

    if (r->kind == COLLECT)
        c->n = share(n, rank_of(c->set));
    r->call(c);
    c->n = n;
    memset(from, CF_FILLER, buffer_size); /* the source may be reused at once */
    memset(model, CF_FILLER, buffer_size);
    for (int i = 0; i < c->set->size; i++) {
        check_fill(source, buffer_size, salt + (uint64_t)world_of(c->set, i));
        take_from(r, c, i, &at);
    }
    cf_case(r->name);
    cf_check(memcmp(to, model, buffer_size) == 0,
             "set %d, %d, %d, %zu elements, root %d, dst %td, sst %td: wrong result",
             c->set->start, c->set->log, c->set->size, n, c->root, c->dst, c->sst);
    verify_array(c->sync);
}

static void run_moves(const struct routine *r, uint64_t *seed)
{
    for (int s = 0; s < nsets; s++)
        for (size_t i = 0; i < COUNTS; i++) {
            uint64_t salt = calls * 1024;
            struct call c = {to, from, 0, 0, counts[i], 0, &sets[s], next_array()};
            c.root = (int)(calls % (size_t)sets[s].size);
            c.dst = (ptrdiff_t)(1 + calls % STRIDE_MAX);
            c.sst = (ptrdiff_t)(1 + calls / 2 % STRIDE_MAX);
            memset(to, CF_FILLER, buffer_size);
            shmem_barrier_all();
            check_delay(seed);
            check_fill(from, buffer_size, salt + (uint64_t)cf_me);
            if (rank_of(&sets[s]) >= 0)
                run_call(r, &c, salt);
        }
}

/* -- barrier and sync ---------------------------------------------------------------- */
static long arrived[64];

static void run_sync(const struct set *s, bool barrier, uint64_t *seed)
{
    enum { ROUNDS = 20 };
    static long round;
    const char *name = barrier ? "shmem_barrier" : "shmem_sync";

    round += ROUNDS + 1;
    for (long i = 0; rank_of(s) >= 0 && i < ROUNDS; i++) {
        check_delay(seed);
        for (int k = 0; k < s->size; k++)
            shmem_long_p(&arrived[cf_me], round + i, world_of(s, k));
        if (!barrier)
            shmem_quiet();
        if (barrier)
            shmem_barrier(s->start, s->log, s->size, arrays[0]);
        else
            (shmem_sync)(s->start, s->log, s->size, arrays[0]);
        cf_case(name);
        for (int k = 0; k < s->size; k++)
            cf_check(shmem_long_atomic_fetch(&arrived[world_of(s, k)], cf_me) >=
                         round + i,
                     "set %d, %d, %d: PE %d had not arrived", s->start, s->log, s->size,
                     world_of(s, k));
    }
    shmem_barrier_all();
    verify_array(arrays[0]);
    shmem_barrier_all();
}

/* -- reductions ---------------------------------------------------------------------- */
typedef void (*reduce_fn)(void *d, const void *s, int n, const struct set *a, void *work,
                          long *sync);
/* clang-format off */
#define TO_ALL(N, C, op)                                                                 \
    static void do_##N##_##op(void *d, const void *s, int n, const struct set *a,        \
                              void *work, long *sync)                                    \
    { shmem_##N##_##op##_to_all((C *)d, (const C *)s, n, a->start, a->log, a->size,      \
                                (C *)work, sync); }
#define AND_BODY(N, C)  TO_ALL(N, C, and)
#define OR_BODY(N, C)   TO_ALL(N, C, or)
#define XOR_BODY(N, C)  TO_ALL(N, C, xor)
#define MAX_BODY(N, C)  TO_ALL(N, C, max)
#define MIN_BODY(N, C)  TO_ALL(N, C, min)
#define SUM_BODY(N, C)  TO_ALL(N, C, sum)
#define PROD_BODY(N, C) TO_ALL(N, C, prod)
CF_ASET_AND(AND_BODY)
CF_ASET_OR(OR_BODY)
CF_ASET_XOR(XOR_BODY)
CF_ASET_MAX(MAX_BODY)
CF_ASET_MIN(MIN_BODY)
CF_ASET_SUM(SUM_BODY)
CF_ASET_PROD(PROD_BODY)

#define TO_ALL_ROW(N, C, op, OP)                                                         \
    {CF_NAME(shmem_##N##_##op##_to_all), CF_TYPE(N, C), OP, do_##N##_##op},
#define AND_ROW(N, C)  TO_ALL_ROW(N, C, and, CF_AND)
#define OR_ROW(N, C)   TO_ALL_ROW(N, C, or, CF_OR)
#define XOR_ROW(N, C)  TO_ALL_ROW(N, C, xor, CF_XOR)
#define MAX_ROW(N, C)  TO_ALL_ROW(N, C, max, CF_MAX)
#define MIN_ROW(N, C)  TO_ALL_ROW(N, C, min, CF_MIN)
#define SUM_ROW(N, C)  TO_ALL_ROW(N, C, sum, CF_SUM)
#define PROD_ROW(N, C) TO_ALL_ROW(N, C, prod, CF_PROD)
static const struct reduction {
    const char *name;
    struct cf_type type;
    enum cf_op op;
    reduce_fn call;
} reductions[] = {
    CF_ASET_AND(AND_ROW) CF_ASET_OR(OR_ROW) CF_ASET_XOR(XOR_ROW) CF_ASET_MAX(MAX_ROW)
    CF_ASET_MIN(MIN_ROW) CF_ASET_SUM(SUM_ROW) CF_ASET_PROD(PROD_ROW)
};
/* clang-format on */

enum { REDUCED = 90, WORK = REDUCED / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE };
static unsigned char work[2][WORK * 16] __attribute__((aligned(16)));

static void verify_reduction(const struct reduction *r, const struct set *s,
                             uint64_t salt, size_t n, const unsigned char *d)
{
    unsigned char expected[CF_VALUE] __attribute__((aligned(16)));
    unsigned char x[CF_VALUE] __attribute__((aligned(16)));
    size_t size = r->type.size, i = 0;

    for (; i < n; i++) {
        cf_random(&r->type, salt + (uint64_t)world_of(s, 0) * REDUCED + i, expected);
        for (int k = 1; k < s->size; k++) {
            cf_random(&r->type, salt + (uint64_t)world_of(s, k) * REDUCED + i, x);
            cf_apply(&r->type, r->op, expected, x);
        }
        if (!cf_same(&r->type, d + i * size, expected))
            break;
    }
    cf_case(r->name);
    cf_check(i == n, "set %d, %d, %d, %zu elements: element %zu is %s, not %s", s->start,
             s->log, s->size, n, i, cf_text(&r->type, d + i * size),
             cf_text(&r->type, expected));
    cf_check(check_find_other(d + n * size, size, CF_FILLER) == size,
             "set %d, %d, %d, %zu elements: wrote beyond the end", s->start, s->log,
             s->size, n);
}

/* Consecutive reductions alternate between two pairs of work arrays: no PE
 * leaves a reduction before all PEs have entered it, hence have left the previous one. */
static void run_reductions(const struct reduction *r, const struct set *s, uint64_t *seed)
{
    static const int lengths[] = {0, 1, 7, REDUCED};
    uint64_t salt = calls++ * 4096;
    size_t size = r->type.size, block = (REDUCED + 1) * size;

    memset(to, CF_FILLER, 2 * CF_COUNT(lengths) * block);
    shmem_barrier_all();
    for (size_t i = 0; rank_of(s) >= 0 && i < 2 * CF_COUNT(lengths); i++) {
        unsigned char *d = to + i * block, *input = i % 2 ? d : from + i * block;
        check_delay(seed);
        /* Other PEs may already be in the call. */
        for (size_t k = 0; k < (size_t)lengths[i / 2]; k++)
            cf_random(&r->type, salt + (uint64_t)cf_me * REDUCED + k, input + k * size);
        r->call(d, input, lengths[i / 2], s, work[i % 2], arrays[i % 2]);
        if (input != d)
            memset(input, CF_FILLER, block);
        verify_reduction(r, s, salt, (size_t)lengths[i / 2], d);
    }
    shmem_barrier_all();
    verify_array(arrays[0]);
    verify_array(arrays[1]);
}

int main(void)
{
    cf_start("aset");
    int n = cf_npes, half = (n + 1) / 2;
    uint64_t seed = check_seed(cf_me);

    buffer_size = (size_t)n * STRIDE_MAX * (LARGE + 2) * 8 + 2 * 8 * (REDUCED + 1) * 16;
    to = check_alloc(buffer_size);
    from = check_alloc(buffer_size);
    model = malloc(buffer_size);
    source = malloc(buffer_size);
    CHECK(model != NULL && source != NULL);
    for (int i = 0; i < ARRAYS * SYNC_LONGS; i++)
        arrays[i / SYNC_LONGS][i % SYNC_LONGS] = SHMEM_SYNC_VALUE;
    CHECK(SHMEM_SYNC_SIZE <= SYNC_LONGS);
    add_set(0, 0, n);
    add_set(0, 1, half);
    add_set(1, 1, n / 2);
    add_set(n - 1, 0, 1);
    add_set(n / 3, 0, n - n / 3);
    add_set(0, 2, (n + 3) / 4);
    shmem_barrier_all();
    for (int s = 0; s < nsets; s++) {
        run_sync(&sets[s], true, &seed);
        run_sync(&sets[s], false, &seed);
    }
    for (size_t i = 0; i < CF_COUNT(routines); i++)
        run_moves(&routines[i], &seed);
    for (size_t i = 0; i < CF_COUNT(reductions); i++)
        for (int s = 0; s < nsets; s++)
            run_reductions(&reductions[i], &sets[s], &seed);
    free(model);
    free(source);
    shmem_free(from);
    shmem_free(to);
    return cf_finish();
}
