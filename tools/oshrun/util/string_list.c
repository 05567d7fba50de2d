/* SPDX-License-Identifier: BSD-3-Clause */
/* string_list.c - see string_list.h. */
#include "config.h"

#include "tools/oshrun/util/string_list.h"

#include <string.h>

size_t string_list_count(char *const *list)
{
    size_t n = 0;
    while (list[n] != NULL)
        n++;
    return n;
}

void shell_quote(FILE *out, const char *word)
{
    if (*word != '\0' && word[strspn(word, SHELL_PLAIN_CHARS "=")] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    }
    fputc('\'', out);
}
