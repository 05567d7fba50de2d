/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal.c - put with signal: every type and size, blocking and nonblocking, both signal
 * operations, three contexts; once the signal is visible, so are the data, without a
 * barrier.  signal_add, signal_set, signal_fetch and signal_wait_until with every
 * comparison.
 */
#include "tests/api/conform/conform.h"
#include "tests/api/conform/types.h"

typedef void (*put_fn)(shmem_ctx_t ctx, void *d, const void *s, size_t n, uint64_t *sig,
                       uint64_t signal, int op, int pe);

/* clang-format off */
#define PARAMETERS                                                                       \
    shmem_ctx_t ctx, void *d, const void *s, size_t n, uint64_t *sig, uint64_t signal,   \
    int op, int pe
#define DEFINE_PLAIN(fn, C, S)                                                           \
    static void do_##fn(PARAMETERS)                                                      \
    { (void)ctx; fn((C *)d, (const C *)s, n, sig, signal, op, pe); }
#define DEFINE_CTX(fn, C, S)                                                             \
    static void do_##fn(PARAMETERS)                                                      \
    { fn(ctx, (C *)d, (const C *)s, n, sig, signal, op, pe); }
#define ROW_PLAIN(fn, C, S) {CF_NAME(fn), S, false, do_##fn},
#define ROW_CTX(fn, C, S) {CF_NAME(fn), S, true, do_##fn},
#define FOUR(D, base, C, S)                                                              \
    D##_PLAIN(shmem_##base, C, S) D##_CTX(shmem_ctx_##base, C, S)                        \
    D##_PLAIN(shmem_##base##_nbi, C, S) D##_CTX(shmem_ctx_##base##_nbi, C, S)
#define DEFINE(N, C) FOUR(DEFINE, N##_put_signal, C, sizeof(C))
#define ROW(N, C) FOUR(ROW, N##_put_signal, C, sizeof(C))
#define SIZED(D)                                                                         \
    FOUR(D, put8_signal, void, 1) FOUR(D, put16_signal, void, 2)                         \
    FOUR(D, put32_signal, void, 4) FOUR(D, put64_signal, void, 8)                        \
    FOUR(D, put128_signal, void, 16) FOUR(D, putmem_signal, void, 1)
CF_RMA(DEFINE)
SIZED(DEFINE)

static const struct put {
    const char *name;
    size_t size;
    bool ctx;
    put_fn call;
} puts_[] = {CF_RMA(ROW) SIZED(ROW)};
/* clang-format on */

enum { LARGE = 513, COUNTS = 4, OPS = 2, AREAS = COUNTS * OPS * 2 * CF_CTXS, GUARD = 16 };
static const size_t counts[COUNTS] = {0, 1, 5, LARGE};
static const uint64_t before[OPS] = {77, UINT64_MAX - 4};
static const uint64_t operand[OPS] = {UINT64_MAX, 9};
static const uint64_t after[OPS] = {UINT64_MAX, 4}; /* the sum wraps */

enum { BUFFER = AREAS / COUNTS * ((LARGE + 6) * 16 + COUNTS * 2 * GUARD) };
static unsigned char global_buffer[BUFFER] __attribute__((aligned(16)));
static unsigned char from[BUFFER] __attribute__((aligned(16)));
static unsigned char *heap_buffer;
static uint64_t global_signals[AREAS], null_signal, *heap_signals;

struct area {
    size_t at, n;
    int op;
    enum cf_to to;
    const struct cf_ctx *ctx;
};

static size_t lay_out(const struct put *p, struct area *areas)
{
    size_t at = GUARD, count = AREAS / CF_CTXS * (p->ctx ? CF_CTXS : 1);

    for (size_t i = 0; i < count; i++) {
        areas[i] = (struct area){at, counts[i % COUNTS], (int)(i / COUNTS % OPS),
                                 i / COUNTS / OPS % 2 == 0 ? CF_SELF : CF_RIGHT,
                                 &cf_ctxs[i / COUNTS / OPS / 2]};
        at = (at + areas[i].n * p->size + 2 * GUARD - 1) / GUARD * GUARD;
    }
    CHECK(at <= BUFFER);
    return count;
}

static uint64_t salt_of(int pe, size_t row, size_t area)
{
    return ((uint64_t)pe * CF_COUNT(puts_) + row) * AREAS + area;
}

static void verify_area(size_t row, const struct area *a, size_t i,
                        const unsigned char *to, uint64_t *signals)
{
    const struct put *p = &puts_[row];
    size_t bytes = a->n * p->size, wrong;
    uint64_t seen = shmem_signal_wait_until(&signals[i], SHMEM_CMP_NE, before[a->op]);

    cf_case(p->name);
    cf_check(seen == after[a->op], "%zu elements, %s: the signal is %llu", a->n,
             a->ctx->name, (unsigned long long)seen);
    wrong = check_find_wrong(to + a->at, bytes, salt_of(cf_writer(a->to), row, i));
    cf_check(wrong == bytes, "%zu elements, %s: signalled, but byte %zu is wrong", a->n,
             a->ctx->name, wrong);
    cf_check(to[a->at + bytes] == CF_FILLER, "%zu elements: wrote beyond the end", a->n);
}

static void run_row(size_t row)
{
    const struct put *p = &puts_[row];
    struct area areas[AREAS];
    size_t count = lay_out(p, areas);
    unsigned char *to = row % 2 == 0 ? heap_buffer : global_buffer;
    uint64_t *signals = row % 3 == 0 ? heap_signals : global_signals;

    memset(to, CF_FILLER, BUFFER);
    for (size_t i = 0; i < count; i++) {
        check_fill(from + areas[i].at, areas[i].n * p->size, salt_of(cf_me, row, i));
        signals[i] = before[areas[i].op];
    }
    null_signal = 0;
    shmem_barrier_all();
    p->call(SHMEM_CTX_DEFAULT, NULL, NULL, 0, &null_signal, row + 1, SHMEM_SIGNAL_ADD,
            cf_target(CF_RIGHT));
    for (size_t i = 0; i < count; i++) {
        const struct area *a = &areas[i];
        p->call(a->ctx->ctx, to + a->at, from + a->at, a->n, &signals[i], operand[a->op],
                a->op == 0 ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD,
                cf_pe_in(a->ctx, cf_target(a->to)));
    }
    for (int c = 0; c < CF_CTXS; c++)
        shmem_ctx_quiet(cf_ctxs[c].ctx);
    for (size_t i = 0; i < count; i++)
        verify_area(row, &areas[i], i, to, signals);
    shmem_signal_wait_until(&null_signal, SHMEM_CMP_EQ, row + 1);
    shmem_barrier_all();
}

/* -- operations on the signal alone -------------------------------------------------- */
static void expect_signal(const char *routine, const uint64_t *sig, uint64_t value)
{
    uint64_t seen = shmem_signal_wait_until((uint64_t *)sig, SHMEM_CMP_EQ, value);
    uint64_t fetched = shmem_signal_fetch(sig);

    cf_case(routine);
    cf_check(seen == value, "the signal is %llu", (unsigned long long)seen);
    cf_case("shmem_signal_fetch");
    cf_check(fetched == value, "fetched %llu", (unsigned long long)fetched);
}

static void run_operations(uint64_t *sig)
{
    const uint64_t values[] = {0, 1, UINT64_MAX, (uint64_t)1 << 63, 0x123456789abcdef0};
    int right = cf_target(CF_RIGHT);

    for (size_t i = 0; i < CF_COUNT(values); i++)
        for (int c = 0; c < CF_CTXS; c++) {
            int pe = cf_pe_in(&cf_ctxs[c], right);
            memset(sig, 0, 4 * sizeof(*sig));
            shmem_barrier_all();
            shmem_signal_set(&sig[0], values[i], right);
            shmem_signal_add(&sig[1], values[i], right);
            shmem_signal_add(&sig[1], 2, right);
            shmem_ctx_signal_set(cf_ctxs[c].ctx, &sig[2], values[i], pe);
            shmem_ctx_signal_add(cf_ctxs[c].ctx, &sig[3], values[i], pe);
            shmem_ctx_signal_add(cf_ctxs[c].ctx, &sig[3], 2, pe);
            expect_signal("shmem_signal_set", &sig[0], values[i]);
            expect_signal("shmem_signal_add", &sig[1], values[i] + 2);
            expect_signal("shmem_ctx_signal_set", &sig[2], values[i]);
            expect_signal("shmem_ctx_signal_add", &sig[3], values[i] + 2);
            shmem_barrier_all();
        }
}

/* Unsigned comparisons that fail at first and hold after the neighbour's signal. */
static void run_comparisons(uint64_t *sig)
{
    const uint64_t top = (uint64_t)1 << 63;
    const struct {
        int cmp;
        uint64_t first, then, limit;
    } steps[] = {
        {SHMEM_CMP_EQ, 0, top, top},      {SHMEM_CMP_NE, top, 0, top},
        {SHMEM_CMP_GT, 5, top + 1, top},  {SHMEM_CMP_GE, 5, top, top},
        {SHMEM_CMP_LT, UINT64_MAX, 0, 1}, {SHMEM_CMP_LE, UINT64_MAX, 1, 1},
        {SHMEM_CMP_GT, 0, UINT64_MAX, 1}, {SHMEM_CMP_LT, top, 1, top},
    };
    uint64_t seed = check_seed(cf_me);

    for (size_t i = 0; i < CF_COUNT(steps); i++) {
        sig[0] = steps[i].first;
        shmem_barrier_all();
        check_delay(&seed);
        shmem_signal_set(sig, steps[i].then, cf_target(CF_RIGHT));
        uint64_t seen = shmem_signal_wait_until(sig, steps[i].cmp, steps[i].limit);
        cf_case("shmem_signal_wait_until");
        cf_check(seen == steps[i].then, "step %zu: returned %llu", i,
                 (unsigned long long)seen);
        shmem_barrier_all();
    }
}

int main(void)
{
    cf_start("signal");
    heap_buffer = check_alloc(BUFFER);
    heap_signals = check_alloc(sizeof(global_signals));
    cf_ctxs_open();
    for (size_t row = 0; row < CF_COUNT(puts_); row++)
        run_row(row);
    run_operations(heap_signals);
    run_operations(global_signals);
    run_comparisons(heap_signals);
    cf_ctxs_close();
    shmem_free(heap_signals);
    shmem_free(heap_buffer);
    return cf_finish();
}
