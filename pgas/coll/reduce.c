/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - see reduce.h.  Uses: team, barrier, rma, datatype.
 *
 * Every PE combines all sources in the order of the PEs, chunk by chunk, in a buffer of
 * its own: all get the same bits, whatever their order of arrival.  A chunk is stored to
 * dest once all PEs have combined it, so that dest may be source.
 */
#include "config.h"

#include "pgas/coll/barrier.h"
#include "pgas/coll/reduce.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

enum { CHUNK_BYTES = 32 * 1024 }; /* fits the first-level cache with one source chunk */

struct job {
    struct shmem_team *team;
    const char *source;
    size_t size; /* bytes of an element */
    op_kernel op;
    const char *fn;
};

/* acc = all PEs' elements first .. first + n - 1 */
static void combine(const struct job *j, void *acc, size_t first, size_t n)
{
    const char *mine = j->source + first * j->size;

    for (int i = 0; i < j->team->npes; i++) {
        const void *in = peer_at(mine, n * j->size, team_world_pe(j->team, i), j->fn);
        if (i == 0)
            memcpy(acc, in, n * j->size);
        else
            j->op(acc, in, n);
    }
}

int reduce(shmem_team_t handle, void *dest, const void *source, size_t n, size_t size,
           op_kernel op, const char *fn)
{
    _Alignas(NODE_LINE) char acc[CHUNK_BYTES];
    struct job j = {team_of(handle, fn), source, size, op, fn};
    size_t chunk = CHUNK_BYTES / size;

    (void)rma_bytes(n, size, fn);
    barrier(j.team, fn); /* all sources are ready */
    for (size_t first = 0; first < n; first += chunk) {
        size_t now = n - first < chunk ? n - first : chunk;
        combine(&j, acc, first, now);
        barrier(j.team, fn); /* all PEs have read this chunk of all sources */
        copy_bytes((char *)dest + first * size, acc, now * size);
    }
    return 0;
}
