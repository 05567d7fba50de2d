/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * string_list.h - NULL-terminated lists of strings, and quoting for sh.
 *
 * Pure.  Used by export.c, launch.c, launcher.c, command.c.
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

/* Writes the word quoted for sh. */
void shell_quote(FILE *out, const char *word);

#endif
