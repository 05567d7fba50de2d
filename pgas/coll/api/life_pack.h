/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * life_pack.h - SHMEM_PACK_TABLE: kernels of strided copies that earlier jobs have found.
 * Uses: datatype/pack/pack_file, select_table (model), core/log.  Used by: life.
 */
#ifndef PGAS_COLL_LIFE_PACK_H
#define PGAS_COLL_LIFE_PACK_H

#include "pgas/datatype/isa.h"

/* Reads the file, in the first shmem_init of a process.  PE 0 warns if it is invalid or
 * of another machine. */
void life_pack_load(enum isa isa);

/* PE 0 adds the kernels that it has found, if there are any, unless the file is invalid
 * or of another machine. */
void life_pack_save(enum isa isa);

#endif
