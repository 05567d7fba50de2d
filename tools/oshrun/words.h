/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * words.h - lists of words, such as an argument vector, and words as sh reads them.
 *
 * Pure.  Used by export.c, node/launch.c, start/.
 */
#ifndef OSHRUN_WORDS_H
#define OSHRUN_WORDS_H

#include <stddef.h>
#include <stdio.h>

/* What stands for itself everywhere in a command; '=' does so but in its first word. */
#define WORDS_PLAIN                                                                      \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%"

/* How many words there are before the NULL. */
size_t words_count(char *const *list);

/* Write a word so that sh reads it back as one, as it is. */
void words_quote(FILE *out, const char *word);

#endif
