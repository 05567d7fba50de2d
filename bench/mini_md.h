/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mini_md.h - the particles of a PE: a box of a periodic cube, and copies of the
 * particles of other boxes (ghosts) up to a distance around it.
 * Uses: mini.h.  Used by: mini_md.c, mini_domain.c.
 */
#ifndef BENCH_MINI_MD_H
#define BENCH_MINI_MD_H

#include "mini.h"

enum {
    MD_SWAPS = 6
}; /* swap 2 d sends to the lower neighbour in dimension d, 2 d + 1
    * to the upper one */

typedef double md_vector[3];

/* The part of a thread in the exchanges. */
struct md_thread {
    double *out;   /* a message to be sent */
    uint64_t turn; /* exchanges begun */
    struct {
        int *index; /* particles of which copies are sent */
        size_t n;
        size_t ghosts; /* index of the first copy received */
    } swap[MD_SWAPS];
};

/* Particles [0, n) are this PE's; [n, n + ghosts) are copies of others'. */
struct md {
    struct mini_job job;
    double side, density, reach; /* of the cube; of particles; of ghosts around the box */
    int dims[3], at[3];          /* the grid of PEs, and this PE's box in it */
    int neighbour[MD_SWAPS];     /* PEs */
    double lo[3], hi[3];
    size_t capacity; /* of particles and ghosts together */
    size_t n, ghosts;
    md_vector *x, *v, *f;
    double *id;         /* < 0: has left the box */
    size_t message_max; /* doubles */
    double *in;         /* symmetric: messages by turn parity, swap, thread */
    uint64_t *arrived;  /* symmetric: signals, as `in` */
    struct md_thread thread[MINI_THREADS_MAX];
};

/* Divides the cube among the PEs; side, density and reach have been set.  Collective. */
void domain_open(struct md *md);
void domain_close(struct md *md);

/* The least width of a box with that grid of PEs. */
double domain_width(double side, int npes);

/* All threads of all PEs call these; each ends with a barrier of the PE's threads. */
void domain_migrate(struct md *md, struct mini_worker *w); /* particles to their boxes */
void domain_borders(struct md *md, struct mini_worker *w); /* decides on ghosts */
void domain_forward(struct md *md, struct mini_worker *w); /* updates ghosts */

#endif
