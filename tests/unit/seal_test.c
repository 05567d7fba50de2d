/* SPDX-License-Identifier: BSD-3-Clause */
/* seal_test.c - unit tests of core/base/seal.c: each change of a frame, of a proof or of
 * the stream is detected. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/seal.h"

enum { LONGEST = 300, AAD = 8, FRAMES = 5 };

static const uint8_t secret[SEAL_SECRET] = {1, 2, 3}, other_secret[SEAL_SECRET] = {1, 2};
static const uint8_t listener[SEAL_CHALLENGE] = {4}, connector[SEAL_CHALLENGE] = {5};

/* Both ends of one connection. */
static struct seal *at_listener, *at_connector;

static void open_ends(void)
{
    at_listener = seal_new(secret, "test 1", listener, connector, true);
    at_connector = seal_new(secret, "test 1", listener, connector, false);
    cr_assert(at_listener != NULL && at_connector != NULL);
}

static void close_ends(void)
{
    seal_free(at_listener);
    seal_free(at_connector);
}

struct frame {
    uint8_t aad[AAD], body[LONGEST], tag[SEAL_TAG];
    size_t n;
};

static void frame_fill(struct frame *f, size_t n, unsigned seed)
{
    memset(f, 0, sizeof *f);
    f->n = n;
    for (size_t i = 0; i < n; i++)
        f->body[i] = (uint8_t)(seed + i * 7);
    memset(f->aad, (int)seed, sizeof f->aad);
}

static struct frame frame_seal(struct seal *s, size_t n, unsigned seed)
{
    struct frame f;

    frame_fill(&f, n, seed);
    seal_encrypt(s, f.aad, AAD, f.body, n, f.body, f.tag);
    return f;
}

static bool frame_is_right(struct seal *s, struct frame f, unsigned seed)
{
    struct frame plain;

    frame_fill(&plain, f.n, seed);
    return seal_decrypt(s, f.aad, AAD, f.body, f.n, f.body, f.tag) &&
           memcmp(f.body, plain.body, f.n) == 0;
}

TestSuite(seal, .init = open_ends, .fini = close_ends);

Test(seal, frames_of_all_lengths_in_both_directions)
{
    for (size_t n = 0; n <= LONGEST; n++) {
        struct frame f = frame_seal(at_listener, n, (unsigned)n);
        struct frame plain;
        frame_fill(&plain, n, (unsigned)n);
        cr_assert(n < 8 || memcmp(f.body, plain.body, n) != 0, "not encrypted");
        cr_assert(frame_is_right(at_connector, f, (unsigned)n), "%zu bytes", n);
        f = frame_seal(at_connector, n, (unsigned)n + 1);
        cr_assert(frame_is_right(at_listener, f, (unsigned)n + 1), "%zu bytes", n);
    }
}

Test(seal, each_flipped_bit_is_detected)
{
    enum { N = 37, BITS = 8 * (AAD + N + SEAL_TAG) };

    for (int bit = 0; bit < BITS; bit++) {
        close_ends();
        open_ends();
        struct frame f = frame_seal(at_listener, N, 1);
        int byte = bit / 8;
        uint8_t *at = byte < AAD       ? &f.aad[byte]
                      : byte < AAD + N ? &f.body[byte - AAD]
                                       : &f.tag[byte - AAD - N];
        *at ^= (uint8_t)(1 << bit % 8);
        cr_assert_not(frame_is_right(at_connector, f, 1), "bit %d", bit);
    }
}

Test(seal, a_frame_cut_or_extended_is_detected)
{
    for (size_t n = 0; n <= 64; n++) {
        close_ends();
        open_ends();
        struct frame f = frame_seal(at_listener, 32, 1);
        f.n = n;
        cr_assert_eq(frame_is_right(at_connector, f, 1), n == 32, "%zu bytes", n);
    }
}

/* All orders in which two of the first frames may arrive instead of the first two. */
Test(seal, dropped_repeated_and_reordered_frames_are_detected)
{
    for (int first = 0; first < FRAMES; first++)
        for (int second = 0; second < FRAMES; second++) {
            struct frame f[FRAMES];
            close_ends();
            open_ends();
            for (int i = 0; i < FRAMES; i++)
                f[i] = frame_seal(at_listener, 20, (unsigned)i);
            bool right = frame_is_right(at_connector, f[first], (unsigned)first);
            cr_assert_eq(right, first == 0, "%d first", first);
            if (!right)
                continue;
            right = frame_is_right(at_connector, f[second], (unsigned)second);
            cr_assert_eq(right, second == 1, "0, then %d", second);
        }
}

Test(seal, a_reflected_frame_is_detected)
{
    struct frame f = frame_seal(at_listener, 20, 1);

    cr_assert_not(frame_is_right(at_listener, f, 1));
}

Test(seal, the_keys_depend_on_secret_protocol_and_both_challenges)
{
    static const struct {
        const uint8_t *secret;
        const char *protocol;
        const uint8_t *listener, *connector;
    } other[] = {
        {other_secret, "test 1", listener, connector},
        {secret, "test 2", listener, connector},
        {secret, "test 1", connector, connector},
        {secret, "test 1", listener, listener},
        {secret, "test 1", connector, listener},
    };

    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        struct seal *s = seal_new(other[i].secret, other[i].protocol, other[i].listener,
                                  other[i].connector, true);
        cr_assert_not_null(s);
        struct frame f = frame_seal(s, 20, 1);
        seal_free(s);
        close_ends();
        open_ends();
        cr_assert_not(frame_is_right(at_connector, f, 1), "case %zu", i);
    }
}

/* ---- proofs ------------------------------------------------------------------------ */

Test(seal_proof, the_mac_covers_secret_label_parts_and_their_lengths)
{
    const struct seal_part part[] = {{"abc", 3}, {"de", 2}};
    const struct seal_part moved[] = {{"ab", 2}, {"cde", 3}};
    uint8_t mac[SEAL_MAC];

    seal_mac(secret, "label", part, 2, mac);
    cr_assert(seal_verify(secret, "label", part, 2, mac));
    cr_assert_not(seal_verify(other_secret, "label", part, 2, mac));
    cr_assert_not(seal_verify(secret, "labem", part, 2, mac));
    cr_assert_not(seal_verify(secret, "label", part, 1, mac));
    cr_assert_not(seal_verify(secret, "label", moved, 2, mac));
    for (int bit = 0; bit < 8 * SEAL_MAC; bit++) {
        mac[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cr_assert_not(seal_verify(secret, "label", part, 2, mac), "bit %d", bit);
        mac[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

Test(seal_proof, derived_secrets_differ_by_purpose)
{
    uint8_t a[SEAL_SECRET], b[SEAL_SECRET], c[SEAL_SECRET];

    seal_derive(secret, "one", a);
    seal_derive(secret, "one", b);
    seal_derive(secret, "two", c);
    cr_assert_arr_eq(a, b, SEAL_SECRET);
    cr_assert_arr_neq(a, c, SEAL_SECRET);
    cr_assert_arr_neq(a, secret, SEAL_SECRET);
}

Test(seal_proof, random_bytes_differ)
{
    uint8_t a[SEAL_CHALLENGE], b[SEAL_CHALLENGE];

    cr_assert(seal_random(a, sizeof a) && seal_random(b, sizeof b));
    cr_assert_arr_neq(a, b, SEAL_CHALLENGE);
}

/* ---- memory ------------------------------------------------------------------------ */

/* True if the mapping of p has this flag in /proc/self/smaps. */
static bool mapping_has_flag(const void *p, const char *flag)
{
    FILE *file = fopen("/proc/self/smaps", "re");
    unsigned long first, last;
    char line[512];
    bool here = false, found = false;

    cr_assert_not_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%lx-%lx ", &first, &last) == 2)
            here = (unsigned long)p >= first && (unsigned long)p < last;
        else if (here && strncmp(line, "VmFlags:", 8) == 0)
            found = strstr(line, flag) != NULL;
    }
    fclose(file);
    return found;
}

Test(seal_memory, is_zero_and_left_out_of_core_dumps)
{
    uint8_t *p = seal_memory_alloc(100), *q = malloc(100);

    cr_assert(p != NULL && q != NULL);
    for (int i = 0; i < 100; i++)
        cr_assert_eq(p[i], 0);
    cr_assert(mapping_has_flag(p, " dd"), "dumped");
    cr_assert_not(mapping_has_flag(q, " dd"));
    struct seal *s = seal_new(secret, "test 1", listener, connector, true);
    cr_assert(mapping_has_flag(s, " dd"), "a seal is dumped");
    seal_free(s);
    seal_memory_free(p, 100);
    free(q);
    seal_memory_free(NULL, 100);
}
