/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stress_strided.c - strided actions of stress.c: transfers of several fragments by many
 * threads at once, in every form; blocks and the gaps between them are verified.
 */
#include <shmemx.h>

#include "tests/threads/stress.h"

enum {
    AREA = 16384, /* words: more than a fragment of each transport */
    STRIDE_MAX = 5,
    BLOCKS_MAX = 1024, /* of a PE in alltoalls */
};

/* Only thread t of PE p writes area [p][t]. */
static uint64_t area[STRESS_PES][STRESS_THREADS][AREA];
static uint64_t exchange_in[STRESS_THREADS][AREA], exchange_out[STRESS_THREADS][AREA];

/* `count` blocks of `block` words, whose starts are `stride` words apart */
struct strided_shape {
    size_t block, stride, count;
};

/* Half of the shapes are short. */
static struct strided_shape strided_draw(struct stress_worker *w)
{
    struct strided_shape s;
    bool is_long = stress_below(&w->own, 2) == 0;

    s.block = 1 + (size_t)stress_below(&w->own, STRIDE_MAX - 1);
    s.stride = s.block + 1 + (size_t)stress_below(&w->own, STRIDE_MAX - (int)s.block);
    s.count = 1 + (size_t)stress_below(&w->own, is_long ? AREA / (int)s.stride : 20);
    return s;
}

static size_t strided_extent(const struct strided_shape *s)
{
    return (s->count - 1) * s->stride + s->block;
}

/* The layouts of a transfer: of the symmetric memory, and of the packed words */
static void strided_layouts(const struct strided_shape *s, shmemx_layout_t *there,
                            shmemx_layout_t *here)
{
    CHECK_EQ(shmemx_layout_vector(s->block * sizeof(uint64_t),
                                  (ptrdiff_t)(s->stride * sizeof(uint64_t)), s->count,
                                  there),
             0);
    CHECK_EQ(shmemx_layout_contiguous(s->block * s->count * sizeof(uint64_t), here), 0);
}

static void strided_put(struct stress_worker *w, shmem_ctx_t ctx, uint64_t *to,
                        const uint64_t *packed, const struct strided_shape *s, int pe)
{
    shmemx_layout_t there, here;

    if (stress_below(&w->own, 2) == 0 && s->block == 1) {
        shmem_ctx_uint64_iput(ctx, to, packed, (ptrdiff_t)s->stride, 1, s->count, pe);
    } else if (stress_below(&w->own, 2) == 0) {
        shmem_ctx_uint64_ibput(ctx, to, packed, (ptrdiff_t)s->stride, (ptrdiff_t)s->block,
                               s->block, s->count, pe);
    } else {
        strided_layouts(s, &there, &here);
        CHECK_EQ(shmemx_ctx_put_layout(ctx, to, there, packed, here, pe), 0);
        shmemx_layout_free(&there);
        shmemx_layout_free(&here);
    }
}

static void strided_get(struct stress_worker *w, shmem_ctx_t ctx, uint64_t *packed,
                        const uint64_t *from, const struct strided_shape *s, int pe)
{
    shmemx_layout_t there, here;

    if (stress_below(&w->own, 2) == 0 && s->block == 1) {
        shmem_ctx_uint64_iget(ctx, packed, from, 1, (ptrdiff_t)s->stride, s->count, pe);
    } else if (stress_below(&w->own, 2) == 0) {
        shmem_ctx_uint64_ibget(ctx, packed, from, (ptrdiff_t)s->block,
                               (ptrdiff_t)s->stride, s->block, s->count, pe);
    } else {
        strided_layouts(s, &there, &here);
        CHECK_EQ(shmemx_ctx_get_layout(ctx, packed, here, from, there, pe), 0);
        shmemx_layout_free(&there);
        shmemx_layout_free(&here);
    }
}

static void strided_check(const struct stress_worker *w, uint64_t is, uint64_t should,
                          size_t i, const char *what)
{
    CHECK_NAMED(is == should, "thread %d: %s: word %zu is %llx, should be %llx", w->t,
                what, i, (unsigned long long)is, (unsigned long long)should);
}

/* The whole area as it should be: block words from `first` on, gaps `gap`. */
static void strided_check_area(const struct stress_worker *w, const uint64_t *all,
                               const struct strided_shape *s, uint64_t first,
                               uint64_t gap)
{
    size_t extent = strided_extent(s);

    for (size_t i = 0; i < extent; i++) {
        size_t in = i % s->stride, block = i / s->stride;
        bool is_gap = in >= s->block;
        strided_check(w, all[i], is_gap ? gap : first + block * s->block + in, i,
                      is_gap ? "a gap of a strided put" : "a strided put");
    }
}

/* Fills the memory with a contiguous put, writes blocks over it, and reads both back. */
void stress_strided(struct stress_worker *w)
{
    const struct strided_shape s = strided_draw(w);
    const size_t extent = strided_extent(&s), words = s.block * s.count;
    uint64_t first = check_random(&w->own) >> 1, gap = ~first;
    uint64_t *to = area[shmem_my_pe()][w->t], *all = malloc(AREA * sizeof *all);
    int pe = stress_below(&w->own, shmem_n_pes());
    shmem_ctx_t ctx = stress_put_ctx(w);

    CHECK(all != NULL);
    for (size_t i = 0; i < extent; i++)
        all[i] = gap;
    shmem_ctx_uint64_put(ctx, to, all, extent, pe);
    shmem_ctx_fence(ctx);
    for (size_t i = 0; i < words; i++)
        all[i] = first + i;
    strided_put(w, ctx, to, all, &s, pe);
    memset(all, 0, words * sizeof *all); /* the source is reusable */
    stress_complete(w);
    ctx = w->ctx[stress_below(&w->own, STRESS_CONTEXTS)];
    strided_get(w, ctx, all, to, &s, pe);
    for (size_t i = 0; i < words; i++)
        strided_check(w, all[i], first + i, i, "a strided get");
    shmem_ctx_uint64_get(ctx, all, to, extent, pe);
    strided_check_area(w, all, &s, first, gap);
    free(all);
}

/* Word k of the block from one PE for another one */
static uint64_t strided_exchanged(uint64_t salt, int from, int to, size_t k)
{
    return salt + ((uint64_t)from << 40) + ((uint64_t)to << 24) + k;
}

void stress_alltoalls(struct stress_worker *w)
{
    const int npes = shmem_n_pes(), me = shmem_my_pe();
    uint64_t salt = check_random(&w->common) >> 16, *in = exchange_in[w->t],
             *out = exchange_out[w->t];
    size_t sst = 1 + (size_t)stress_below(&w->common, 2);
    size_t dst = 1 + (size_t)stress_below(&w->common, 2);
    size_t most = AREA / 2 / (size_t)npes;
    size_t n =
        1 + (size_t)stress_below(&w->common, most < BLOCKS_MAX ? (int)most : BLOCKS_MAX);

    for (int pe = 0; pe < npes; pe++)
        for (size_t k = 0; k < n; k++)
            in[((size_t)pe * n + k) * sst] = strided_exchanged(salt, me, pe, k);
    CHECK_EQ(shmem_uint64_alltoalls(w->team, out, in, (ptrdiff_t)dst, (ptrdiff_t)sst, n),
             0);
    for (int pe = 0; pe < npes; pe++)
        for (size_t k = 0; k < n; k++)
            strided_check(w, out[((size_t)pe * n + k) * dst],
                          strided_exchanged(salt, pe, me, k), k, "alltoalls");
    CHECK_EQ(shmem_team_sync(w->team), 0); /* `out` has been read */
}
