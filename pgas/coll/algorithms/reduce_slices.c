/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_slices.c - large reductions on one node: between two barriers each PE combines
 * its slice of all sources and writes the result to all dests, or to the root's dest.
 * Uses: barrier, mailbox, slice, reduce_int, core/check, datatype.
 */
#include "config.h"

#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/algorithms/reduce_int.h"
#include "pgas/coll/algorithms/slice.h"
#include "pgas/core/check/check.h"
#include "pgas/datatype/copy.h"

enum { CHUNK_BYTES = 16 * 1024 }; /* fits the L1 cache together with one source chunk */

/* The accumulator for the chunk at byte offset `at`: dest, unless dest is a source that
 * is read again later.  With two PEs both sources are read in one pass. */
static char *reduce_slices_accumulator(const struct reduce_job *j, char *acc, size_t at)
{
    return j->dest == j->source && j->team->npes > 2 ? acc : j->dest + at;
}

/* to = the combination of n elements at byte offset `at` of all sources. */
static void reduce_slices_combine(const struct reduce_job *j, char *to, size_t at,
                                  size_t n)
{
    const char *here = j->source + at;
    size_t bytes = n * j->size;

    j->op->three(to, reduce_at(j, here, bytes, 0), reduce_at(j, here, bytes, 1), n);
    for (int i = 2; i < j->team->npes; i++)
        j->op->two(to, reduce_at(j, here, bytes, i), n);
}

static void reduce_slices_distribute(const struct reduce_job *j, const char *from,
                                     size_t at, size_t n)
{
    size_t bytes = n * j->size, all = 2 * reduce_bytes(j) * (size_t)j->team->npes;

    for (int k = 0; k < j->team->npes; k++) {
        int i = (j->team->me + k) % j->team->npes;
        char *to = reduce_at(j, j->dest + at, bytes, i);
        if (to != from)
            copy_part(to, from, bytes, all); /* all: working set, sources and dests */
    }
}

void reduce_slices(const struct reduce_job *j)
{
    _Alignas(NODE_LINE) char acc[CHUNK_BYTES];
    struct slice s = slice_of(j->n, j->size, j->team->me, j->team->npes);
    size_t chunk = CHUNK_BYTES / j->size;

    barrier_sync(j->team, j->fn); /* all sources are ready */
    for (size_t first = s.first; first < s.end; first += chunk) {
        size_t n = s.end - first < chunk ? s.end - first : chunk, at = first * j->size;
        char *to = reduce_slices_accumulator(j, acc, at);
        reduce_slices_combine(j, to, at, n);
        reduce_slices_distribute(j, to, at, n);
    }
    barrier_sync(j->team, j->fn); /* all dests are written, all sources have been read */
}

/* ---- rooted ------------------------------------------------------------------------ */

/* Combine this PE's slice into the root's dest.  That may be the root's source, so with
 * more than two PEs a chunk is written only after all sources of it have been read. */
static void reduce_slices_combine_to(const struct reduce_job *j, char *dest)
{
    _Alignas(NODE_LINE) char acc[CHUNK_BYTES];
    struct slice s = slice_of(j->n, j->size, j->team->me, j->team->npes);
    size_t chunk = CHUNK_BYTES / j->size;
    bool direct = j->team->npes == 2;

    for (size_t first = s.first; first < s.end; first += chunk) {
        size_t n = s.end - first < chunk ? s.end - first : chunk, at = first * j->size;
        char *to = direct ? dest + at : acc;
        reduce_slices_combine(j, to, at, n);
        if (!direct)
            copy_part(dest + at, to, n * j->size, reduce_bytes(j));
    }
}

void reduce_slices_to(const struct reduce_job *j)
{
    struct mailbox b = mailbox_open(j->team, sizeof(uint64_t), j->fn);

    if (j->team->me == j->root) {
        *(uint64_t *)mailbox_own(&b) = symaddr_encode(j->dest);
        mailbox_post(&b);
    }
    barrier_sync(j->team, j->fn); /* all sources are ready */
    reduce_slices_combine_to(j, reduce_root_dest(j, &b));
    mailbox_close(&b);
    barrier_sync(j->team, j->fn); /* dest is written, all sources have been read */
}
