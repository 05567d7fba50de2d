/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.h - an allgather over the tree: collects one piece of data from each member node
 * and delivers all pieces to all members.  A PMIx fence between nodes is one.
 *
 * Pure: uses tree.h, pack.h and no clock, no I/O.  Used by daemons*.c (the front takes
 * part without data) and pmix_collective.c.
 *
 * Each member node contributes once per round.  A daemon sends up one message when all
 * members of its subtree have contributed; the lowest common ancestor of the members has
 * all pieces and sends them down.  Rounds of one group are ordered: a contribution
 * belongs to the first round to which its sender has not contributed yet.
 */
#ifndef OSHRUN_NET_GATHER_H
#define OSHRUN_NET_GATHER_H

#include "tools/oshrun/net/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gather;

/* A round to which this node has contributed, with `mine`, is complete.  status 0: data
 * are all pieces, concatenated in the order of the nodes.  number: equal on all members
 * and different for every round of the job (for group context numbers). */
typedef void gather_done_fn(void *arg, void *mine, int status, uint64_t number,
                            const void *data, size_t len);

/* me: this node, or WIRE_FRONT, which contributes to no round and needs no `done`.  out:
 * to the neighbours of the tree. */
struct gather *gather_new(const struct tree *t, uint32_t me, const struct net_out *out,
                          gather_done_fn *done, void *arg);
void gather_free(struct gather *g);

/* Contributes this node's piece.  key: equal on all members; node[0, nnodes): the
 * members, ascending. */
void gather_join(struct gather *g, const void *key, size_t key_len, const uint32_t *node,
                 uint32_t nnodes, const void *data, size_t len, void *mine);

/* Handles a GATHER_UP or GATHER_DOWN.  0, or -1: malformed. */
int gather_recv(struct gather *g, const struct frame *f);

/* True if no member of the collective with this key can contribute on this node. */
typedef bool gather_absent_fn(void *arg, const void *key, size_t key_len, uint32_t node);

/* For the front end, if all nodes are its children: from now on rounds complete without
 * the nodes that are absent; what such a node contributes late is dropped. */
void gather_set_absent(struct gather *g, gather_absent_fn *absent, void *arg);
/* Call when nodes may have become absent. */
void gather_update(struct gather *g);

/* A node is lost: all rounds whose messages pass through it end with status -1. */
void gather_lost(struct gather *g, uint32_t node);

#endif
