/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scan.c - see scan.h.  Uses: core/team, barrier, slice, rma, datatype.
 *
 * Each PE goes with its slice of the elements from source to source, and leaves on the
 * way in each dest what it has summed up so far.
 */
#include "config.h"

#include "pgas/coll/barrier.h"
#include "pgas/coll/scan.h"
#include "pgas/coll/slice.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

enum { CHUNK_BYTES = 8 * 1024 }; /* two of them and one source chunk fit the cache */

struct job {
    const struct shmem_team *team;
    char *dest;
    const char *source;
    size_t size; /* bytes of an element */
    op_kernel op;
    bool exclusive;
    const char *fn;
};

/* One chunk of bytes at offset `at`, of n elements.  On each PE the source is read before
 * the dest is written: they may be the same. */
static void go_along(const struct job *j, size_t at, size_t n)
{
    _Alignas(NODE_LINE) char sum[CHUNK_BYTES], before[CHUNK_BYTES];
    size_t bytes = n * j->size;

    memset(sum, 0, bytes);
    for (int i = 0; i < j->team->npes; i++) {
        int pe = team_world_pe(j->team, i);
        const void *in = peer_at(j->source + at, bytes, pe, j->fn);
        if (j->exclusive)
            copy_bytes(before, sum, bytes);
        if (i == 0)
            copy_bytes(sum, in, bytes); /* not 0 + in: that changes a negative zero */
        else
            j->op(sum, in, n);
        copy_bytes(peer_at(j->dest + at, bytes, pe, j->fn), j->exclusive ? before : sum,
                   bytes);
    }
}

static int scan(struct shmem_team *team, const struct job *j, size_t n)
{
    size_t chunk = CHUNK_BYTES / j->size, bytes = rma_bytes(n, j->size, j->fn);

    if (bytes > 0) /* before n is cut up */
        (void)peer_at(j->source, bytes, pgas_self.me, j->fn);
    struct slice s = slice_of(n, j->size, team->me, team->npes);
    barrier(team, j->fn); /* all sources are ready */
    for (size_t first = s.first; first < s.end; first += chunk)
        go_along(j, first * j->size, s.end - first < chunk ? s.end - first : chunk);
    barrier(team, j->fn); /* all dests are written, all sources have been read */
    return 0;
}

int scan_inclusive(struct shmem_team *team, void *dest, const void *source, size_t n,
                   size_t size, op_kernel op, const char *fn)
{
    return scan(team, &(struct job){team, dest, source, size, op, false, fn}, n);
}

int scan_exclusive(struct shmem_team *team, void *dest, const void *source, size_t n,
                   size_t size, op_kernel op, const char *fn)
{
    return scan(team, &(struct job){team, dest, source, size, op, true, fn}, n);
}
