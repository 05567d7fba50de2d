/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leader_msg.h - leader messages: notified puts between the node leaders of a team.
 *
 *     internode_begin(team);
 *     struct exchange h = leader_exchange_begin(team, steps, fn);
 *     leader_put(&h, step, node, there, from, bytes);      to any leader's scratch buffer
 *     leader_await(&h, step, node);                        receive
 *     leader_exchange_end(&h, all);
 *
 * A collective has steps 0 .. steps - 1, the same number on all leaders.  In each step a
 * leader receives at most one message; steps whose numbers are equal modulo LEADER_WORDS
 * have the same sender.  Before it writes to a peer's memory other than its scratch
 * buffer, a leader must know that the peer has entered the collective: by a message from
 * it, or by internode_barrier.
 *
 * Uses: core/team, core/block, core/net, rma, rma/signal, internode, scratch.
 * Used by: reduce_leaders, reduce_leaders_chain, forwarder, bcast_internode,
 * collect_internode, alltoall_internode, ordered.
 */
#ifndef PGAS_COLL_LEADER_MSG_H
#define PGAS_COLL_LEADER_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pgas/coll/sync/credit.h"
#include "pgas/core/boot/node.h"
#include "pgas/core/team/team.h"
#include "pgas/transport/transport.h"

enum {
    LEADER_EXCHANGES = 2, /* sets of signal words and scratch buffers, used in turn */
    LEADER_WORDS = 64,    /* distinct signal words of a receiver */
    LEADER_SENDS = 64,    /* maximum outstanding sends */
    LEADER_ANY = -1,      /* a sender that the receiver does not know */
};

/* On each leader: sequence number of the last message received, by step modulo
 * LEADER_WORDS. */
struct leader_words {
    _Alignas(NODE_LINE) uint64_t arrived[LEADER_EXCHANGES][LEADER_WORDS];
};

/* An outstanding send; its source is in use until local completion. */
struct leader_send {
    struct transport_completion done;
    int pe;
};

/* Invariant on leaders: calls.seq <= calls.acked + LEADER_EXCHANGES. */
struct leader_state {
    uint64_t messages;   /* steps of all exchanges so far; equal on all leaders */
    struct credit calls; /* exchanges */
    struct leader_send send[LEADER_SENDS]; /* of the current exchange */
    unsigned sends;                        /* posted in it */
};

struct exchange {
    struct shmem_team *team;
    const char *fn;
    uint64_t base; /* leader_state.messages at the beginning */
    int steps;
};

struct exchange leader_exchange_begin(struct shmem_team *team, int steps, const char *fn);
/* Returns when the sources of all puts may be modified.  all: this leader has received a
 * message that depends on every leader having begun the collective. */
void leader_exchange_end(struct exchange *h, bool all);

/* Symmetric address of byte `at` < SCRATCH_BYTES of the scratch buffer of a node's
 * leader; only after scratch_get. */
char *leader_scratch(const struct exchange *h, int node, size_t at);

/* Symmetric address of this leader's scratch buffer of the next exchange. */
char *leader_next_scratch(const struct shmem_team *team);

/* Put `bytes` (0 = signal only) to symmetric address `there` of a node's leader and
 * signal the step.  `from` must not be modified before leader_exchange_end, or before
 * that leader is known to have received the message. */
void leader_put(const struct exchange *h, int step, int node, void *there,
                const void *from, size_t bytes);
/* As leader_put, but `from` may be modified on return. */
void leader_put_now(const struct exchange *h, int step, int node, void *there,
                    const void *from, size_t bytes);
/* Put data of a step that leader_signal will signal. */
void leader_add(const struct exchange *h, int node, void *there, const void *from,
                size_t bytes);
/* Signal the step; the signal arrives after all data of leader_add. */
void leader_signal(const struct exchange *h, int step, int node);

/* Test (acquire) and wait for the message of that step; leader_await: from the leader of
 * `node`, or of an unknown node (LEADER_ANY). */
bool leader_arrived(const struct exchange *h, int step);
void leader_await(const struct exchange *h, int step, int node);

/* Eager broadcasts, outside of an exchange: put n bytes at `from` to symmetric address
 * `there` of another leader, then set `word` there to `value`; test and wait until a word
 * of this PE is at least `value`.  `from` must not be modified before that leader has
 * received the data. */
void leader_eager_put(struct shmem_team *team, int node, void *there, const void *from,
                      size_t n, uint64_t *word, uint64_t value, const char *fn);
bool leader_eager_arrived(const uint64_t *word, uint64_t value);
void leader_eager_await(struct shmem_team *team, int node, const uint64_t *word,
                        uint64_t value, const char *fn);

#endif
