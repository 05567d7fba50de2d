/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strided.c - block-strided puts and gets of random shapes: every element of the target
 * and of its gaps is compared; the data of a put are visible after a barrier, and after a
 * fence and an atomic on the same context; puts are outstanding on several contexts, and
 * with gets among them.
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum { LEN = 120000, ROUNDS = 60, LONG_EVERY = 6, CONTEXTS = 3, PART = LEN / CONTEXTS };
static double globals[LEN];
static uint64_t signal_word;

/* nblocks blocks of bsize elements; dst, sst: distances of their starts. */
struct shape {
    size_t bsize, nblocks;
    ptrdiff_t dst, sst;
};

static struct shape random_shape(uint64_t *seed, bool is_long, size_t space)
{
    struct shape s = {.bsize = 1 + check_random(seed) % (is_long ? 5 : 2)};

    s.dst = (ptrdiff_t)(s.bsize + check_random(seed) % 8);
    s.sst = (ptrdiff_t)(s.bsize + check_random(seed) % 8);
    size_t most = space / (size_t)(s.dst > s.sst ? s.dst : s.sst) - 1;
    s.nblocks = check_random(seed) % (is_long ? most : 200);
    return s;
}

static double value(int pe, int round, size_t i)
{
    return pe * 1e6 + round * 1e3 + (double)i / LEN;
}

/* The first `space` elements of target have the blocks of s, and -1 in its gaps. */
static void check_target(const double *target, size_t space, const struct shape *s,
                         int from, int round, size_t first)
{
    for (size_t i = 0; i < space; i++) {
        size_t block = i / (size_t)s->dst, in = i % (size_t)s->dst;
        bool gap = block >= s->nblocks || in >= s->bsize;
        double should =
            gap ? -1 : value(from, round, first + block * (size_t)s->sst + in);
        CHECK_NAMED(target[i] == should,
                    "round %d: element %zu is %f, should be %f; %zu blocks of %zu, "
                    "strides %td and %td",
                    round, i, target[i], should, s->nblocks, s->bsize, s->dst, s->sst);
    }
}

static void await_data(int round, int to)
{
    if (round % 2 != 0) {
        shmem_fence();
        shmem_uint64_atomic_set(&signal_word, (uint64_t)round, to);
        shmem_uint64_wait_until(&signal_word, SHMEM_CMP_EQ, (uint64_t)round);
    } else {
        shmem_barrier_all();
    }
}

static void test_round(int round, uint64_t *seed, double *target, double *source,
                       double *back)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes;
    struct shape s = random_shape(seed, round % LONG_EVERY == 0, LEN);

    for (size_t i = 0; i < LEN; i++) {
        source[i] = value(me, round, i);
        target[i] = -1;
        back[i] = -2;
    }
    shmem_barrier_all();
    shmem_double_ibput(target, source, s.dst, s.sst, s.bsize, s.nblocks, to);
    await_data(round, to);
    check_target(target, LEN, &s, (me + npes - 1) % npes, round, 0);
    shmem_barrier_all();
    shmem_double_ibget(back, target, s.sst, s.dst, s.bsize, s.nblocks, to);
    for (size_t b = 0; b < s.nblocks; b++)
        for (size_t i = b * (size_t)s.sst; i < b * (size_t)s.sst + s.bsize; i++)
            CHECK_NAMED(back[i] == source[i], "round %d: a get returned %f, not %f",
                        round, back[i], source[i]);
    shmem_barrier_all();
}

/* Puts on several contexts are outstanding at once, and gets read other memory. */
static void test_contexts(uint64_t *seed, double *target, double *source, double *back)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes;
    struct shape s[CONTEXTS];
    shmem_ctx_t ctx[CONTEXTS];

    for (size_t i = 0; i < LEN; i++) {
        source[i] = value(me, 0, i);
        target[i] = -1;
        globals[i] = value(me, 1, i);
    }
    shmem_barrier_all();
    for (int c = 0; c < CONTEXTS; c++) {
        CHECK(shmem_ctx_create(c == 1 ? SHMEM_CTX_PRIVATE : 0, &ctx[c]) == 0);
        s[c] = random_shape(seed, true, PART);
        shmem_ctx_double_ibput(ctx[c], target + c * PART, source + c * PART, s[c].dst,
                               s[c].sst, s[c].bsize, s[c].nblocks, to);
        shmem_ctx_double_iget(ctx[c], back, globals, 1, 3, PART, to);
        for (size_t i = 0; i < PART; i++)
            CHECK(back[i] == value(to, 1, 3 * i));
    }
    for (int c = 0; c < CONTEXTS; c++)
        shmem_ctx_destroy(ctx[c]);
    shmem_barrier_all();
    for (int c = 0; c < CONTEXTS; c++)
        check_target(target + c * PART, PART, &s[c], (me + npes - 1) % npes, 0,
                     (size_t)c * PART);
    shmem_barrier_all();
}

int main(void)
{
    uint64_t seed = 11; /* equal on all PEs, so that they use equal shapes */

    shmem_init();
    double *heap = shmem_malloc(LEN * sizeof *heap);
    double *source = malloc(LEN * sizeof *source), *back = malloc(LEN * sizeof *back);
    CHECK(heap != NULL && source != NULL && back != NULL);
    for (int round = 1; round <= ROUNDS; round++)
        test_round(round, &seed, round % 3 == 0 ? globals : heap, source, back);
    test_contexts(&seed, heap, source, back);
    free(back);
    free(source);
    shmem_free(heap);
    shmem_finalize();
    return 0;
}
