/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agree.h - the settings that must be the same on all PEs, since all decide alike by
 * them: those of env.def's PGAS_ENV_ALIKE, and the table of algorithms.
 *
 * Each PE writes a digest of each setting to its record in the node segment before the
 * PEs of the node meet; then all of them compare.  PE 0's digests travel to the other
 * nodes with the one fence of the start.  Where they differ, the job ends with a
 * sentence. Uses: node.h, boot, env, log.  Used by: init, coll/life.
 */
#ifndef PGAS_CORE_AGREE_H
#define PGAS_CORE_AGREE_H

#include <stddef.h>
#include <stdint.h>

#include "pgas/core/boot/boot.h"
#include "pgas/core/base/env.def"

/* TABLE_NEAR: the rows that are for one node; TABLE_REMOTE: those for several. */
#define A(NAME, kind, field) AGREE_##NAME,
enum agree { PGAS_ENV_ALIKE(A) AGREE_TABLE_NEAR, AGREE_TABLE_REMOTE, AGREE_ALL };
#undef A

#define AGREE_DIGEST_START 0xcbf29ce484222325u

/* The digest of some bytes behind others, whose digest is given. */
uint64_t agree_digest(uint64_t before, const void *bytes, size_t n);

/* Write the variables to this PE's record / another setting, with what to call its value
 * in a sentence (kept).  After nodeseg_open, before nodeseg_join. */
void agree_write(void);
void agree_set(enum agree what, uint64_t digest, const char *value);

/* Compare with the PEs of this node; after nodeseg_join. */
void agree_check_node(const struct boot *b);

/* PE 0 tells the other nodes, before the fence / they compare, after it. */
void agree_publish(const struct boot *b);
void agree_check_internode(const struct boot *b);

#endif
