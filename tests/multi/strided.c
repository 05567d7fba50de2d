/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strided.c - iput, iget, ibput and ibget of every type and size, with and without a
 * context, against a serial model: all strides and counts of a small range, nothing
 * beside the elements touched, heap and globals.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/multi/check.h"

typedef void (*move_fn)(void *d, const void *s, ptrdiff_t dst, ptrdiff_t sst, size_t b,
                        size_t n, int pe);

/* Thin functions of one prototype; iput and iget take the block length 1 only. */
#define PARAMETERS                                                                       \
    void *d, const void *s, ptrdiff_t dst, ptrdiff_t sst, size_t b, size_t n, int pe
#define ELEMENTS(fn)                                                                     \
    static void do_##fn(PARAMETERS)                                                      \
    {                                                                                    \
        (void)b;                                                                         \
        shmem_##fn(d, s, dst, sst, n, pe);                                               \
    }                                                                                    \
    static void ctx_##fn(PARAMETERS)                                                     \
    {                                                                                    \
        (void)b;                                                                         \
        shmem_ctx_##fn(SHMEM_CTX_DEFAULT, d, s, dst, sst, n, pe);                        \
    }
#define BLOCKS(fn)                                                                       \
    static void do_##fn(PARAMETERS)                                                      \
    {                                                                                    \
        shmem_##fn(d, s, dst, sst, b, n, pe);                                            \
    }                                                                                    \
    static void ctx_##fn(PARAMETERS)                                                     \
    {                                                                                    \
        shmem_ctx_##fn(SHMEM_CTX_DEFAULT, d, s, dst, sst, b, n, pe);                     \
    }
/* clang-format off */
#define TYPED(NAME, C, KIND)                                                             \
    ELEMENTS(NAME##_iput) ELEMENTS(NAME##_iget) BLOCKS(NAME##_ibput) BLOCKS(NAME##_ibget)
SHMEM_TYPES_RMA(TYPED)
#undef TYPED
#define S(bits)                                                                          \
    ELEMENTS(iput##bits) ELEMENTS(iget##bits) BLOCKS(ibput##bits) BLOCKS(ibget##bits)
SHMEM_SIZES(S)
#undef S

struct routine {
    const char *name;
    size_t size;
    bool is_get, blocks;
    move_fn move;
};
#define BOTH(fn, size, is_get, blocks)                                                   \
    {#fn, size, is_get, blocks, do_##fn}, {"ctx_" #fn, size, is_get, blocks, ctx_##fn},
#define ROW(i, g, ib, ibg, size)                                                         \
    BOTH(i, size, false, false) BOTH(g, size, true, false)                               \
    BOTH(ib, size, false, true) BOTH(ibg, size, true, true)
#define TYPED(NAME, C, KIND)                                                             \
    ROW(NAME##_iput, NAME##_iget, NAME##_ibput, NAME##_ibget, sizeof(C))
#define S(bits) ROW(iput##bits, iget##bits, ibput##bits, ibget##bits, bits / 8)
static const struct routine routines[] = {SHMEM_TYPES_RMA(TYPED) SHMEM_SIZES(S)};
/* clang-format on */

enum {
    ROUTINES = sizeof(routines) / sizeof(routines[0]),
    ELEMENTS_MAX = 64, /* of a buffer, with space around what is copied */
    MARGIN = 4,
    STRIDE_MAX = 3,
    BLOCK_MAX = 3,
    COUNT_MAX = 5,
    FILLER = 0xa5,
    BYTES = ELEMENTS_MAX * 16,
};

static unsigned char global_to[BYTES], global_from[BYTES];
static unsigned char model[BYTES];
static long cases;

struct buffers {
    unsigned char *to, *from;
};

struct shape {
    ptrdiff_t dst, sst;
    size_t b, n;
};

static void apply_model(const struct routine *r, const unsigned char *from,
                        struct shape s)
{
    unsigned char *to = model + MARGIN * r->size;

    for (size_t i = 0; i < s.n; i++)
        memcpy(to + (ptrdiff_t)(i * r->size) * s.dst,
               from + (ptrdiff_t)(i * r->size) * s.sst, s.b * r->size);
}

/* Put into, or get from, the PE to the right; then look at what arrived on this PE. */
static void check_shape(const struct routine *r, struct buffers buf, struct shape s)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), right = (me + 1) % npes;
    int owner =
        r->is_get ? right : (me + npes - 1) % npes; /* whose data we end up with */

    memset(buf.to, FILLER, BYTES);
    check_fill(buf.from, BYTES, (uint64_t)me);
    shmem_barrier_all();
    r->move(buf.to + MARGIN * r->size, buf.from, s.dst, s.sst, s.b, s.n, right);
    shmem_barrier_all();
    unsigned char theirs[BYTES];
    check_fill(theirs, BYTES, (uint64_t)owner);
    memset(model, FILLER, BYTES);
    apply_model(r, theirs, s);
    CHECK_NAMED(memcmp(buf.to, model, BYTES) == 0,
                "%s: dst %td sst %td bsize %zu count %zu is not what the model has",
                r->name, s.dst, s.sst, s.b, s.n);
    cases++;
}

static void check_routine(const struct routine *r, struct buffers buf)
{
    size_t b_max = r->blocks ? BLOCK_MAX : 1;

    for (size_t b = 1; b <= b_max; b++)
        for (ptrdiff_t dst = (ptrdiff_t)b; dst <= STRIDE_MAX; dst++)
            for (ptrdiff_t sst = (ptrdiff_t)b; sst <= STRIDE_MAX; sst += 2)
                for (size_t n = 0; n <= COUNT_MAX; n += n < 2 ? 1 : 3)
                    check_shape(r, buf, (struct shape){dst, sst, b, n});
}

int main(void)
{
    shmem_init();
    struct buffers heap = {check_alloc(BYTES), check_alloc(BYTES)};
    struct buffers global = {global_to, global_from};

    for (int i = 0; i < ROUTINES; i++)
        check_routine(&routines[i], i % 2 == 0 ? heap : global);
    if (shmem_my_pe() == 0)
        printf("strided: %d routines, %ld cases\n", (int)ROUTINES, cases);
    shmem_finalize();
    return 0;
}
