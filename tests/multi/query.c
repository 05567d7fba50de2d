/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * query.c - who am I, what is accessible, where is it: numbers, names, shmem_ptr and
 * *_accessible, on addresses inside and outside of symmetric memory.
 */
#include "config.h"

#include "tests/multi/check.h"

static long in_data = 3;
enum { HEAP_LONGS = 1 << 17 };

static void test_numbers(void)
{
    static long seen[1024];
    int me = shmem_my_pe(), npes = shmem_n_pes();
    CHECK(npes >= 1 && me >= 0 && me < npes);
    shmem_long_atomic_inc(&seen[me % 1024], 0);
    shmem_barrier_all();
    for (int pe = 0; me == 0 && pe < npes && pe < 1024; pe++)
        CHECK_EQ(seen[pe], 1);
    const char *wanted = getenv("CHECK_NPES"); /* run-pes says how many it asked for */
    CHECK(wanted == NULL || atoi(wanted) == npes);
}

static void test_version(void)
{
    int major = -1, minor = -1;
    char name[SHMEM_MAX_NAME_LEN];
    shmem_info_get_version(&major, &minor);
    CHECK_EQ(major, SHMEM_MAJOR_VERSION);
    CHECK_EQ(minor, SHMEM_MINOR_VERSION);
    memset(name, 'x', sizeof(name));
    shmem_info_get_name(name);
    CHECK(memchr(name, '\0', sizeof(name)) != NULL);
    CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0);
}

static void test_ptr(void *symmetric, long *word)
{
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        CHECK(shmem_pe_accessible(pe));
        CHECK(shmem_addr_accessible(symmetric, pe));
        long *mapped = shmem_ptr(word, pe);
        if (mapped == NULL)
            continue;
        CHECK_EQ(*mapped, 1000 + pe);
        CHECK(pe != shmem_my_pe() || mapped == word);
    }
    CHECK(!shmem_pe_accessible(-1));
    CHECK(!shmem_pe_accessible(shmem_n_pes()));
    CHECK(shmem_ptr(symmetric, -1) == NULL);
    CHECK(shmem_ptr(symmetric, shmem_n_pes()) == NULL);
}

int main(void);

static void test_private(void)
{
    long on_stack = 0;
    void *in_malloc = malloc(100);
    CHECK(shmem_ptr(&on_stack, 0) == NULL);
    CHECK(shmem_ptr(in_malloc, 0) == NULL);
    CHECK(shmem_ptr(NULL, 0) == NULL);
    CHECK(!shmem_addr_accessible(NULL, 0));
    CHECK(!shmem_addr_accessible(in_malloc, 0));
    CHECK(!shmem_addr_accessible((void *)(uintptr_t)main, 0));
    free(in_malloc);
}

/* Stores through pointers on all PEs are seen by their owners. */
static void test_stores(long *heap)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes;
    long *mapped = shmem_ptr(heap, to), *mapped_data = shmem_ptr(&in_data, to);
    if (mapped != NULL && mapped_data != NULL) {
        *mapped_data = 70 + me;
        for (int i = 0; i < HEAP_LONGS; i += 511)
            mapped[i] = me * 10 + i;
    }
    shmem_barrier_all();
    int from = (me - 1 + npes) % npes;
    if (shmem_ptr(heap, from) != NULL && shmem_ptr(&in_data, from) != NULL) {
        CHECK_EQ(in_data, 70 + from);
        for (int i = 0; i < HEAP_LONGS; i += 511)
            CHECK_EQ(heap[i], from * 10 + i);
    }
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    long *heap = check_alloc(HEAP_LONGS * sizeof(long));
    heap[HEAP_LONGS - 1] = 1000 + shmem_my_pe();
    in_data = 1000 + shmem_my_pe();
    test_numbers();
    test_version();
    shmem_barrier_all();
    test_ptr(heap, &heap[HEAP_LONGS - 1]);
    test_ptr(&in_data, &in_data);
    test_private();
    shmem_barrier_all();
    test_stores(heap);
    shmem_free(heap);
    shmem_finalize();
    return 0;
}
