/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * medium.c - globals are symmetric in every section that the compiler uses: with
 * -mcmodel=medium large ones are in .ldata and .lbss.  The sections .distant0 to
 * .distant9 become separate segments if medium.sh links them at distant addresses.
 * Compiled and run by medium.sh.
 */
#include "config.h"

#include "tests/api/multi/check.h"

#define DISTANT(i) distant_data##i __attribute__((section(".distant" #i))) = (i)

enum { LARGE = 1 << 16, HUGE_LEN = 1 << 20, WORDS = 17 };
static long DISTANT(0), DISTANT(1), DISTANT(2), DISTANT(3), DISTANT(4), DISTANT(5),
    DISTANT(6), DISTANT(7), DISTANT(8), DISTANT(9);
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
    &distant_data0,
    &distant_data1,
    &distant_data2,
    &distant_data3,
    &distant_data4,
    &distant_data5,
    &distant_data6,
    &distant_data7,
    &distant_data8,
    &distant_data9,
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
    CHECK_EQ(distant_data9, 9);
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
