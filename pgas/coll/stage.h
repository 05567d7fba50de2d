/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stage.h - where a collective puts its result while other PEs still read the source.
 *
 * That is dest itself, unless it overlaps the source: the specification does not forbid
 * that for broadcast, collect and the exchanges.  Then the result waits in private
 * memory.
 * Uses: core/log.  Used by: bcast, collect, alltoall, alltoalls.
 */
#ifndef PGAS_COLL_STAGE_H
#define PGAS_COLL_STAGE_H

#include <stdbool.h>
#include <stddef.h>

bool stage_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes);

/* dest, or private memory of `bytes` if `dest_bytes` at dest overlap the source. */
char *stage_open(void *dest, size_t dest_bytes, const void *source, size_t source_bytes,
                 size_t bytes, const char *fn);

/* Nobody reads the source any more: move the result to dest, if it is not there. */
void stage_close(char *stage, void *dest, size_t bytes);

#endif
