/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * select_table.h - the tuning table file: the best algorithms measured on one machine
 * type.
 *
 * Format: a text file whose first line is SELECT_TABLE_HEADER; `#` starts a comment.  A
 * line "machine PROCESSORS MODEL" or "machine *" begins a section: it restricts the rows
 * up to the next such line to a machine type.  Every other line is a row "collective
 * algorithm bytes PEs nodes".  Bytes are per block (select.h).  The last three columns
 * are ranges: N, N-M, N- or *.  The first matching row is used; if no row matches, the
 * built-in table applies.
 *
 * Search order: SHMEM_COLL_TABLE, the user's configuration file, the system's one.
 * Uses: select.h, core/env.  Used by: select, life, oshmem_info.
 */
#ifndef PGAS_COLL_SELECT_TABLE_H
#define PGAS_COLL_SELECT_TABLE_H

#include <limits.h>
#include <stdio.h>

#include "pgas/coll/select/select.h"

#define SELECT_TABLE_HEADER "pgas-coll-table 2"
#define SELECT_TABLE_NONE   "none" /* as SHMEM_COLL_TABLE: no file */

enum {
    SELECT_MACHINE_MAX = 128,
    SELECT_ROWS_MAX = 4096,
    SELECT_PATHS = 2,                 /* default paths of the table */
    SELECT_NOTE_MAX = PATH_MAX + 512, /* size of an error message */
};

/* A closed interval: both ends are included. */
struct select_range {
    size_t from, to;
};

struct select_row {
    enum select_collective what;
    enum select_algorithm algorithm;
    struct select_range bytes, pes, nodes; /* bytes of one block */
};

/* Result of finding and reading the file. */
enum select_state {
    SELECT_TABLE_ABSENT, /* not found, or disabled with SELECT_TABLE_NONE */
    SELECT_TABLE_USED,
    SELECT_TABLE_OTHER, /* all rows are for other machine types */
    SELECT_TABLE_BAD,   /* unreadable or invalid */
};

struct select_table {
    enum select_state state;
    struct select_row *row;
    size_t rows;
    char path[PATH_MAX];        /* of the file; "" if absent */
    char note[SELECT_NOTE_MAX]; /* why the file is not used */
};

/* Read a table from an open file.  `machine` is this machine type as returned by
 * select_machine; `path` is used in error messages. */
void select_table_read(FILE *in, const char *path, const char *machine,
                       struct select_table *table);

/* Find and read the table, given the value of SHMEM_COLL_TABLE ("" if not set) and the
 * number of processors.  If the user's table is for another machine type, the system's
 * table is read. */
void select_table_find(const char *wanted, unsigned processors,
                       struct select_table *table);
void select_table_free(struct select_table *table);

/* The i-th default path; 0 is the user's.  Returns false if it cannot be determined. */
bool select_table_path(int i, char *path, size_t size);

/* The model of this node's processors. */
void select_model(char *text, size_t size);

/* The machine type of this node, "PROCESSORS MODEL". */
void select_machine(unsigned processors, char *text, size_t size);

/* Digest of the rows; only_remote restricts it to rows that can match several nodes. */
uint64_t select_table_digest(const struct select_table *table, bool only_remote);

#endif
