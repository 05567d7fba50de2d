/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * names.h - parses host names: valid characters, ranges in brackets, slots after a colon.
 *
 * Pure.  Used by hosts*.c, lines.c, map.c, plan.c and rank_file.c.
 *
 * Names become words of commands, so only harmless characters are valid.
 */
#ifndef OSHRUN_MAP_NAMES_H
#define OSHRUN_MAP_NAMES_H

#include "tools/oshrun/map/hosts.h"

#include <stdbool.h>
#include <stddef.h>

#define NAMES_BYTES 256 /* of one name, with the final zero */
#define NAMES_SHOWN 64  /* bytes of user text in an error message */

/* Writes the error message to why and returns -1. */
__attribute__((format(printf, 2, 3))) int names_error(char why[HOSTS_WHY],
                                                      const char *format, ...);

/* A printable copy of the beginning of any text, for error messages. */
const char *names_show(char shown[NAMES_SHOWN], const char *text, size_t len);

/* Reads a number from 1 to HOSTS_SLOTS_MAX.  0, or -1 with an error message that shows
 * whole, the text around it. */
int names_slots(uint32_t *slots, const char *text, size_t len, const char *whole,
                size_t whole_len, char why[HOSTS_WHY]);

/* Index of the first character of `stops` outside brackets, or len. */
size_t names_span(const char *text, size_t len, const char *stops);

/* Adds "n[0-3,7].dom" to h, each name with the slots and the max of like.  0, or -1 with
 * an error message in why. */
int names_expand(struct hosts *h, const char *text, size_t len, const struct host *like,
                 char why[HOSTS_WHY]);

/* Splits "n[0-3]:4" into the length of the name and host->slots, which is unchanged if
 * no slots are given.  0, or -1 with an error message in why. */
int names_split(const char *text, size_t len, size_t *name_len, struct host *host,
                char why[HOSTS_WHY]);

#endif
