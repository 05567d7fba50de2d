/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alloc.c - see alloc.h.  Uses: treap, pgas_assert.
 *
 * Invariants: the blocks partition [begin, end) and are linked in the order of offsets;
 * no two free blocks are adjacent; a free block is in by_size only, a used one in
 * by_offset only.  An operation reserves SPARES_MAX block records before its first
 * change, so that it cannot fail halfway for lack of private memory.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "pgas/core/memory/alloc.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/base/treap.h"

struct block {
    struct tree_node
        node; /* in by_size or in by_offset; the first member: see block_of */
    size_t offset, size;
    size_t asked; /* of a used block: the requested size, <= size */
    bool used;
    struct block *prev, *next; /* neighbours by offset; next also links spare records */
};

/* An operation creates at most two blocks: the padding before an aligned block and the
 * tail after it. */
enum { SPARES_MAX = 2 };

struct alloc {
    struct tree by_size;   /* free blocks, by (size, offset) */
    struct tree by_offset; /* used blocks, by offset */
    struct block *first;
    struct block *spare; /* list of unused records */
    int spares;          /* its length, <= SPARES_MAX */
    size_t begin, end;
};

/* Number of free blocks that an aligned request examines before it searches for a block
 * of size + alignment bytes, which fits at any offset. */
#define ALIGNED_TRIES 32

static struct block *alloc_block_of(const struct tree_node *n)
{
    return (struct block *)(uintptr_t)n;
}

static int alloc_compare_offset(const struct tree_node *x, const struct tree_node *y)
{
    size_t a = alloc_block_of(x)->offset, b = alloc_block_of(y)->offset;

    return (a > b) - (a < b);
}

static int alloc_compare_size(const struct tree_node *x, const struct tree_node *y)
{
    size_t a = alloc_block_of(x)->size, b = alloc_block_of(y)->size;

    return a != b ? (a > b) - (a < b) : alloc_compare_offset(x, y);
}

static size_t alloc_round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

bool alloc_reserve(struct alloc *a)
{
    while (a->spares < SPARES_MAX) {
        struct block *b = calloc(1, sizeof *b);
        if (b == NULL)
            return false;
        b->next = a->spare;
        a->spare = b;
        a->spares++;
    }
    return true;
}

/* Creates a block from a record that alloc_reserve() has provided. */
static struct block *alloc_block_new(struct alloc *a, size_t offset, size_t size)
{
    struct block *b = a->spare;

    PGAS_ASSERT(a->spares > 0 && b != NULL);
    PGAS_ASSERT(offset % ALLOC_GRAIN == 0 && size > 0);
    a->spare = b->next;
    a->spares--;
    *b = (struct block){.offset = offset, .size = size};
    return b;
}

static void alloc_block_release(struct alloc *a, struct block *b)
{
    if (a->spares == SPARES_MAX) {
        free(b);
        return;
    }
    b->next = a->spare;
    a->spare = b;
    a->spares++;
}

static void alloc_enter(struct alloc *a, struct block *b, bool used)
{
    b->used = used;
    tree_insert(used ? &a->by_offset : &a->by_size, &b->node);
}

static void alloc_leave(struct alloc *a, struct block *b)
{
    tree_remove(b->used ? &a->by_offset : &a->by_size, &b->node);
}

static void alloc_link_after(struct block *b, struct block *fresh)
{
    PGAS_ASSERT(b->offset + b->size == fresh->offset);
    PGAS_ASSERT(b->next == NULL || fresh->offset + fresh->size == b->next->offset);
    fresh->prev = b;
    fresh->next = b->next;
    if (b->next != NULL)
        b->next->prev = fresh;
    b->next = fresh;
}

/* Merges b with its successor; neither is in a tree. */
static void alloc_absorb_next(struct alloc *a, struct block *b)
{
    struct block *next = b->next;

    PGAS_ASSERT(next->prev == b && b->offset + b->size == next->offset);
    b->size += next->size;
    b->next = next->next;
    if (b->next != NULL)
        b->next->prev = b;
    alloc_block_release(a, next);
}

struct alloc *alloc_new(size_t begin, size_t end)
{
    struct alloc *a = calloc(1, sizeof *a);

    if (a == NULL)
        return NULL;
    *a = (struct alloc){.by_size.compare = alloc_compare_size,
                        .by_offset.compare = alloc_compare_offset,
                        .begin = begin,
                        .end = end};
    PGAS_ASSERT(begin <= end);
    PGAS_ASSERT(begin % ALLOC_GRAIN == 0 && end % ALLOC_GRAIN == 0);
    if (begin == end)
        return a;
    if (!alloc_reserve(a)) {
        alloc_delete(a);
        return NULL;
    }
    a->first = alloc_block_new(a, begin, end - begin);
    alloc_enter(a, a->first, false);
    PGAS_ASSERT_FULL(alloc_valid(a));
    return a;
}

static void alloc_delete_list(struct block *first)
{
    for (struct block *b = first, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
}

void alloc_delete(struct alloc *a)
{
    if (a == NULL)
        return;
    PGAS_ASSERT_FULL(alloc_valid(a));
    alloc_delete_list(a->first);
    alloc_delete_list(a->spare);
    free(a);
}

static bool alloc_fits(const struct block *b, size_t size, size_t align)
{
    size_t pad = alloc_round_up(b->offset, align) - b->offset;

    return pad <= b->size && size <= b->size - pad;
}

static struct block *alloc_free_at_least(const struct alloc *a, size_t size)
{
    struct block key = {.size = size};
    struct tree_node *n = tree_at_least(&a->by_size, &key.node);

    return n != NULL ? alloc_block_of(n) : NULL;
}

static struct block *alloc_free_after(const struct alloc *a, const struct block *b)
{
    struct tree_node *n = tree_after(&a->by_size, &b->node);

    return n != NULL ? alloc_block_of(n) : NULL;
}

/* A free block for an aligned request: the best fit among the first ALIGNED_TRIES blocks
 * of at least `size` bytes, else any that fits. */
static struct block *alloc_find_fit(const struct alloc *a, size_t size, size_t align)
{
    struct block *b = alloc_free_at_least(a, size);
    struct block *sure = NULL;
    size_t sure_size;

    for (int i = 0; b != NULL && i < ALIGNED_TRIES; i++, b = alloc_free_after(a, b))
        if (alloc_fits(b, size, align))
            return b;
    if (!__builtin_add_overflow(size, align, &sure_size))
        sure = alloc_free_at_least(a, sure_size);
    if (sure != NULL)
        return sure;
    /* Only blocks between size and size + align remain: examine each. */
    while (b != NULL && !alloc_fits(b, size, align))
        b = alloc_free_after(a, b);
    return b;
}

/* Truncates b, which must not be in a tree, to `size` bytes; the tail becomes a free
 * block. */
static void alloc_cut_tail(struct alloc *a, struct block *b, size_t size)
{
    PGAS_ASSERT(size > 0 && size <= b->size);
    if (b->size == size)
        return;
    struct block *tail = alloc_block_new(a, b->offset + size, b->size - size);
    b->size = size;
    alloc_link_after(b, tail);
    if (tail->next != NULL && !tail->next->used) {
        alloc_leave(a, tail->next);
        alloc_absorb_next(a, tail);
    }
    alloc_enter(a, tail, false);
}

bool alloc_acquire(struct alloc *a, size_t size, size_t align, size_t *offset)
{
    PGAS_ASSERT(align > 0 && (align & (align - 1)) == 0);
    if (align < ALLOC_GRAIN)
        align = ALLOC_GRAIN;
    if (size >= ALLOC_LINE && align < ALLOC_LINE)
        align = ALLOC_LINE;
    if (size == 0 || size > a->end - a->begin || !alloc_reserve(a))
        return false;
    size_t asked = size;
    size = alloc_round_up(size, ALLOC_GRAIN);
    struct block *b = alloc_find_fit(a, size, align);
    if (b == NULL)
        return false;
    PGAS_ASSERT(!b->used && alloc_fits(b, size, align));
    alloc_leave(a, b);
    size_t pad = alloc_round_up(b->offset, align) - b->offset;
    if (pad > 0) {
        struct block *front = b;
        b = alloc_block_new(a, front->offset + pad, front->size - pad);
        front->size = pad;
        alloc_link_after(front, b);
        alloc_enter(a, front, false);
    }
    alloc_cut_tail(a, b, size);
    b->asked = asked;
    alloc_enter(a, b, true);
    *offset = b->offset;
    PGAS_ASSERT(*offset % align == 0 && *offset >= a->begin);
    PGAS_ASSERT(size <= a->end - *offset);
    PGAS_ASSERT_FULL(alloc_valid(a));
    return true;
}

static struct block *alloc_used_at(const struct alloc *a, size_t offset)
{
    struct block key = {.offset = offset};
    struct tree_node *n = tree_at_least(&a->by_offset, &key.node);

    return n != NULL && alloc_block_of(n)->offset == offset ? alloc_block_of(n) : NULL;
}

bool alloc_release(struct alloc *a, size_t offset)
{
    struct block *b = alloc_used_at(a, offset);

    if (b == NULL)
        return false;
    PGAS_ASSERT(b->used && b->asked <= b->size);
    alloc_leave(a, b);
    if (b->next != NULL && !b->next->used) {
        alloc_leave(a, b->next);
        alloc_absorb_next(a, b);
    }
    if (b->prev != NULL && !b->prev->used) {
        b = b->prev;
        alloc_leave(a, b);
        alloc_absorb_next(a, b);
    }
    alloc_enter(a, b, false);
    PGAS_ASSERT_FULL(alloc_valid(a));
    return true;
}

bool alloc_resize(struct alloc *a, size_t offset, size_t size)
{
    struct block *b = alloc_used_at(a, offset);

    if (b == NULL || size == 0 || size > a->end - a->begin)
        return false;
    size_t asked = size;
    size = alloc_round_up(size, ALLOC_GRAIN);
    bool next_free = b->next != NULL && !b->next->used;
    size_t space = b->size + (next_free ? b->next->size : 0);
    if (size > space || !alloc_reserve(a))
        return false;
    PGAS_ASSERT(b->used && b->asked <= b->size);
    alloc_leave(a, b);
    if (size > b->size) {
        alloc_leave(a, b->next);
        alloc_absorb_next(a, b);
    }
    alloc_cut_tail(a, b, size);
    b->asked = asked;
    alloc_enter(a, b, true);
    PGAS_ASSERT_FULL(alloc_valid(a));
    return true;
}

size_t alloc_size(const struct alloc *a, size_t offset)
{
    const struct block *b = alloc_used_at(a, offset);

    return b != NULL ? b->size : 0;
}

size_t alloc_block_rest(const struct alloc *a, size_t offset)
{
    const struct block key = {.offset = offset};
    const struct tree_node *n = tree_at_most(&a->by_offset, &key.node);
    const struct block *b = n != NULL ? alloc_block_of(n) : NULL;

    size_t in = b != NULL ? offset - b->offset : 0;

    return b != NULL && in < b->asked ? b->asked - in : 0;
}

void alloc_count(const struct alloc *a, struct alloc_stats *out)
{
    *out = (struct alloc_stats){0};
    for (const struct block *b = a->first; b != NULL; b = b->next) {
        *(b->used ? &out->used_bytes : &out->free_bytes) += b->size;
        *(b->used ? &out->used_blocks : &out->free_blocks) += 1;
        if (!b->used && b->size > out->largest_free)
            out->largest_free = b->size;
    }
}

static bool alloc_in_its_tree(const struct alloc *a, const struct block *b)
{
    const struct tree *t = b->used ? &a->by_offset : &a->by_size;

    return tree_at_least(t, &b->node) == &b->node;
}

bool alloc_valid(const struct alloc *a)
{
    size_t at = a->begin;

    for (const struct block *b = a->first; b != NULL; b = b->next) {
        if (b->offset != at || b->size == 0 || !alloc_in_its_tree(a, b))
            return false;
        if (b->next != NULL && (b->next->prev != b || (!b->used && !b->next->used)))
            return false;
        if ((b->used && b->asked > b->size) || b->offset % ALLOC_GRAIN != 0)
            return false;
        at += b->size;
    }
    return at == a->end && a->spares <= SPARES_MAX;
}
