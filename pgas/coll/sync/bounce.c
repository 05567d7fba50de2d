/* SPDX-License-Identifier: BSD-3-Clause */
/* bounce.c - see bounce.h.  Uses: core/log, datatype/copy, ft_temp. */
#include "config.h"

#include <stdint.h>

#include "pgas/coll/sync/bounce.h"
#include "pgas/core/base/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/ft/ft_temp.h"

bool bounce_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;

    if (a_bytes == 0 || b_bytes == 0)
        return false;
    return first < second ? second - first < a_bytes : first - second < b_bytes;
}

char *bounce_open(void *dest, size_t dest_bytes, const void *source, size_t source_bytes,
                  size_t bytes, const char *fn)
{
    if (!bounce_overlap(dest, dest_bytes, source, source_bytes))
        return dest;
    char *stage = ft_temp_alloc(bytes);
    if (stage == NULL)
        log_die(
            "%s: arguments 'dest' and 'source' overlap, and no memory is available for a "
            "bounce buffer of %zu bytes; use separate arrays",
            fn, bytes);
    return stage;
}

void bounce_close(char *stage, void *dest, size_t bytes)
{
    if (stage == dest)
        return;
    copy_bytes(dest, stage, bytes);
    ft_temp_free(stage);
}
