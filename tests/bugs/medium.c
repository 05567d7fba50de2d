/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * medium.c - globals are symmetric in every section that the compiler uses: with
 * -mcmodel=medium large ones are in .ldata and .lbss.  The sections .far0 to .far9 become
 * separate segments if medium.sh links them at distant addresses.  Compiled and run by
 * medium.sh.
 */
#include "config.h"

#include "tests/api/multi/check.h"

#define FAR(i) far_data##i __attribute__((section(".far" #i))) = (i)

enum { LARGE = 1 << 16, HUGE_LEN = 1 << 20, WORDS = 17 };
static long FAR(0), FAR(1), FAR(2), FAR(3), FAR(4), FAR(5), FAR(6), FAR(7), FAR(8),
    FAR(9);
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
    &far_data0,
    &far_data1,
    &far_data2,
    &far_data3,
    &far_data4,
    &far_data5,
    &far_data6,
    &far_data7,
    &far_data8,
    &far_data9,
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
    CHECK_EQ(far_data9, 9);
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
