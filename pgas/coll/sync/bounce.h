/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bounce.h - bounce buffer for the result of a collective while other PEs still read the
 * source.
 *
 * The result is written to dest directly unless dest overlaps the source, which the
 * specification does not forbid for broadcast, collect and alltoall.  In that case it is
 * written to private memory first.
 * Uses: core/log.  Used by: bcast, collect, alltoall, alltoalls.
 */
#ifndef PGAS_COLL_BOUNCE_H
#define PGAS_COLL_BOUNCE_H

#include <stdbool.h>
#include <stddef.h>

bool bounce_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes);

/* Returns dest, or private memory of `bytes` if `dest_bytes` at dest overlap the source.
 */
char *bounce_open(void *dest, size_t dest_bytes, const void *source, size_t source_bytes,
                  size_t bytes, const char *fn);

/* After all PEs have read the source: copy the result to dest unless it is already there,
 * and free the bounce buffer. */
void bounce_close(char *stage, void *dest, size_t bytes);

#endif
