/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb_int.h - internals of nonblocking collectives, for nb.c (progress), nb_ops.c (which
 * schedules) and nb_steps.c (how their steps are executed) only.
 */
#ifndef PGAS_COLL_NB_INT_H
#define PGAS_COLL_NB_INT_H

#include "pgas/coll/nonblocking/nb.h"
#include "pgas/coll/schedule/executor.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/team/team.h"

enum {
    NB_GETS = 8,   /* outstanding gets of a request */
    NB_PHASES = 3, /* maximum schedules of a request */
};

/* A schedule of a request: rank r is PE (root + r * stride) modulo the number of PEs; its
 * tag t is word `word` + t. */
struct nb_phase {
    enum schedule_name name;
    int nodes, rank, root, stride, word;
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
    uint32_t ended; /* release, by the thread that completes the last step */

    /* Executed one after the other; `words` of the sync slot are assigned to them. */
    struct nb_phase phase[NB_PHASES];
    int phases, current, words;
    bool synchronizes; /* a PE ends the phases only after all PEs have begun the first one
                        */
    struct executor executor; /* of the current phase; no job: it has not begun */

    /* Arguments; n units of `size` bytes. */
    char *dest;
    const char *source;
    size_t n, size, line, segment; /* line, segment: as in struct schedule */
    const struct op_fns *op;

    /*
     * DATA of this PE.  That of another PE has the same symmetric address as dest, or, on
     * the root of a broadcast, as source; unless it is in memory of a node-shared result
     * there, at offset peer_data (0: it is not).  A PE sends that offset with its
     * signals: a GET from such DATA follows a RECV from the same PE.
     */
    char *data;
    const char *root_data;
    int root;
    size_t memory; /* heap offset of `data`; 0: it is not in such memory */
    size_t peer_data;

    /* Private memory, or NULL.  Part i of the inbox is at part[i], in the memory of a
     * local PE, if that is not NULL. */
    char *stage, *inbox;
    const char **part;

    /* When all phases have ended: `bytes` at `deliver`, if any, to dest; or zeros. */
    const char *deliver;
    size_t bytes;
    bool zeros;
    struct nb_get get[NB_GETS];
};

/* Appends a phase; rank -1: this PE has no steps in it. */
void nb_phase_add(struct nb *r, const struct nb_phase *phase);

/* Executes as many steps as possible without waiting; true: the request is complete. */
bool nb_advance(struct nb *r);

/* Start the request described by r, which is copied. */
struct nb *nb_start(const struct nb *r);

#endif
