/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leader_msg.h - messages between the leaders of a team over several nodes: bytes that
 * are put to where they belong, with a signal behind them.
 *
 *     internode_begin
 *     struct exchange h = leader_exchange_begin(team, steps, fn);      others' scratches
 * may be written leader_put(&h, step, node, there, from, bytes);      to some
 *     leader_await(&h, step, node);                        for what some send
 *     leader_exchange_end(&h, all);
 *
 * A collective has steps 0, 1, .. steps - 1, as many on all leaders, in each of which a
 * leader gets at most one message; of steps that are TEAM_LEADERS apart, if there are so
 * many, one leader is the sender.  To write to others' memory but to their scratches one
 * has to know that they have begun it: by a message of theirs, or internode_barrier
 * before. Uses: core/team, core/block, core/net, rma, rma/signal, internode, scratch.
 * Used by: reduce_leaders, bcast_internode, collect_internode, alltoall_internode.
 */
#ifndef PGAS_COLL_LEADER_H
#define PGAS_COLL_LEADER_H

#include <stddef.h>
#include <stdint.h>

#include "pgas/core/team/team.h"

struct exchange {
    struct shmem_team *team;
    const char *fn;
    uint64_t base; /* messages that this PE had counted before */
    int steps;
};

struct exchange leader_exchange_begin(struct shmem_team *team, int steps, const char *fn);
/* All that was put from here has left: its source may be changed.  all: who comes here
 * knows that all leaders have begun it. */
void leader_exchange_end(struct exchange *h, bool all);

/* The symmetric address of byte `at` of what a node's leader has space for; only if
 * scratch_get, and less than SCRATCH_BYTES. */
char *leader_scratch(const struct exchange *h, int node, size_t at);

/* Put `bytes` (0 = just the signal) to symmetric address `there` of a node's leader.
 * `from` must stay as it is until leader_exchange_end, or until that leader must have got
 * them. */
void leader_put(const struct exchange *h, int step, int node, void *there,
                const void *from, size_t bytes);
/* The same; `from` may be changed when it returns. */
void leader_put_now(const struct exchange *h, int step, int node, void *there,
                    const void *from, size_t bytes);
/* More for the same place and signal, before leader_put. */
void leader_add(const struct exchange *h, int node, void *there, const void *from,
                size_t bytes);
/* After leader_add, in place of leader_put. */
void leader_signal(const struct exchange *h, int step, int node);

/* What the leader of that node sends in that step is here. */
void leader_await(const struct exchange *h, int step, int node);

/* Without steps, and without a meeting before: a message to another leader's symmetric
 * word, where the value says that the bytes are there; and to wait for that.  The bytes
 * stay as they are until that leader has got them. */
void leader_push(struct shmem_team *team, int node, char *bytes, size_t n, uint64_t *word,
                 uint64_t value, const char *fn);
void leader_await_push(struct shmem_team *team, int node, const uint64_t *word,
                       uint64_t value, const char *fn);

#endif
