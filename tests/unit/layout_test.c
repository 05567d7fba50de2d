/* SPDX-License-Identifier: BSD-3-Clause */
/* layout_test.c - normalisation, order, offsets and serialisation of layouts. */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/datatype/layout/layout_cursor.h"
#include "pgas/datatype/layout/layout_wire.h"
#include "tests/unit/kernels/random_layout.h"

static size_t cases(void)
{
    return getenv("PGAS_TEST_LONG") != NULL ? 100000 : 2000;
}

static void check_part(const struct random_layout *r, size_t pos, ptrdiff_t at,
                       size_t bytes)
{
    cr_assert(pos + bytes <= r->bytes, "%s: beyond the end", r->text);
    cr_assert_eq(at, r->at[pos], "%s: byte %zu", r->text, pos);
    cr_assert_eq(at + (ptrdiff_t)bytes - 1, r->at[pos + bytes - 1], "%s: byte %zu",
                 r->text, pos);
}

static void check_parts_from(const struct random_layout *r, size_t pos, size_t max)
{
    struct layout_cursor c;
    struct layout_part part;

    layout_cursor_seek(&c, r->l, pos);
    while (layout_cursor_next(&c, max, &part)) {
        cr_assert(part.bytes > 0 && part.bytes <= max);
        check_part(r, pos, part.at, part.bytes);
        pos += part.bytes;
    }
    cr_assert_eq(pos, r->bytes, "%s", r->text);
}

static void check_strips_from(const struct random_layout *r, size_t pos, size_t max)
{
    struct layout_cursor c;
    struct layout_strip s;

    layout_cursor_seek(&c, r->l, pos);
    while (layout_cursor_strip(&c, max, &s)) {
        cr_assert(s.count > 0 && s.block * s.count <= max);
        for (size_t i = 0; i < s.count; i++, pos += s.block)
            check_part(r, pos, s.at + (ptrdiff_t)i * s.stride, s.block);
    }
    cr_assert_eq(pos, r->bytes, "%s", r->text);
}

static void check_summary(const struct random_layout *r)
{
    const struct layout *l = r->l;

    cr_assert_eq(l->bytes, r->bytes, "%s: %zu bytes, not %zu", r->text, l->bytes,
                 r->bytes);
    cr_assert_eq(l->overlap, random_layout_overlaps(r), "%s: overlap", r->text);
    for (size_t i = 0; i < r->bytes; i++)
        cr_assert(r->at[i] >= l->low && r->at[i] < l->high, "%s: range", r->text);
    for (size_t i = 0; i + 1 < r->bytes; i++)
        cr_assert(r->at[i + 1] == r->at[i] + 1 ||
                      ((size_t)(r->at[i + 1] - r->at[0]) % l->unit == 0 &&
                       (i + 1) % l->unit == 0),
                  "%s: unit %zu at %zu", r->text, l->unit, i);
}

static void check_wire(const struct random_layout *r)
{
    size_t n = layout_wire_size(r->l);
    unsigned char *wire = malloc(n), *again = malloc(n);

    layout_wire_write(r->l, wire);
    struct layout *copy = layout_wire_read(wire, n);
    cr_assert_not_null(copy, "%s", r->text);
    cr_assert_eq(layout_wire_size(copy), n, "%s", r->text);
    layout_wire_write(copy, again);
    cr_assert_eq(memcmp(wire, again, n), 0, "%s", r->text);
    cr_assert_eq(copy->bytes, r->l->bytes);
    cr_assert_null(layout_wire_read(wire, n - 1));
    cr_assert_null(layout_wire_read(wire, n - 8));
    layout_free(copy);
    free(wire);
    free(again);
}

Test(layout, random_layouts_have_the_bytes_of_naive_loops)
{
    static struct random_layout r;
    uint64_t state = 42;

    for (size_t n = cases(); n > 0; n--) {
        cr_assert_eq(random_layout_make(&r, &state), 0, "%s", r.text);
        check_summary(&r);
        check_wire(&r);
        check_parts_from(&r, 0, SIZE_MAX);
        check_parts_from(&r, random_below(&state, r.bytes + 1), 7);
        check_strips_from(&r, 0, SIZE_MAX);
        check_strips_from(&r, random_below(&state, r.bytes + 1),
                          1 + random_below(&state, 4000));
        layout_free(r.l);
    }
}

/* ---- normalisation --------------------------------------------------------------- */

static void check_shape(struct layout *l, size_t block, unsigned levels, size_t unit,
                        const char *what)
{
    cr_assert_not_null(l, "%s", what);
    cr_expect_eq(l->nblocks, 0, "%s: a table of %zu", what, l->nblocks);
    cr_expect_eq(l->block, block, "%s: block %zu", what, l->block);
    cr_expect_eq(l->levels, levels, "%s: %u levels", what, l->levels);
    cr_expect_eq(l->unit, unit, "%s: unit %zu", what, l->unit);
    layout_free(l);
}

Test(layout, normalisation)
{
    const struct layout_level matrix[] = {{8, 16}, {4, 128}, {2, 1024}};
    const struct layout_level dense[] = {{8, 4}, {4, 32}, {2, 128}};
    const ptrdiff_t even[] = {0, 24, 48, 72}, odd[] = {0, 4, 8, 30}, one[] = {5};

    check_shape(layout_contiguous(12), 12, 0, 4, "contiguous");
    check_shape(layout_contiguous(0), 0, 0, 16, "nothing");
    check_shape(layout_vector(8, 8, 10), 80, 0, 16, "vector without gaps");
    check_shape(layout_vector(8, 100, 1), 8, 0, 8, "vector of one block");
    check_shape(layout_vector(8, -12, 5), 8, 1, 4, "negative stride");
    check_shape(layout_vector(6, 8, 0), 0, 0, 16, "empty vector");
    check_shape(layout_nested(8, matrix, 2), 8, 1, 8, "two levels that continue");
    check_shape(layout_nested(8, matrix, 3), 8, 2, 8, "three levels, two continue");
    check_shape(layout_nested(4, dense, 3), 256, 0, 16, "three levels without gaps");
    check_shape(layout_indexed_block(8, even, 4), 8, 1, 8, "equal distances");
    check_shape(layout_indexed_block(8, one, 1), 8, 0, 8, "one block");
    struct layout *l = layout_indexed_block(4, odd, 4);
    cr_expect_eq(l->nblocks, 2);
    cr_expect_eq(l->block, 0);
    cr_expect_eq(l->unit, 2);
    layout_free(l);
}

Test(layout, overlapping_blocks_are_detected)
{
    const struct layout_level woven[] = {{4, 16}, {2, 8}}, clash[] = {{4, 16}, {3, 8}};
    const ptrdiff_t twice[] = {0, 8, 4};
    struct layout *l[] = {layout_vector(8, 7, 2), layout_vector(8, 0, 2),
                          layout_vector(8, -7, 3), layout_nested(8, clash, 2),
                          layout_indexed_block(8, twice, 3)};

    for (size_t i = 0; i < sizeof l / sizeof l[0]; i++) {
        cr_expect(l[i] != NULL && l[i]->overlap, "layout %zu", i);
        layout_free(l[i]);
    }
    struct layout *disjoint = layout_nested(8, woven, 2);
    cr_expect_not(disjoint->overlap);
    layout_free(disjoint);
}

/* ---- bad arguments --------------------------------------------------------------- */

static void check_error(struct layout *l, int error, const char *what)
{
    cr_expect_null(l, "%s", what);
    cr_expect_eq(errno, error, "%s: %s", what, strerror(errno));
    layout_free(l);
}

Test(layout, sizes_that_overflow_are_rejected)
{
    const struct layout_level big = {SIZE_MAX, 8}, far = {3, PTRDIFF_MAX / 2 + 9};
    const struct layout_part end = {PTRDIFF_MAX - 3, 8};
    const struct layout_part wide[] = {{PTRDIFF_MIN, 8}, {PTRDIFF_MAX - 8, 8}};

    check_error(layout_contiguous(SIZE_MAX), EOVERFLOW, "block");
    check_error(layout_nested(8, &big, 1), EOVERFLOW, "count");
    check_error(layout_nested(8, &far, 1), EOVERFLOW, "range");
    check_error(layout_vector(8, PTRDIFF_MIN, 3), EOVERFLOW, "negative range");
    check_error(layout_indexed(&end, 1), EOVERFLOW, "end of a part");
    check_error(layout_indexed(wide, 2), EOVERFLOW, "distance of parts");
    check_error(layout_indexed(wide, SIZE_MAX), EOVERFLOW, "number of parts");
    check_error(layout_nested(8, &far, 4), EINVAL, "levels");
}

/* Words of 64 bits that are no layout, or a layout that must still be safe to walk */
Test(layout, random_wires_are_rejected_or_sound)
{
    uint64_t state = 7, word[9];

    for (size_t n = 10 * cases(); n > 0; n--) {
        size_t words = random_below(&state, 10);
        for (size_t i = 0; i < words; i++)
            word[i] = random_below(&state, 2) == 0 ? random_below(&state, 100)
                                                   : state >> random_below(&state, 64);
        if (words > 0)
            word[0] = 1 + random_below(&state, 3) + (random_below(&state, 5) << 8);
        if (words > 2 && random_below(&state, 2) == 0)
            word[1] = (words - 2) / 2;
        struct layout *l = layout_wire_read(word, words * sizeof word[0]);
        if (l == NULL) {
            cr_assert(errno == EINVAL || errno == EOVERFLOW);
            continue;
        }
        struct layout_cursor c;
        struct layout_part part;
        layout_cursor_seek(&c, l, 0);
        for (int i = 0; i < 100 && layout_cursor_next(&c, SIZE_MAX, &part); i++)
            cr_assert(part.at >= l->low && part.at + (ptrdiff_t)part.bytes <= l->high);
        layout_free(l);
    }
}
