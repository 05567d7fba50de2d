/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error.h - error messages to the user.
 *
 * Used by all of oshrun.  The front end prints a message as a line on standard error. The
 * process of a node daemon sends the last one with FAILED; the front end then prints it
 * with the name of the node.
 */
#ifndef OSHRUN_UTIL_ERROR_H
#define OSHRUN_UTIL_ERROR_H

#define ERROR_BYTES 1024

typedef void error_fn(const char *error_text);

/* Redirects error messages to fn; NULL: back to standard error. */
void error_redirect(error_fn *fn);

/* Out of memory (mem.h): prints a message and exits.  The job then ends, by the reaper or
 * because the peers see their links go down. */
_Noreturn void error_no_memory(void);

/* Reports an error.  The message has neither the prefix "oshrun: " nor a newline. */
__attribute__((format(printf, 1, 2))) void error_report(const char *format, ...);

/* The last error that was reported, or "". */
const char *error_last(void);

#endif
