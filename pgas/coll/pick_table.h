/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pick_table.h - the tuning table file: the best algorithms measured on one machine type.
 *
 * Format: a text file whose first line is PICK_TABLE_HEADER; `#` starts a comment.  A
 * line "machine PROCESSORS MODEL" or "machine *" restricts the table to a machine type.
 * Every other line is a row "collective algorithm bytes PEs nodes".  Bytes are per block
 * (pick.h).  The last three columns are ranges: N, N-M, N- or *.  The first matching row
 * is used; if no row matches, the built-in table applies.
 *
 * Search order: SHMEM_COLL_TABLE, the user's configuration file, the system's one.
 * Uses: pick.h, core/env.  Used by: pick, life, oshmem_info.
 */
#ifndef PGAS_COLL_PICK_TABLE_H
#define PGAS_COLL_PICK_TABLE_H

#include <limits.h>
#include <stdio.h>

#include "pgas/coll/pick.h"

#define PICK_TABLE_HEADER "pgas-coll-table 2"
#define PICK_TABLE_NONE   "none" /* as SHMEM_COLL_TABLE: no file */

enum {
    PICK_MACHINE_MAX = 128,
    PICK_ROWS_MAX = 4096,
    PICK_PLACES = 2,                /* default paths of the table */
    PICK_NOTE_MAX = PATH_MAX + 512, /* size of an error message */
};

/* A closed interval: both ends are included. */
struct pick_range {
    size_t from, to;
};

struct pick_row {
    enum pick_collective what;
    enum pick_algorithm algorithm;
    struct pick_range bytes, pes, nodes; /* bytes of one block */
};

/* Result of finding and reading the file. */
enum pick_state {
    PICK_TABLE_ABSENT, /* not found, or disabled with PICK_TABLE_NONE */
    PICK_TABLE_USED,
    PICK_TABLE_OTHER, /* for another machine type */
    PICK_TABLE_BAD,   /* unreadable or invalid */
};

struct pick_table {
    enum pick_state state;
    struct pick_row *row;
    size_t rows;
    char path[PATH_MAX];      /* of the file; "" if absent */
    char note[PICK_NOTE_MAX]; /* why the file is not used */
};

/* Read a table from an open file.  `machine` is this machine type as returned by
 * pick_machine; `path` is used in error messages. */
void pick_table_read(FILE *in, const char *path, const char *machine,
                     struct pick_table *table);

/* Find and read the table, given the value of SHMEM_COLL_TABLE ("" if not set) and the
 * number of processors.  If the user's table is for another machine type, the system's
 * table is read. */
void pick_table_find(const char *wanted, unsigned processors, struct pick_table *table);
void pick_table_free(struct pick_table *table);

/* The i-th default path; 0 is the user's.  Returns false if it cannot be determined. */
bool pick_table_place(int i, char *path, size_t size);

/* The machine type of this node, "PROCESSORS MODEL". */
void pick_machine(unsigned processors, char *text, size_t size);

/* Digest of the rows; only_far restricts it to rows that can match several nodes. */
uint64_t pick_table_digest(const struct pick_table *table, bool only_far);

#endif
