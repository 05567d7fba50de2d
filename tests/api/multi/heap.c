/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap.c - the symmetric heap: random sequences of all allocation routines return the
 * same offsets on all PEs, and blocks that are aligned, do not overlap and keep their
 * contents; when the heap is exhausted they return NULL on all PEs and the program can go
 * on.
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum { SLOTS = 48, STEPS = 600, ALIGN_MIN = 8 };

struct block {
    unsigned char *at;
    size_t size;
    uint64_t salt;
};
static struct block blocks[SLOTS];
static unsigned char *base; /* the first block; offsets are relative to it */

/* The block must have the same offset on this PE as on PE 0; NULL counts as -1. */
static void check_same(const void *at)
{
    static long mine, first;
    mine = at != NULL ? (long)((const unsigned char *)at - base) : -1;
    shmem_barrier_all();
    first = shmem_long_g(&mine, 0);
    CHECK_NAMED(mine == first, "offset is %ld here and %ld on PE 0", mine, first);
    shmem_barrier_all();
}

static void check_content(const struct block *b)
{
    size_t wrong = check_find_wrong(b->at, b->size, b->salt);
    CHECK_NAMED(wrong == b->size, "byte %zu of a block of %zu has changed", wrong,
                b->size);
}

static size_t random_size(uint64_t *state)
{
    uint64_t r = check_random(state);
    size_t most = r % 16 == 0 ? 1 << 20 : r % 4 == 0 ? 1 << 14 : 300;
    return check_random(state) % most + 1;
}

static void *allocate(uint64_t *state, size_t size)
{
    size_t alignment = (size_t)8 << check_random(state) % 10;
    void *at = NULL;
    switch (check_random(state) % 4) {
    case 0:
        at = shmem_malloc(size);
        break;
    case 1:
        at = shmem_calloc(size, 1);
        CHECK(at != NULL && check_find_other(at, size, 0) == size);
        break;
    case 2:
        at = shmem_align(alignment, size);
        CHECK_EQ((uintptr_t)at % alignment, 0);
        break;
    default:
        at = shmem_malloc_with_hints(size, SHMEM_MALLOC_ATOMICS_REMOTE);
    }
    CHECK_NAMED(at != NULL, "no block of %zu bytes", size);
    CHECK_EQ((uintptr_t)at % ALIGN_MIN, 0);
    return at;
}

static void fill(struct block *b, uint64_t salt)
{
    b->salt = salt + (uint64_t)shmem_my_pe() * 7919;
    check_fill(b->at, b->size, b->salt);
}

static void resize(struct block *b, size_t size)
{
    size_t kept = size < b->size ? size : b->size;
    b->at = shmem_realloc(b->at, size);
    CHECK(b->at != NULL);
    CHECK_EQ(check_find_wrong(b->at, kept, b->salt), kept);
    b->size = size;
}

/* The same sequence on every PE: the seed does not depend on the PE. */
static void test_random(uint64_t state)
{
    for (int i = 0; i < STEPS; i++) {
        struct block *b = &blocks[check_random(&state) % SLOTS];
        size_t size = random_size(&state);
        if (b->at == NULL) {
            *b = (struct block){allocate(&state, size), size, 0};
        } else if (check_random(&state) % 4 == 0) {
            resize(b, size);
        } else {
            check_content(b);
            shmem_free(b->at);
            *b = (struct block){NULL, 0, 0};
        }
        check_same(b->at);
        if (b->at != NULL)
            fill(b, (uint64_t)i);
    }
    for (int i = 0; i < SLOTS; i++) {
        if (blocks[i].at != NULL)
            check_content(&blocks[i]);
        shmem_free(blocks[i].at);
        blocks[i] = (struct block){NULL, 0, 0};
    }
}

/* Blocks are remotely accessible: a peer's puts arrive. */
static void test_remote(void)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long *block = check_alloc(1000 * sizeof(long));
    for (int i = 0; i < 1000; i++)
        shmem_long_p(&block[i], me * 1000 + i, (me + 1) % npes);
    shmem_barrier_all();
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(block[i], (me - 1 + npes) % npes * 1000 + i);
    shmem_free(block);
}

/* Allocates blocks until the heap is exhausted, frees all, and allocates the same space
 * as one block; returns the number of blocks. */
static size_t test_exhaustion(void)
{
    enum { PIECE = 16 << 20, PIECES_MAX = 4096 };
    static void *piece[PIECES_MAX];
    size_t n = 0;
    while (n < PIECES_MAX && (piece[n] = shmem_malloc(PIECE)) != NULL)
        check_same(piece[n++]);
    check_same(NULL);
    CHECK(n > 0 && n < PIECES_MAX);
    CHECK(shmem_malloc((size_t)PIECE * PIECES_MAX) == NULL);
    CHECK(shmem_calloc(PIECE, PIECES_MAX) == NULL);
    CHECK(shmem_align(4096, (size_t)PIECE * PIECES_MAX) == NULL);
    CHECK(shmem_realloc(piece[0], (size_t)PIECE * PIECES_MAX) == NULL);
    *(volatile char *)piece[0] = 1; /* a failed realloc leaves the block */
    for (size_t i = 0; i < n; i++)
        shmem_free(piece[i % 2 == 0 ? i / 2 : n - 1 - i / 2]); /* from both ends */
    void *all = shmem_malloc(n * PIECE);
    CHECK_NAMED(all != NULL, "%zu free pieces do not make one block", n);
    check_same(all);
    shmem_free(all);
    return n;
}

static void test_corners(void)
{
    CHECK(shmem_malloc(0) == NULL);
    CHECK(shmem_calloc(0, 8) == NULL);
    CHECK(shmem_calloc((size_t)-1 / 2, 4) == NULL); /* the product wraps around */
    CHECK(shmem_malloc((size_t)-1) == NULL);
    shmem_free(NULL);
    void *from_null = shmem_realloc(NULL, 100);
    CHECK(from_null != NULL);
    check_same(from_null);
    CHECK(shmem_realloc(from_null, 0) == NULL);
}

int main(void)
{
    shmem_init();
    base = check_alloc(1);
    test_corners();
    test_random(1);
    test_remote();
    size_t before = test_exhaustion();
    test_random(2);
    CHECK_EQ(test_exhaustion(), before);
    shmem_free(base);
    shmem_finalize();
    return 0;
}
