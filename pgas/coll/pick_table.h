/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pick_table.h - the table file: which algorithms were found best on this machine.
 *
 * Lines of text; # begins a comment, behind a row or on a line of its own.  The first
 * line is PICK_TABLE_HEADER.  A line "machine PROCESSORS MODEL", or "machine *", says
 * where the table may be used.  All others are rows: collective algorithm bytes PEs
 * nodes; bytes are those of one block (pick.h); the last three are ranges: N, N-M, N- or
 * *.  The first row that fits is used; where none does, the built-in choice. Where the
 * file is: SHMEM_COLL_TABLE, or else the user's place, or else the system's. Uses:
 * pick.h, core/env.  Used by: pick, life, oshmem_info.
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
    PICK_PLACES = 2,                /* where a table is looked for by itself */
    PICK_NOTE_MAX = PATH_MAX + 512, /* of a sentence */
};

/* Both ends belong to it. */
struct pick_range {
    size_t from, to;
};

struct pick_row {
    enum pick_collective what;
    enum pick_algorithm algorithm;
    struct pick_range bytes, pes, nodes; /* bytes of one block */
};

/* What has become of the file. */
enum pick_state {
    PICK_TABLE_ABSENT, /* there is none, or none is wanted */
    PICK_TABLE_USED,
    PICK_TABLE_OTHER, /* it is of another machine */
    PICK_TABLE_BAD,   /* it can't be read, or has a mistake */
};

struct pick_table {
    enum pick_state state;
    struct pick_row *row;
    size_t rows;
    char path[PATH_MAX];      /* of the file; "" if it is absent */
    char note[PICK_NOTE_MAX]; /* why it is not used */
};

/* Read a table from a file that is open.  machine: this one, as pick_machine says it.
 * path is for the sentences. */
void pick_table_read(FILE *in, const char *path, const char *machine,
                     struct pick_table *table);

/* Find and read the table, given the value of SHMEM_COLL_TABLE ("" if not set) and the
 * number of processors.  Where the user's is of another machine, the system's is read. */
void pick_table_find(const char *wanted, unsigned processors, struct pick_table *table);
void pick_table_free(struct pick_table *table);

/* The i-th place, 0 is the user's; false if it is not known. */
bool pick_table_place(int i, char *path, size_t size);

/* "PROCESSORS MODEL" of this machine. */
void pick_machine(unsigned processors, char *text, size_t size);

/* The digest of the rows; only_far: of those that can fit several nodes. */
uint64_t pick_table_digest(const struct pick_table *table, bool only_far);

#endif
