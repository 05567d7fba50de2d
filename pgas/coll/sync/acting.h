/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acting.h - the PE that acts for its node in a small broadcast over nodes.
 *
 * On the root's node it is the root.  On another node it is the leader; or, if the leader
 * has not entered the call when the data arrive in its slot, the first PE that claims the
 * call by a compare-and-swap.  A PE that waits longer than TIMING_LEADER_LATE for a
 * leader that has not entered the call watches the leader's word (block_watch), so that
 * the progress thread of the leader receives the data and wakes it.
 *
 * Entry n % BCAST_ACTING of bcast_words.acting, in the leader's memory, belongs to call
 * n. Invariants: each call changes its entry, so a PE in call n finds the entry of call n
 * or of n - BCAST_ACTING.  No PE of the node reads entry n when call n + BCAST_ACTING
 * changes it: the PE that changes it has ended the call before that, whose data were in
 * the mailbox of a PE that knew then that all PEs of the node had ended call n. Uses:
 * core/team, core/block, internode, leader_msg, mailbox, probe. Used by: bcast_internode.
 */
#ifndef PGAS_COLL_ACTING_H
#define PGAS_COLL_ACTING_H

#include <stdint.h>

#include "pgas/coll/algorithms/bcast_internode.h"
#include "pgas/core/team/team.h"

/* An eager broadcast of a team over nodes. */
struct acting {
    struct shmem_team *team;
    uint64_t number;          /* of the call */
    struct bcast_words *node; /* of this node's leader, mapped */
    const char *fn;
};

/* Symmetric address of the signal word of the call. */
uint64_t *acting_signal(const struct acting *p);
/* That word of this node's leader, mapped. */
const uint64_t *acting_arrived_word(const struct acting *p);

/* On a node other than the root's: waits until the data have arrived from node `from`,
 * and returns the PE of the node team that acts. */
int acting_pe(const struct acting *p, int from);

/* The root acts for its node: waits until its leader has credit for the call, so that the
 * slots of all leaders may be written. */
void acting_root(const struct acting *p);

#endif
