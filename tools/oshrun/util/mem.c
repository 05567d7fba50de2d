/* SPDX-License-Identifier: BSD-3-Clause */
/* mem.c - see mem.h. */
#include "config.h"

#include "tools/oshrun/util/mem.h"

#include "pgas/core/base/seal.h"
#include "tools/oshrun/util/error.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void *mem_check(void *p)
{
    if (p == NULL)
        error_no_memory();
    return p;
}

void *mem_alloc(size_t n)
{
    return mem_check(malloc(n > 0 ? n : 1));
}

void *mem_calloc(size_t n, size_t size)
{
    return mem_check(calloc(n > 0 ? n : 1, size));
}

void *mem_resize(void *p, size_t n, size_t size)
{
    return mem_check(reallocarray(p, n, size));
}

void *mem_secret(size_t n)
{
    return mem_check(seal_memory_alloc(n));
}

char *mem_strdup(const char *text)
{
    return mem_check(strdup(text));
}

char *mem_strndup(const char *text, size_t n)
{
    return mem_check(strndup(text, n));
}

char *mem_vprint(const char *format, va_list ap)
{
    char *text;
    if (vasprintf(&text, format, ap) < 0)
        error_no_memory();
    return text;
}

char *mem_print(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    char *text = mem_vprint(format, ap);
    va_end(ap);
    return text;
}

FILE *mem_stream(char **text, size_t *len)
{
    return mem_check(open_memstream(text, len));
}

void mem_stream_close(FILE *stream)
{
    bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed)
        error_no_memory();
}
