/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_site.c - call sites of this PE.  Uses: profile_int, core/call_site. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/call_site.h"
#include "pgas/profile/profile_int.h"

#define STATE PROFILE->sites

enum { GROW = 2, FIRST = 64 };

size_t profile_sites(void)
{
    return STATE.rows;
}

void profile_site_fini(void)
{
    free(STATE.row);
    STATE.row = NULL;
    STATE.rows = STATE.capacity = 0;
    memset(STATE.head, 0, sizeof STATE.head);
}

static bool profile_site_grow(void)
{
    size_t capacity = STATE.capacity > 0 ? GROW * STATE.capacity : FIRST;

    if (STATE.rows < STATE.capacity)
        return true;
    struct profile_call_site *more = realloc(STATE.row, capacity * sizeof *more);
    if (more == NULL)
        return false;
    STATE.capacity = capacity;
    STATE.row = more;
    return true;
}

int profile_site_of(const void *site, const char *routine)
{
    uint32_t *list =
        &STATE.head[profile_mix((uintptr_t)site, 0) / GROW % PROFILE_SITE_HEADS];

    for (uint32_t i = *list; i != 0; i = STATE.row[i - 1].next)
        if (STATE.row[i - 1].address == site && STATE.row[i - 1].routine == routine)
            return (int)i - 1;
    if (!profile_site_grow())
        return -1;
    STATE.row[STATE.rows++] = (struct profile_call_site){site, routine, *list};
    *list = (uint32_t)STATE.rows;
    return (int)STATE.rows - 1;
}

void profile_site_describe(size_t row, struct profile_site *out)
{
    const struct profile_call_site *site = &STATE.row[row];

    memset(out, 0, sizeof *out);
    snprintf(out->routine, sizeof out->routine, "%s", site->routine);
    out->address = call_site_locate(site->address, out->module, sizeof out->module);
}
