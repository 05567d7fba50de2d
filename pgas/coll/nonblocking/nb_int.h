/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb_int.h - internals of nonblocking collectives, for nb.c (progress), nb_ops.c
 * (programs), nb_data.c (barrier, data) and nb_tree.c (trees) only.
 */
#ifndef PGAS_COLL_NB_INT_H
#define PGAS_COLL_NB_INT_H

#include "pgas/coll/nonblocking/nb.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/team/team.h"

enum {
    NB_GETS = 8,      /* outstanding gets of a request */
    NB_STEPS = 6,     /* maximum length of a program, with the final NULL */
    NB_STEP_BITS = 3, /* of a barrier's number */
};

struct nb;

/* Advance a step as far as possible without waiting; true if it is complete.  Called
 * again until then. */
typedef bool (*nb_step)(struct nb *r);

/* Steps of all PEs of the team. */
struct nb_program {
    nb_step step[NB_STEPS];
    bool meets; /* a PE ends it only after all PEs have begun it */
};

/* Progress of the current step; zero when the step begins. */
struct nb_state {
    int k;       /* round or child */
    int part;    /* phase of the round */
    int next;    /* next piece to get */
    size_t done; /* elements combined */
};

struct nb_get {
    bool busy;
    int pe;
    struct transport_completion done;
};

struct nb {
    struct nb *next; /* in nb_queue.first */
    struct shmem_team *team;
    uint64_t call; /* call number: 1, 2, .. */
    const char *fn;
    const struct nb_program *program;
    int step;
    struct nb_state s;
    uint32_t ended; /* release, by the thread that completes the last step */

    /* Arguments. */
    char *dest;
    const char *source;
    size_t bytes, n, size;
    const struct op_fns *op;
    int root; /* of the tree or broadcast */
    int to;   /* root of a reduction, or NB_ALL */

    /* nb_combine: elements first .. first + count - 1 of PEs 0 .. pes - 1 to `result`. */
    int pes;
    size_t first, count;
    char *result;
    /* Private memory or NULL: bounce buffer of the result while other PEs read the
     * source; and `chunk` elements for each of several PEs. */
    char *stage, *chunks;
    size_t stage_bytes;
    size_t chunk;

    /* Tree: this PE's partial result and its encoded address (for `up`); the child's. */
    char *sum;
    uint64_t symaddr, childs;
    size_t memory; /* heap offset of the partial result; 0 = none */
    struct nb_get get[NB_GETS];
};

/* Data to get from PE i of the team; 0 bytes = nothing. */
struct nb_piece {
    int i;
    void *to;
    const void *from; /* symmetric address */
    size_t bytes;
};
typedef struct nb_piece (*nb_piece)(const struct nb *r, int k);

/* Sync slot of this PE for this call. */
struct nb_slot *nb_words(const struct nb *r);

/* Store to a word in the sync slot of PE i; false: no resources now, call again. */
bool nb_tell(const struct nb *r, int i, size_t offset, uint64_t value);

/* Get pieces s.next .. count - 1; true if all have arrived. */
bool nb_pull(struct nb *r, int count, nb_piece piece);

/* Receive buffer for the elements of the k-th remote PE. */
char *nb_chunk(const struct nb *r, int k);

/* Steps. */
bool nb_barrier_step(struct nb *r); /* dissemination barrier */
bool nb_combine(struct nb *r);      /* combine the sources in PE order */
bool nb_collect(struct nb *r);      /* get the blocks of all PEs */
bool nb_exchange(struct nb *r);     /* get this PE's block from each PE */
bool nb_slices(struct nb *r);       /* get the slices combined by the other PEs */
bool nb_deliver(struct nb *r);      /* copy the bounce buffer, if any, to dest */
bool nb_take(struct nb *r);         /* broadcast: get from the parent, acknowledge */
bool nb_pass(struct nb *r);         /* broadcast: signal the children, await their gets */
bool nb_keep(struct nb *r);         /* broadcast: the root's copy to its own dest */
bool nb_gather(struct nb *r);    /* reduction: combine the children's partial results */
bool nb_give(struct nb *r);      /* reduction: signal the parent */
bool nb_tree_step(struct nb *r); /* reduction: from the root of the tree to `to` */

/* True if this PE has children in the tree. */
bool nb_has_children(const struct nb *r);

/* Start the request described by r, which is copied. */
struct nb *nb_start(const struct nb *r);

#endif
