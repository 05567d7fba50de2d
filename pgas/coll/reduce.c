/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - see reduce.h.  Uses: core/team, barrier, slice, rma, datatype.
 *
 * Elements are combined in the order of the PEs, whoever does it: all PEs get the same
 * bits, whatever their order of arrival.
 */
#include "config.h"

#include "pgas/coll/barrier.h"
#include "pgas/coll/reduce.h"
#include "pgas/coll/slice.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

enum {
    CHUNK_BYTES = 16 * 1024, /* fits the first-level cache with one source chunk */
    SMALL_BYTES = 1024,      /* so few are combined by every PE for itself */
};

struct job {
    const struct shmem_team *team;
    char *dest;
    const char *source;
    size_t size; /* bytes of an element */
    op_kernel op;
    const char *fn;
};

/* acc = elements first .. first + n - 1 of all PEs, combined */
static void combine(const struct job *j, void *acc, size_t first, size_t n)
{
    const char *mine = j->source + first * j->size;

    for (int i = 0; i < j->team->npes; i++) {
        const void *in = peer_at(mine, n * j->size, team_world_pe(j->team, i), j->fn);
        if (i == 0)
            copy_bytes(acc, in, n * j->size);
        else
            j->op(acc, in, n);
    }
}

/* acc -> elements first .. first + n - 1 of dest on all PEs */
static void spread(const struct job *j, const void *acc, size_t first, size_t n)
{
    char *mine = j->dest + first * j->size;

    for (int i = 0; i < j->team->npes; i++)
        copy_bytes(peer_at(mine, n * j->size, team_world_pe(j->team, i), j->fn), acc,
                   n * j->size);
}

static void combine_slice(const struct job *j, void *acc, struct slice s)
{
    size_t chunk = CHUNK_BYTES / j->size;

    for (size_t first = s.first; first < s.end; first += chunk) {
        size_t now = s.end - first < chunk ? s.end - first : chunk;
        combine(j, acc, first, now);
        spread(j, acc, first, now);
    }
}

int reduce(struct shmem_team *team, void *dest, const void *source, size_t n, size_t size,
           op_kernel op, const char *fn)
{
    _Alignas(NODE_LINE) char acc[CHUNK_BYTES];
    struct job j = {team, dest, source, size, op, fn};
    size_t bytes = rma_bytes(n, size, fn);
    bool small = bytes <= SMALL_BYTES;

    if (bytes > 0) /* before n is cut up */
        (void)peer_at(source, bytes, pgas_self.me, fn);
    barrier(team, fn); /* all sources are ready */
    if (!small)
        combine_slice(&j, acc, slice_of(n, size, team->me, team->npes));
    else if (bytes > 0)
        combine(&j, acc, 0, n);
    barrier(team, fn); /* all sources have been read */
    if (small)
        copy_bytes(dest, acc, bytes);
    return 0;
}
