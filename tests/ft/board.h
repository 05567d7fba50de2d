/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * board.h - a file that all processes of a test map: what each PE does, when a PE was
 * killed, when the calls of the others returned.  It outlives the PEs; nohang_report.c
 * reads it after the job.
 */
#ifndef TESTS_FT_BOARD_H
#define TESTS_FT_BOARD_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    BOARD_PES = 32,
    BOARD_ROUNDS = 32,
    BOARD_VOTES = 24, /* shrinks and agreements of a PE in a round that are recorded */
    BOARD_TEXT = 64,
};

/* The result of a shrink or an agreement; equal on all survivors. */
struct board_vote {
    _Atomic uint32_t written;
    int32_t status;
    uint64_t value; /* flags, or a set of PEs */
};

struct board_pe {
    _Atomic int32_t pid, parent;
    _Atomic uint64_t knows; /* set of the failed PEs that the handler was called for */
    char doing[BOARD_TEXT];
    _Atomic uint64_t told_ns[BOARD_ROUNDS];     /* the failure handler was called */
    _Atomic uint64_t returned_ns[BOARD_ROUNDS]; /* the last call of the round returned */
    _Atomic uint64_t mended_ns[BOARD_ROUNDS];   /* the new team was verified */
    struct board_vote vote[BOARD_ROUNDS][BOARD_VOTES];
};

struct board_round {
    _Atomic uint64_t killed_ns; /* CLOCK_MONOTONIC just before SIGKILL */
    _Atomic uint32_t kills;     /* PEs that were killed in this round */
    char name[BOARD_TEXT];      /* case and mode */
};

struct board {
    _Atomic int32_t npes;
    struct board_round round[BOARD_ROUNDS];
    struct board_pe pe[BOARD_PES];
};

/* Maps the file, and creates it if necessary. */
struct board *board_open(const char *path);
uint64_t board_now_ns(void);
/* Records what this PE does. */
void board_says(struct board_pe *pe, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
