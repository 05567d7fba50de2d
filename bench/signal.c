/* SPDX-License-Identifier: BSD-3-Clause */
/* signal.c - ping-pong with put-with-signal, if the library has it (OpenSHMEM 1.5).
 * Uses: bench.h. */
#include "bench.h"

#include <shmem.h>

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
static uint64_t round_trip;

static void ping_signal(struct bench *b, long n)
{
    uint64_t *signal = bench_word(b->word, WORD_SHARED);
    int other = b->me == 0 ? 1 : 0;
    for (long i = 0; b->me <= 1 && i < n; i++) {
        uint64_t turn = ++round_trip;
        if (b->me == 0)
            shmem_putmem_signal(b->dest, b->source, b->size, signal, turn,
                                SHMEM_SIGNAL_SET, other);
        shmem_signal_wait_until(signal, SHMEM_CMP_EQ, turn);
        if (b->me == 1)
            shmem_putmem_signal(b->dest, b->source, b->size, signal, turn,
                                SHMEM_SIGNAL_SET, other);
    }
}

void bench_signal(struct bench *b)
{
    static const struct bench_row row = {"pingpong_signal", "ns", ping_signal, 1};
    static const size_t bytes[] = {8, 128, 4096, 64 * 1024};

    if (b->npes < 2)
        return;
    *bench_word(b->word, WORD_SHARED) = 0;
    shmem_barrier_all();
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
        bench_points(b, "sync", &row, 1, bytes[i]);
}
#else
void bench_signal(struct bench *b)
{
    (void)b;
}
#endif
