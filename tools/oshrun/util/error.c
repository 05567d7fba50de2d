/* SPDX-License-Identifier: BSD-3-Clause */
/* error.c - see error.h.  Uses nothing of ours. */
#include "config.h"

#include "tools/oshrun/util/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static error_fn *redirect;

void error_redirect(error_fn *fn)
{
    redirect = fn;
}

void error_report(const char *format, ...)
{
    char text[ERROR_BYTES];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (redirect != NULL)
        redirect(text);
    else
        fprintf(stderr, "oshrun: %s\n", text);
}

_Noreturn void error_no_memory(void)
{
    static const char text[] =
        "oshrun: out of memory for a message of the job; ending the job\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(EXIT_FAILURE);
    _exit(EXIT_FAILURE);
}
