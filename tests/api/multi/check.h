/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.h - shared by the multi-PE tests: checks that end the whole job, seeded random
 * numbers, random delays, test patterns.  A test is a plain OpenSHMEM program;
 * tests/run-pes runs it with several numbers of PEs.
 */
#ifndef TESTS_API_MULTI_CHECK_H
#define TESTS_API_MULTI_CHECK_H

#include <errno.h>
#include <float.h>
#include <sched.h>
#include <shmem.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CHECK_SKIP = 77, CHECK_NAME_MAX = 256 };

/* Bytes that hold the value of a long double; the rest (6 of 16 with x87) is padding. */
enum { LDBL_BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

static inline void check_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "PE %d: %s:%d: %s\n", shmem_my_pe(), file, line, what);
    fflush(stderr);
    shmem_global_exit(1);
}

static inline void check_that(bool ok, const char *file, int line, const char *what)
{
    if (!ok)
        check_fail(file, line, what);
}

/* Values are converted to 64 bits, and printed as signed and as unsigned. */
static inline void check_equal(uint64_t is, uint64_t should, const char *file, int line,
                               const char *what)
{
    char text[CHECK_NAME_MAX];
    if (is == should)
        return;
    snprintf(text, sizeof(text), "%s is %lld (0x%llx), should be %lld (0x%llx)", what,
             (long long)is, (unsigned long long)is, (long long)should,
             (unsigned long long)should);
    check_fail(file, line, text);
}

#define CHECK(cond) check_that((cond), __FILE__, __LINE__, #cond)
#define CHECK_EQ(is, value)                                                              \
    check_equal((uint64_t)(is), (uint64_t)(value), __FILE__, __LINE__, #is)

/* A check with a message of its own, for one line that checks many cases. */
static inline void check_named(bool ok, const char *file, int line, const char *format,
                               ...) __attribute__((format(printf, 4, 5)));
static inline void check_named(bool ok, const char *file, int line, const char *format,
                               ...)
{
    char text[CHECK_NAME_MAX];
    va_list args;
    if (ok)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    check_fail(file, line, text);
}
#define CHECK_NAMED(ok, ...) check_named((ok), __FILE__, __LINE__, __VA_ARGS__)

/* xorshift64*: the same sequence for the same seed, on every machine. */
static inline uint64_t check_random(uint64_t *state)
{
    if (*state == 0)
        *state = 0x9e3779b97f4a7c15u;
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

/* A seed for this PE.  CHECK_SEED (environment) selects or repeats a sequence. */
static inline uint64_t check_seed(int pe)
{
    const char *text = getenv("CHECK_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 1;
    uint64_t state = seed * 1000003u + (uint64_t)pe + 1;
    check_random(&state);
    return state;
}

static inline void check_sleep_us(long us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        continue;
}

/* Randomly yield the processor or sleep, sometimes for longer than a waiter spins. */
static inline void check_delay(uint64_t *state)
{
    enum { SHORT_US = 50, LONG_US = 3000 };
    uint64_t r = check_random(state) >> 32;
    if (r % 8 == 0)
        sched_yield();
    else if (r % 64 == 1)
        check_sleep_us(SHORT_US);
    else if (r % 1024 == 2)
        check_sleep_us(LONG_US);
}

static inline double check_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Byte i of the test pattern of `salt`. */
static inline unsigned char check_byte(uint64_t salt, size_t i)
{
    uint64_t x = (salt + 1) * 0x9e3779b97f4a7c15u + i * 0xff51afd7ed558ccdu;
    return (unsigned char)(x >> 56 ^ x >> 24);
}

static inline void check_fill(void *block, size_t n, uint64_t salt)
{
    unsigned char *byte = block;
    for (size_t i = 0; i < n; i++)
        byte[i] = check_byte(salt, i);
}

/* Index of the first byte that differs from the pattern, or n. */
static inline size_t check_find_wrong(const void *block, size_t n, uint64_t salt)
{
    const unsigned char *byte = block;
    size_t i = 0;
    while (i < n && byte[i] == check_byte(salt, i))
        i++;
    return i;
}

/* Index of the first byte that is not `value`, or n. */
static inline size_t check_find_other(const void *block, size_t n, unsigned char value)
{
    const unsigned char *byte = block;
    size_t i = 0;
    while (i < n && byte[i] == value)
        i++;
    return i;
}

/* PEs start + i * stride of the world. */
struct check_pes {
    int start, stride, size;
};

/* The PEs of this node, which must be the members of SHMEM_TEAM_SHARED: those for which
 * shmem_ptr is not NULL.  run-pes sets CHECK_VNODES to the number of nodes. */
static inline struct check_pes check_node(void)
{
    static char word;
    struct check_pes node = {.stride = 1};
    int npes = shmem_n_pes();
    const char *nodes = getenv("CHECK_VNODES");
    int k = nodes != NULL && nodes[0] != '\0' ? atoi(nodes) : 1;

    for (int pe = 0; pe < npes; pe++) {
        if (shmem_ptr(&word, pe) == NULL)
            continue;
        if (node.size == 0)
            node.start = pe;
        else if (node.size == 1)
            node.stride = pe - node.start;
        CHECK_EQ(pe, node.start + node.size * node.stride);
        node.size++;
    }
    CHECK_NAMED(node.size <= (npes + k - 1) / k, "%d of %d PEs on one of %d nodes",
                node.size, npes, k);
    return node;
}

/* shmem_malloc; ends the job if there is no memory. */
static inline void *check_alloc(size_t size)
{
    void *block = shmem_malloc(size);
    CHECK_NAMED(block != NULL, "shmem_malloc(%zu) returned NULL", size);
    return block;
}

#endif
