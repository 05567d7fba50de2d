/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * globals.c - global and static variables are symmetric: .data, .bss, statics in
 * functions, large arrays.  Values written by constructors, initializers and main before
 * shmem_init are kept; peers access them by every kind of operation; pointers and tables
 * in .data stay valid; a forked child has its own copy.
 */
#include "config.h"

#include "tests/api/multi/check.h"

#include <sys/wait.h>

enum { LARGE = 5 << 20, SMALL = 1000, CHILD_STATUS = 7 };

static long in_data = 4711;
long in_bss;
static int array_data[SMALL] = {1, 2, 3, [SMALL - 1] = 999};
static unsigned char large_bss[LARGE];
static char by_constructor[32];
static long before_init;
static int touched_before[LARGE / sizeof(int)];
static long flag_word, atomic_word;
static uint64_t signal_word;
static _Thread_local long per_thread = 5;

static int twice(int x)
{
    return 2 * x;
}
static int thrice(int x)
{
    return 3 * x;
}
static int (*volatile functions[])(int) = {twice, thrice};
static const char *const words[] = {"alpha", "beta", "gamma"};
static const char *changing_words[] = {"delta", "epsilon"};
static long *self_pointer = &in_data;

__attribute__((constructor)) static void construct(void)
{
    snprintf(by_constructor, sizeof(by_constructor), "constructed");
    in_bss = 12;
    setvbuf(stdout, NULL, _IOFBF, BUFSIZ); /* text is buffered across shmem_init */
}

static long *static_in_function(void)
{
    static long inside = 31;
    return &inside;
}

static void prepare(void)
{
    before_init = 77;
    for (size_t i = 0; i < sizeof(touched_before) / sizeof(int); i += 1024)
        touched_before[i] = (int)i + 1;
    printf("written before shmem_init\n");
}

static void test_kept(void)
{
    CHECK_EQ(in_data, 4711);
    CHECK_EQ(in_bss, 12);
    CHECK_EQ(before_init, 77);
    CHECK_EQ(array_data[2], 3);
    CHECK_EQ(array_data[SMALL - 1], 999);
    CHECK_EQ(*static_in_function(), 31);
    CHECK(strcmp(by_constructor, "constructed") == 0);
    CHECK(check_find_other(large_bss, LARGE, 0) == LARGE);
    for (size_t i = 0; i < sizeof(touched_before) / sizeof(int); i++)
        CHECK_EQ(touched_before[i], i % 1024 == 0 ? i + 1 : 0);
    CHECK_EQ(functions[0](7), 14);
    CHECK_EQ(functions[1](7), 21);
    CHECK(strcmp(words[2], "gamma") == 0 && strcmp(changing_words[1], "epsilon") == 0);
    CHECK(self_pointer == &in_data && *self_pointer == 4711);
    CHECK_EQ(per_thread, 5);
    CHECK(getenv("PATH") != NULL && environ != NULL);
}

static void test_addresses(void)
{
    long on_stack = 0, *in_malloc = malloc(sizeof(long));
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        CHECK(shmem_addr_accessible(&in_data, pe));
        CHECK(shmem_addr_accessible(&in_bss, pe));
        CHECK(shmem_addr_accessible(&large_bss[LARGE - 1], pe));
        CHECK(shmem_addr_accessible(static_in_function(), pe));
        CHECK(!shmem_addr_accessible(&on_stack, pe));
        CHECK(!shmem_addr_accessible(in_malloc, pe));
    }
    CHECK(!shmem_addr_accessible(&in_data, -1));
    CHECK(!shmem_addr_accessible(&in_data, shmem_n_pes()));
    free(in_malloc);
}

static void test_remote(void)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int to = (me + 1) % npes, from = (me - 1 + npes) % npes;
    static unsigned char source[LARGE];
    shmem_barrier_all();
    shmem_long_p(&in_data, 100 + me, to);
    shmem_long_p(static_in_function(), 200 + me, to);
    shmem_int_p(&array_data[SMALL - 1], 300 + me, to);
    check_fill(source, LARGE, (uint64_t)me);
    shmem_putmem(large_bss, source, LARGE, to);
    shmem_barrier_all();
    CHECK_EQ(in_data, 100 + from);
    CHECK_EQ(*static_in_function(), 200 + from);
    CHECK_EQ(array_data[SMALL - 1], 300 + from);
    CHECK_EQ(array_data[2], 3);
    CHECK(check_find_wrong(large_bss, LARGE, (uint64_t)from) == LARGE);
    shmem_barrier_all();
    shmem_getmem(source, large_bss, LARGE, to);
    CHECK(check_find_wrong(source, LARGE, (uint64_t)me) == LARGE);
    CHECK_EQ(shmem_long_g(&in_bss, to), 12);
    shmem_barrier_all();
}

static void test_sync(void)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), to = (me + 1) % npes;
    for (long i = 1; i <= 100; i++) {
        shmem_long_atomic_add(&atomic_word, 1, 0);
        shmem_fence(); /* otherwise the previous value may arrive last */
        shmem_long_p(&flag_word, i, to);
        shmem_long_wait_until(&flag_word, SHMEM_CMP_GE, i);
        shmem_signal_add(&signal_word, 2, to);
        shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, (uint64_t)i * 2);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_atomic_fetch(&atomic_word, 0), 100 * npes);
    shmem_barrier_all();
}

/* The child has the values at the time of the fork; its stores do not change the parent's
 * globals. */
static void test_fork(void)
{
    in_data = 1;
    large_bss[12345] = 9;
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        bool kept = in_data == 1 && large_bss[12345] == 9;
        in_data = 2;
        large_bss[12345] = 10;
        before_init = 3;
        _exit(kept && in_data == 2 && large_bss[12345] == 10 ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_NAMED(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                "the child ended with wait status 0x%x", (unsigned)status);
    CHECK_EQ(in_data, 1);
    CHECK_EQ(large_bss[12345], 9);
    CHECK_EQ(before_init, 77);
    /* A child that calls exit(), which runs the library's exit handler. */
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        in_data = 3;
        exit(CHILD_STATUS);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, CHILD_STATUS);
    CHECK_EQ(in_data, 1);
    /* Peers still access the globals of the parent. */
    shmem_barrier_all();
    shmem_long_p(&in_data, 50, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    CHECK_EQ(in_data, 50);
}

int main(void)
{
    prepare();
    shmem_init();
    printf("written after shmem_init\n");
    test_kept();
    test_addresses();
    test_remote();
    test_sync();
    test_fork();
    shmem_finalize();
    /* Globals are still valid after shmem_finalize. */
    return in_data == 50 && large_bss[12345] == 9 ? 0 : 1;
}
