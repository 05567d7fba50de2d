/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_int.h - interfaces between the files of the arrival profile.
 *
 *   profile.c         records of the calls of this PE, and the file
 *   profile_team.c    identifies a team by the same number on all of its PEs
 *   profile_site.c    call sites
 *   profile_gather.c  collects rows on PE 0, samples clocks, measures message times
 */
#ifndef PGAS_PROFILE_PROFILE_INT_H
#define PGAS_PROFILE_PROFILE_INT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pgas/core/base/pgas.h"
#include "pgas/core/check/check.h"
#include "pgas/core/team/team.h"
#include "pgas/profile/profile_file.h"

#define PROFILE_FN "the arrival profile"

enum {
    PROFILE_ALPHAS = 2,            /* pairs of PEs whose message times are measured */
    PROFILE_BLOCK = 8192,          /* records */
    PROFILE_RECORDS_MAX = 1 << 20, /* of a PE */
    PROFILE_BLOCKS_MAX = PROFILE_RECORDS_MAX / PROFILE_BLOCK,
    PROFILE_SITE_HEADS = 256, /* buckets of the hash table of call sites */
};

struct profile_call_site {
    const void *address;
    const char *routine;
    uint32_t next; /* row + 1 of the next one in the same bucket */
};

/* Call sites of this PE. */
struct profile_site_state {
    struct profile_call_site *row;
    size_t rows, capacity;
    uint32_t head[PROFILE_SITE_HEADS];
};

struct profile_team_state {
    struct profile_team *row; /* destroyed teams too */
    size_t rows, capacity;
    uint32_t *row_of_slot; /* row + 1 of the team in that slot */
    size_t slots;
};

/* Allocated by the first profile_init with SHMEM_PROFILE_ARRIVAL, and never freed. */
struct profile_state {
    pthread_mutex_t lock; /* protects on, the records, sites and teams */
    bool on;
    struct profile_record *block[PROFILE_BLOCKS_MAX];
    size_t nrecords, records_max;
    uint64_t lost; /* calls without a record */
    struct profile_site_state sites;
    struct profile_team_state teams;

    /* The file, on PE 0 */
    char *file;
    FILE *out;
    struct profile_header header;
    enum profile_chunk_kind chunk_kind;
    size_t chunk_row_bytes;
    struct profile_site site; /* result of profile_site_row */

    /* Communication (profile_gather.c) */
    struct shmem_team team;
    struct profile_clock_sample *samples; /* of PE 0: by node, two each */

    /* Message times */
    bool wanted[PROFILE_BUCKETS]; /* sizes of calls; on PE 0 of all PEs */
    struct profile_alpha alpha[PROFILE_ALPHAS], *measured[PROFILE_ALPHAS];
};
#define PROFILE pgas_self.profile

/* ---- profile_team.c -------------------------------------------------------------- */

/* Row of the call's team or active set; -1: no team, or no memory. */
int profile_team_of(const struct check_call *call);
struct profile_team *profile_team_at(size_t row);
size_t profile_teams(void);
/* Adds the teams that a returned call has created; `id` identifies the call. */
void profile_team_created(const struct check_call *call, uint64_t id);
/* Removes the slot of the team that the call is about to destroy. */
void profile_team_destroyed(const struct check_call *call);
/* Hash of two numbers, never 0. */
uint64_t profile_mix(uint64_t a, uint64_t b);
void profile_team_fini(void);

/* ---- profile_site.c -------------------------------------------------------------- */

/* Row of a call site; -1: no memory. */
int profile_site_of(const void *site, const char *routine);
size_t profile_sites(void);
void profile_site_describe(size_t row, struct profile_site *site);
void profile_site_fini(void);

/* ---- profile_gather.c ------------------------------------------------------------ */

/* Set up the team of the profile, and sample the clocks of all nodes. */
void profile_gather_init(void);
/* Sample the clocks again; returns two samples for each node, valid on PE 0. */
const struct profile_clock_sample *profile_gather_clocks(void);
void profile_gather_fini(void);

/* Collective: row() returns row i < n of this PE; sink() receives the rows of all PEs on
 * PE 0. */
struct profile_rows {
    size_t n, bytes;
    const void *(*row)(size_t i);
    void (*sink)(int pe, const void *rows, size_t n);
};
void profile_gather(const struct profile_rows *rows);

/* Collective: measure message times for the buckets set in `wanted` of PE 0,
 * between nodes (alpha[0]; in a job of one node: within it) and within a node (alpha[1]).
 * The result is valid on the first PE of each pair; on PEs outside the pair
 * alpha[i].bytes_max is 0. */
void profile_measure(const bool *wanted, struct profile_alpha alpha[PROFILE_ALPHAS]);

/* Message sizes: the largest one that is timed, and one that fits every window. */
enum { PROFILE_LARGEST = 4 << 20, PROFILE_SURE = 32 << 10 };

#endif
