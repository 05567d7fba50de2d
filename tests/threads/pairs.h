/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairs.h - pairs of blocking calls on two threads of a PE: the cases, each of which
 * calls blocking routines, and what a call of a thread uses.
 */
#ifndef TESTS_THREADS_PAIRS_H
#define TESTS_THREADS_PAIRS_H

#include <shmem.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/api/multi/check.h"

enum { PAIRS_PES = 3, PAIRS_SIDES = 2 };

/* Side k: thread k of PE 0, and a thread of each PE that takes part in its calls.  Its
 * partner is PE k + 1. */
struct pairs_side {
    int k;
    int peer; /* the partner; on the partner, PE 0 */
    int partner;
    shmem_team_t team;    /* PE 0 and the partner */
    shmem_ctx_t own, ctx; /* ctx: own, or the default context */
    shmemx_shared_t shared;
    uint32_t serial; /* of the pair; never 0 */
    uint32_t draw;   /* a random number, equal on all PEs */
    uint64_t random; /* state of the random numbers of PE 0 */
};

enum {
    PAIRS_WORLD = 1,   /* a collective of all PEs */
    PAIRS_MEMBERS = 2, /* a collective of the team or its active set */
    PAIRS_PASSIVE = 4, /* the partner calls nothing: it can be stopped instead */
    PAIRS_QUIETS = 8,  /* completes the operations of side->ctx */
    /* completes those of the default context, or may access PEs besides the partner */
    PAIRS_QUIETS_DEFAULT = 16,
    /* may return although the others have not called it */
    PAIRS_EARLY = PAIRS_WORLD | PAIRS_MEMBERS | PAIRS_PASSIVE,
};

/* PE 0 calls `call`, which blocks until the partner has called `release` (of a
 * collective: until the others have called it). `prepare` is called by the partner
 * before; or NULL. */
struct pairs_case {
    const char *name;
    int kind;
    void (*call)(struct pairs_side *s);
    void (*release)(struct pairs_side *s);
    void (*prepare)(struct pairs_side *s);
};

extern const struct pairs_case pairs_rma[], pairs_coll[];
extern const int pairs_rma_count, pairs_coll_count;

/* 0 .. n - 1, from the number of the side that is equal on all PEs. */
static inline int pairs_choose(const struct pairs_side *s, int what, int n)
{
    uint64_t x = (s->draw + (uint64_t)what * 0x9e3779b9u + 1) * 0xff51afd7ed558ccdu;

    return (int)((x >> 33) % (uint64_t)n);
}

#endif
