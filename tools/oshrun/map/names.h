/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * names.h - the names of hosts as users write them: what may stand in one, ranges in
 * brackets, slots behind a colon.
 *
 * Pure.  Used by hosts.c, hosts_file.c, hosts_slurm.c and rank_file.c.
 *
 * Names become words of commands, so only harmless characters may stand in them.
 */
#ifndef OSHRUN_MAP_NAMES_H
#define OSHRUN_MAP_NAMES_H

#include "tools/oshrun/map/hosts.h"

#include <stdbool.h>
#include <stddef.h>

#define NAMES_BYTES 256 /* of one name, with the final zero */
#define NAMES_SHOWN 64  /* of the user's text in a sentence */

/* Says why and returns -1. */
__attribute__((format(printf, 2, 3))) int names_refuse(char why[HOSTS_WHY],
                                                       const char *format, ...);

/* The beginning of a text that may be anything, fit to stand in a sentence. */
const char *names_show(char shown[NAMES_SHOWN], const char *text, size_t len);

/* A number from 1 to HOSTS_SLOTS_MAX, or -1 and a sentence; whole is what it stands in.
 */
int names_slots(uint32_t *slots, const char *text, size_t len, const char *whole,
                size_t whole_len, char why[HOSTS_WHY]);

/* Where in text the first of `stops` is that does not stand in brackets; else len. */
size_t names_span(const char *text, size_t len, const char *stops);

/* Adds "n[0-3,7].dom" to h, each name with the slots and the max of like.  0, or -1 and
 * a sentence. */
int names_expand(struct hosts *h, const char *text, size_t len, const struct host *like,
                 char why[HOSTS_WHY]);

/* Splits "n[0-3]:4" into the length of the name and host->slots, which stays as it is
 * where nothing is said.  0, or -1 and a sentence. */
int names_split(const char *text, size_t len, size_t *name_len, struct host *host,
                char why[HOSTS_WHY]);

#endif
