/* SPDX-License-Identifier: BSD-3-Clause */
/* slot.c - see slot.h. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/core_state.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/team/slot.h"

#define STATE core_self.slot

enum { BITS = 64 }; /* bits per bitmap word */

static uint64_t slot_bit_of(uint32_t slot)
{
    return (uint64_t)1 << slot % BITS;
}

static bool slot_resize(uint64_t **map, uint32_t to)
{
    uint64_t *longer = realloc(*map, to * sizeof **map);

    if (longer == NULL)
        return false;
    memset(longer + STATE.words, 0, (to - STATE.words) * sizeof *longer);
    *map = longer;
    return true;
}

/* Grows the bitmaps to include the slot. */
static bool slot_reach(uint32_t slot)
{
    uint32_t to = STATE.words > 0 ? STATE.words : 1;

    while (slot / BITS >= to)
        to *= 2;
    if (to == STATE.words)
        return true;
    if (!slot_resize(&STATE.used, to) || !slot_resize(&STATE.dirty, to))
        return false;
    STATE.words = to;
    return true;
}

/* The lowest free slot >= slot; may be >= end. */
static uint32_t slot_find_free(uint32_t slot)
{
    for (; slot / BITS < STATE.words; slot = (slot / BITS + 1) * BITS) {
        uint64_t free_bits = ~STATE.used[slot / BITS] & ~(slot_bit_of(slot) - 1);
        if (free_bits != 0)
            return slot / BITS * BITS + (uint32_t)__builtin_ctzll(free_bits);
    }
    return slot;
}

uint32_t slot_alloc(uint32_t from)
{
    pthread_mutex_lock(&STATE.lock);
    uint32_t slot = slot_find_free(from);
    PGAS_ASSERT(slot >= from);
    PGAS_ASSERT(slot / BITS >= STATE.words ||
                (STATE.used[slot / BITS] & slot_bit_of(slot)) == 0);
    if (slot < STATE.end && slot_reach(slot))
        STATE.used[slot / BITS] |= slot_bit_of(slot);
    else
        slot = SLOT_NONE;
    pthread_mutex_unlock(&STATE.lock);
    return slot;
}

void slot_free(uint32_t slot)
{
    pthread_mutex_lock(&STATE.lock);
    PGAS_ASSERT(slot >= SLOT_USER && slot < STATE.end && slot / BITS < STATE.words);
    PGAS_ASSERT((STATE.used[slot / BITS] & slot_bit_of(slot)) != 0);
    STATE.used[slot / BITS] &= ~slot_bit_of(slot);
    pthread_mutex_unlock(&STATE.lock);
}

bool slot_first_use(uint32_t slot)
{
    pthread_mutex_lock(&STATE.lock);
    PGAS_ASSERT(slot < STATE.end && (STATE.used[slot / BITS] & slot_bit_of(slot)) != 0);
    bool fresh = (STATE.dirty[slot / BITS] & slot_bit_of(slot)) == 0;
    STATE.dirty[slot / BITS] |= slot_bit_of(slot);
    pthread_mutex_unlock(&STATE.lock);
    return fresh;
}

void slot_init(uint32_t slots)
{
    slot_fini();
    STATE.end = slots;
    for (uint32_t i = 0; i < SLOT_USER; i++)
        slot_alloc(i);
}

void slot_fini(void)
{
    free(STATE.used);
    free(STATE.dirty);
    STATE.used = STATE.dirty = NULL;
    STATE.words = STATE.end = 0;
}
