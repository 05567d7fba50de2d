/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb_int.h - a nonblocking collective as its steps see it: nb.c (what goes on when),
 * nb_ops.c (which steps), nb_data.c (meetings, data), nb_tree.c (trees).  Nobody else
 * includes it.
 */
#ifndef PGAS_COLL_NB_INT_H
#define PGAS_COLL_NB_INT_H

#include "pgas/coll/nonblocking/nb.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/team/team.h"

enum {
    NB_GETS = 8,  /* from far PEs, of one request at a time */
    NB_STEPS = 6, /* of a program, at most, and a NULL */
    NB_MEET_BITS = 8,
};

struct nb;

/* Go on with a step as far as that is possible without waiting for anybody: has it ended?
 * Called again until then. */
typedef bool (*nb_step)(struct nb *r);

/* What all PEs of the team do. */
struct nb_program {
    nb_step step[NB_STEPS];
    bool meets; /* who has ended it knows that all PEs have begun it */
};

/* How far the current step is; all zero when it begins. */
struct nb_state {
    int k;       /* round, or child */
    int part;    /* of what is done in this round */
    int next;    /* piece to be got */
    size_t done; /* elements */
};

struct nb_get {
    bool busy;
    int pe;
    struct transport_completion done;
};

struct nb {
    struct nb *next; /* in team->nb */
    struct shmem_team *team;
    uint64_t call; /* its number: 1, 2, .. */
    const char *fn;
    const struct nb_program *program;
    int step;
    struct nb_state s;
    uint32_t ended; /* release, by whoever has done the last step */

    /* What is to be done. */
    char *dest;
    const char *source;
    size_t bytes, n, size;
    const struct op_fns *op;
    int root; /* of the tree, and of a broadcast */
    int to;   /* who gets the result of a reduction, or NB_ALL */

    /* nb_combine: elements first .. first + count - 1 of PEs 0 .. pes - 1, to result. */
    int pes;
    size_t first, count;
    char *result;
    /* Private memory, or NULL: where the result is while others read the source; and
     * `chunk` elements for each of several PEs. */
    char *stage, *chunks;
    size_t stage_bytes;
    size_t chunk;

    /* The tree: what this PE has combined, where (a place for `up`); and the child's. */
    char *sum;
    uint64_t place, childs;
    size_t memory; /* in the heap, for that; 0 = none */
    struct nb_get get[NB_GETS];
};

/* A piece of data to be got from PE i of the team: 0 bytes = nothing. */
struct nb_piece {
    int i;
    void *to;
    const void *from; /* a symmetric address */
    size_t bytes;
};
typedef struct nb_piece (*nb_piece)(const struct nb *r, int k);

/* The words of this PE for this call. */
struct team_nb *nb_words(const struct nb *r);

/* Write that word of PE i of the team.  False: not now. */
bool nb_tell(const struct nb *r, int i, size_t offset, uint64_t value);

/* Get pieces s.next .. count - 1: are all of them here? */
bool nb_pull(struct nb *r, int count, nb_piece piece);

/* Where elements of far PEs go, for the k-th of several. */
char *nb_chunk(const struct nb *r, int k);

/* Steps. */
bool nb_barrier_step(struct nb *r); /* all PEs have come here */
bool nb_combine(struct nb *r);      /* in the order of the PEs */
bool nb_collect(struct nb *r);      /* the blocks of all */
bool nb_exchange(struct nb *r);     /* one block of each */
bool nb_slices(struct nb *r);       /* the slices that the others have combined */
bool nb_deliver(struct nb *r);      /* from the stage, if there is one, to dest */
bool nb_take(struct nb *r);         /* dest from the parent's, and say so */
bool nb_pass(struct nb *r);         /* have the children take it */
bool nb_keep(struct nb *r);         /* the root's own copy */
bool nb_gather(struct nb *r);       /* combine what the children have with ours */
bool nb_give(struct nb *r);         /* have the parent take it */
bool nb_tree_step(struct nb *r);    /* from the tree's root to `to` */

/* Has this PE children in the tree? */
bool nb_has_children(const struct nb *r);

/* Begin what is written down in r, which is copied. */
struct nb *nb_start(const struct nb *r);

#endif
