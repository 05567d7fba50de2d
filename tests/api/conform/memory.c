/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.c - malloc, calloc, align, realloc, malloc_with_hints and free of the symmetric
 * heap: sizes from 0 to more than the heap has, alignments, contents kept or zeroed;
 * every block is written by a neighbour through its own address; then a random sequence.
 */
#include "tests/api/conform/conform.h"

enum { SIZES = 6, ALIGNED = 16 };
static const size_t sizes[SIZES] = {1, 7, 64, 4095, 4096, 100001};

/* Checks the address; the neighbour then fills the block through its own address. */
static void verify_block(void *block, size_t size, size_t alignment)
{
    static uint64_t salt;
    unsigned char *data;

    salt += 1000;
    cf_check(block != NULL && (uintptr_t)block % alignment == 0,
             "%zu bytes aligned by %zu: %p", size, alignment, block);
    if (block == NULL)
        return;
    cf_check(shmem_addr_accessible(block, cf_target(CF_LEFT)), "%zu bytes: not symmetric",
             size);
    data = malloc(size);
    CHECK(data != NULL);
    check_fill(data, size, salt + (uint64_t)cf_me);
    shmem_barrier_all(); /* the neighbour may still read its contents */
    shmem_putmem(block, data, size, cf_target(CF_RIGHT));
    shmem_barrier_all();
    size_t wrong = check_find_wrong(block, size, salt + (uint64_t)cf_target(CF_LEFT));
    cf_check(wrong == size, "%zu bytes: byte %zu is not the neighbour's", size, wrong);
    free(data);
    shmem_barrier_all();
}

static void run_malloc(size_t size)
{
    void *block = shmem_malloc(size), *other;

    cf_case("shmem_malloc");
    verify_block(block, size, ALIGNED);
    other = shmem_malloc(size);
    cf_check(other != block, "the same block twice");
    shmem_free(other);
    shmem_free(block);
    cf_case("shmem_free");
}

static void run_calloc(size_t size)
{
    unsigned char *dirty = shmem_malloc(3 * size), *block;

    memset(dirty, CF_FILLER, 3 * size);
    shmem_free(dirty);
    block = shmem_calloc(3, size);
    cf_case("shmem_calloc");
    cf_check(check_find_other(block, 3 * size, 0) == 3 * size, "3 * %zu bytes: not zero",
             size);
    verify_block(block, 3 * size, ALIGNED);
    shmem_free(block);
}

static void run_align(size_t size)
{
    for (size_t alignment = 1; alignment <= 65536; alignment *= 2) {
        void *block = shmem_align(alignment, size);
        cf_case("shmem_align");
        verify_block(block, size,
                     alignment < sizeof(void *) ? sizeof(void *) : alignment);
        shmem_free(block);
    }
}

static void run_hints(size_t size)
{
    const long hints[] = {0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE,
                          SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE};

    for (size_t i = 0; i < CF_COUNT(hints); i++) {
        uint64_t *block = shmem_malloc_with_hints(size + 8, hints[i]);
        cf_case("shmem_malloc_with_hints");
        verify_block(block, size + 8, ALIGNED);
        block[0] = 0;
        shmem_barrier_all();
        shmem_uint64_atomic_add(block, 3, cf_target(CF_RIGHT));
        shmem_barrier_all();
        cf_check(block[0] == 3, "an atomic made %llu", (unsigned long long)block[0]);
        block = shmem_realloc(block, size + 5000);
        cf_check(block != NULL, "could not grow");
        shmem_free(block);
    }
}

/* Grows and shrinks a block between all pairs of sizes; the common part must be kept. */
static void run_realloc(void)
{
    unsigned char *block = shmem_realloc(NULL, sizes[0]);
    uint64_t salt = 99 + (uint64_t)cf_me;
    size_t size = sizes[0];

    cf_case("shmem_realloc");
    verify_block(block, size, 1);
    for (int i = 0; i < SIZES * SIZES; i++) {
        size_t next = sizes[(i * 7 + i / SIZES) % SIZES],
               kept = next < size ? next : size;
        void *wall = i % 2 ? shmem_malloc(64) : NULL; /* forces the block to move */
        check_fill(block, size, salt);
        block = shmem_realloc(block, next);
        shmem_free(wall);
        cf_case("shmem_realloc");
        cf_check(block != NULL, "from %zu to %zu bytes: failed", size, next);
        if (block == NULL)
            return;
        size_t wrong = check_find_wrong(block, kept, salt);
        cf_check(wrong == kept, "from %zu to %zu bytes: byte %zu changed", size, next,
                 wrong);
        verify_block(block, next, 1);
        size = next;
    }
    cf_check(shmem_realloc(block, 0) == NULL, "to 0 bytes: not a null pointer");
}

static void run_nothing(void)
{
    static unsigned char keep;
    unsigned char *block = shmem_malloc(100);

    cf_case("shmem_malloc");
    cf_check(shmem_malloc(0) == NULL, "0 bytes");
    cf_check(shmem_malloc(SIZE_MAX / 2) == NULL, "more than there is");
    cf_case("shmem_calloc");
    cf_check(shmem_calloc(0, 8) == NULL && shmem_calloc(8, 0) == NULL, "0 bytes");
    cf_check(shmem_calloc(SIZE_MAX / 4 + 2, 4) == NULL, "a product that wraps");
    cf_case("shmem_align");
    cf_check(shmem_align(64, 0) == NULL, "0 bytes");
    cf_check(shmem_align(64, SIZE_MAX / 2) == NULL, "more than there is");
    cf_case("shmem_malloc_with_hints");
    cf_check(shmem_malloc_with_hints(0, 0) == NULL, "0 bytes");
    cf_check(shmem_malloc_with_hints(SIZE_MAX / 2, 0) == NULL, "more than there is");
    shmem_free(NULL);
    cf_case("shmem_free");
    check_fill(block, 100, 5);
    cf_case("shmem_realloc");
    cf_check(shmem_realloc(block, SIZE_MAX / 2) == NULL, "more than there is");
    cf_check(check_find_wrong(block, 100, 5) == 100, "failed, but changed the block");
    shmem_free(block);
    cf_case("shmem_addr_accessible");
    cf_check(shmem_addr_accessible(&keep, 0) && !shmem_addr_accessible(&block, 0),
             "must be true for a global, false for a local");
}

/* Many blocks at a time; they must not overlap and must have the same offset on all PEs.
 */
static void run_random(void)
{
    enum { BLOCKS = 24, STEPS = 300, GREATEST = 20000 };
    unsigned char *block[BLOCKS] = {NULL};
    size_t size[BLOCKS] = {0};
    uint64_t draw = 4711;

    for (int i = 0; i < STEPS; i++) {
        int k = (int)(check_random(&draw) % BLOCKS);
        size_t next = 1 + check_random(&draw) % GREATEST;
        if (block[k] != NULL) {
            size_t wrong = check_find_wrong(block[k], size[k], (uint64_t)k);
            cf_check(wrong == size[k], "step %d: byte %zu of %zu changed", i, wrong,
                     size[k]);
        }
        if (block[k] != NULL && next % 3 == 0) {
            shmem_free(block[k]);
            block[k] = NULL;
            continue;
        }
        size_t kept = block[k] == NULL ? 0 : next < size[k] ? next : size[k];
        block[k] = block[k] != NULL ? shmem_realloc(block[k], next) : shmem_malloc(next);
        cf_case(kept > 0 ? "shmem_realloc" : "shmem_malloc");
        cf_check(block[k] != NULL, "step %d: %zu bytes failed", i, next);
        size[k] = next;
        if (block[k] == NULL)
            return;
        cf_check(check_find_wrong(block[k], kept, (uint64_t)k) == kept,
                 "step %d: some of %zu bytes changed", i, kept);
        shmem_barrier_all();
        memset(block[k], 0, next);
        check_fill(block[k], next, (uint64_t)k);
        shmem_putmem(block[k], block[k], 1, cf_target(CF_RIGHT));
    }
    shmem_barrier_all();
    for (int k = 0; k < BLOCKS; k++)
        shmem_free(block[k]);
}

int main(void)
{
    int provided = -1, queried = -2;

    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0);
    cf_begin("memory");
    cf_case("shmem_init_thread");
    cf_check(provided >= SHMEM_THREAD_SINGLE && provided <= SHMEM_THREAD_MULTIPLE,
             "provided %d", provided);
    shmem_query_thread(&queried);
    cf_case("shmem_query_thread");
    cf_check(queried == provided, "%d, but provided was %d", queried, provided);
    for (int i = 0; i < SIZES; i++) {
        run_malloc(sizes[i]);
        run_calloc(sizes[i]);
        run_align(sizes[i]);
        run_hints(sizes[i]);
    }
    run_realloc();
    run_nothing();
    run_random();
    return cf_finish();
}
