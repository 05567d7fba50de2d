/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma.c - put, get, their nonblocking forms, p and g: every type and size, on three
 * contexts, with 0, 1, odd and large counts, to the PE itself and both neighbours, byte
 * blocks at unaligned offsets, heap and globals; no byte outside the block may change.
 */
#include "tests/api/conform/conform.h"
#include "tests/api/conform/types.h"

typedef void (*move_fn)(shmem_ctx_t ctx, void *d, const void *s, size_t n, int pe);

/* clang-format off */
#define PARAMETERS shmem_ctx_t ctx, void *d, const void *s, size_t n, int pe
#define DEFINE_PLAIN(fn, C, S, GET)                                                      \
    static void do_##fn(PARAMETERS) { (void)ctx; fn((C *)d, (const C *)s, n, pe); }
#define DEFINE_CTX(fn, C, S, GET)                                                        \
    static void do_##fn(PARAMETERS) { fn(ctx, (C *)d, (const C *)s, n, pe); }
#define ROW_PLAIN(fn, C, S, GET) {CF_NAME(fn), S, GET, false, do_##fn},
#define ROW_CTX(fn, C, S, GET)   {CF_NAME(fn), S, GET, true, do_##fn},

/* The four routines of one name. */
#define FOUR(D, base, C, S, GET)                                                         \
    D##_PLAIN(shmem_##base, C, S, GET) D##_CTX(shmem_ctx_##base, C, S, GET)              \
    D##_PLAIN(shmem_##base##_nbi, C, S, GET) D##_CTX(shmem_ctx_##base##_nbi, C, S, GET)
#define BOTH(D, N, C)                                                                    \
    FOUR(D, N##_put, C, sizeof(C), false) FOUR(D, N##_get, C, sizeof(C), true)
#define SIZED(D, bits)                                                                   \
    FOUR(D, put##bits, void, bits / 8, false) FOUR(D, get##bits, void, bits / 8, true)
#define BYTES(D) FOUR(D, putmem, void, 1, false) FOUR(D, getmem, void, 1, true)
#define DEFINE(N, C) BOTH(DEFINE, N, C)
#define ROW(N, C) BOTH(ROW, N, C)

CF_RMA(DEFINE)
SIZED(DEFINE, 8) SIZED(DEFINE, 16) SIZED(DEFINE, 32) SIZED(DEFINE, 64) SIZED(DEFINE, 128)
BYTES(DEFINE)

static const struct move {
    const char *name;
    size_t size;
    bool get, ctx;
    move_fn call;
} moves[] = {
    CF_RMA(ROW)
    SIZED(ROW, 8) SIZED(ROW, 16) SIZED(ROW, 32) SIZED(ROW, 64) SIZED(ROW, 128)
    BYTES(ROW)
};
/* clang-format on */

/* One block within the buffers: its offset and its number of elements. */
struct area {
    size_t at, n;
    enum cf_to to;
    const struct cf_ctx *ctx;
};
enum {
    AREAS_MAX = 64,
    GUARD = 32,
    LARGE = 1025,
    HUGE_BYTES = 70001,
    BUFFER = 192 * 1024
};

static const size_t counts[] = {0, 1, 2, 3, 7, LARGE};
static struct area areas[AREAS_MAX];
static size_t nareas, used;
static unsigned char global_buffer[BUFFER] __attribute__((aligned(64)));
static unsigned char *heap_buffer, *private_buffer;

static void lay_out(const struct move *m)
{
    size_t at = GUARD;
    int contexts = m->ctx ? CF_CTXS : 1;

    nareas = 0;
    for (int c = 0; c < contexts; c++)
        for (enum cf_to to = 0; to < CF_TOS; to++)
            for (size_t i = 0; i < CF_COUNT(counts); i++) {
                if (counts[i] == LARGE && to == CF_LEFT)
                    continue;
                struct area *a = &areas[nareas++];
                *a = (struct area){at, counts[i], to, &cf_ctxs[c]};
                if (counts[i] == LARGE && contexts == 1)
                    a->n = HUGE_BYTES / m->size;
                if (m->size == 1)
                    a->at += nareas % 8;
                at = (a->at + a->n * m->size + 2 * GUARD) / GUARD * GUARD;
            }
    used = at;
    CHECK(nareas <= AREAS_MAX && used <= BUFFER);
}

static uint64_t salt_of(int pe, size_t row, size_t area)
{
    return ((uint64_t)pe * CF_COUNT(moves) + row) * AREAS_MAX + area;
}

static void fill(unsigned char *buffer, const struct move *m, size_t row)
{
    for (size_t i = 0; i < nareas; i++)
        check_fill(buffer + areas[i].at, areas[i].n * m->size, salt_of(cf_me, row, i));
}

/* The block must hold the other PE's data, and the bytes after it must be unchanged. */
static void verify_buffer(const unsigned char *buffer, const struct move *m, size_t row,
                          size_t i)
{
    const struct area *a = &areas[i];
    int from = m->get ? cf_target(a->to) : cf_writer(a->to);
    size_t bytes = a->n * m->size, next = i + 1 < nareas ? areas[i + 1].at : used;
    size_t wrong = check_find_wrong(buffer + a->at, bytes, salt_of(from, row, i));

    cf_case(m->name);
    cf_check(wrong == bytes, "%zu elements, PE %d, %s: byte %zu is wrong", a->n, from,
             a->ctx->name, wrong);
    wrong = check_find_other(buffer + a->at + bytes, next - a->at - bytes, CF_FILLER);
    cf_check(wrong == next - a->at - bytes, "%zu elements, %s: byte %zu after it changed",
             a->n, a->ctx->name, wrong);
}

static void run_row(size_t row)
{
    const struct move *m = &moves[row];
    unsigned char *symmetric = row % 3 == 0 ? global_buffer : heap_buffer;
    unsigned char *to = m->get ? private_buffer : symmetric;
    unsigned char *from = m->get ? symmetric : private_buffer;

    lay_out(m);
    memset(to, CF_FILLER, used);
    fill(from, m, row);
    shmem_barrier_all();
    m->call(SHMEM_CTX_DEFAULT, NULL, NULL, 0, cf_target(CF_RIGHT)); /* allowed */
    for (size_t i = 0; i < nareas; i++) {
        const struct area *a = &areas[i];
        m->call(a->ctx->ctx, to + a->at, from + a->at, a->n,
                cf_pe_in(a->ctx, cf_target(a->to)));
    }
    for (int c = 0; c < CF_CTXS; c++)
        shmem_ctx_quiet(cf_ctxs[c].ctx);
    shmem_barrier_all();
    for (size_t i = 0; i < nareas; i++)
        verify_buffer(to, m, row, i);
}

/* -- p and g ------------------------------------------------------------------------- */
typedef void (*p_fn)(shmem_ctx_t ctx, void *d, const void *value, int pe);
typedef void (*g_fn)(shmem_ctx_t ctx, const void *s, void *value, int pe);

/* clang-format off */
#define DEFINE_WORD(N, C)                                                                \
    static void p_##N(shmem_ctx_t ctx, void *d, const void *v, int pe)                   \
    { (void)ctx; shmem_##N##_p((C *)d, *(const C *)v, pe); }                             \
    static void ctx_p_##N(shmem_ctx_t ctx, void *d, const void *v, int pe)               \
    { shmem_ctx_##N##_p(ctx, (C *)d, *(const C *)v, pe); }                               \
    static void g_##N(shmem_ctx_t ctx, const void *s, void *v, int pe)                   \
    { (void)ctx; *(C *)v = shmem_##N##_g((const C *)s, pe); }                            \
    static void ctx_g_##N(shmem_ctx_t ctx, const void *s, void *v, int pe)               \
    { *(C *)v = shmem_ctx_##N##_g(ctx, (const C *)s, pe); }
CF_RMA(DEFINE_WORD)

static const struct word {
    struct cf_type type;
    bool ctx;
    const char *p_name, *g_name;
    p_fn p;
    g_fn g;
} words[] = {
#define ROW_WORD(N, C)                                                                   \
    {CF_TYPE(N, C), false, CF_NAME(shmem_##N##_p), CF_NAME(shmem_##N##_g), p_##N,        \
     g_##N},                                                                             \
    {CF_TYPE(N, C), true, CF_NAME(shmem_ctx_##N##_p), CF_NAME(shmem_ctx_##N##_g),        \
     ctx_p_##N, ctx_g_##N},
    CF_RMA(ROW_WORD)
};
/* clang-format on */

/* Value v of context c for neighbour `to` has an odd index; even elements must not
 * change. */
enum { WORDS = CF_CTXS * CF_TOS * CF_EDGES };

static size_t offset_of(const struct word *w, int c, enum cf_to to, unsigned v)
{
    return (size_t)(2 * ((c * CF_TOS + (int)to) * CF_EDGES + (int)v) + 1) * w->type.size;
}

static void verify_word(const struct word *w, int c, enum cf_to to, unsigned v)
{
    unsigned char expected[CF_VALUE], got[CF_VALUE];
    const unsigned char *at = heap_buffer + offset_of(w, c, to, v);
    int peer = cf_target(to);

    cf_edge(&w->type, v + (unsigned)cf_writer(to), expected);
    cf_case(w->p_name);
    cf_check(cf_identical(&w->type, at, expected), "%s: %s arrived, not %s",
             cf_ctxs[c].name, cf_text(&w->type, at), cf_text(&w->type, expected));
    cf_check(check_find_other(at + w->type.size, w->type.size, CF_FILLER) == w->type.size,
             "%s: changed the next element", cf_ctxs[c].name);
    memset(got, 0, sizeof(got));
    w->g(cf_ctxs[c].ctx, at, got, cf_pe_in(&cf_ctxs[c], peer));
    /* the peer's element was written by its own writer in this direction */
    cf_edge(&w->type, v + (unsigned)(to == CF_SELF ? peer : cf_me), expected);
    cf_case(w->g_name);
    cf_check(cf_identical(&w->type, got, expected), "%s: got %s from PE %d, not %s",
             cf_ctxs[c].name, cf_text(&w->type, got), peer, cf_text(&w->type, expected));
}

#define EACH(w, c, to, v)                                                                \
    for (int c = 0; c < ((w)->ctx ? CF_CTXS : 1); c++)                                   \
        for (enum cf_to to = 0; to < CF_TOS; to++)                                       \
            for (unsigned v = 0; v < CF_EDGES; v++)

static void run_word(const struct word *w)
{
    unsigned char value[CF_VALUE];

    memset(heap_buffer, CF_FILLER, (2 * WORDS + 1) * w->type.size);
    shmem_barrier_all();
    EACH(w, c, to, v)
    {
        cf_edge(&w->type, v + (unsigned)cf_me, value);
        w->p(cf_ctxs[c].ctx, heap_buffer + offset_of(w, c, to, v), value,
             cf_pe_in(&cf_ctxs[c], cf_target(to)));
    }
    for (int c = 0; c < CF_CTXS; c++)
        shmem_ctx_quiet(cf_ctxs[c].ctx);
    shmem_barrier_all();
    EACH(w, c, to, v)
    verify_word(w, c, to, v);
    shmem_barrier_all();
}

int main(void)
{
    cf_start("rma");
    heap_buffer = check_alloc(BUFFER);
    private_buffer = aligned_alloc(64, BUFFER);
    CHECK(private_buffer != NULL);
    cf_ctxs_open();
    for (size_t row = 0; row < CF_COUNT(moves); row++)
        run_row(row);
    for (size_t row = 0; row < CF_COUNT(words); row++)
        run_word(&words[row]);
    cf_ctxs_close();
    free(private_buffer);
    shmem_free(heap_buffer);
    return cf_finish();
}
