/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * medium.c - globals of all sizes are symmetric, wherever the memory model of the
 * compiler puts them: large ones lie in .ldata and .lbss.  medium.sh compiles it; a PE
 * alone tests nothing.
 */
#include "config.h"

#include "tests/multi/check.h"

enum { LARGE = 1 << 16, HUGE_LEN = 1 << 20, WORDS = 7 };
static long small_data = 5, small_bss;
static long large_data[LARGE] = {1};
static long large_bss[HUGE_LEN];

static long *const word[WORDS] = {
    &small_data,
    &small_bss,
    &large_data[0],
    &large_data[LARGE - 1],
    &large_bss[0],
    &large_bss[HUGE_LEN / 2],
    &large_bss[HUGE_LEN - 1],
};

static long value_of(int pe, int i)
{
    return (long)pe * WORDS + i + 1;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), to = (me + 1) % n;
    CHECK_EQ(small_data, 5);
    CHECK_EQ(large_data[0], 1);
    shmem_barrier_all();
    for (int i = 0; i < WORDS; i++) {
        CHECK_NAMED(shmem_addr_accessible(word[i], to), "word %d is not symmetric", i);
        CHECK_NAMED(shmem_ptr(word[i], to) != NULL, "word %d has no address", i);
        shmem_long_p(word[i], value_of(me, i), to);
    }
    shmem_barrier_all();
    for (int i = 0; i < WORDS; i++)
        CHECK_EQ(*word[i], value_of((me + n - 1) % n, i));
    shmem_finalize();
    return 0;
}
