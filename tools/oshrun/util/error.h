/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error.h - error messages to the user.
 *
 * Used by all of oshrun.  In the front it is a line on standard error; in a node daemon
 * the sentence travels to the front, which puts the name of the host before it.
 */
#ifndef OSHRUN_UTIL_ERROR_H
#define OSHRUN_UTIL_ERROR_H

#define ERROR_BYTES 1024

typedef void error_fn(const char *sentence);

/* Redirects error messages to fn; NULL: back to standard error. */
void error_redirect(error_fn *fn);

/* Out of memory for data that must not be lost: prints a message and exits.  The reaper,
 * or the peers of its links, then end the job. */
_Noreturn void error_no_memory(void);

/* A sentence without "oshrun: " and without newline. */
__attribute__((format(printf, 1, 2))) void error_report(const char *format, ...);

#endif
