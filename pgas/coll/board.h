/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * board.h - the PEs of a team on one node show each other some bytes: one line of memory
 * travels from each PE to each that wants to see it, and nobody waits for more than that.
 *
 *     struct board b = board_open(team, bytes, fn);
 *     copy what this PE brings to board_mine(&b), at most so many bytes
 *     board_post(&b);
 *     read board_of(&b, i), which waits for PE i of the team
 *     board_close_all(&b) after a look at all PEs, else board_close(&b)
 *
 * All PEs of the team open the same boards in the same order.  What board_of returns
 * stays as it is until this PE closes the board.  Only for teams whose PEs are all mapped
 * and that are no active sets (board_has).
 * Uses: core/team, core/block, rma, barrier.  Used by: arrival, bcast, collect, alltoall,
 * alltoalls, scan, reduce, adapt.
 */
#ifndef PGAS_COLL_BOARD_H
#define PGAS_COLL_BOARD_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team.h"

struct board {
    struct shmem_team *team;
    uint64_t call; /* its number: 1, 2, .. */
    bool line;     /* one line is enough */
    const char *fn;
};

/* Has the team boards?  Of at most TEAM_SLOT_BYTES of a PE. */
static inline bool board_has(const struct shmem_team *team)
{
    return !team->far && team->psync == NULL;
}

/* For at most `bytes` of each PE, the same number on all. */
struct board board_open(struct shmem_team *team, size_t bytes, const char *fn);

/* The room for what this PE brings, aligned for any type; waits until nobody reads any
 * more what it showed there TEAM_SLOTS or TEAM_LINES calls ago. */
char *board_mine(struct board *b);
/* It is there. */
void board_post(struct board *b);
/* The same, for PE i of the team alone. */
void board_post_to(struct board *b, int i);
/* The same for somebody who learns of it in another way. */
void board_show(struct board *b);

/* What PE i of the team shows. */
const char *board_of(const struct board *b, int i);
/* Does it show that already? */
bool board_shown(const struct board *b, int i);
/* Wait for any of them: until ready(arg), which asks board_shown. */
void board_wait_for(const struct board *b, bool (*ready)(const void *arg),
                    const void *arg);

/* This PE has looked at all others (or at one that had) / at some, or at none.  A call
 * with a barrier behind its last look needs neither. */
void board_close_all(struct board *b);
void board_close(struct board *b);
/* Wait until all PEs have closed it, with board_close. */
void board_await_all_closed(const struct board *b);

/* For words of struct team_words that belong to calls with a board: wait until the word
 * at that offset of PE i of the team is at least `value`, which that PE stores; this PE
 * has stored its own one. */
void board_wait(const struct board *b, size_t offset, int i, uint64_t value);
/* The same for a word of this PE that any other one stores (board_wake_owner). */
void board_wait_own(const struct board *b, size_t offset, uint64_t value);
void board_wake(const struct board *b, size_t offset);
/* The same for a word of PE i that this PE has stored to, for that PE. */
void board_wake_owner(const struct board *b, size_t offset, int i);

/* The same for a word of the team's first PE that one of them stores: and what is there
 * then. */
uint64_t board_wait_first(const struct board *b, size_t offset, uint64_t value);
void board_store_first(const struct board *b, size_t offset, uint64_t value);

/* The first n parts of what this PE hands on in this call are there / are those of PE i?
 * n < BOARD_PARTS, and never less than before in the call. */
enum { BOARD_PARTS = 1 << 16 };
void board_hand_on(const struct board *b, uint64_t n);
void board_await_handed(const struct board *b, int i, uint64_t n);

/* This PE, and no other one in this call, does what is to be done: which one is it?  Both
 * after all PEs have begun the call. */
void board_lead(const struct board *b);
int board_await_lead(const struct board *b);
/* The same with a line for each PE, in place of one that all wait for; or for PE `to`
 * alone, if that is not -1. */
void board_lead_each(const struct board *b, int to);
int board_await_lead_own(const struct board *b);

#endif
