/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote.h - double-buffered prefetch of a slice of the sources of all remote PEs of a
 * team: while one chunk is processed, the gets of the next one are in flight.
 *
 *     remote_open(&r, team, source, size, slice, fn);
 *     while (remote_next(&r))
 *         work on elements r.first .. r.first + r.n - 1
 *     remote_close(&r);
 *
 * Each remote_next, including the one that returns false, completes the nonblocking puts
 * issued since the previous one on the default context, also those from buffers of r.
 * Uses: core/team, rma, rma/order, slice.  Used by: reduce, scan.
 */
#ifndef PGAS_COLL_REMOTE_H
#define PGAS_COLL_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/coll/algorithms/slice.h"
#include "pgas/core/team/team.h"

enum { REMOTE_OWN = 2 };

struct remote {
    size_t first, n;       /* the elements of the current chunk */
    char *own[REMOTE_OWN]; /* for the caller: buffers of the size of a chunk */

    const struct shmem_team *team;
    const char *source;
    size_t size; /* bytes of an element */
    struct slice slice;
    size_t chunk;  /* maximum number of elements of a chunk */
    int remote;    /* number of remote PEs */
    char *half[2]; /* current and next chunk of each remote PE */
    const char *fn;
};

/* Allocate the buffers and start the first gets.  Ends the job with an error message if
 * there is no memory. */
void remote_open(struct remote *r, const struct shmem_team *team, const void *source,
                 size_t size, struct slice slice, const char *fn);

/* Advance to the next chunk; false if there is none. */
bool remote_next(struct remote *r);

/* The current chunk of the k-th remote PE in team order, k >= 0; it may be modified. */
char *remote_chunk(const struct remote *r, int k);

void remote_close(struct remote *r);

#endif
