/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines.h - a file of the user, line by line: comments and blank lines are left out, and
 * what is no text is refused.
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
    char *rest; /* of the line: what lines_word has not given yet */
};

/* "-" is standard input.  0, or -1 and a sentence. */
int lines_open(struct lines *l, const char *kind, const char *path, char why[HOSTS_WHY]);

/* The next line that has a word.  1; 0 at the end; -1 and a sentence. */
int lines_next(struct lines *l, char why[HOSTS_WHY]);

/* The next word of the line, NULL at its end. */
char *lines_word(struct lines *l);

/* "hostfile hosts.txt, line 3: ..." and -1. */
__attribute__((format(printf, 3, 4))) int
lines_refuse(const struct lines *l, char why[HOSTS_WHY], const char *format, ...);
void lines_close(struct lines *l);

#endif
