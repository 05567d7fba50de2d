/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_sets.c - wait_until and test on arrays: all, any and some, with one value and with
 * a vector of values, every type; masks that select all, some, one or no element; arrays
 * of 0, 1, odd and many elements; constant arrays against a model, then arrays that a
 * neighbour writes.
 */
#include "tests/api/conform/conform.h"
#include "tests/api/conform/types.h"

enum { MANY = 65, SLOTS = 3 };

/* The arguments of a call. */
struct call {
    void *ivars;
    size_t n;
    size_t *indices;
    const int *status;
    int cmp;
    const void *values; /* n of them; only the first for the forms without vector */
};
typedef size_t (*set_fn)(const struct call *c);
enum { ALL, ANY, SOME, MODES };

/* clang-format off */
#define P(C) (C *)c->ivars, c->n
#define ONE(C) c->status, c->cmp, *(const C *)c->values
#define VECTOR(C) c->status, c->cmp, (const C *)c->values
#define BODY(name, ...) static size_t name(const struct call *c) { __VA_ARGS__; }
#define DEFINE(N, C)                                                                     \
    BODY(wait_all_##N, shmem_##N##_wait_until_all(P(C), ONE(C)); return 1)               \
    BODY(wait_any_##N, return shmem_##N##_wait_until_any(P(C), ONE(C)))                  \
    BODY(wait_some_##N, return shmem_##N##_wait_until_some(P(C), c->indices, ONE(C)))    \
    BODY(test_all_##N, return (size_t)shmem_##N##_test_all(P(C), ONE(C)))                \
    BODY(test_any_##N, return shmem_##N##_test_any(P(C), ONE(C)))                        \
    BODY(test_some_##N, return shmem_##N##_test_some(P(C), c->indices, ONE(C)))          \
    BODY(wait_allv_##N, shmem_##N##_wait_until_all_vector(P(C), VECTOR(C)); return 1)    \
    BODY(wait_anyv_##N, return shmem_##N##_wait_until_any_vector(P(C), VECTOR(C)))       \
    BODY(wait_somev_##N,                                                                 \
         return shmem_##N##_wait_until_some_vector(P(C), c->indices, VECTOR(C)))         \
    BODY(test_allv_##N, return (size_t)shmem_##N##_test_all_vector(P(C), VECTOR(C)))     \
    BODY(test_anyv_##N, return shmem_##N##_test_any_vector(P(C), VECTOR(C)))             \
    BODY(test_somev_##N,                                                                 \
         return shmem_##N##_test_some_vector(P(C), c->indices, VECTOR(C)))               \
    static void store_##N(void *w, const void *v, int pe)                                \
    { shmem_##N##_atomic_set((C *)w, *(const C *)v, pe); }
CF_AMO(DEFINE)

struct routine {
    const char *name;
    set_fn call;
    int mode;
    bool waits, vector;
};
static const struct row {
    struct cf_type type;
    void (*store)(void *w, const void *v, int pe);
    struct routine routines[2 * 2 * MODES];
} rows[] = {
#define R(fn, call, mode, waits, vector) {CF_NAME(fn), call, mode, waits, vector}
#define ROW(N, C)                                                                        \
    {CF_TYPE(N, C), store_##N,                                                           \
     {R(shmem_##N##_test_all, test_all_##N, ALL, false, false),                          \
      R(shmem_##N##_test_any, test_any_##N, ANY, false, false),                          \
      R(shmem_##N##_test_some, test_some_##N, SOME, false, false),                       \
      R(shmem_##N##_test_all_vector, test_allv_##N, ALL, false, true),                   \
      R(shmem_##N##_test_any_vector, test_anyv_##N, ANY, false, true),                   \
      R(shmem_##N##_test_some_vector, test_somev_##N, SOME, false, true),                \
      R(shmem_##N##_wait_until_all, wait_all_##N, ALL, true, false),                     \
      R(shmem_##N##_wait_until_any, wait_any_##N, ANY, true, false),                     \
      R(shmem_##N##_wait_until_some, wait_some_##N, SOME, true, false),                  \
      R(shmem_##N##_wait_until_all_vector, wait_allv_##N, ALL, true, true),              \
      R(shmem_##N##_wait_until_any_vector, wait_anyv_##N, ANY, true, true),              \
      R(shmem_##N##_wait_until_some_vector, wait_somev_##N, SOME, true, true)}},
    CF_AMO(ROW)
};
/* clang-format on */
enum { ROUTINES = 2 * 2 * MODES };

static const int comparisons[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                                  SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};

static bool holds(const struct cf_type *t, const void *a, int cmp, const void *b)
{
    int order = cf_order(t, a, b);

    return (cmp == SHMEM_CMP_EQ && order == 0) || (cmp == SHMEM_CMP_NE && order != 0) ||
           (cmp == SHMEM_CMP_GT && order > 0) || (cmp == SHMEM_CMP_GE && order >= 0) ||
           (cmp == SHMEM_CMP_LT && order < 0) || (cmp == SHMEM_CMP_LE && order <= 0);
}

/* True if element i is in the set and satisfies the condition. */
static bool satisfied(const struct row *r, const struct routine *f, const struct call *c,
                      size_t i)
{
    const unsigned char *values = c->values;
    size_t size = r->type.size;

    return (c->status == NULL || c->status[i] == 0) &&
           holds(&r->type, (const unsigned char *)c->ivars + i * size, c->cmp,
                 values + (f->vector ? i * size : 0));
}

static size_t set_size(const struct call *c)
{
    size_t in = 0;

    for (size_t i = 0; i < c->n; i++)
        in += c->status == NULL || c->status[i] == 0;
    return in;
}

/* `some` may return fewer indices than satisfied elements, but at least one if there is
 * one, and none twice. */
static void verify_some(const struct row *r, const struct routine *f,
                        const struct call *c, size_t got, size_t count)
{
    bool seen[MANY] = {false};

    cf_check(got <= count && (got > 0) == (count > 0), "%zu indices of %zu", got, count);
    for (size_t i = 0; i < got && i < c->n; i++) {
        size_t at = c->indices[i];
        cf_check(at < c->n && !seen[at] && satisfied(r, f, c, at),
                 "index %zu is out of range, duplicate or not satisfied", at);
        seen[at < MANY ? at : 0] = true;
    }
}

static void verify_result(const struct row *r, const struct routine *f,
                          const struct call *c, size_t got, size_t count)
{
    if (f->mode == SOME)
        verify_some(r, f, c, got, count);
    else if (f->mode == ANY)
        cf_check(count == 0 ? got == SIZE_MAX : got < c->n && satisfied(r, f, c, got),
                 "%zu elements, %zu satisfied: returned %zu", c->n, count, got);
    else if (!f->waits)
        /* An empty set is satisfied, whether n is 0 or all elements are masked. */
        cf_check((got != 0) == (count == set_size(c)),
                 "%zu elements, %zu in the set, %zu satisfied: returned %zu", c->n,
                 set_size(c), count, got);
}

static unsigned char ivars[MANY * 8] __attribute__((aligned(16)));
static unsigned char *heap_ivars;

/* Masks: NULL, all zero, every other element excluded, all but one, all. */
enum { MASKS = 5 };
static const int *mask(int which, size_t n, int *status)
{
    for (size_t i = 0; i < n; i++)
        status[i] = which == 2 ? i % 2 == 0 : which == 3 ? i != n / 2 : which == 4;
    return which == 0 ? NULL : status;
}

static void run_one(const struct row *r, const struct routine *f, const struct call *c)
{
    size_t count = 0, in = set_size(c);

    for (size_t i = 0; i < c->n; i++)
        count += satisfied(r, f, c, i);
    /* A wait whose condition does not hold would not end. */
    if (f->waits && in > 0 && (f->mode == ALL ? count < in : count == 0))
        return;
    for (size_t i = 0; i <= MANY; i++)
        c->indices[i] = SIZE_MAX / 2;
    size_t got = f->call(c);
    cf_case(f->name);
    verify_result(r, f, c, got, count);
    cf_check(c->indices[c->n] == SIZE_MAX / 2, "wrote beyond the indices");
}

static void run_at_rest(const struct row *r, unsigned char *words)
{
    static const size_t counts[] = {0, 1, 2, 7, MANY};
    unsigned char values[MANY * 8];
    size_t indices[MANY + 1], size = r->type.size;
    int status[MANY];
    struct call c = {.ivars = words, .indices = indices, .values = values};

    for (unsigned i = 0; i < 6 * CF_COUNT(counts) * MASKS * ROUTINES; i++) {
        const struct routine *f = &r->routines[i % ROUTINES];
        c.n = counts[i / ROUTINES % CF_COUNT(counts)];
        c.status = mask((int)(i / ROUTINES / CF_COUNT(counts) % MASKS), c.n, status);
        c.cmp = comparisons[i / ROUTINES / CF_COUNT(counts) / MASKS];
        for (unsigned k = 0; k < MANY; k++) {
            cf_edge(&r->type, k % 2 == 0 ? 7 : i / ROUTINES + k, words + k * size);
            cf_edge(&r->type, f->vector ? k * 3 : 7, values + k * size);
        }
        run_one(r, f, &c);
    }
}

/* Pointers may be NULL if there are no elements. */
static void run_null(const struct row *r, const struct routine *f)
{
    const struct call none = {.cmp = SHMEM_CMP_EQ}, *c = &none;
    unsigned char zero[CF_VALUE] = {0};
    struct call one = none;

    if (!f->vector) {
        one.values = zero;
        c = &one;
    }
    size_t got = f->call(c);
    cf_case(f->name);
    verify_result(r, f, c, got, 0);
}

/* Fairness: repeated calls must eventually return every satisfied element. */
static void run_fair(const struct row *r, const struct routine *f, unsigned char *words)
{
    enum { N = 7, CALLS = 4096 };
    unsigned char values[MANY * 8] = {0};
    size_t indices[MANY + 1], left = N;
    bool seen[N] = {false};
    struct call c = {words, N, indices, NULL, SHMEM_CMP_EQ, values};

    if (f->mode == ALL)
        return;
    memset(words, 0, N * r->type.size);
    for (int k = 0; k < CALLS && left > 0; k++) {
        size_t got = f->call(&c), n = f->mode == ANY ? 1 : got;
        for (size_t i = 0; i < n; i++) {
            size_t at = f->mode == ANY ? got : indices[i];
            left -= at < N && !seen[at];
            seen[at % N] = true;
        }
    }
    cf_case(f->name);
    cf_check(left == 0, "%zu of %d satisfied elements not returned in %d calls", left, N,
             CALLS);
}

/* The neighbour sets the elements one by one; each is excluded once it was returned. */
static void consume(const struct row *r, const struct routine *f, const struct call *c,
                    int *status)
{
    size_t taken = 0;

    while (taken < c->n) {
        size_t got = f->call(c);
        size_t n = f->mode == SOME ? got : f->mode == ANY ? got != SIZE_MAX : got * c->n;
        cf_check(!f->waits || n > 0, "%s returned no element", f->name);
        for (size_t i = 0; i < n; i++) {
            size_t at = f->mode == SOME ? c->indices[i] : f->mode == ANY ? got : i;
            cf_case(f->name);
            cf_check(at < c->n && satisfied(r, f, c, at),
                     "element %zu was returned too early", at);
            status[at % MANY] = 1;
        }
        taken += n;
        if (n == 0)
            sched_yield();
    }
}

static void run_remote(const struct row *r, const struct routine *f, unsigned char *words,
                       uint64_t *seed)
{
    enum { N = 9 };
    unsigned char values[MANY * 8], v[CF_VALUE];
    size_t indices[MANY + 1], size = r->type.size;
    int status[MANY] = {0};
    struct call c = {words, N, indices, status, SHMEM_CMP_EQ, values};

    memset(words, 0, N * size);
    for (unsigned i = 0; i < N; i++)
        cf_edge(&r->type, f->vector ? i % 2 + 1 : 1, values + i * size);
    shmem_barrier_all();
    for (unsigned i = 0; i < N; i++) {
        unsigned at = (i * 4 + (unsigned)cf_me) % N;
        cf_edge(&r->type, f->vector ? at % 2 + 1 : 1, v);
        check_delay(seed);
        r->store(words + at * size, v, cf_target(CF_RIGHT));
    }
    consume(r, f, &c, status);
    shmem_barrier_all();
}

int main(void)
{
    cf_start("wait_sets");
    heap_ivars = check_alloc(sizeof(ivars));
    uint64_t seed = check_seed(cf_me);
    for (size_t i = 0; i < CF_COUNT(rows); i++) {
        unsigned char *words = i % 2 == 0 ? heap_ivars : ivars;
        run_at_rest(&rows[i], words);
        for (int k = 0; k < ROUTINES; k++) {
            run_null(&rows[i], &rows[i].routines[k]);
            run_fair(&rows[i], &rows[i].routines[k], words);
        }
        shmem_barrier_all();
        for (int k = 0; k < ROUTINES; k++)
            run_remote(&rows[i], &rows[i].routines[k], words, &seed);
    }
    shmem_free(heap_ivars);
    return cf_finish();
}
