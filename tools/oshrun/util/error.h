/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error.h - says to the user why something cannot be done.
 *
 * Used by all of oshrun.  In the front it is a line on standard error; in a node daemon
 * the sentence travels to the front, which puts the name of the host before it.
 */
#ifndef OSHRUN_UTIL_ERROR_H
#define OSHRUN_UTIL_ERROR_H

#define ERROR_BYTES 1024

typedef void error_fn(const char *sentence);

/* Where sentences go instead of standard error; NULL: there again. */
void error_redirect(error_fn *fn);

/* There is no memory for what must not be lost: says so, and ends the process; its
 * reaper, or the end of its links, ends the job. */
_Noreturn void error_no_memory(void);

/* A sentence without "oshrun: " and without newline. */
__attribute__((format(printf, 1, 2))) void error_report(const char *format, ...);

#endif
