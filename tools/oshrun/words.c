/* SPDX-License-Identifier: BSD-3-Clause */
/* words.c - see words.h. */
#include "config.h"

#include "tools/oshrun/words.h"

#include <string.h>

size_t words_count(char *const *list)
{
    size_t n = 0;
    while (list[n] != NULL)
        n++;
    return n;
}

void words_quote(FILE *out, const char *word)
{
    if (*word != '\0' && word[strspn(word, WORDS_PLAIN "=")] == '\0') {
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
