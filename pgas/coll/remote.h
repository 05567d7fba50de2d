/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote.h - a slice of the sources of all far PEs of a team, chunk by chunk: while one
 * chunk is worked on, the next one is on its way.
 *
 *     remote_open(&r, team, source, size, slice, fn);
 *     while (remote_next(&r))
 *         work on elements r.first .. r.first + r.n - 1
 *     remote_close(&r);
 *
 * What has been put in between on the default context, from memory of r too, is done at
 * the next remote_next: the one that returns false included.
 * Uses: core/team, rma, rma/order, slice.  Used by: reduce, scan.
 */
#ifndef PGAS_COLL_REMOTE_H
#define PGAS_COLL_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/coll/slice.h"
#include "pgas/core/team.h"

enum { REMOTE_OWN = 2 };

struct remote {
    size_t first, n;       /* the elements of this chunk */
    char *own[REMOTE_OWN]; /* for the caller: as long as a chunk */

    const struct shmem_team *team;
    const char *source;
    size_t size;        /* bytes of an element */
    struct slice slice; /* its end */
    size_t chunk;       /* elements of a chunk at most */
    int far;            /* how many PEs are far */
    char *half[2];      /* a chunk of each: this one and the next */
    const char *fn;
};

/* Ends the job with a sentence if there is no memory. */
void remote_open(struct remote *r, const struct shmem_team *team, const void *source,
                 size_t size, struct slice slice, const char *fn);

/* On to the next chunk; false if there is none. */
bool remote_next(struct remote *r);

/* This chunk of the k-th far PE, 0 <= k, in the order of the team; it may be changed. */
char *remote_chunk(const struct remote *r, int k);

void remote_close(struct remote *r);

#endif
