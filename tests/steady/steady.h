/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * steady.h - did a test get its processor?  For tests in C that fail if something took
 * too long; steady.sh is for those in shell, and watch.c does the measurement.
 *
 *     struct steady s;
 *     steady_begin(&s, getpid());
 *     ...
 *     if (took_ns > limit_ns)
 *         exit(steady_status(&s, took_ns, "the end"));
 *
 * A test that cannot measure fails as if it had had its processor.
 */
#ifndef TESTS_STEADY_STEADY_H
#define TESTS_STEADY_STEADY_H

#include <stdint.h>
#include <sys/types.h>

enum { STEADY_FAILED = 1, STEADY_UNSTEADY = 75 };

/* What the watch has counted since it began. */
struct steady {
    uint64_t sample, delay_ns, stolen_ns;
};

/* Begins an interval.  The first call starts a watch on the processes below `root`, which
 * is this process or an ancestor; a program started by a shell test uses the watch of
 * that. */
void steady_begin(struct steady *s, pid_t root);

/* The status to exit with after a time judgement that failed: STEADY_UNSTEADY if the
 * delay since steady_begin is more than a tenth of took_ns, otherwise STEADY_FAILED.
 * Prints it. */
int steady_status(const struct steady *s, uint64_t took_ns, const char *what);

#endif
