/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * string_list.h - lists of words, such as an argument vector, and words as sh reads them.
 *
 * Pure.  Used by export.c, node/launch.c, start/.
 */
#ifndef OSHRUN_UTIL_STRING_LIST_H
#define OSHRUN_UTIL_STRING_LIST_H

#include <stddef.h>
#include <stdio.h>

/* What stands for itself everywhere in a command; '=' does so but in its first word. */
#define SHELL_PLAIN_CHARS                                                                \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%"

/* How many words there are before the NULL. */
size_t string_list_count(char *const *list);

/* Write a word so that sh reads it back as one, as it is. */
void shell_quote(FILE *out, const char *word);

#endif
