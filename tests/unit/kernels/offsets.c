/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offsets.c - the copy, reduction and pack kernels with operands at offsets of 0, 8, 16
 * and 48 bytes from a cache line.  A row is a function of a table (for each instruction
 * set of this processor) with one combination of offsets; it is right if all lengths give
 * the right bytes and no byte beside the result changes.  The rows are derived from the
 * tables of kernels, so that a new kernel has its rows.
 *
 * The copies that align their destination are compiled here a second time, with a record
 * of their stores, for the invariant of copy_isas.h: each byte is stored once, no store
 * crosses a cache line, and no aligned word is stored in parts.
 *
 * Prints the families of rows, wrong rows, and `rows N, outcomes M`; exit 1 if a row is
 * wrong or has no outcome.  offsets.sh compares the families with the source.
 */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void store_record(const void *at, size_t bytes);
#define COPY_STORED(at, bytes) store_record(at, bytes)

#include "pgas/datatype/copy.h"
#include "pgas/datatype/copy_isas.h"
#include "pgas/datatype/op/op.h"
#include "pgas/datatype/pack/pack_choice.h"
#include "pgas/datatype/pack/pack_indexed.h"

enum { LINE = 64, ROOM = 96 << 10, FILL = 0x5a, OFFSETS = 4, PAIRS_OF_OFFSETS = 16 };
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const size_t offsets[OFFSETS] = {0, 8, 16, 48};
static size_t rows, outcomes, wrong;

/* ROOM bytes each, between inaccessible pages */
enum { RESULT, FIRST, SECOND, EXPECTED, AREAS };
static char *area[AREAS];

static void areas_map(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    for (int i = 0; i < AREAS; i++) {
        char *p =
            mmap(NULL, ROOM + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED || mprotect(p + page, ROOM, PROT_READ | PROT_WRITE) != 0) {
            perror("offsets: mmap");
            exit(1);
        }
        area[i] = p + page;
        for (size_t b = 0; b < ROOM; b++)
            area[i][b] = (char)(b * 7 + b / 251 + (size_t)i);
    }
}

static void row_outcome(bool right, const char *family, size_t x, size_t y, size_t z)
{
    outcomes++;
    if (right)
        return;
    wrong++;
    printf("WRONG: %s at %zu,%zu,%zu\n", family, x, y, z);
}

/* ---- copies -------------------------------------------------------------------------
 */

/* Around the sizes of registers, and the limits between loops */
static const size_t copy_lengths[] = {
    17,   31,   32,   33,   47,   63,    64,    65,    96,    127,   128,  129,
    255,  256,  257,  511,  513,  1000,  1023,  1024,  1025,  1472,  1535, 1536,
    1537, 1599, 1600, 1601, 2047, 2048,  2049,  2079,  2080,  2111,  2112, 2175,
    3000, 4095, 4096, 4097, 8191, 16385, 24575, 24576, 24577, 32768, 40001};

/* As a program calls it, or as the part of a larger transfer */
static void copy_call(char *d, const char *s, size_t n, bool part)
{
    if (part)
        copy_part(d, s, n, SIZE_MAX);
    else
        copy_bytes(d, s, n);
}

static bool copy_is_right(char *d, const char *s, size_t n, bool part)
{
    char *before = d - LINE;

    memset(before, FILL, n + 2 * LINE);
    copy_call(d, s, n, part);
    for (size_t i = 0; i < LINE; i++)
        if (before[i] != FILL || d[n + i] != FILL)
            return false;
    return memcmp(d, s, n) == 0;
}

/* With the source at its offset, then at the end of its area */
static bool copy_row(size_t to, size_t from, bool part)
{
    bool right = true;

    for (size_t i = 0; i < LENGTH(copy_lengths); i++) {
        const size_t n = copy_lengths[i];
        char *d = area[RESULT] + LINE + to;
        right = copy_is_right(d, area[FIRST] + from, n, part) &&
                copy_is_right(d + 2048, area[FIRST] + from, n, part) &&
                copy_is_right(d, area[FIRST] + ROOM - n, n, part) && right;
    }
    return right;
}

static void copy_rows(const char *family, bool part)
{
    printf("family %s: %d rows\n", family, PAIRS_OF_OFFSETS);
    rows += PAIRS_OF_OFFSETS;
    for (size_t i = 0; i < PAIRS_OF_OFFSETS; i++) {
        const size_t to = offsets[i / OFFSETS], from = offsets[i % OFFSETS];
        row_outcome(copy_row(to, from, part), family, to, from, 0);
    }
}

/* ---- the stores of the copies --------------------------------------------------------
 */

static const char *stored_at; /* the first byte of the destination */
static size_t stored_n;       /* its bytes */
static unsigned stores[ROOM]; /* the number of the store of each byte; 0: none */
static unsigned store_number;
static bool store_twice, store_crosses;

static void store_record(const void *at, size_t bytes)
{
    const size_t first = (size_t)((const char *)at - stored_at);

    store_number++;
    store_crosses |= (uintptr_t)at / LINE != ((uintptr_t)at + bytes - 1) / LINE;
    for (size_t i = first; i < first + bytes; i++) {
        store_twice |= i >= stored_n || stores[i] != 0;
        stores[i % ROOM] = store_number;
    }
}

/* Each byte once; words whole; the last byte in the last store */
static bool stores_are_right(const char *d, size_t n)
{
    bool right = !store_twice && !store_crosses && stores[n - 1] == store_number;

    for (size_t i = 0; i < n; i++) {
        const size_t in_word = (uintptr_t)(d + i) % 8;
        right = right && stores[i] != 0 &&
                (in_word == 0 || i < in_word || i - in_word + 8 > n ||
                 stores[i] == stores[i - 1]);
    }
    return right;
}

static bool stores_row(copy_kernel copy, size_t to, size_t from)
{
    static const size_t least[] = {2048, 2049, 2051, 2055, 2063, 2079, 2112, 2175, 8190};
    bool right = true;

    for (size_t i = 0; i < LENGTH(least); i++)
        for (size_t odd = 0; odd < 8; odd++) {
            const size_t n = least[i];
            char *d = area[RESULT] + LINE + to + odd;
            stored_at = d, stored_n = n;
            store_number = 0, store_twice = store_crosses = false;
            memset(stores, 0, sizeof stores[0] * n);
            copy(d, area[FIRST] + from, n);
            right =
                stores_are_right(d, n) && memcmp(d, area[FIRST] + from, n) == 0 && right;
        }
    return right;
}

static void stores_rows(enum isa isa)
{
    static const copy_kernel kernel_of[ISAS] = {COPY_KERNELS};
    char family[64];

    if (kernel_of[isa] == NULL)
        return;
    snprintf(family, sizeof family, "stores %s", isa_name(isa));
    printf("family %s: %d rows\n", family, PAIRS_OF_OFFSETS);
    rows += PAIRS_OF_OFFSETS;
    for (size_t i = 0; i < PAIRS_OF_OFFSETS; i++) {
        const size_t to = offsets[i / OFFSETS], from = offsets[i % OFFSETS];
        row_outcome(stores_row(kernel_of[isa], to, from), family, to, from, 0);
    }
}

/* ---- reductions ----------------------------------------------------------------------
 */

struct reduction {
    const struct op_fns *f;
    enum op_kind kind;
    size_t size, bytes; /* argument of op_find; of an element */
};

static size_t op_bytes(enum op_kind kind, size_t size)
{
    if (kind != OP_PAIR_SINT && kind != OP_PAIR_FLT)
        return size;
    return size < 8 ? 8 : 2 * size;
}

/* Small numbers, so that reals round nowhere and many are equal */
static void op_element(char *at, const struct reduction *r, size_t i)
{
    const int value = (int)(i * 2654435761u >> 7) % 9 - 4;
    const float f = (float)value;
    const double d = value;
    const long double l = value;
    const size_t real = r->kind == OP_CPLX ? r->size / 2 : r->size;
    const int64_t whole = value;

    memset(at, 0, r->bytes);
    if (r->kind == OP_SINT || r->kind == OP_UINT || r->kind == OP_PAIR_SINT)
        memcpy(at, &whole, r->size < 8 ? r->size : 8);
    else
        memcpy(at,
               real == 4   ? (const void *)&f
               : real == 8 ? (const void *)&d
                           : &l,
               real < sizeof l ? real : 10);
    if (r->kind == OP_PAIR_SINT || r->kind == OP_PAIR_FLT)
        memcpy(at + (r->size < 4 ? 4 : r->size), &value, sizeof value);
}

/* The bytes of a long double beyond 10 are undefined. */
static bool op_same(const char *x, const char *y, const struct reduction *r, size_t n)
{
    const size_t real = r->kind == OP_CPLX ? r->size / 2 : r->size;
    bool same = true;

    if (real < 16 || r->kind == OP_SINT || r->kind == OP_UINT)
        return memcmp(x, y, n * r->bytes) == 0;
    for (size_t i = 0; i < n * r->bytes; i += 16)
        same = same && memcmp(x + i, y + i, 10) == 0;
    return same;
}

enum op_form { TWO, THREE, STREAM, FORMS };
static const char *const form_names[] = {"two", "three", "stream"};

/* n elements at `a` and `b` were made, and their results are at EXPECTED. */
static bool op_is_right(const struct reduction *r, enum op_form form, const size_t at[3],
                        size_t n)
{
    char *out = area[RESULT] + LINE + at[0], *a = area[FIRST] + at[1];
    char *b = area[SECOND] + at[2];
    const size_t bytes = n * r->bytes;

    memset(area[RESULT], FILL, bytes + 4 * LINE);
    if (form == TWO) {
        memcpy(out, area[FIRST], bytes);
        memmove(b, area[SECOND], bytes);
        r->f->two(out, b, n);
        memmove(area[SECOND], b, bytes);
    } else {
        memmove(a, area[FIRST], bytes);
        memmove(b, area[SECOND], bytes);
        r->f->three(out, a, b, n);
        memmove(area[FIRST], a, bytes);
        memmove(area[SECOND], b, bytes);
    }
    for (size_t i = 0; i < LINE; i++)
        if (out[bytes + i] != FILL || out[-1 - (ptrdiff_t)i] != FILL)
            return false;
    return op_same(out, area[EXPECTED], r, n);
}

/* The elements, and their results one by one: a loop over one element has no head. */
static void op_expect(const struct reduction *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *a = area[FIRST] + i * r->bytes, *b = area[SECOND] + i * r->bytes;
        op_element(a, r, i);
        op_element(b, r, i + 1000);
        r->f->three(area[EXPECTED] + i * r->bytes, a, b, 1);
    }
}

static void op_rows_of(const struct reduction *r, enum op_form form, const char *family)
{
    const size_t combinations = form == TWO ? PAIRS_OF_OFFSETS : 4 * PAIRS_OF_OFFSETS;
    static const size_t least[] = {512 - 64, 512, 512 + 96, 2048 + 64};
    bool right[4 * PAIRS_OF_OFFSETS];

    rows += combinations;
    memset(right, true, sizeof right);
    for (size_t i = 0; i < LENGTH(least); i++) {
        const size_t n = least[i] / r->bytes + i % 2;
        op_expect(r, n);
        for (size_t x = 0; x < combinations; x++) {
            const size_t at[] = {offsets[x / OFFSETS % OFFSETS],
                                 offsets[x / PAIRS_OF_OFFSETS], offsets[x % OFFSETS]};
            right[x] = op_is_right(r, form, at, n) && right[x];
        }
    }
    for (size_t x = 0; x < combinations; x++)
        row_outcome(right[x], family, offsets[x / OFFSETS % OFFSETS],
                    offsets[x / PAIRS_OF_OFFSETS], offsets[x % OFFSETS]);
}

static void op_rows(enum isa isa)
{
    const size_t before = rows;
    char family[64];

    for (int form = 0; form < FORMS; form++) {
        op_init(isa, form == STREAM ? 0 : SIZE_MAX);
        for (enum op op = 0; op < OPS; op++)
            for (enum op_kind kind = 0; kind < OP_KINDS; kind++)
                for (size_t size = 1; size <= 32; size *= 2) {
                    struct reduction r = {op_find(op, kind, size), kind, size,
                                          op_bytes(kind, size)};
                    snprintf(family, sizeof family, "op %s %s %d,%d,%zu", isa_name(isa),
                             form_names[form], (int)op, (int)kind, size);
                    if (r.f != NULL)
                        op_rows_of(&r, (enum op_form)form, family);
                }
    }
    printf("family op %s: %zu rows\n", isa_name(isa), rows - before);
}

/* ---- packing -------------------------------------------------------------------------
 */

enum { PACK_BYTES = 2200, STRIDES = 3 };

/* A loop over bytes in another image of the result, all of which is compared */
static bool pack_is_right(enum pack_kernel k, const struct vector_copy *v)
{
    const size_t span = LINE + (size_t)v->to_stride * v->count + 3 * LINE;

    memset(area[RESULT], FILL, span);
    memset(area[EXPECTED], FILL, span);
    for (size_t i = 0; i < v->count; i++)
        memcpy(area[EXPECTED] + (v->to - area[RESULT]) + (ptrdiff_t)i * v->to_stride,
               v->from + (ptrdiff_t)i * v->from_stride, v->block);
    pack_kernel_run(k, v);
    return memcmp(area[RESULT], area[EXPECTED], span) == 0;
}

/* Of all blocks and gaps that the kernel accepts; *used counts them. */
static bool pack_row(enum pack_kernel k, size_t to, size_t from, size_t *used)
{
    static const size_t blocks[] = {1,  2,  4,  8,   12,  16,  24,  32,   40,  48,
                                    64, 72, 96, 100, 128, 200, 256, 1040, 4112};
    static const size_t gaps[] = {1, 2, 4, 8, 64};
    bool right = true;

    for (size_t b = 0; b < LENGTH(blocks); b++)
        for (size_t g = 0; g < LENGTH(gaps) * STRIDES; g++) {
            const size_t block = blocks[b], gap = gaps[g / STRIDES];
            const size_t fits = (ROOM - 4 * LINE) / (block + gap);
            const size_t wanted = PACK_BYTES / block + 2;
            const size_t count = wanted < fits ? wanted : fits;
            const ptrdiff_t dense = (ptrdiff_t)block, wide = (ptrdiff_t)(block + gap);
            const struct vector_copy v = {area[RESULT] + LINE + to,
                                          area[FIRST] + LINE + from,
                                          g % STRIDES == 0 ? dense : wide,
                                          g % STRIDES == 1 ? dense : wide,
                                          block,
                                          count};
            if (!pack_kernel_can(k, &v))
                continue;
            ++*used;
            right = pack_is_right(k, &v) && right;
        }
    return right;
}

static void pack_rows(enum pack_kernel k)
{
    size_t used = 0;
    char family[64];

    snprintf(family, sizeof family, "pack %s", pack_kernel_name(k));
    printf("family %s: %d rows\n", family, PAIRS_OF_OFFSETS);
    rows += PAIRS_OF_OFFSETS;
    for (size_t i = 0; i < PAIRS_OF_OFFSETS; i++) {
        const size_t to = offsets[i / OFFSETS], from = offsets[i % OFFSETS];
        const bool right = pack_row(k, to, from, &used);
        if (used > 0)
            row_outcome(right, family, to, from, 0);
    }
}

static bool indexed_row(size_t packed_at, size_t at, bool into)
{
    static const size_t blocks[] = {4, 8, 12, 16, 64, 100};
    static struct layout_block table[100];
    bool right = true;

    for (size_t b = 0; b < LENGTH(blocks); b++)
        for (size_t n = 1; n <= LENGTH(table); n += 33) {
            const size_t block = blocks[b], span = n * block + 3 * LINE;
            char *packed = area[into ? FIRST : RESULT] + LINE + packed_at;
            char *base = area[into ? RESULT : FIRST] + LINE + at;
            for (size_t i = 0; i < n; i++)
                table[i].at = (ptrdiff_t)((n - 1 - i) * block);
            memset(area[RESULT], FILL, span);
            memset(area[EXPECTED], FILL, span);
            char *to = area[EXPECTED] + LINE + (into ? at : packed_at);
            const char *from = into ? packed : base;
            for (size_t i = 0; i < n; i++)
                memcpy(to + (n - 1 - i) * block, from + i * block, block);
            if (into)
                pack_indexed_into(base, packed, table, block, n);
            else
                pack_indexed_from(packed, base, table, block, n);
            right = memcmp(area[RESULT], area[EXPECTED], span) == 0 && right;
        }
    return right;
}

static void indexed_rows(const char *family, bool into)
{
    printf("family %s: %d rows\n", family, PAIRS_OF_OFFSETS);
    rows += PAIRS_OF_OFFSETS;
    for (size_t i = 0; i < PAIRS_OF_OFFSETS; i++) {
        const size_t x = offsets[i / OFFSETS], y = offsets[i % OFFSETS];
        row_outcome(indexed_row(x, y, into), family, x, y, 0);
    }
}

/* ---- program -------------------------------------------------------------------------
 */

int main(void)
{
    char family[64];

    areas_map();
    for (enum isa isa = ISA_BASELINE; isa < ISAS; isa++) {
        if (!isa_here(isa))
            continue;
        snprintf(family, sizeof family, "copy %s", isa_name(isa));
        copy_init(isa, SIZE_MAX);
        copy_rows(family, false);
        snprintf(family, sizeof family, "copy nontemporal %s", isa_name(isa));
        copy_init(isa, 1);
        copy_rows(family, true);
        stores_rows(isa);
        pack_choice_init(isa, PACK_KERNELS);
        snprintf(family, sizeof family, "pack indexed_from %s", isa_name(isa));
        indexed_rows(family, false);
        snprintf(family, sizeof family, "pack indexed_into %s", isa_name(isa));
        indexed_rows(family, true);
        op_rows(isa);
    }
    pack_choice_init(isa_best(), PACK_KERNELS);
    for (enum pack_kernel k = 0; k < PACK_KERNELS; k++)
        if (pack_kernel_here(k))
            pack_rows(k);
    printf("rows %zu, outcomes %zu\n", rows, outcomes);
    return wrong > 0 || rows != outcomes;
}
