/* SPDX-License-Identifier: BSD-3-Clause */
/* check_layouts.c - see check_layouts.h. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pgas/datatype/layout/layout_cursor.h"
#include "pgas/datatype/layout/layout_wire.h"
#include "pgas/datatype/pack/pack.h"
#include "tests/unit/kernels/check_layouts.h"
#include "tests/unit/kernels/random_layout.h"

enum {
    FENCED = 8 << 20, /* bytes between two inaccessible pages */
    FILL = 0xa5,
    BATCH = 128,
    PARTS_MAX = 64,
    WALK_MAX = 100, /* blocks of a damaged layout to visit */
};

/* The source has random contents, which no check changes.  Between two checks all bytes
 * of the target are FILL. */
static struct {
    unsigned char *source, *target;
    unsigned char *stream; /* a packed stream */
} fenced;

/* A layout, and what the operations on it must give */
struct check_case {
    struct layout *l, *partner; /* equal streams; partner describes another source */
    bool end;                   /* the memory ends, otherwise starts, at a fence */
    size_t offset, n;           /* the part of the stream to pack and unpack */
    unsigned char *packed;      /* n bytes: that part of the source */
    unsigned char *unpacked;    /* the range of l in the target, with that part */
    unsigned char *copied;      /* likewise, with the stream of the partner */
    char text[160];
};

static struct check_case batch[BATCH];

/* ---- memory ---------------------------------------------------------------------- */

static unsigned char *fenced_map(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *p = mmap(NULL, FENCED + 2 * page, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED || mprotect(p + page, FENCED, PROT_READ | PROT_WRITE) != 0)
        abort();
    return p + page;
}

static void fenced_open(uint64_t *state)
{
    if (fenced.source != NULL)
        return;
    fenced.source = fenced_map();
    fenced.target = fenced_map();
    fenced.stream = fenced_map();
    for (size_t i = 0; i < FENCED; i++)
        fenced.source[i] = (unsigned char)random_below(state, 256);
    memset(fenced.target, FILL, FENCED);
}

/* The start of n bytes at one end of an area */
static unsigned char *fenced_at(unsigned char *area, size_t n, bool end)
{
    return end ? area + FENCED - n : area;
}

static size_t case_range(const struct layout *l)
{
    return (size_t)(l->high - l->low);
}

/* The address to which the offsets of a layout are relative */
static unsigned char *case_address(unsigned char *area, const struct layout *l, bool end)
{
    return fenced_at(area, case_range(l), end) - l->low;
}

static unsigned char *case_alloc(size_t n)
{
    unsigned char *p = malloc(n + 1);

    if (p == NULL)
        abort();
    memset(p, FILL, n);
    return p;
}

/* ---- expected results: naive loops over the list of bytes ------------------------- */

static void case_expect(struct check_case *c, const struct random_layout *r)
{
    const unsigned char *from = case_address(fenced.source, c->l, c->end);

    c->packed = case_alloc(c->n);
    c->unpacked = case_alloc(case_range(c->l));
    for (size_t i = 0; i < c->n; i++) {
        c->packed[i] = from[r->at[c->offset + i]];
        c->unpacked[r->at[c->offset + i] - c->l->low] = c->packed[i];
    }
}

/* Another layout of the same number of bytes: a vector with the same block, or parts of
 * random size; stores its list of bytes in at[]. */
static struct layout *case_partner(const struct layout *l, uint64_t *state, ptrdiff_t *at)
{
    struct layout_part part[PARTS_MAX];
    size_t n = 0, pos = 0;
    bool vector = l->block != 0 && random_below(state, 4) > 0;
    size_t block = vector ? l->block : 1;
    ptrdiff_t gap = (ptrdiff_t)random_below(state, 40), next = 0;

    for (; vector && pos < l->bytes; pos++)
        at[pos] = (ptrdiff_t)(pos / block) * -((ptrdiff_t)block + gap) +
                  (ptrdiff_t)(pos % block);
    if (vector)
        return layout_vector(block, -((ptrdiff_t)block + gap), l->bytes / block);
    for (; pos < l->bytes; n++) {
        size_t bytes = 1 + random_below(state, 2 * l->bytes / PARTS_MAX + 300);
        if (bytes > l->bytes - pos || n == PARTS_MAX - 1)
            bytes = l->bytes - pos;
        part[n] = (struct layout_part){next, bytes};
        for (size_t i = 0; i < bytes; i++)
            at[pos++] = next + (ptrdiff_t)i;
        next += (ptrdiff_t)(bytes + random_below(state, 9));
    }
    return layout_indexed(part, n);
}

static void case_expect_copy(struct check_case *c, const struct random_layout *r,
                             uint64_t *state)
{
    static ptrdiff_t at[RANDOM_BYTES_MAX];

    c->partner = case_partner(c->l, state, at);
    if (c->partner == NULL)
        abort();
    const unsigned char *from = case_address(fenced.source, c->partner, !c->end);
    c->copied = case_alloc(case_range(c->l));
    for (size_t i = 0; i < r->bytes; i++)
        c->copied[r->at[i] - c->l->low] = from[at[i]];
}

static int case_open(struct check_case *c, uint64_t *state)
{
    static struct random_layout r = {.small = true};

    do { /* a struct of vectors may exceed the memory */
        layout_free(c->l);
        int status = random_layout_make(&r, state);
        c->l = r.l;
        memcpy(c->text, r.text, sizeof c->text);
        if (status != 0 || r.l->bytes != r.bytes)
            return -1;
    } while (case_range(c->l) > FENCED);
    if (c->l->overlap != random_layout_overlaps(&r))
        return -1;
    c->end = random_below(state, 2) == 0;
    c->offset = random_below(state, 2) == 0 ? 0 : random_below(state, r.bytes + 1);
    c->n = r.bytes - c->offset;
    if (random_below(state, 4) == 0)
        c->n = random_below(state, c->n + 1);
    case_expect(c, &r);
    if (random_below(state, 2) == 0)
        case_expect_copy(c, &r, state);
    return 0;
}

static void case_close(struct check_case *c)
{
    layout_free(c->l);
    layout_free(c->partner);
    free(c->packed);
    free(c->unpacked);
    free(c->copied);
    *c = (struct check_case){0};
}

/* ---- serialised layouts ------------------------------------------------------------ */

/* A copy of the n bytes of exactly that size, with a few changes; the caller frees it. */
static unsigned char *wire_damage(const unsigned char *wire, size_t *n, uint64_t *state)
{
    unsigned char *copy = malloc(*n + 1);
    size_t cut = random_below(state, 4) == 0 ? random_below(state, *n) : *n;

    if (copy == NULL)
        abort();
    memcpy(copy, wire, *n);
    for (size_t i = random_below(state, 3) + (cut == *n); cut > 0 && i > 0; i--)
        copy[random_below(state, cut)] ^= (unsigned char)(1 + random_below(state, 255));
    unsigned char *exact = realloc(copy, cut > 0 ? cut : 1);
    *n = cut;
    return exact != NULL ? exact : copy;
}

/* A damaged layout is rejected, or is a layout whose blocks lie between low and high. */
static int case_check_damaged(struct check_layouts *k, const unsigned char *wire,
                              size_t n, uint64_t *state)
{
    struct layout_cursor cursor;
    struct layout_part part;
    unsigned char *damaged = wire_damage(wire, &n, state);
    int status = 0;

    errno = 0;
    struct layout *l = layout_wire_read(damaged, n);
    free(damaged);
    if (l == NULL) {
        k->rejected++;
        return errno == EINVAL || errno == EOVERFLOW ? 0 : -1;
    }
    k->sound++;
    layout_cursor_seek(&cursor, l, 0);
    for (int i = 0; i < WALK_MAX && layout_cursor_next(&cursor, SIZE_MAX, &part); i++)
        if (part.at < l->low || (ptrdiff_t)part.bytes > l->high - part.at)
            status = -1;
    layout_free(l);
    return status;
}

static bool case_equal(const struct layout *a, const struct layout *b)
{
    return a->bytes == b->bytes && a->low == b->low && a->high == b->high &&
           a->base == b->base && a->block == b->block && a->unit == b->unit &&
           a->overlap == b->overlap && a->levels == b->levels && a->nblocks == b->nblocks;
}

/* Replaces the layout by one that was serialised, so that all other checks use that. */
static int case_check_wire(struct check_layouts *k, struct check_case *c, uint64_t *state)
{
    size_t n = layout_wire_size(c->l);
    unsigned char *wire = case_alloc(n), *again = case_alloc(n);

    layout_wire_write(c->l, wire);
    struct layout *copy = layout_wire_read(wire, n);
    int status = copy != NULL && case_equal(copy, c->l) ? 0 : -1;
    if (status == 0) {
        layout_wire_write(copy, again);
        status = memcmp(wire, again, n) == 0 ? 0 : -1;
        layout_free(c->l);
        c->l = copy;
    }
    if (status == 0)
        status = case_check_damaged(k, wire, n, state);
    free(wire);
    free(again);
    return status;
}

/* ---- kernels ---------------------------------------------------------------------- */

/* Compares the range of the layout in the target, and fills it again. */
static bool case_target_is(const struct check_case *c, const unsigned char *want)
{
    unsigned char *low = fenced_at(fenced.target, case_range(c->l), c->end);
    bool same = memcmp(low, want, case_range(c->l)) == 0;

    memset(low, FILL, case_range(c->l));
    return same;
}

/* The operation on a target whose blocks overlap must fail and write nothing. */
static const char *case_run_refused(const struct check_case *c, unsigned char *to)
{
    errno = 0;
    if (pack_into(c->l, to, c->offset, c->packed, c->n) != -1 || errno != EINVAL)
        return "unpack: overlapping blocks were accepted";
    for (size_t i = 0; i < case_range(c->l); i++)
        if (to[c->l->low + (ptrdiff_t)i] != FILL)
            return "unpack: wrote to overlapping blocks";
    return NULL;
}

/* Runs all operations; returns the first one that is wrong, or NULL. */
static const char *case_run(const struct check_case *c)
{
    unsigned char *to = case_address(fenced.target, c->l, c->end);
    unsigned char *stream = fenced_at(fenced.stream, c->n, !c->end);

    memset(stream, FILL, c->n);
    if (pack_from(c->l, case_address(fenced.source, c->l, c->end), c->offset, stream,
                  c->n) != 0 ||
        memcmp(stream, c->packed, c->n) != 0)
        return "pack";
    if (c->l->overlap)
        return case_run_refused(c, to);
    if (pack_into(c->l, to, c->offset, stream, c->n) != 0 ||
        !case_target_is(c, c->unpacked))
        return "unpack";
    if (c->partner != NULL &&
        (pack_between(c->l, to, c->partner,
                      case_address(fenced.source, c->partner, !c->end)) != 0 ||
         !case_target_is(c, c->copied)))
        return "copy between layouts";
    return NULL;
}

/* Runs the batch with each kernel forced, and with none. */
static int batch_run(struct check_layouts *k, size_t n)
{
    for (enum pack_kernel kernel = 0; kernel <= PACK_KERNELS; kernel++) {
        pack_choice_init(isa_best(), kernel);
        if (kernel < PACK_KERNELS && !pack_kernel_here(kernel))
            continue;
        for (size_t i = 0; i < n; i++) {
            const char *wrong = case_run(&batch[i]);
            if (wrong != NULL) {
                snprintf(k->text, sizeof k->text, "%s, kernel %s, bytes %zu + %zu: %s",
                         wrong,
                         kernel == PACK_KERNELS ? "auto" : pack_kernel_name(kernel),
                         batch[i].offset, batch[i].n, batch[i].text);
                return -1;
            }
            if (kernel < PACK_KERNELS)
                k->used[kernel] += random_layout_uses(batch[i].l, kernel);
        }
    }
    return 0;
}

int check_layouts(struct check_layouts *k)
{
    uint64_t state = k->seed;
    int status = 0;

    fenced_open(&state);
    for (size_t done = 0, n; status == 0 && done < k->cases; done += n) {
        n = k->cases - done < BATCH ? k->cases - done : BATCH;
        for (size_t i = 0; i < n && status == 0; i++) {
            status = case_open(&batch[i], &state);
            if (status == 0)
                status = case_check_wire(k, &batch[i], &state);
            if (status != 0)
                snprintf(k->text, sizeof k->text, "construction or serialisation: %s",
                         batch[i].text);
            else
                k->refused += batch[i].l->overlap;
        }
        if (status == 0)
            status = batch_run(k, n);
        for (size_t i = 0; i < n; i++)
            case_close(&batch[i]);
    }
    return status;
}
