/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export.h - the environment that PEs on other hosts get from here.
 *
 * Uses nothing of ours.  Used by front.c.
 */
#ifndef OSHRUN_FRONT_EXPORT_H
#define OSHRUN_FRONT_EXPORT_H

/* Our environment but for what belongs to this host or login, then more[]
 * (NULL-terminated, NAME=value), which comes last and so wins.  NULL: no memory.  Free
 * the array only. */
char **export_env(char *const *more);

#endif
