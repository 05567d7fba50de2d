/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agree.h - checks that certain settings are equal on all PEs, because each PE makes the
 * same decisions from them: PGAS_ENV_ALIKE of env.def and the table of algorithms.
 *
 * Each PE stores a digest of each setting in its record of the node segment before the
 * PEs of the node synchronise; afterwards each compares the records of its node.  The
 * fence of shmem_init distributes PE 0's digests to the other nodes.  A difference is
 * reported and ends the job.
 * Uses: node.h, boot, env, log.  Used by: coll/life.
 */
#ifndef PGAS_CORE_AGREE_H
#define PGAS_CORE_AGREE_H

#include <stddef.h>
#include <stdint.h>

#include "pgas/core/boot/boot.h"
#include "pgas/core/base/env.def"

/* Rows of SHMEM_COLL_TABLE: TABLE_NEAR: for one node; TABLE_REMOTE: for several. */
#define A(NAME, kind, field) AGREE_##NAME,
enum agree { PGAS_ENV_ALIKE(A) AGREE_TABLE_NODE, AGREE_TABLE_REMOTE, AGREE_ALL };
#undef A

/* Store the digests of this PE's settings in its record: agree_write for the variables,
 * agree_set for another setting.  `value` is its text for messages and is not copied.
 * Call after nodeseg_open and before nodeseg_join. */
void agree_write(void);
void agree_set(enum agree what, uint64_t digest, const char *value);

/* Compares the PEs of this node.  Call after nodeseg_join. */
void agree_check_node(const struct boot *b);

/* PE 0 publishes its digests before the fence; the first PE of each other node compares
 * its own with them after it. */
void agree_publish(const struct boot *b);
void agree_check_internode(const struct boot *b);

#endif
