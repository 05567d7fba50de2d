/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_choice.h - selects the kernel that copies a vector.
 * Uses: pack_table, isa.  Used by: pack, coll/life, oshmem_info, tests, bench.
 */
#ifndef PGAS_DATATYPE_PACK_CHOICE_H
#define PGAS_DATATYPE_PACK_CHOICE_H

#include "pgas/datatype/pack/pack_table.h"
#include "pgas/datatype/pack/pack_tune.h"

const char *pack_kernel_name(enum pack_kernel k);

/* True if kernel k is built, the processor has its instruction set, and pack_choice_init
 * allows it. */
bool pack_kernel_here(enum pack_kernel k);

/* True if the kernel is here and accepts the vector. */
bool pack_kernel_can(enum pack_kernel k, const struct vector_copy *v);
void pack_kernel_run(enum pack_kernel k, const struct vector_copy *v);

/* Parses a value of SHMEM_PACK_KERNEL: the name of a kernel that the processor has with
 * instruction sets up to `isa`, or auto (PACK_KERNELS).  Returns 0, or -1 with the reason
 * in error[len]. */
int pack_kernel_read(const char *text, enum isa isa, enum pack_kernel *k, char *error,
                     size_t len);

/* Before other threads use kernels: allows the instruction sets up to `isa`, and forces a
 * kernel wherever it accepts the vector; PACK_KERNELS: no kernel is forced. */
void pack_choice_init(enum isa isa, enum pack_kernel forced);

/* pack_choice_init with what the processor has, unless it has been called. */
void pack_choice_init_default(void);

/* Copies the vector with the forced kernel if it accepts the vector;
 * if none is forced, with the one that measurements found to be the fastest. */
void pack_choice_run(const struct vector_copy *v);

/* True if kernel k is here and no other kernel is forced */
bool pack_choice_allows(enum pack_kernel k);

/* The kernel that measurements found for vectors like this one, or PACK_KERNELS. */
enum pack_kernel pack_choice_found(const struct vector_copy *v);

/* Use the kernels of `rows`, which an earlier process has found on such a processor,
 * instead of measuring these shapes.  Only the first call of a process has an effect: it
 * returns true, and rows->row, from malloc, must remain valid and unchanged. */
bool pack_choice_know(const struct pack_rows *rows);

/* Stores the kernels that were found for shapes that were not known.  Returns their
 * number. */
size_t pack_choice_new(struct pack_row row[PACK_TUNE_CELLS]);

#endif
