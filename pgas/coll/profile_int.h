/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_int.h - what the files of the profile share.
 *
 *   profile.c        records: the calls of this PE
 *   profile_team.c   one number for a team on all of its PEs
 *   profile_site.c   a call site, named
 *   profile_meet.c   PEs meet: rows go to PE 0, clocks are compared, messages are timed
 *   profile_join.c   PE 0: the calls of all PEs, put side by side
 *   profile_sum.c    PE 0: how far apart the PEs came, summed up
 *   profile_text.c, profile_html.c   PE 0: the report
 */
#ifndef PGAS_COLL_PROFILE_INT_H
#define PGAS_COLL_PROFILE_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pgas/core/check.h"
#include "pgas/core/team.h"

#define PROFILE_FN "the arrival profile"

enum {
    PROFILE_ROUTINE_MAX = 48,
    PROFILE_SYMBOL_MAX = 128,
    PROFILE_MODULE_MAX = 256,
    PROFILE_TEAM_MAX = 32,
    PROFILE_BUCKETS = 66, /* by size: 0 bytes, then up to 2^0, 2^1 .. 2^64 */
    PROFILE_CLASSES = 4,  /* 0-1 KiB, 1 KiB-1 MiB, 1-64 MiB, more */
    PROFILE_RANKS = 16,   /* parts of the order in which PEs come that are told apart */
};

/* ---- what a PE writes down ------------------------------------------------------- */

/* A call: site and team are rows of the PE's tables. */
struct profile_record {
    uint64_t came, left; /* ns of the PE's clock; left = 0: it is still there */
    uint64_t bytes;
    uint32_t site, team;
    uint64_t call; /* the how manieth of the team, from 0 */
};

/* Where which routine is called; the same on all PEs that run the same program. */
struct profile_site {
    char routine[PROFILE_ROUTINE_MAX];
    char symbol[PROFILE_SYMBOL_MAX]; /* function+0x12; "" if it has no name */
    char module[PROFILE_MODULE_MAX]; /* the file */
    uint64_t address;                /* in that file, as addr2line takes it */
};

struct profile_team {
    uint64_t id; /* the same on all PEs of the team, and of no other one */
    uint32_t npes;
    char name[PROFILE_TEAM_MAX];
    uint64_t calls;    /* of this PE */
    uint64_t recorded; /* none from this one on has a record of this PE */
};

/* ---- profile_team.c -------------------------------------------------------------- */

/* The row of the call's team or active set; -1: nobody takes part, or no memory. */
int profile_team_of(const struct check_call *call);
struct profile_team *profile_team_at(size_t row);
size_t profile_teams(void);
/* A new team, made by the call with this number, which has come to an end. */
void profile_team_made(const struct check_call *call, uint64_t id);
/* The team of the call is going to be destroyed. */
void profile_team_gone(const struct check_call *call);
/* Two numbers in one. */
uint64_t profile_mix(uint64_t a, uint64_t b);
void profile_team_fini(void);

/* ---- profile_site.c -------------------------------------------------------------- */

/* The row of a call site; -1 without memory. */
int profile_site_of(const void *site, const char *routine);
size_t profile_sites(void);
/* Name it. */
void profile_site_name(size_t row, struct profile_site *name);
void profile_site_fini(void);

/* ---- profile_meet.c -------------------------------------------------------------- */

/* Open the way on which the PEs of the profile meet, and compare clocks a first time. */
void profile_meet_init(void);
/* Compare them again: from then on profile_clock knows. */
void profile_meet_clocks(void);
void profile_meet_fini(void);

/* Time of a PE on the clock of PE 0, and how wrong that may be at most, in ns.  Of PE 0.
 */
uint64_t profile_clock(int pe, uint64_t ns);
uint64_t profile_clock_error(void);

/* n rows of some bytes, which row() finds, from each PE to sink() on PE 0, in order. */
struct profile_rows {
    size_t n, bytes;
    const void *(*row)(size_t i);
    void (*sink)(int pe, const void *rows, size_t n);
};
void profile_gather(const struct profile_rows *rows);

/* Messages that are timed: the longest, and one for which there is always room. */
enum { PROFILE_LARGEST = 4 << 20, PROFILE_SURE = 32 << 10 };

/* The time of a message from PE 0 to the last PE in ns, by size; 0: it was not measured,
 * or there is one PE alone. */
struct profile_alpha {
    double ns[PROFILE_BUCKETS];
    size_t most; /* the largest message that was measured; from there on in proportion */
};
/* Measure for the sizes whose bit in `wanted` of PE 0 is set. */
void profile_measure(const bool *wanted, struct profile_alpha *alpha);

/* ---- profile_join.c -------------------------------------------------------------- */

/* A call of a PE, in ns of PE 0's clock.  left = 0: none. */
struct profile_cell {
    uint64_t came, left;
};

struct profile_call {
    uint64_t bytes; /* the most that a PE gave */
    uint32_t site;  /* of the first PE, in the table of all */
};

/* A team and its calls: cell[call * npes + i] is that of PE member[i]. */
struct profile_joined {
    struct profile_team team;
    int *member;
    uint32_t members; /* that have been found */
    uint64_t calls;   /* that may have records of all */
    uint64_t all;
    struct profile_cell *cell;
    struct profile_call *call;
};

struct profile_join {
    struct profile_site *site;
    size_t sites;
    struct profile_joined *team;
    size_t teams;
    uint64_t begin, end;  /* from shmem_init to shmem_finalize, of PE 0 */
    size_t room;          /* calls that a PE keeps */
    uint64_t left_out;    /* those of all PEs that had no room */
    uint64_t *routine_ns; /* of each PE: time in collectives */
    bool failed;          /* no memory: there is nothing */
};

/* Bring it all to PE 0; each PE calls it.  On others it stays empty. */
void profile_join(const struct profile_rows *records, struct profile_join *join);
void profile_join_free(struct profile_join *join);

/* ---- profile_sum.c --------------------------------------------------------------- */

/* A figure of many calls. */
struct profile_mean {
    double sum, max;
};
static inline double profile_mean(const struct profile_mean *m, uint64_t calls)
{
    return calls > 0 ? m->sum / (double)calls : 0.0;
}

/* How far apart the PEs come: the last after the first, each from the mean on average;
 * the same in times of a message (alpha); and both for the PEs of one node. */
struct profile_group {
    uint64_t calls;
    double bytes;
    struct profile_mean time; /* in the routine: mean over the PEs, and the longest */
    struct profile_mean omega, spread;
    struct profile_mean worst, average;
    struct profile_mean node_omega, node_spread, node_worst, node_average;
};

/* What a site says of a PE. */
struct profile_late {
    uint64_t calls, last; /* how often it came, and as the last one */
    double behind;        /* the first one, in sum, ns */
    uint32_t rank[PROFILE_RANKS];
};

/* Calls of a site one after the other, for a plot: that with the largest distance. */
struct profile_point {
    double t, omega, spread, worst; /* s from the start; ns; factor */
    uint32_t site, calls;
    int last;
};

struct profile_sum {
    const struct profile_join *join;
    struct profile_group all, class[PROFILE_CLASSES];
    struct profile_group *group;      /* by site and bucket */
    struct profile_group *site_class; /* by site and class */
    struct profile_late *late;        /* by site and PE */
    struct profile_point *point;
    size_t points;
    uint64_t incomplete; /* calls to which not all PEs came, or whose records are lost */
    struct profile_alpha alpha;
    int nodes;
    bool failed;
};

/* All PEs call it, as messages are timed; the result is on PE 0. */
void profile_sum(const struct profile_join *join, struct profile_sum *sum);
void profile_sum_free(struct profile_sum *sum);

/* Sizes */
int profile_bucket(uint64_t bytes);
double profile_bucket_bytes(int bucket); /* the most */
int profile_class(double bytes);
extern const char *const profile_class_name[PROFILE_CLASSES];

static inline struct profile_group *profile_group_at(const struct profile_sum *sum,
                                                     size_t site, int bucket)
{
    return &sum->group[site * PROFILE_BUCKETS + (size_t)bucket];
}

/* ---- profile_text.c, profile_html.c, and the page (made from profile.html) ------- */

void profile_text(FILE *out, const struct profile_sum *sum);
void profile_html(FILE *out, const struct profile_sum *sum);
/* "1 KiB" into text. */
const char *profile_bytes_text(double bytes, char *text, size_t size);
extern const char *const profile_page[]; /* lines; then NULL */

#endif
