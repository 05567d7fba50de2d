/* SPDX-License-Identifier: BSD-3-Clause */
/* string_list.c - see string_list.h. */
#include "config.h"

#include "tools/oshrun/util/string_list.h"
#include "tools/oshrun/util/mem.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

size_t string_list_count(char *const *list)
{
    size_t n = 0;
    while (list[n] != NULL)
        n++;
    return n;
}

void string_list_add(char ***list, char *word)
{
    size_t n = *list != NULL ? string_list_count(*list) : 0;
    *list = mem_resize(*list, n + 2, sizeof **list);
    (*list)[n] = word;
    (*list)[n + 1] = NULL;
}

void string_list_print(char ***list, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    string_list_add(list, mem_vprint(format, ap));
    va_end(ap);
}

void string_list_free(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        free(list[i]);
    free(list);
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

void shell_print(FILE *out, char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        fputs(i > 0 ? " " : "", out);
        shell_quote(out, words[i]);
    }
}
