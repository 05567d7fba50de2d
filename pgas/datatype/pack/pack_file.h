/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_file.h - a file with the kernels that measurements have found, so that later runs
 * need not measure.
 *
 * Format: a text file whose first line is PACK_FILE_HEADER; `#` starts a comment.  The
 * line "machine ISA MODEL" names the instruction set (isa.h) and the processor on which
 * the rows were measured; for another machine the file is not used.  Every other line is
 * a row "kernel block to_stride from_stride bytes": a shape (pack_tune.h), in bytes.
 * `bytes` is a power of two, and stands for sizes from it to twice as many.
 *
 * Kernels are only named: a row whose kernel does not accept a vector has no effect, so
 * that a wrong file costs time, never results.  Thread-safe.
 * Uses: pack_tune, pack_choice (names).  Used by: coll/api/life_pack, oshmem_info.
 */
#ifndef PGAS_DATATYPE_PACK_FILE_H
#define PGAS_DATATYPE_PACK_FILE_H

#include <stdio.h>

#include "pgas/datatype/pack/pack_tune.h"

#define PACK_FILE_HEADER "pgas-pack-table 1"

enum {
    PACK_FILE_ROWS_MAX = 4096,
    PACK_FILE_MACHINE_MAX = 160,
    PACK_FILE_NOTE_MAX = 512,
};

enum pack_file_state {
    PACK_FILE_ABSENT,
    PACK_FILE_USED,
    PACK_FILE_OTHER, /* of another machine */
    PACK_FILE_BAD,   /* unreadable or invalid */
};

/* Reads a file of this machine, "ISA MODEL".  *rows is allocated by malloc, and empty
 * unless the state is PACK_FILE_USED; note: why it is OTHER or BAD. */
enum pack_file_state pack_file_read(const char *path, const char *machine,
                                    struct pack_rows *rows,
                                    char note[PACK_FILE_NOTE_MAX]);

/* Writes the rows of `old`, and those of `added` whose shapes are not among them, as far
 * as there is space.  The file is replaced as a whole, so that readers never see a part
 * of it.  0 or -errno. */
int pack_file_write(const char *path, const char *machine, const struct pack_rows *old,
                    const struct pack_rows *added);

#endif
