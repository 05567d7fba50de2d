/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export.h - the part of our environment that PEs on other hosts get.
 *
 * Uses nothing of ours.  Used by front.c.
 */
#ifndef OSHRUN_FRONT_EXPORT_H
#define OSHRUN_FRONT_EXPORT_H

/* Our environment without variables specific to this host or login, followed by more[]
 * (NULL-terminated, NAME=value), which takes precedence.  NULL: out of memory.  Free the
 * array only. */
char **export_env(char *const *more);

#endif
