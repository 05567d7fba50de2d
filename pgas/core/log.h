/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.h - sentences to stderr, one write each, prefixed with who speaks.
 * Uses: pgas.h for the PE number.  Used by everybody in pgas/.
 */
#ifndef PGAS_CORE_LOG_H
#define PGAS_CORE_LOG_H

#include <stdio.h>

/* Print "pgas: PE 3: <sentence>" and go on. */
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same under SHMEM_DEBUG only. */
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Flush a stream if that can be done without waiting. */
void log_flush(FILE *stream);

/* Print the sentence and end this process with status 1 at once: no atexit handler runs,
 * since the state of the library is not to be trusted.  The launcher ends the job. */
_Noreturn void log_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same when another PE is lost.  Says it at once but ends a little later: if that PE
 * died, the launcher should see its end first, and name the cause. */
_Noreturn void log_lost(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
