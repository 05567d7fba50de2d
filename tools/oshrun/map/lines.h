/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines.h - reads a text file line by line: skips comments and blank lines, and rejects
 * files that are not text.
 *
 * Uses names.h.  Used by hosts_file.c and rank_file.c.
 */
#ifndef OSHRUN_MAP_LINES_H
#define OSHRUN_MAP_LINES_H

#include "tools/oshrun/map/hosts.h"

#include <stdint.h>
#include <stdio.h>

#define LINES_BYTES 4096 /* of one line */

struct lines {
    const char *kind; /* "hostfile" */
    const char *path;
    FILE *f;
    uint32_t number; /* of the line in text, from 1 */
    char text[LINES_BYTES];
    char *rest; /* rest of the line, for lines_word */
};

/* "-" is standard input.  0, or -1 with an error message in why. */
int lines_open(struct lines *l, const char *kind, const char *path, char why[HOSTS_WHY]);

/* Reads the next line with a word.  1; 0 at end of file; -1 with an error message in
 * why. */
int lines_next(struct lines *l, char why[HOSTS_WHY]);

/* The next word of the line, NULL at its end. */
char *lines_word(struct lines *l);

/* Writes "hostfile hosts.txt, line 3: ..." to why and returns -1. */
__attribute__((format(printf, 3, 4))) int
lines_error(const struct lines *l, char why[HOSTS_WHY], const char *format, ...);
void lines_close(struct lines *l);

#endif
