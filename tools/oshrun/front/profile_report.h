/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_report.h - the arrival profile of a job: checks at the start that its report
 * can be written, and runs oshprof at the end.
 *
 * Uses options.h, error.h.  Used by main.c.
 */
#ifndef OSHRUN_FRONT_PROFILE_REPORT_H
#define OSHRUN_FRONT_PROFILE_REPORT_H

#include "tools/oshrun/front/options.h"

#include <limits.h>

enum { REPORT_TEXT, REPORT_HTML, REPORTS };

struct report {
    char base[PATH_MAX];         /* path without suffix; "" if there is no profile */
    const char *ending[REPORTS]; /* suffix of the report; NULL: it is not wanted */
};

/* Call before the job starts.  0, or -1 after an error message. */
int report_prepare(struct report *r, const struct options *o);

/* Call after the job, whose exit status is `status`.  0, or -1 after an error message. */
int report_make(const struct report *r, int status);

#endif
