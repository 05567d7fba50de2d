/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_file.h - a file with the host, and optionally the processors, of each PE.
 *
 * Uses lines.h.  Used by map.c.
 */
#ifndef OSHRUN_MAP_RANK_FILE_H
#define OSHRUN_MAP_RANK_FILE_H

#include "tools/oshrun/map/hosts.h"

struct rank_entry {
    char *host;
    char *cpus;    /* "0-3,8"; NULL: not given */
    uint32_t line; /* line number; 0: the rank has no entry */
};

struct rank_file {
    struct rank_entry *entry; /* by rank; of MAP_NPES_MAX ranks */
    uint32_t npes;
};

/* A line: "rank 3=host" or "rank 3=host slot=0-1,4"; # begins a comment.  Each rank from
 * 0 to npes - 1 must occur exactly once; npes = 0: up to the highest in the file.  0, or
 * -1 with an error message in why. */
int rank_file_read(struct rank_file *r, const char *path, uint32_t npes,
                   char why[HOSTS_WHY]);
void rank_file_free(struct rank_file *r);

#endif
