/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * oshprof.h - internal interfaces of oshprof, which makes a report from the arrival
 * profile of a job.
 *
 *   main.c    the command line
 *   join.c    reads a file and matches the calls of all PEs
 *   place.c   names call sites (addr2line)
 *   sum.c     statistics
 *   text.c, html.c   the report; page.html is the page
 */
#ifndef OSHPROF_H
#define OSHPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pgas/profile/profile_file.h"

enum {
    PROFILE_CLASSES = 4, /* 0-1 KiB, 1 KiB-1 MiB, 1-64 MiB, more */
    PROFILE_RANKS = 16,  /* bins of the histogram of arrival ranks */
    PLACE_MAX = 256,
};

/* ---- join.c ---------------------------------------------------------------------- */

/* A call of a PE, in ns of PE 0's clock.  exit = 0: no record. */
struct profile_cell {
    uint64_t enter, exit;
};

struct profile_call {
    uint64_t bytes; /* largest contribution of a PE */
    uint32_t site;  /* of the team's first PE */
};

/* A team and its calls: cell[call * npes + i] is that of PE member[i]. */
struct profile_joined {
    struct profile_team team;
    int *member;
    uint32_t members; /* PEs in member[] */
    uint64_t calls;   /* calls that may have records of all PEs */
    uint64_t all;
    struct profile_cell *cell;
    struct profile_call *call;
};

struct profile_place {
    char text[PLACE_MAX];     /* "solve at heat.c:42" */
    char function[PLACE_MAX]; /* "" if unknown */
};

struct profile_join {
    struct profile_header header;
    uint32_t *node_of; /* each PE */
    struct profile_clock_sample *clock;
    struct profile_site *site;
    struct profile_place *place; /* of each site */
    size_t sites;
    struct profile_joined *team;
    size_t teams;
    uint64_t begin;       /* the earlier of shmem_init of PE 0 and the first arrival */
    uint64_t lost;        /* calls dropped because a PE's buffer was full */
    uint64_t *routine_ns; /* of each PE: time in collectives */
    struct profile_alpha job, node; /* message times between and within nodes */
};

/* Reads the file.  Returns NULL or an error message. */
const char *join_read(FILE *in, struct profile_join *join);
void join_free(struct profile_join *join);
uint64_t join_clock_error(const struct profile_join *join);

/* ---- place.c --------------------------------------------------------------------- */

void place_find(const struct profile_site *site, struct profile_place *place);
const char *place_base(const char *path);

/* ---- sum.c ----------------------------------------------------------------------- */

/* Sum and maximum of a figure over many calls. */
struct profile_mean {
    double sum, max;
};
static inline double profile_mean(const struct profile_mean *m, uint64_t calls)
{
    return calls > 0 ? m->sum / (double)calls : 0.0;
}

/* Time between the first and the last arrival (omega), mean distance of the arrivals from
 * their mean (spread); both as multiples of a message time (worst, average), and all of
 * them for the PEs of one node. */
struct profile_group {
    uint64_t calls;
    double bytes;
    struct profile_mean time; /* in the routine: mean over the PEs, and the longest */
    struct profile_mean omega, spread;
    struct profile_mean worst, average;
    struct profile_mean node_omega, node_spread, node_worst, node_average;
};

/* Arrivals of a PE at a site. */
struct profile_late {
    uint64_t calls, last; /* calls, and those in which it arrived last */
    double behind;        /* sum of the delays after the first PE, ns */
    uint32_t rank[PROFILE_RANKS];
};

/* A point of a plot: of consecutive calls of a site, the one with the largest omega. */
struct profile_point {
    double t, omega, spread, worst; /* s since begin; ns; ns; factor */
    uint32_t site;
    int last; /* the PE */
    uint32_t calls;
};

struct profile_sum {
    const struct profile_join *join;
    struct profile_group all, class[PROFILE_CLASSES];
    struct profile_group *group; /* by site and bucket */
    struct profile_late *late;   /* by site and PE */
    struct profile_point *point;
    size_t points;
    uint64_t incomplete; /* calls without a record of each PE */
};

/* false: out of memory. */
bool profile_sum(const struct profile_join *join, struct profile_sum *sum);
void profile_sum_free(struct profile_sum *sum);

int profile_class(double bytes);
extern const char *const profile_class_name[PROFILE_CLASSES];

static inline struct profile_group *profile_group_at(const struct profile_sum *sum,
                                                     size_t site, int bucket)
{
    return &sum->group[site * PROFILE_BUCKETS + (size_t)bucket];
}

/* ---- text.c, html.c, and the page (made from page.html) -------------------------- */

void profile_text(FILE *out, const struct profile_sum *sum);
void profile_html(FILE *out, const struct profile_sum *sum);
const char *profile_date_text(int64_t date, char *text, size_t size);
extern const char *const profile_page[]; /* lines; then NULL */

#endif
