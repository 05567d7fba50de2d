/* SPDX-License-Identifier: BSD-3-Clause */
/* wordtable.h - a hash table of words and counts, spread over the symmetric memory of all
 * PEs; any PE may count any word at any time.  Used by wordcount.c. */
#ifndef WORDTABLE_H
#define WORDTABLE_H

#include <stddef.h>
#include <stdint.h>

/* A word as wordtable_collect finds it. */
struct wordcount {
    char *word;
    uint64_t count;
};

/* Make the table; all PEs call it with the same sizes: slots for different words and
 * bytes for their letters, on each PE. */
void wordtable_open(uint64_t slots, uint64_t bytes);

/* Count one word of len letters.  Ends the job when the table is full. */
void wordtable_count(const char *word, size_t len);

/* All words of all PEs, after a barrier; returns how many. */
size_t wordtable_collect(struct wordcount **list);

#endif
