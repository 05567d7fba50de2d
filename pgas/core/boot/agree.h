/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agree.h - check of the settings that must be equal on all PEs, because all PEs derive
 * the same decisions from them: env.def's PGAS_ENV_ALIKE and the table of algorithms.
 *
 * Each PE stores a digest of each setting in its record of the node segment before the
 * PEs of the node synchronise; then all of them compare.  PE 0's digests reach the other
 * nodes with the fence of the start-up.  A difference is reported and ends the job.
 * Uses: node.h, boot, env, log.  Used by: coll/life.
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

/* Store the variables, or another setting with the text of its value for messages (not
 * copied), in this PE's record.  After nodeseg_open, before nodeseg_join. */
void agree_write(void);
void agree_set(enum agree what, uint64_t digest, const char *value);

/* Compares with the PEs of this node; after nodeseg_join. */
void agree_check_node(const struct boot *b);

/* PE 0 publishes its digests before the fence; the other nodes compare after it. */
void agree_publish(const struct boot *b);
void agree_check_internode(const struct boot *b);

#endif
