/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.c - see hosts.h.  Uses names.h. */
#include "config.h"

#include "tools/oshrun/map/hosts.h"
#include "tools/oshrun/map/names.h"
#include "pgas/core/base/hash.h"
#include "tools/oshrun/util/mem.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 8
#define CELLS_RATIO    4 /* cells per entry of host[] */

/* The hash cell of name, or the free cell for it. */
static uint32_t *hosts_find_cell(const struct hosts *h, const char *name)
{
    for (uint64_t i = hash_add(HASH_START, name, strlen(name));;
         i++) { /* terminates: half of the cells are free, at least */
        uint32_t *cell = &h->cell[i & (h->cells - 1)];
        if (*cell == 0 || strcmp(h->host[*cell - 1].name, name) == 0)
            return cell;
    }
}

uint32_t hosts_find(const struct hosts *h, const char *name)
{
    uint32_t at = h->cells > 0 ? *hosts_find_cell(h, name) : 0;
    return at > 0 ? at - 1 : HOSTS_NONE;
}

static void hosts_grow(struct hosts *h)
{
    uint32_t capacity = h->capacity > 0 ? h->capacity * 2 : FIRST_CAPACITY;
    h->host = mem_resize(h->host, capacity, sizeof *h->host);
    h->capacity = capacity;
    uint32_t *cell = mem_calloc((size_t)capacity * CELLS_RATIO, sizeof *cell);
    free(h->cell);
    h->cell = cell;
    h->cells = capacity * CELLS_RATIO;
    for (uint32_t i = 0; i < h->count; i++)
        *hosts_find_cell(h, h->host[i].name) = i + 1;
}

/* Adds the slots of an entry with the same name. */
static int hosts_join(struct host *at, const struct host *more, char why[HOSTS_WHY])
{
    uint32_t slots =
        (at->slots > 0 ? at->slots : 1) + (more->slots > 0 ? more->slots : 1);
    if (slots > HOSTS_SLOTS_MAX)
        return names_error(why, "host '%.*s' has more than %d slots in all", NAMES_SHOWN,
                           at->name, HOSTS_SLOTS_MAX);
    at->slots = slots;
    at->max = at->max > 0 && more->max > 0 ? at->max + more->max : 0;
    return 0;
}

int hosts_add(struct hosts *h, const struct host *more, char why[HOSTS_WHY])
{
    uint32_t at = hosts_find(h, more->name);
    if (h->named++ == HOSTS_NAMED_MAX)
        return names_error(why, "hosts are named more than %d times", HOSTS_NAMED_MAX);
    if (at != HOSTS_NONE)
        return hosts_join(&h->host[at], more, why);
    if (h->count == HOSTS_MAX)
        return names_error(why, "there are more than %d hosts", HOSTS_MAX);
    if (h->count == h->capacity)
        hosts_grow(h);
    struct host host = *more;
    host.name = mem_strdup(more->name);
    *hosts_find_cell(h, host.name) = h->count + 1;
    h->host[h->count++] = host;
    return 0;
}

static int hosts_missing_name(const char *text, size_t at, char why[HOSTS_WHY])
{
    char shown[NAMES_SHOWN];
    if (text[0] == '\0')
        return names_error(why, "no host is named");
    if (at == 0)
        return names_error(why, "a name is missing before '%s'",
                           names_show(shown, text, strlen(text)));
    /* Show the end of a long text, where the error is. */
    size_t from = at < NAMES_SHOWN / 2 ? 0 : at - NAMES_SHOWN / 2;
    return names_error(why, "a name is missing after '%s'",
                       names_show(shown, text + from, at - from));
}

int hosts_from_list(struct hosts *h, const char *text, char why[HOSTS_WHY])
{
    size_t len = strlen(text);
    int rc = 0;
    *h = (struct hosts){0};
    for (size_t at = 0; rc == 0 && at <= len; at++) {
        struct host host = {0};
        size_t n = names_span(text + at, len - at, ","), name_len;
        if (n == 0)
            rc = hosts_missing_name(text, at, why);
        else if ((rc = names_split(text + at, n, &name_len, &host, why)) == 0)
            rc = names_expand(h, text + at, name_len, &host, why);
        at += n;
    }
    if (rc != 0)
        hosts_free(h);
    return rc;
}

void hosts_free(struct hosts *h)
{
    for (uint32_t i = 0; i < h->count; i++)
        free(h->host[i].name);
    free(h->host);
    free(h->cell);
    *h = (struct hosts){0};
}
