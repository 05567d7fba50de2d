/* SPDX-License-Identifier: BSD-3-Clause */
/* check_pack.c - see check_pack.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pgas/datatype/pack/pack.h"
#include "tests/unit/kernels/check_pack.h"
#include "tests/unit/kernels/random_layout.h"

enum { AREA = 12 << 20, AREAS = 4, FILL = 0xa5, MARGIN = 64 };

/* Usable bytes area[i].at[0 .. AREA - 1] between two inaccessible pages */
static struct {
    unsigned char *at;
} area[AREAS];

static void areas_map(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    for (int i = 0; i < AREAS && area[i].at == NULL; i++) {
        unsigned char *p = mmap(NULL, AREA + 2 * page, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED || mprotect(p + page, AREA, PROT_READ | PROT_WRITE) != 0)
            abort();
        area[i].at = p + page;
    }
}

/* n bytes in area i, ending or starting at a guard page */
static unsigned char *place(int i, size_t n, bool end)
{
    if (n > AREA)
        abort();
    return end ? area[i].at + AREA - n : area[i].at;
}

static unsigned char pattern(size_t i)
{
    return (unsigned char)(i * 7 + i / 253 + 1);
}

/* Where a layout's memory lies: `low` bytes before the address */
struct place {
    unsigned char *low, *address;
    size_t range;
};

static struct place place_layout(int i, const struct layout *l, bool end)
{
    struct place p = {.range = (size_t)(l->high - l->low)};

    p.low = place(i, p.range, end);
    p.address = p.low - l->low;
    return p;
}

static int failed(char *text, const struct random_layout *r, enum pack_kernel k,
                  const char *what, size_t at)
{
    snprintf(text, CHECK_PACK_TEXT, "%s, %s: byte %zu: %s",
             k == PACK_KERNELS ? "auto" : pack_kernel_name(k), what, at, r->text);
    return -1;
}

static int check_from(const struct random_layout *r, enum pack_kernel k, bool end,
                      size_t offset, size_t n, char *text)
{
    struct place p = place_layout(0, r->l, end);
    unsigned char *packed = place(1, n, end);
    unsigned char *outside = end ? packed - MARGIN : packed + n;

    for (size_t i = 0; i < r->bytes; i++)
        p.address[r->at[i]] = pattern((size_t)(r->at[i] - r->l->low));
    memset(packed, 0, n);
    memset(outside, FILL, MARGIN);
    if (pack_from(r->l, p.address, offset, packed, n) != 0)
        return failed(text, r, k, "pack", 0);
    for (size_t i = 0; i < n; i++)
        if (packed[i] != pattern((size_t)(r->at[offset + i] - r->l->low)))
            return failed(text, r, k, "pack", i);
    for (size_t i = 0; i < MARGIN; i++)
        if (outside[i] != FILL)
            return failed(text, r, k, "pack: beyond the packed data", i);
    return 0;
}

/* Compares the whole range of a target: the bytes of the layout from `offset` on have a
 * pattern, all others FILL. */
static int check_target(const struct random_layout *r, enum pack_kernel k, struct place p,
                        size_t offset, size_t n, const char *what, char *text)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char *b = &p.address[r->at[offset + i]];
        if (*b != pattern(i))
            return failed(text, r, k, what, i);
        *b = FILL;
    }
    for (size_t i = 0; i < p.range; i++)
        if (p.low[i] != FILL)
            return failed(text, r, k, "a gap was written", i);
    return 0;
}

static int check_into(const struct random_layout *r, enum pack_kernel k, bool end,
                      size_t offset, size_t n, char *text)
{
    struct place p = place_layout(0, r->l, end);
    unsigned char *packed = place(1, n, end);

    for (size_t i = 0; i < n; i++)
        packed[i] = pattern(i);
    memset(p.low, FILL, p.range);
    int status = pack_into(r->l, p.address, offset, packed, n);
    if (r->l->overlap)
        return status == -1 ? 0 : failed(text, r, k, "overlap accepted", 0);
    return status != 0 ? failed(text, r, k, "unpack", 0)
                       : check_target(r, k, p, offset, n, "unpack", text);
}

/* Another layout of the same length, or a vector with the same block */
static struct layout *partner(const struct random_layout *r, uint64_t *state)
{
    const struct layout *l = r->l;
    size_t block = l->block != 0 && random_below(state, 4) > 0 ? l->block : 4;
    static const size_t multiple[] = {1, 1, 2, 3, 8};
    size_t m = multiple[random_below(state, 5)];
    if (random_below(state, 2) == 0)
        block *= l->bytes % (block * m) == 0 ? m : 1;
    else
        block /= block % m == 0 ? m : 1;
    ptrdiff_t stride = (ptrdiff_t)(block + random_below(state, 5) * 4);

    if (l->bytes % block != 0)
        return layout_contiguous(l->bytes);
    return layout_vector(block, random_below(state, 4) == 0 ? -stride : stride,
                         l->bytes / block);
}

static int check_between(const struct random_layout *r, enum pack_kernel k, bool end,
                         uint64_t *state, char *text)
{
    struct layout *other = partner(r, state);
    struct place to = place_layout(0, r->l, end), from = place_layout(2, other, end);
    unsigned char *packed = place(1, r->bytes, end);
    int status;

    for (size_t i = 0; i < r->bytes; i++)
        packed[i] = pattern(i);
    memset(from.low, FILL, from.range);
    memset(to.low, FILL, to.range);
    pack_choice_init(isa_best(), PACK_SCALAR);
    pack_into(other, from.address, 0, packed, r->bytes);
    pack_choice_init(isa_best(), k);
    status = pack_between(r->l, to.address, other, from.address);
    layout_free(other);
    if (r->l->overlap)
        return status == -1 ? 0 : failed(text, r, k, "overlap accepted", 0);
    return status != 0 ? failed(text, r, k, "copy", 0)
                       : check_target(r, k, to, 0, r->bytes, "copy", text);
}

/* Without the first 64 blocks, so that the alignment modulo 64 bytes is that of the whole
 * layout, and a kernel copies fewer blocks with the same plan. */
static int check_plan(const struct random_layout *r, enum pack_kernel k, bool end,
                      char *text)
{
    size_t skip = 64 * r->l->block;

    if (skip == 0 || skip >= r->bytes)
        return 0;
    return check_from(r, k, end, skip, r->bytes - skip, text) != 0 ||
                   check_into(r, k, !end, skip, r->bytes - skip, text) != 0
               ? -1
               : 0;
}

static int check_case(const struct random_layout *r, enum pack_kernel k, uint64_t *state,
                      char *text)
{
    size_t offset = random_below(state, r->bytes + 1);
    size_t n = random_below(state, r->bytes - offset + 1);
    bool end = random_below(state, 2) == 0;

    if ((size_t)(r->l->high - r->l->low) > AREA)
        return 0;
    if (check_from(r, k, end, 0, r->bytes, text) != 0 ||
        check_into(r, k, !end, 0, r->bytes, text) != 0)
        return -1;
    if (random_below(state, 4) == 0 && (check_from(r, k, !end, offset, n, text) != 0 ||
                                        check_into(r, k, end, offset, n, text) != 0))
        return -1;
    if (random_below(state, 2) == 0 && check_plan(r, k, end, text) != 0)
        return -1;
    return random_below(state, 2) == 0 ? check_between(r, k, end, state, text) : 0;
}

long check_pack(enum pack_kernel k, size_t cases, char text[CHECK_PACK_TEXT])
{
    static struct random_layout r;
    uint64_t state = 99 + (uint64_t)k;
    long used = 0;
    int status = 0;

    areas_map();
    pack_choice_init(isa_best(), k);
    for (size_t i = 0; i < cases && status == 0; i++) {
        status = i % 4 == 0 ? random_layout_make(&r, &state)
                            : random_layout_vector(&r, &state);
        if (status != 0)
            failed(text, &r, k, "layout", 0);
        else
            status = check_case(&r, k, &state, text);
        used += status == 0 && random_layout_uses(r.l, k);
        layout_free(r.l);
    }
    return status == 0 ? used : -1;
}
