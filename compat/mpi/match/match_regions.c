/* SPDX-License-Identifier: BSD-3-Clause */
/* match_regions.c - see match_regions.h. */
#include "config.h"

#include <stdlib.h>

#include "compat/mpi/match/match_node.h"
#include "compat/mpi/match/match_regions.h"
#include "pgas/core/base/pgas_assert.h"

/* Tests compile this file with delays, and with reads that a sanitizer sees.  A prefetch
 * is no access in the sense of the language: it does not race with the owner's stores. */
#ifndef MATCH_REGIONS_POINT
#define MATCH_REGIONS_POINT(point) ((void)0)
#endif
#ifndef MATCH_REGIONS_TOUCH
#define MATCH_REGIONS_TOUCH(address) __builtin_prefetch(address, 0, 2)
#endif

/* In the low bits of an aligned address */
#define READING UINT64_C(1)
#define RETIRED UINT64_C(2)
#define CLAIMED UINT64_C(4)
#define FLAGS   (READING | RETIRED | CLAIMED)

uint16_t match_regions_add(struct match_regions *r, void *memory, size_t bytes)
{
    const uint64_t address = (uint64_t)(uintptr_t)memory;

    const uint32_t limit = load_relaxed_u32(&r->limit);

    PGAS_ASSERT(address % MATCH_LINE == 0 && limit <= MATCH_REGIONS_MAX);
    for (uint32_t i = 0; i < limit; i++) {
        struct match_region *region = &r->region[i];
        if (load_relaxed_u64(&region->word) != 0 ||
            cas_acq_rel_u64(&region->word, 0, CLAIMED) != 0)
            continue;
        region->lines = bytes / MATCH_LINE;
        store_release_u64(&region->word, address);
        return (uint16_t)i;
    }
    fetch_add_acq_rel_u32(&r->refused, 1);
    return MATCH_NO_REGION;
}

/* Of the side that has found RETIRED and READING not both set: it alone has the region.
 */
static void match_region_end(struct match_region *region, void *memory)
{
    MATCH_REGIONS_POINT(END);
    free(memory);
    store_release_u64(&region->word, 0);
}

void match_regions_free(struct match_regions *r, uint16_t region, void *memory)
{
    if (region == MATCH_NO_REGION) {
        free(memory);
        return;
    }
    uint64_t old = fetch_or_acq_rel_u64(&r->region[region].word, RETIRED);
    PGAS_ASSERT((old & ~FLAGS) == (uint64_t)(uintptr_t)memory && (old & RETIRED) == 0);
    if ((old & READING) == 0)
        match_region_end(&r->region[region], memory);
}

void match_regions_read(struct match_regions *r, uint16_t number)
{
    struct match_region *region = &r->region[number];
    uint64_t address = load_relaxed_u64(&region->word);
    char *memory = (char *)(uintptr_t)address;

    if (address == 0 || (address & FLAGS) != 0)
        return;
    MATCH_REGIONS_POINT(CLAIM);
    if (cas_acq_rel_u64(&region->word, address, address | READING) != address)
        return;
    for (uint64_t i = 0; i < region->lines; i++) {
        MATCH_REGIONS_POINT(READ);
        MATCH_REGIONS_TOUCH(memory + i * MATCH_LINE);
    }
    if ((fetch_and_acq_rel_u64(&region->word, ~READING) & RETIRED) != 0)
        match_region_end(region, memory);
}
