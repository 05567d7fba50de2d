/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_test.c - packing and unpacking are inverse; invalid messages are rejected. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tools/oshrun/net/pack.h"

enum { FUZZ_ROUNDS = 20000, FUZZ_BYTES = 64, LARGE = 3 << 20 };

static uint32_t seed = 1;

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static void pack_sample(struct pack *p)
{
    pack_u8(p, 0xfe);
    pack_u32(p, 0x80000001u);
    pack_u64(p, 0x8000000000000002u);
    pack_string(p, "a name");
    pack_string(p, "");
    pack_string(p, NULL);
    pack_bytes(p, "a\0b", 3);
    pack_bytes(p, NULL, 0);
    pack_numbers(p, (const uint32_t[]){7, UINT32_MAX}, 2);
}

/* Unpacks what pack_sample packed and compares until the first failure. */
static bool unpack_sample(struct unpack *u)
{
    size_t len = 99, none = 99;
    bool same = unpack_u8(u) == 0xfe;
    same &= unpack_u32(u) == 0x80000001u;
    same &= unpack_u64(u) == 0x8000000000000002u;
    const char *name = unpack_string(u), *empty = unpack_string(u);
    same &= name != NULL && strcmp(name, "a name") == 0;
    same &= empty != NULL && empty[0] == '\0';
    same &= unpack_string(u) == NULL;
    const char *bytes = unpack_bytes(u, &len);
    same &= len == 3 && memcmp(bytes, "a\0b", 3) == 0;
    unpack_bytes(u, &none);
    same &= none == 0;
    uint32_t count, *list = unpack_numbers(u, &count);
    same &= list != NULL && count == 2 && list[0] == 7 && list[1] == UINT32_MAX;
    free(list);
    return same;
}

Test(pack, the_rest_has_no_length)
{
    struct pack p = {0};
    size_t len;
    pack_u8(&p, 7);
    for (const char *c = "text"; *c != '\0'; c++)
        pack_u8(&p, (uint8_t)*c);
    struct unpack u = unpack_of(p.data, p.len);
    unpack_u8(&u);
    cr_assert_eq(memcmp(unpack_rest(&u, &len), "text", 4), 0);
    cr_assert_eq(len, 4);
    cr_assert(unpack_done(&u));
    unpack_rest(&u, &len);
    cr_assert_eq(len, 0);
    u = unpack_of(p.data, 1); /* the rest is elsewhere */
    u.rest = "more";
    u.rest_len = 4;
    unpack_u8(&u);
    cr_assert_eq(unpack_rest(&u, &len), u.rest);
    cr_assert_eq(len, 4);
    pack_free(&p);
}

/* A copy of exact size, so that a read past its end is detected. */
static unsigned char *copy_of(const void *data, size_t len)
{
    unsigned char *copy = malloc(len > 0 ? len : 1);
    if (len > 0)
        memcpy(copy, data, len);
    return copy;
}

Test(pack, unpack_returns_what_was_packed)
{
    struct pack p = {0};
    pack_sample(&p);
    struct unpack u = unpack_of(p.data, p.len);
    cr_assert(unpack_sample(&u));
    cr_assert(unpack_done(&u));
    pack_free(&p);
    cr_assert_eq(p.len, 0);
}

Test(pack, numbers_are_little_endian)
{
    static const unsigned char want[] = {1, 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1};
    struct pack p = {0};
    pack_u8(&p, 1);
    pack_u32(&p, 0x01020304);
    pack_u64(&p, 0x0102030405060708);
    cr_assert_eq(p.len, sizeof want);
    cr_assert_eq(memcmp(p.data, want, sizeof want), 0);
    pack_free(&p);
}

Test(pack, every_truncated_message_fails)
{
    struct pack p = {0};
    pack_sample(&p);
    for (size_t len = 0; len < p.len; len++) {
        unsigned char *part = copy_of(p.data, len);
        struct unpack u = unpack_of(part, len);
        unpack_sample(&u);
        cr_assert(u.failed, "%zu of %zu bytes", len, p.len);
        cr_assert_not(unpack_done(&u));
        free(part);
    }
    pack_u8(&p, 0);
    struct unpack u = unpack_of(p.data, p.len);
    cr_assert(unpack_sample(&u));
    cr_assert_not(unpack_done(&u), "one byte is left over");
    pack_free(&p);
}

Test(pack, failure_is_sticky_and_returns_zero)
{
    struct unpack u = unpack_of("\1\2\3", 3);
    size_t len = 99;
    cr_assert_eq(unpack_u64(&u), 0);
    cr_assert(u.failed);
    cr_assert_eq(unpack_u8(&u), 0, "a byte remains, but the message is invalid");
    cr_assert_null(unpack_string(&u));
    cr_assert_null(unpack_bytes(&u, &len));
    cr_assert_eq(len, 0);
    cr_assert_eq(unpack_count(&u, 0), 0);
    uint32_t count = 99;
    cr_assert_null(unpack_numbers(&u, &count));
    cr_assert_eq(count, 0);
    struct unpack nothing = unpack_of(NULL, 0);
    cr_assert(unpack_done(&nothing));
    cr_assert_eq(unpack_u8(&nothing), 0);
    cr_assert(nothing.failed);
}

static bool is_string(const char *bytes, size_t len)
{
    unsigned char *copy = copy_of(bytes, len);
    struct unpack u = unpack_of(copy, len);
    bool good = unpack_string(&u) != NULL && unpack_done(&u);
    free(copy);
    return good;
}

Test(pack, a_string_has_one_zero_at_its_end)
{
    cr_assert(is_string("\2\0\0\0ab", 7));
    cr_assert(is_string("\0\0\0\0", 5));
    cr_assert_not(is_string("\2\0\0\0abc", 7), "no zero");
    cr_assert_not(is_string("\2\0\0\0a\0", 7), "a zero inside");
    cr_assert_not(is_string("\2\0\0\0ab", 6), "the zero is cut off");
    cr_assert_not(is_string("\376\377\377\377ab", 7), "longer than the message");
}

Test(pack, impossible_lengths)
{
    static const unsigned char all[] = {0xff, 0xff, 0xff, 0xff, 0xff,
                                        0xff, 0xff, 0xff, 1,    2};
    struct unpack u = unpack_of(all, sizeof all);
    size_t len = 99;
    cr_assert_null(unpack_bytes(&u, &len));
    cr_assert_eq(len, 0);
    cr_assert(u.failed);
}

Test(pack, a_count_must_fit)
{
    for (uint32_t n = 0; n < 12; n++) {
        struct pack p = {0};
        pack_u32(&p, n);
        pack_u64(&p, 0);
        pack_u8(&p, 0); /* nine bytes: three things of three, two of four */
        for (size_t min = 0; min <= 10; min++) {
            struct unpack u = unpack_of(p.data, p.len);
            bool fits = n * min <= 9;
            cr_assert_eq(unpack_count(&u, min), fits ? n : 0, "%u of %zu", n, min);
            cr_assert_eq(u.failed, !fits);
        }
        pack_free(&p);
    }
    struct unpack huge = unpack_of("\377\377\377\377\0", 5);
    cr_assert_eq(unpack_count(&huge, SIZE_MAX), 0);
    cr_assert(huge.failed);
}

Test(pack, large_contents)
{
    struct pack p = {0};
    unsigned char *data = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        data[i] = (unsigned char)next_random();
    for (int i = 0; i < 3; i++)
        pack_bytes(&p, data, LARGE);
    struct unpack u = unpack_of(p.data, p.len);
    for (int i = 0; i < 3; i++) {
        size_t len;
        const void *got = unpack_bytes(&u, &len);
        cr_assert_eq(len, LARGE);
        cr_assert_eq(memcmp(got, data, LARGE), 0);
    }
    cr_assert(unpack_done(&u));
    free(data);
    pack_free(&p);
}

/* No message of that size can be sent: the process ends as for lack of memory. */
Test(pack, a_size_beyond_memory_ends_the_process, .exit_code = EXIT_FAILURE)
{
    struct pack p = {0};
    pack_bytes(&p, "x", SIZE_MAX / 2);
}
