/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * string_list.h - NULL-terminated lists of strings, and quoting for sh.
 *
 * Pure.
 */
#ifndef OSHRUN_UTIL_STRING_LIST_H
#define OSHRUN_UTIL_STRING_LIST_H

#include <stddef.h>
#include <stdio.h>

/* Characters that need no quoting in a command; neither does '=' after the first word. */
#define SHELL_PLAIN_CHARS                                                                \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%"

/* Number of strings before the NULL. */
size_t string_list_count(char *const *list);

/* Appends word, which the list owns from now on.  *list = NULL: an empty list. */
void string_list_add(char ***list, char *word);

/* The same with a formatted word. */
__attribute__((format(printf, 2, 3))) void string_list_print(char ***list,
                                                             const char *format, ...);

/* Frees the list and its strings; list may be NULL. */
void string_list_free(char **list);

/* Writes the word quoted for sh. */
void shell_quote(FILE *out, const char *word);

/* Writes a list of words, each quoted, with a space between them. */
void shell_print(FILE *out, char *const *words);

#endif
