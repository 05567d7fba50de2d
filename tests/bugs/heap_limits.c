/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap_limits.c - the symmetric heap at its limits, for heap_limits.sh:
 *   calloc   a calloc of the library fails during shmem_malloc, on the last PE only; the
 *            PEs then compare the offsets of all blocks
 *   space    shmem_malloc runs out of space several times
 *   lenient  arguments that the specification leaves undefined and other implementations
 *            accept
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum { BLOCKS = 20 };

static int me, npes;
static bool armed;
static long offset[BLOCKS], theirs[BLOCKS];

#ifndef PGAS_SANITIZED /* a sanitizer's calloc must not be replaced */
void *__libc_calloc(size_t n, size_t size);

void *calloc(size_t n, size_t size)
{
    if (armed) {
        armed = false;
        return NULL;
    }
    return __libc_calloc(n, size);
}
#endif

/* Allocates blocks of different sizes; compares their offsets from the first one with
 * those on the next PE. */
static void try_calloc(void)
{
    char *first = shmem_malloc(64);

    for (int i = 0; i < BLOCKS; i++) {
        armed = me == npes - 1 && i == 5;
        char *block =
            i % 4 == 3 ? shmem_align(1024, 40) : shmem_malloc((size_t)i * 8 + 8);
        armed = false;
        offset[i] = block != NULL ? block - first : -1;
    }
    shmem_barrier_all();
    shmem_getmem(theirs, offset, sizeof offset, (me + 1) % npes);
    for (int i = 0; i < BLOCKS; i++)
        if (offset[i] != theirs[i]) {
            fprintf(stderr, "PE %d: block %d has offset %ld, but offset %ld on PE %d\n",
                    me, i, offset[i], theirs[i], (me + 1) % npes);
            shmem_global_exit(2);
        }
}

static void try_space(void)
{
    CHECK(shmem_malloc((size_t)3 << 20) == NULL);
    CHECK(shmem_malloc((size_t)4 << 20) == NULL);
    CHECK(shmem_align(4096, (size_t)5 << 20) == NULL);
    CHECK(shmem_malloc(1000) != NULL);
}

static void try_lenient(void)
{
    for (size_t alignment = 1; alignment <= 4; alignment *= 2) {
        void *block = shmem_align(alignment, 100);
        CHECK(block != NULL && (uintptr_t)block % sizeof(void *) == 0);
    }
    CHECK(shmem_align(24, 100) == NULL);
    CHECK(shmem_malloc_with_hints(100, 1L << 20) != NULL);
    CHECK(shmem_malloc_with_hints(100, 1L << 21) != NULL);
    shmem_team_t team;
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team), 0);
    CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(team);
    void *block = shmem_malloc(100);
    shmem_free(block);
    CHECK(shrealloc(block, 200) == NULL);
    block = shrealloc(NULL, 100);
    CHECK(block != NULL && shrealloc(block, 10000) != NULL);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    if (strcmp(argv[1], "calloc") == 0)
        try_calloc();
    else if (strcmp(argv[1], "space") == 0)
        try_space();
    else
        try_lenient();
    shmem_finalize();
    return 0;
}
