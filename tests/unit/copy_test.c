/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_test.c - every kernel copies exactly its bytes, at every alignment. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "pgas/datatype/copy.h"

enum { GUARD = 64, LEN_MAX = 600, GUARD_BYTE = 0x5a };

static void check(size_t len, size_t dst_off, size_t src_off)
{
    static unsigned char src[LEN_MAX + 2 * GUARD], dst[LEN_MAX + 2 * GUARD];

    for (size_t i = 0; i < sizeof src; i++)
        src[i] = (unsigned char)(i * 7 + 1);
    memset(dst, GUARD_BYTE, sizeof dst);
    copy_bytes(dst + GUARD + dst_off, src + src_off, len);
    for (size_t i = 0; i < sizeof dst; i++) {
        size_t at = i - GUARD - dst_off;
        unsigned char want = at < len ? src[src_off + at] : GUARD_BYTE;
        cr_assert_eq(dst[i], want, "len %zu at %zu+%zu: byte %zu", len, dst_off, src_off,
                     i);
    }
}

static void check_all(void)
{
    for (size_t len = 0; len <= LEN_MAX - GUARD; len += len < 140 ? 1 : 37)
        for (size_t off = 0; off < GUARD; off += 5)
            check(len, off, (off * 3) % GUARD);
}

Test(copy, all_lengths_with_memcpy)
{
    check_all();
}

Test(copy, all_lengths_with_wide_registers)
{
    copy_init(isa_best(), SIZE_MAX);
    check_all();
}

/* The kernels that the lengths above do not reach: memcpy and non-temporal stores. */
static void check_long(size_t nontemporal)
{
    enum { LONG = 40000 };
    unsigned char *src = malloc(LONG + 64), *dst = malloc(LONG + 64);

    copy_init(isa_best(), nontemporal);
    for (size_t i = 0; i < LONG + 64; i++)
        src[i] = (unsigned char)(i * 13 + i / 251);
    for (size_t off = 0; off < 64; off += 7) {
        memset(dst, GUARD_BYTE, LONG + 64);
        copy_bytes(dst + off, src + (off * 5) % 64, LONG - 64 - off);
        cr_assert_eq(memcmp(dst + off, src + (off * 5) % 64, LONG - 64 - off), 0);
        for (size_t i = LONG - 64; i < LONG + 64; i++)
            cr_assert_eq(dst[i], GUARD_BYTE, "offset %zu: byte %zu", off, i);
    }
    free(src);
    free(dst);
}

Test(copy, long_copies)
{
    check_long(SIZE_MAX);
    check_long(10000);
}
