/* SPDX-License-Identifier: BSD-3-Clause */
/* error.c - see error.h.  Also defines what a failed PGAS_ASSERT does
 * in programs without libshmem. */
#include "config.h"

#include "pgas/core/base/pgas_assert.h"
#include "tools/oshrun/util/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static error_fn *redirect;
static char last[ERROR_BYTES];

void error_redirect(error_fn *fn)
{
    redirect = fn;
}

void error_report(const char *format, ...)
{
    char text[ERROR_BYTES]; /* an argument may be error_last() */
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    memcpy(last, text, sizeof last);
    if (redirect != NULL)
        redirect(last);
    else
        fprintf(stderr, "oshrun: %s\n", last);
}

const char *error_last(void)
{
    return last;
}

_Noreturn void error_no_memory(void)
{
    static const char text[] = "oshrun: out of memory; ending the job\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(EXIT_FAILURE);
    _exit(EXIT_FAILURE);
}

/* Weak: the tests of both link this and libshmem. */
__attribute__((weak)) void pgas_assert_failed(const char *condition, const char *file,
                                              int line, const char *function)
{
    fprintf(stderr, "oshrun: %s:%d: %s: assertion `%s' failed\n", file, line, function,
            condition);
    abort();
}
