/* SPDX-License-Identifier: BSD-3-Clause */
/* remote.c - see remote.h.  Uses: core/team, core/net, core/log, rma, rma/order. */
#include "config.h"

#include "pgas/coll/sync/remote.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net.h"
#include "pgas/ft/ft_temp.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

enum {
    CHUNK_BYTES = 64 * 1024, /* maximum per PE: covers a few round trips */
    HALF_BYTES = 448 * 1024, /* maximum of all remote PEs, at least a line per PE */
};

/* Elements of a chunk: whole cache lines, limited to the length of the slice. */
static size_t remote_chunk_of(const struct remote *r)
{
    size_t bytes = HALF_BYTES / (size_t)r->remote;

    bytes = bytes < CHUNK_BYTES ? bytes / NODE_LINE * NODE_LINE : CHUNK_BYTES;
    if (bytes < NODE_LINE)
        bytes = NODE_LINE;
    size_t n = bytes / r->size, all = r->slice.end - r->slice.first;
    return n < all ? n : all;
}

/* Distance in bytes between two chunks in the buffer. */
static size_t remote_step_of(const struct remote *r)
{
    return (r->chunk * r->size + NODE_LINE - 1) / NODE_LINE * NODE_LINE;
}

static size_t remote_elements_at(const struct remote *r, size_t first)
{
    size_t remaining = r->slice.end - first;

    return remaining < r->chunk ? remaining : r->chunk;
}

/* Start nonblocking gets of the chunk at element `first` into the second half. */
static void remote_fetch(const struct remote *r, size_t first)
{
    char *to = r->half[1];

    for (int i = 0; i < r->team->npes; i++) {
        int pe = team_world_pe(r->team, i);
        if (!net_remote(pe))
            continue;
        rma_get_nbi(CTX_LIBRARY, to, r->source + first * r->size,
                    remote_elements_at(r, first) * r->size, pe, r->fn);
        to += remote_step_of(r);
    }
}

void remote_open(struct remote *r, const struct shmem_team *team, const void *source,
                 size_t size, struct slice slice, const char *fn)
{
    *r = (struct remote){.first = slice.first,
                         .team = team,
                         .source = source,
                         .size = size,
                         .slice = slice,
                         .fn = fn};
    if (slice.first >= slice.end)
        return;
    r->remote = team_count_remote(team);
    r->chunk = remote_chunk_of(r);
    size_t step = remote_step_of(r), half = (size_t)r->remote * step;
    char *memory = ft_temp_alloc(REMOTE_OWN * step + 2 * half);
    if (memory == NULL)
        log_die("%s: no memory for a receive buffer of %zu bytes", fn, 2 * half);
    for (int k = 0; k < REMOTE_OWN; k++)
        r->own[k] = memory + (size_t)k * step;
    r->half[0] = memory + REMOTE_OWN * step;
    r->half[1] = r->half[0] + half;
    remote_fetch(r, slice.first);
}

bool remote_next(struct remote *r)
{
    if (r->chunk == 0)
        return false;
    order_quiet(CTX_LIBRARY, r->fn);
    r->first += r->n;
    if (r->first >= r->slice.end)
        return false;
    r->n = remote_elements_at(r, r->first);
    char *here = r->half[1];
    r->half[1] = r->half[0];
    r->half[0] = here;
    if (r->first + r->n < r->slice.end)
        remote_fetch(r, r->first + r->n);
    return true;
}

char *remote_chunk(const struct remote *r, int k)
{
    return r->half[0] + (size_t)k * remote_step_of(r);
}

void remote_close(struct remote *r)
{
    ft_temp_free(r->own[0]);
}
