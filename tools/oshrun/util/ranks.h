/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ranks.h - lists of PEs as text.
 *
 * Uses nothing of ours.  Used by front_report.c, front_merge.c and pmix_upcalls.c.
 */
#ifndef OSHRUN_UTIL_RANKS_H
#define OSHRUN_UTIL_RANKS_H

#include <stdint.h>

#define RANKS_TEXT 128

void ranks_sort(uint32_t *rank, uint32_t count);

/* "0-2,5"; or, if that is too long, "0-2,5,7,... (300 PEs)".  rank[0, count): ascending.
 */
void ranks_text(const uint32_t *rank, uint32_t count, char text[RANKS_TEXT]);

#endif
