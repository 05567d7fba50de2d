/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strided.c - iput, iget, ibput and ibget: every type and size, on three contexts, with
 * small, odd and large strides, block lengths and counts; the elements between and around
 * the copied ones must not change.
 */
#include "tests/api/conform/conform.h"
#include "tests/api/conform/types.h"

struct shape {
    ptrdiff_t dst, sst;
    size_t b, n; /* elements of a block, blocks */
};
typedef void (*move_fn)(shmem_ctx_t ctx, void *d, const void *s, const struct shape *h,
                        int pe);

/* clang-format off */
#define PARAMETERS shmem_ctx_t ctx, void *d, const void *s, const struct shape *h, int pe
#define DEFINE_I(fn, C, S, GET, BLOCKS)                                                  \
    static void do_##fn(PARAMETERS)                                                      \
    { (void)ctx; fn((C *)d, (const C *)s, h->dst, h->sst, h->n, pe); }
#define DEFINE_CTX_I(fn, C, S, GET, BLOCKS)                                              \
    static void do_##fn(PARAMETERS)                                                      \
    { fn(ctx, (C *)d, (const C *)s, h->dst, h->sst, h->n, pe); }
#define DEFINE_IB(fn, C, S, GET, BLOCKS)                                                 \
    static void do_##fn(PARAMETERS)                                                      \
    { (void)ctx; fn((C *)d, (const C *)s, h->dst, h->sst, h->b, h->n, pe); }
#define DEFINE_CTX_IB(fn, C, S, GET, BLOCKS)                                             \
    static void do_##fn(PARAMETERS)                                                      \
    { fn(ctx, (C *)d, (const C *)s, h->dst, h->sst, h->b, h->n, pe); }
#define ROW_I(fn, C, S, GET, BLOCKS) {CF_NAME(fn), S, GET, BLOCKS, false, do_##fn},
#define ROW_IB ROW_I
#define ROW_CTX_I(fn, C, S, GET, BLOCKS) {CF_NAME(fn), S, GET, BLOCKS, true, do_##fn},
#define ROW_CTX_IB ROW_CTX_I

#define EIGHT(D, iput, iget, ibput, ibget, C, S)                                         \
    D##_I(shmem_##iput, C, S, false, false) D##_I(shmem_##iget, C, S, true, false)       \
    D##_CTX_I(shmem_ctx_##iput, C, S, false, false)                                      \
    D##_CTX_I(shmem_ctx_##iget, C, S, true, false)                                       \
    D##_IB(shmem_##ibput, C, S, false, true) D##_IB(shmem_##ibget, C, S, true, true)     \
    D##_CTX_IB(shmem_ctx_##ibput, C, S, false, true)                                     \
    D##_CTX_IB(shmem_ctx_##ibget, C, S, true, true)
#define DEFINE(N, C) EIGHT(DEFINE, N##_iput, N##_iget, N##_ibput, N##_ibget, C, sizeof(C))
#define ROW(N, C) EIGHT(ROW, N##_iput, N##_iget, N##_ibput, N##_ibget, C, sizeof(C))
#define SIZED(D, bits)                                                                   \
    EIGHT(D, iput##bits, iget##bits, ibput##bits, ibget##bits, void, bits / 8)

CF_RMA(DEFINE)
SIZED(DEFINE, 8) SIZED(DEFINE, 16) SIZED(DEFINE, 32) SIZED(DEFINE, 64) SIZED(DEFINE, 128)

static const struct move {
    const char *name;
    size_t size;
    bool get, blocks, ctx;
    move_fn call;
} moves[] = {
    CF_RMA(ROW)
    SIZED(ROW, 8) SIZED(ROW, 16) SIZED(ROW, 32) SIZED(ROW, 64) SIZED(ROW, 128)
};
/* clang-format on */

/* The first SINGLES have blocks of one element, for iput and iget too. */
enum { SINGLES = 12 };
static const struct shape shapes[] = {
    {1, 1, 1, 0},   {1, 1, 1, 1},    {7, 9, 1, 1},  {1, 1, 1, 5},  {1, 2, 1, 3},
    {2, 1, 1, 4},   {3, 3, 1, 5},    {1, 17, 1, 9}, {16, 1, 1, 8}, {33, 31, 1, 7},
    {1, 1, 1, 100}, {3, 1, 1, 5},    {1, 1, 1, 2},  {2, 2, 2, 3},  {2, 3, 2, 2},
    {3, 2, 2, 4},   {5, 7, 3, 4},    {3, 3, 3, 1},  {9, 4, 4, 6},  {4, 9, 4, 6},
    {8, 8, 5, 0},   {64, 33, 32, 3},
};

enum { MARGIN = 4, AREAS_MAX = 160, BUFFER = 512 * 1024 };
struct area {
    size_t at, elements; /* including the margins */
    const struct shape *shape;
    enum cf_to to;
    const struct cf_ctx *ctx;
};
static struct area areas[AREAS_MAX];
static size_t nareas, used;
static unsigned char global_buffer[BUFFER] __attribute__((aligned(64)));
static unsigned char *heap_buffer, *private_buffer, *model, *source;

static size_t extent(const struct shape *h, ptrdiff_t stride)
{
    return h->n == 0 ? 0 : (h->n - 1) * (size_t)stride + h->b;
}

static void lay_out(const struct move *m)
{
    size_t at = 0;
    int contexts = m->ctx ? CF_CTXS : 1;

    nareas = 0;
    for (int c = 0; c < contexts; c++)
        for (enum cf_to to = 0; to < CF_LEFT; to++)
            for (size_t i = 0; i < (m->blocks ? CF_COUNT(shapes) : SINGLES); i++) {
                const struct shape *h = &shapes[i];
                size_t d = extent(h, h->dst), s = extent(h, h->sst);
                size_t elements = (d > s ? d : s) + 2 * MARGIN;
                areas[nareas++] = (struct area){at, elements, h, to, &cf_ctxs[c]};
                at += elements * m->size;
            }
    used = at;
    CHECK(nareas <= AREAS_MAX && used <= BUFFER);
}

static uint64_t salt_of(int pe, size_t row, size_t area)
{
    return ((uint64_t)pe * CF_COUNT(moves) + row) * AREAS_MAX + area;
}

/* Computes the expected area: filler, and in it the copied elements of the source. */
static void apply(const struct move *m, const struct area *a, uint64_t salt)
{
    const struct shape *h = a->shape;
    unsigned char *to = model + MARGIN * m->size;
    const unsigned char *from = source + MARGIN * m->size;

    check_fill(source, a->elements * m->size, salt);
    memset(model, CF_FILLER, a->elements * m->size);
    for (size_t i = 0; i < h->n; i++)
        memcpy(to + i * m->size * (size_t)h->dst, from + i * m->size * (size_t)h->sst,
               h->b * m->size);
}

static void verify_buffer(const unsigned char *to, const struct move *m, size_t row,
                          size_t i)
{
    const struct area *a = &areas[i];
    int from = m->get ? cf_target(a->to) : cf_writer(a->to);

    apply(m, a, salt_of(from, row, i));
    cf_case(m->name);
    cf_check(
        memcmp(to + a->at, model, a->elements * m->size) == 0,
        "dst %td, sst %td, %zu elements per block, %zu blocks, PE %d, %s: wrong result",
        a->shape->dst, a->shape->sst, a->shape->b, a->shape->n, from, a->ctx->name);
}

static void run_row(size_t row)
{
    const struct move *m = &moves[row];
    unsigned char *symmetric = row % 3 == 0 ? global_buffer : heap_buffer;
    unsigned char *to = m->get ? private_buffer : symmetric;
    unsigned char *from = m->get ? symmetric : private_buffer;

    lay_out(m);
    memset(to, CF_FILLER, used);
    for (size_t i = 0; i < nareas; i++)
        check_fill(from + areas[i].at, areas[i].elements * m->size,
                   salt_of(cf_me, row, i));
    shmem_barrier_all();
    m->call(SHMEM_CTX_DEFAULT, NULL, NULL, &shapes[0], cf_target(CF_RIGHT)); /* n = 0 */
    for (size_t i = 0; i < nareas; i++) {
        const struct area *a = &areas[i];
        size_t at = a->at + MARGIN * m->size;
        m->call(a->ctx->ctx, to + at, from + at, a->shape,
                cf_pe_in(a->ctx, cf_target(a->to)));
    }
    for (int c = 0; c < CF_CTXS; c++)
        shmem_ctx_quiet(cf_ctxs[c].ctx);
    shmem_barrier_all();
    for (size_t i = 0; i < nareas; i++)
        verify_buffer(to, m, row, i);
}

int main(void)
{
    cf_start("strided");
    heap_buffer = check_alloc(BUFFER);
    private_buffer = aligned_alloc(64, BUFFER);
    model = aligned_alloc(64, BUFFER);
    source = aligned_alloc(64, BUFFER);
    CHECK(private_buffer != NULL && model != NULL && source != NULL);
    cf_ctxs_open();
    for (size_t row = 0; row < CF_COUNT(moves); row++)
        run_row(row);
    cf_ctxs_close();
    free(private_buffer);
    free(model);
    free(source);
    shmem_free(heap_buffer);
    return cf_finish();
}
