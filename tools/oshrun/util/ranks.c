/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c - see ranks.h. */
#include "config.h"

#include "tools/oshrun/util/ranks.h"

#include <stdio.h>
#include <stdlib.h>

#define RANGE_MAX 24 /* ",65535-65536" */
#define REST_MAX  32 /* ",... (65536 PEs)" */

static int ranks_by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

void ranks_sort(uint32_t *rank, uint32_t count)
{
    if (count > 0)
        qsort(rank, count, sizeof *rank, ranks_by_number);
}

void ranks_text(const uint32_t *rank, uint32_t count, char text[RANKS_TEXT])
{
    size_t len = 0;
    text[0] = '\0';
    for (uint32_t i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && rank[last + 1] == rank[last] + 1;)
            last++;
        if (len > RANKS_TEXT - RANGE_MAX - REST_MAX) {
            snprintf(text + len, RANKS_TEXT - len, ",... (%u PEs)", count);
            return;
        }
        len += (size_t)snprintf(text + len, RANKS_TEXT - len, "%s%u", i > 0 ? "," : "",
                                rank[i]);
        if (last > i)
            len += (size_t)snprintf(text + len, RANKS_TEXT - len, "%c%u",
                                    last == i + 1 ? ',' : '-', rank[last]);
    }
}
