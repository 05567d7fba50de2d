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
    copy_set_nontemporal(SIZE_MAX);
    check_all();
}

Test(copy, all_lengths_around_the_caches)
{
    copy_set_nontemporal(0);
    check_all();
}
