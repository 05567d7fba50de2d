/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.h - messages to stderr: one write(2) each, prefixed with the PE number.
 * Uses: pgas.h for the PE number, call_site.  Used by all of pgas/.
 */
#ifndef PGAS_CORE_LOG_H
#define PGAS_CORE_LOG_H

#include <stdio.h>

/* Prints "pgas: PE 3: <message>". */
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Likewise, under SHMEM_DEBUG only. */
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Flushes a stream unless another thread holds its lock. */
void log_flush(FILE *stream);

/* Prints the message and exits with status 1 immediately.  No atexit handler runs,
 * because the state of the library may be inconsistent.  The launcher ends the job. */
_Noreturn void log_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As log_die, for an invalid call of the library: adds the call site in the program. */
_Noreturn void log_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As log_die, for the loss of another PE.  Prints immediately but exits after a short
 * delay: if that PE died, the launcher should see its exit first and report the cause. */
_Noreturn void log_lost(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
