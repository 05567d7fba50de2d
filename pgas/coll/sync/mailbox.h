/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mailbox.h - the PEs of a team on one node show each other some bytes: one line of
 * memory travels from each PE to each that wants to see it, and nobody waits for more
 * than that.
 *
 *     struct mailbox b = mailbox_open(team, bytes, fn);
 *     copy what this PE brings to mailbox_own(&b), at most so many bytes
 *     mailbox_post(&b);
 *     read mailbox_of(&b, i), which waits for PE i of the team
 *     mailbox_close_all(&b) after a look at all PEs, else mailbox_close(&b)
 *
 * All PEs of the team open the same mailboxes in the same order.  What mailbox_of returns
 * stays as it is until this PE closes the mailbox.  Only for teams whose PEs are all
 * mapped and that are no active sets (mailbox_has). Uses: core/team, core/block, rma,
 * barrier.  Used by: arrival, bcast, collect, alltoall, alltoalls, scan, reduce, adapt.
 */
#ifndef PGAS_COLL_MAILBOX_H
#define PGAS_COLL_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team/team.h"

struct mailbox {
    struct shmem_team *team;
    uint64_t call; /* its number: 1, 2, .. */
    bool line;     /* one line is enough */
    const char *fn;
};

/* Has the team mailboxes?  Of at most TEAM_SLOT_BYTES of a PE. */
static inline bool mailbox_has(const struct shmem_team *team)
{
    return !team->far && team->psync == NULL;
}

/* For at most `bytes` of each PE, the same number on all. */
struct mailbox mailbox_open(struct shmem_team *team, size_t bytes, const char *fn);

/* The space for what this PE brings, aligned for any type; waits until nobody reads any
 * more what it showed there TEAM_SLOTS or TEAM_LINES calls ago. */
char *mailbox_own(struct mailbox *b);
/* It is there. */
void mailbox_post(struct mailbox *b);
/* The same, for PE i of the team alone. */
void mailbox_post_to(struct mailbox *b, int i);
/* The same for somebody who learns of it in another way. */
void mailbox_publish(struct mailbox *b);

/* What PE i of the team shows. */
const char *mailbox_of(const struct mailbox *b, int i);
/* Does it show that already? */
bool mailbox_published(const struct mailbox *b, int i);
/* Wait for any of them: until ready(arg), which asks mailbox_published. */
void mailbox_wait_for(const struct mailbox *b, bool (*ready)(const void *arg),
                      const void *arg);

/* This PE has looked at all others (or at one that had) / at some, or at none.  A call
 * with a barrier behind its last look needs neither. */
void mailbox_close_all(struct mailbox *b);
void mailbox_close(struct mailbox *b);
/* Wait until all PEs have closed it, with mailbox_close. */
void mailbox_await_all_closed(const struct mailbox *b);

/* For words of struct team_words that belong to calls with a mailbox: wait until the word
 * at that offset of PE i of the team is at least `value`, which that PE stores; this PE
 * has stored its own one. */
void mailbox_wait(const struct mailbox *b, size_t offset, int i, uint64_t value);
/* The same for a word of this PE that any other one stores (mailbox_wake_owner). */
void mailbox_wait_own(const struct mailbox *b, size_t offset, uint64_t value);
void mailbox_wake(const struct mailbox *b, size_t offset);
/* The same for a word of PE i that this PE has stored to, for that PE. */
void mailbox_wake_owner(const struct mailbox *b, size_t offset, int i);

/* The same for a word of the team's first PE that one of them stores: and what is there
 * then. */
uint64_t mailbox_wait_first(const struct mailbox *b, size_t offset, uint64_t value);
void mailbox_store_first(const struct mailbox *b, size_t offset, uint64_t value);

/* The first n parts of what this PE hands on in this call are there / are those of PE i?
 * n < MAILBOX_PARTS, and never less than before in the call. */
enum { MAILBOX_PARTS = 1 << 16 };
void mailbox_hand_over(const struct mailbox *b, uint64_t n);
void mailbox_await_handed(const struct mailbox *b, int i, uint64_t n);

/* This PE, and no other one in this call, does what is to be done: which one is it?  Both
 * after all PEs have begun the call. */
void mailbox_release(const struct mailbox *b);
int mailbox_await_release(const struct mailbox *b);
/* The same with a line for each PE, in place of one that all wait for; or for PE `to`
 * alone, if that is not -1. */
void mailbox_release_each(const struct mailbox *b, int to);
int mailbox_await_release_own(const struct mailbox *b);

#endif
