/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nohang.h - the rounds of nohang.c and the cases, each of which calls blocking routines.
 *
 * In a round all live PEs call the routines of one case repeatedly until a PE of them,
 * the victim, is killed; then the survivors mend the world (nohang_mend.c).  All PEs draw
 * the same random numbers, so that they agree about the round.
 */
#ifndef TESTS_FT_NOHANG_H
#define TESTS_FT_NOHANG_H

#include <shmem.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/api/multi/check.h"
#include "tests/ft/board.h"

/* The victim is killed before its call, inside, after the first one. */
enum nohang_mode { BEFORE, INSIDE, AFTER, MODES };

struct nohang_case;

struct nohang_round {
    int number;
    const struct nohang_case *test;
    enum nohang_mode mode;
    shmem_team_t team; /* of the live PEs */
    int me, npes;      /* in the team */
    int victim;        /* world PE */
    int victim_index;  /* in the team */
    uint64_t victims;  /* set of the PEs that are killed in this round */
    int second;        /* a PE that is killed while the others mend the world; or -1 */
    uint64_t random;   /* equal on all PEs */
    uint64_t own;      /* state of this PE's random numbers */
    uint64_t kill_ns;  /* delay of the kill */
    uint64_t second_ns;
    bool done;        /* the case is over although the failure may not be known */
    shmem_team_t dup; /* made by `begin` of some cases */
    shmemx_shared_t shared;
    shmem_ctx_t ctx;
};

/* What the routine of a case returns once the victim has failed. */
enum nohang_result {
    ANY_RESULT,  /* nothing, or no error */
    TEAM_RESULT, /* an error of r->team */
    WORLD_RESULT /* nothing; the world's status is an error */
};

struct nohang_case {
    const char *name;
    int (*call)(struct nohang_round *r);
    enum nohang_result result;
    void (*begin)(struct nohang_round *r); /* no PE fails meanwhile; or NULL */
    void (*end)(struct nohang_round *r);   /* before the world is mended; or NULL */
    bool uniform;     /* all survivors call it equally often: until r->done */
    bool victim_idle; /* the victim does not call the routine */
};

extern const struct nohang_case nohang_rma[], nohang_coll[], nohang_team[];
extern const int nohang_rma_count, nohang_coll_count, nohang_team_count;

extern struct board *nohang_board;
extern struct board_pe *nohang_me; /* this PE's part of the board */
extern bool nohang_threads;        /* SHMEM_THREAD_MULTIPLE */
extern uint64_t nohang_alive;      /* set of the PEs that are alive */

/* True if the victim of the round has failed, or the case is over. */
bool nohang_over(const struct nohang_round *r);
bool nohang_has(uint64_t set, int pe);
/* Kills this PE, and records when. */
void nohang_die(struct nohang_round *r);
/* Starts a thread that does so after ns. */
void nohang_die_after(struct nohang_round *r, uint64_t ns);
/* A random number below n that is equal on all PEs; `what` tells several of them apart.
 */
int nohang_draw(const struct nohang_round *r, int what, int n);
/* Creates the team of the survivors, verifies it, and repeats that until no PE fails. */
void nohang_mend_begin(void);
shmem_team_t nohang_mend(struct nohang_round *r);

#endif
