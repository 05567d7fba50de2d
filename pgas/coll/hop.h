/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hop.h - messages between the leaders of a team over several nodes: bytes that are put
 * to where they belong, with a signal behind them.
 *
 *     bridge_begin
 *     struct hops h = hops_begin(team, steps, fn);      others' rooms may be written
 *     hop_put(&h, step, node, there, from, bytes);      to some
 *     hop_await(&h, step, node);                        for what some send
 *     hops_end(&h, all);
 *
 * A collective has steps 0, 1, .. steps - 1, as many on all leaders, in each of which a
 * leader gets at most one message; of steps that are TEAM_HOPS apart, if there are so
 * many, one leader is the sender.  To write to others' memory but to their rooms one has
 * to know that they have begun it: by a message of theirs, or bridge_meet before.
 * Uses: core/team, core/block, core/net, rma, rma/signal, bridge, room.  Used by:
 * reduce_hops, bcast_far, collect_far, alltoall_far.
 */
#ifndef PGAS_COLL_HOP_H
#define PGAS_COLL_HOP_H

#include <stddef.h>
#include <stdint.h>

#include "pgas/core/team.h"

struct hops {
    struct shmem_team *team;
    const char *fn;
    uint64_t base; /* messages that this PE had counted before */
    int steps;
};

struct hops hops_begin(struct shmem_team *team, int steps, const char *fn);
/* All that was put from here has left: its source may be changed.  all: who comes here
 * knows that all leaders have begun it. */
void hops_end(struct hops *h, bool all);

/* The symmetric address of byte `at` of what a node's leader has room for; only if
 * room_get, and less than ROOM_BYTES. */
char *hop_room(const struct hops *h, int node, size_t at);

/* Put `bytes` (0 = just the signal) to symmetric address `there` of a node's leader.
 * `from` must stay as it is until hops_end, or until that leader must have got them. */
void hop_put(const struct hops *h, int step, int node, void *there, const void *from,
             size_t bytes);
/* The same; `from` may be changed when it returns. */
void hop_put_now(const struct hops *h, int step, int node, void *there, const void *from,
                 size_t bytes);
/* More for the same place and signal, before hop_put. */
void hop_add(const struct hops *h, int node, void *there, const void *from, size_t bytes);
/* After hop_add, in place of hop_put. */
void hop_signal(const struct hops *h, int step, int node);

/* What the leader of that node sends in that step is here. */
void hop_await(const struct hops *h, int step, int node);

/* Without steps, and without a meeting before: a message to another leader's symmetric
 * word, where the value says that the bytes are there; and to wait for that.  The bytes
 * stay as they are until that leader has got them. */
void hop_push(struct shmem_team *team, int node, char *bytes, size_t n, uint64_t *word,
              uint64_t value, const char *fn);
void hop_await_push(struct shmem_team *team, int node, const uint64_t *word,
                    uint64_t value, const char *fn);

#endif
