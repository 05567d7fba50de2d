/* SPDX-License-Identifier: BSD-3-Clause */
/* slot.c - see slot.h. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/team/slot.h"

enum { BITS = 64 }; /* bits per bitmap word */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Bitmaps with one bit per slot, under `lock`: `used` is set while the slot is allocated,
 * `dirty` from its first use on. */
static uint64_t *used, *dirty;
static uint32_t words; /* length of each bitmap; slots beyond are free and clean */
static uint32_t end;   /* number of slots */

static uint64_t slot_bit_of(uint32_t slot)
{
    return (uint64_t)1 << slot % BITS;
}

static bool slot_resize(uint64_t **map, uint32_t to)
{
    uint64_t *longer = realloc(*map, to * sizeof **map);

    if (longer == NULL)
        return false;
    memset(longer + words, 0, (to - words) * sizeof *longer);
    *map = longer;
    return true;
}

/* Grows the bitmaps to include the slot. */
static bool slot_reach(uint32_t slot)
{
    uint32_t to = words > 0 ? words : 1;

    while (slot / BITS >= to)
        to *= 2;
    if (to == words)
        return true;
    if (!slot_resize(&used, to) || !slot_resize(&dirty, to))
        return false;
    words = to;
    return true;
}

/* The lowest free slot >= slot; may be >= end. */
static uint32_t slot_find_free(uint32_t slot)
{
    for (; slot / BITS < words; slot = (slot / BITS + 1) * BITS) {
        uint64_t free_bits = ~used[slot / BITS] & ~(slot_bit_of(slot) - 1);
        if (free_bits != 0)
            return slot / BITS * BITS + (uint32_t)__builtin_ctzll(free_bits);
    }
    return slot;
}

uint32_t slot_alloc(uint32_t from)
{
    pthread_mutex_lock(&lock);
    uint32_t slot = slot_find_free(from);
    PGAS_ASSERT(slot >= from);
    PGAS_ASSERT(slot / BITS >= words || (used[slot / BITS] & slot_bit_of(slot)) == 0);
    if (slot < end && slot_reach(slot))
        used[slot / BITS] |= slot_bit_of(slot);
    else
        slot = SLOT_NONE;
    pthread_mutex_unlock(&lock);
    return slot;
}

void slot_free(uint32_t slot)
{
    pthread_mutex_lock(&lock);
    PGAS_ASSERT(slot >= SLOT_USER && slot < end && slot / BITS < words);
    PGAS_ASSERT((used[slot / BITS] & slot_bit_of(slot)) != 0);
    used[slot / BITS] &= ~slot_bit_of(slot);
    pthread_mutex_unlock(&lock);
}

bool slot_first_use(uint32_t slot)
{
    pthread_mutex_lock(&lock);
    PGAS_ASSERT(slot < end && (used[slot / BITS] & slot_bit_of(slot)) != 0);
    bool fresh = (dirty[slot / BITS] & slot_bit_of(slot)) == 0;
    dirty[slot / BITS] |= slot_bit_of(slot);
    pthread_mutex_unlock(&lock);
    return fresh;
}

void slot_init(uint32_t slots)
{
    slot_fini();
    end = slots;
    for (uint32_t i = 0; i < SLOT_USER; i++)
        slot_alloc(i);
}

void slot_fini(void)
{
    free(used);
    free(dirty);
    used = dirty = NULL;
    words = end = 0;
}
