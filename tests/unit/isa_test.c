/* SPDX-License-Identifier: BSD-3-Clause */
/* isa_test.c - detection of instruction sets, and the values of SHMEM_ISA. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pgas/datatype/isa.h"

/* A processor with all extensions, under a system that saves all registers */
static const struct isa_x86 full = {
    .leaf1_ecx = 1u << 27 | 1u << 28,
    .leaf7_ebx = 1u << 5 | 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31,
    .xcr0 = 0xe7,
};

static void check_x86(const struct isa_x86 *x, bool avx2, bool avx512, const char *what)
{
    cr_expect_eq(isa_x86_has(x, ISA_AVX2), avx2, "AVX2 with %s", what);
    cr_expect_eq(isa_x86_has(x, ISA_AVX512), avx512, "AVX-512 with %s", what);
    cr_expect_not(isa_x86_has(x, ISA_SVE), "SVE with %s", what);
}

Test(isa, x86_with_all)
{
    check_x86(&full, true, true, "all");
}

/* Without bit `bit` of a word there is no AVX-512, and AVX2 only with `avx2`. */
Test(isa, x86_without_one_bit)
{
    static const struct {
        int word, bit;
        bool avx2;
    } rows[] = {
        {1, 27, false}, {1, 28, false}, {7, 5, false}, {7, 16, true},
        {7, 17, true},  {7, 30, true},  {7, 31, true}, {0, 1, false},
        {0, 2, false},  {0, 5, true},   {0, 6, true},  {0, 7, true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct isa_x86 x = full;
        char what[40];
        snprintf(what, sizeof what, "word %d without bit %d", rows[i].word, rows[i].bit);
        x.leaf1_ecx &= ~(rows[i].word == 1 ? 1u << rows[i].bit : 0);
        x.leaf7_ebx &= ~(rows[i].word == 7 ? 1u << rows[i].bit : 0);
        x.xcr0 &= ~(uint64_t)(rows[i].word == 0 ? 1u << rows[i].bit : 0);
        check_x86(&x, rows[i].avx2, false, what);
    }
}

Test(isa, every_available_name_is_accepted)
{
    char error[256];

    for (enum isa isa = ISA_BASELINE; isa < ISAS; isa++) {
        enum isa read = ISAS;
        int status = isa_read(isa_name(isa), &read, error, sizeof error);
        cr_expect_eq(status, isa_here(isa) ? 0 : -1, "%s", isa_name(isa));
        cr_expect(!isa_here(isa) || read == isa);
        cr_expect(isa_here(isa) ||
                  strstr(error, "not supported by this processor; use auto, ") == error);
    }
}

Test(isa, auto_is_the_best)
{
    enum isa isa = ISAS;
    char error[256];

    cr_expect_eq(isa_read("auto", &isa, error, sizeof error), 0);
    cr_expect_eq(isa, isa_best());
    cr_expect(isa_here(isa));
}

Test(isa, other_names_are_rejected_with_the_choices)
{
    static const char *const bad[] = {"", "AVX2", "avx", "auto,avx2", "none"};
    enum isa isa;
    char error[256];

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_expect_eq(isa_read(bad[i], &isa, error, sizeof error), -1, "%s", bad[i]);
        cr_expect(strstr(error, "not an instruction set; use auto") == error, "%s",
                  error);
        cr_expect(strstr(error, isa_name(isa_best())) != NULL, "%s", error);
    }
}
