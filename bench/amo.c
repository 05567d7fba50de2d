/* SPDX-License-Identifier: BSD-3-Clause */
/* amo.c - measures each remote atomic operation and, for comparison, the processor's
 * atomic instruction on the same memory.  PE 0 is the initiator and its peer waits in a
 * barrier; in the rows `shared` both PEs update one word.  Uses: bench.h. */
#include "bench.h"

#include <shmem.h>

/* The library's operations on the word of the peer; OpenSHMEM 1.4 has all of them for
 * these types. */
#define BODY(NAME, CALL)                                                                 \
    static void NAME(struct bench *b, long n)                                            \
    {                                                                                    \
        unsigned long *w = (unsigned long *)(void *)bench_word(b->word, WORD_ATOMIC);    \
        for (long i = 0; b->me == 0 && i < n; i++)                                       \
            CALL;                                                                        \
    }
BODY(fetch_add, shmem_ulong_atomic_fetch_add(w, 3, b->peer))
BODY(fetch_inc, shmem_ulong_atomic_fetch_inc(w, b->peer))
BODY(add, shmem_ulong_atomic_add(w, 3, b->peer))
BODY(inc, shmem_ulong_atomic_inc(w, b->peer))
BODY(swap, shmem_ulong_atomic_swap(w, (unsigned long)i, b->peer))
BODY(compare_swap, shmem_ulong_atomic_compare_swap(w, 1, 2, b->peer))
BODY(fetch, shmem_ulong_atomic_fetch(w, b->peer))
BODY(set, shmem_ulong_atomic_set(w, (unsigned long)i, b->peer))
BODY(and, shmem_ulong_atomic_and(w, 7, b->peer))
BODY(or, shmem_ulong_atomic_or(w, 7, b->peer))
BODY(xor, shmem_ulong_atomic_xor(w, 7, b->peer))
BODY(fetch_and, shmem_ulong_atomic_fetch_and(w, 7, b->peer))
BODY(fetch_or, shmem_ulong_atomic_fetch_or(w, 7, b->peer))
BODY(fetch_xor, shmem_ulong_atomic_fetch_xor(w, 7, b->peer))
#undef BODY

/* If the old value were unused, the compiler would choose an instruction that does not
 * return it. */
static void raw_add(uint64_t *word, uint64_t value)
{
    uint64_t old = __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
    __asm__ __volatile__("" : : "r"(old));
}

static void raw_fetch_add(struct bench *b, long n)
{
    uint64_t *w = bench_word(b->mapped_word, WORD_ATOMIC);
    for (long i = 0; b->me == 0 && i < n; i++)
        raw_add(w, 3);
}

static void raw_compare_swap(struct bench *b, long n)
{
    uint64_t *w = bench_word(b->mapped_word, WORD_ATOMIC);
    for (long i = 0; b->me == 0 && i < n; i++) {
        uint64_t expected = 1;
        __atomic_compare_exchange_n(w, &expected, 2, 0, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
    }
}

/* Both PEs add to the word of the peer. */
static void shared_fetch_add(struct bench *b, long n)
{
    unsigned long *w = (unsigned long *)(void *)bench_word(b->word, WORD_SHARED);
    for (long i = 0; b->me <= b->peer && i < n; i++)
        shmem_ulong_atomic_fetch_add(w, 3, b->peer);
}

static void raw_shared_fetch_add(struct bench *b, long n)
{
    uint64_t *base = b->me == b->peer ? b->word : b->mapped_word;
    uint64_t *w = bench_word(base, WORD_SHARED);
    for (long i = 0; b->me <= b->peer && i < n; i++)
        raw_add(w, 3);
}

/* The raw rows are last because they need the mapped memory of the peer. */
void bench_amo(struct bench *b)
{
    enum { RAW = 3 };
    static const struct bench_row row[] = {
        {"fetch_add", "ns", fetch_add, 1},
        {"fetch_inc", "ns", fetch_inc, 1},
        {"add", "ns", add, 1},
        {"inc", "ns", inc, 1},
        {"swap", "ns", swap, 1},
        {"compare_swap", "ns", compare_swap, 1},
        {"fetch", "ns", fetch, 1},
        {"set", "ns", set, 1},
        {"and", "ns", and, 1},
        {"or", "ns", or, 1},
        {"xor", "ns", xor, 1},
        {"fetch_and", "ns", fetch_and, 1},
        {"fetch_or", "ns", fetch_or, 1},
        {"fetch_xor", "ns", fetch_xor, 1},
        {"shared_fetch_add", "ns", shared_fetch_add, 1},
        {"raw_fetch_add", "ns", raw_fetch_add, 1},
        {"raw_compare_swap", "ns", raw_compare_swap, 1},
        {"raw_shared_fetch_add", "ns", raw_shared_fetch_add, 1},
    };
    size_t rows = sizeof(row) / sizeof(row[0]);
    bench_points(b, "amo", row, b->mapped_word != NULL ? rows : rows - RAW,
                 sizeof(uint64_t));
}
