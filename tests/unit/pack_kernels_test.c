/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_kernels_test.c - every kernel packs, unpacks and copies like a naive loop. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/datatype/pack/pack.h"
#include "tests/unit/kernels/check_pack.h"

/* Builds with sanitizers are slow. */
#ifdef PGAS_SANITIZED
enum { SHORT = 300, LONG = 25000 };
#else
enum { SHORT = 1200, LONG = 100000 };
#endif

static void check_kernel(enum pack_kernel k)
{
    size_t cases = getenv("PGAS_TEST_LONG") != NULL ? LONG : SHORT;
    char text[CHECK_PACK_TEXT];
    long used = check_pack(k, cases, text);

    cr_assert_neq(used, -1, "%s", text);
    cr_assert(used * 20 >= (long)cases, "%s: only %ld of %zu vectors used the kernel",
              k == PACK_KERNELS ? "auto" : pack_kernel_name(k), used, cases);
}

#define KERNEL_TEST(NAME, name, ISA)                                                     \
    Test(pack_kernels, name)                                                             \
    {                                                                                    \
        pack_choice_init(isa_best(), PACK_KERNELS);                                      \
        if (pack_kernel_here(PACK_##NAME))                                               \
            check_kernel(PACK_##NAME);                                                   \
    }
PACK_KERNEL_TABLE(KERNEL_TEST)

Test(pack_kernels, automatic)
{
    check_kernel(PACK_KERNELS);
}

/* Blocks of a source may overlap, so that its addresses do not increase. */
Test(pack_kernels, overlapping_source)
{
    enum { BLOCK = 240, COUNT = 50 };
    static char from[BLOCK * COUNT], to[BLOCK * COUNT];

    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (char)(i * 7 + i / 253);
    pack_choice_init(isa_best(), PACK_KERNELS);
    for (ptrdiff_t stride = 16; stride < BLOCK; stride += 16)
        for (enum pack_kernel k = 0; k < PACK_KERNELS; k++) {
            struct vector_copy v = {to, from, BLOCK, stride, BLOCK, COUNT};
            if (!pack_kernel_can(k, &v))
                continue;
            memset(to, 0, sizeof to);
            pack_kernel_run(k, &v);
            for (size_t i = 0; i < COUNT; i++)
                cr_assert_arr_eq(to + i * BLOCK, from + i * (size_t)stride, BLOCK,
                                 "%s: stride %td", pack_kernel_name(k), stride);
        }
}

/* Copies the vector as often as it takes to find a kernel, and a few times more. */
static void check_learned(char *to, const char *from, size_t block, size_t count)
{
    struct vector_copy v = {to, from, 20, (ptrdiff_t)block, block, count};

    for (int i = 0, more = 5; more > 0; i++) {
        memset(to, 0, 20 * count);
        pack_vector(&v);
        size_t wrong = 0;
        for (size_t b = 0; b < 20 * count; b++)
            wrong += to[b] != (b % 20 < block ? from[b / 20 * block + b % 20] : 0);
        cr_assert_eq(wrong, 0, "call %d, blocks of %zu: %zu bytes", i, block, wrong);
        more -= pack_choice_found(&v) != PACK_KERNELS;
        cr_assert(i < 1000, "no kernel is found");
    }
}

/* A vector that is known is copied by its route: to other addresses, of another length,
 * and with other kernels, too. */
Test(pack_kernels, known_shapes)
{
    static char to[20 * 100 + 64], from[16 * 100 + 64];
    const enum isa isa[] = {isa_best(), ISA_BASELINE, isa_best()};

    for (size_t b = 0; b < sizeof from; b++)
        from[b] = (char)(1 + b % 127);
    for (size_t i = 0; i < 3; i++) {
        pack_choice_init(isa[i], PACK_KERNELS);
        for (size_t block = 4; block <= 16; block += 4)
            for (size_t at = 0; at < 64; at += 21) {
                check_learned(to + at, from + 63 - at, block, 100);
                check_learned(to + at, from, block, 99);
            }
    }
}

Test(pack_kernels, names)
{
    enum pack_kernel k;
    char error[256];

    cr_expect(pack_kernel_read("auto", isa_best(), &k, error, sizeof error) == 0 &&
              k == PACK_KERNELS);
    cr_expect(pack_kernel_read("fixed", ISA_BASELINE, &k, error, sizeof error) == 0 &&
              k == PACK_FIXED);
    cr_expect_eq(pack_kernel_read("fast", ISA_BASELINE, &k, error, sizeof error), -1);
    cr_expect(strstr(error, "use auto, scalar, block, fixed") != NULL, "%s", error);
}

Test(pack_kernels, instruction_set_is_limited)
{
    pack_choice_init(ISA_BASELINE, PACK_KERNELS);
    cr_expect(pack_kernel_here(PACK_FIXED));
    cr_expect_not(pack_kernel_here(PACK_GATHER_AVX2));
    cr_expect_not(pack_kernel_here(PACK_GATHER_AVX512));

    enum pack_kernel k;
    char error[256];
    cr_expect_eq(pack_kernel_read("gather_avx512", ISA_BASELINE, &k, error, sizeof error),
                 -1);
    cr_expect(strstr(error, "SHMEM_ISA=baseline; use auto, scalar, block, fixed") !=
                      NULL &&
                  strstr(error, "avx") == NULL,
              "%s", error);
}
