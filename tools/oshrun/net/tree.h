/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.h - the k-ary tree that the front (its root) and the node daemons form.
 *
 * Pure.  Used by route.c, gather.c, daemons*.c and daemon_main.c.
 *
 * A node is identified by its index in job.node[], the front end by WIRE_FRONT.  The
 * front end has position 0 in the tree and node i has position i + 1; the children of
 * position p have the positions p * k + 1 to p * k + k.
 */
#ifndef OSHRUN_NET_TREE_H
#define OSHRUN_NET_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define WIRE_FRONT UINT32_MAX       /* the front, in place of a node */
#define WIRE_ALL   (UINT32_MAX - 1) /* as a target: the daemons of all nodes */
#define WIRE_NONE  (UINT32_MAX - 2)

struct tree {
    uint32_t nnodes;
    uint32_t fanout; /* k, at least 1 */
};

/* WIRE_NONE for the front. */
uint32_t tree_parent(const struct tree *t, uint32_t node);

/* The number of children of node (or of the front), and child number i of them. */
uint32_t tree_children(const struct tree *t, uint32_t node);
uint32_t tree_child(const struct tree *t, uint32_t node, uint32_t i);

/* True if node is `top` or below it. */
bool tree_below(const struct tree *t, uint32_t top, uint32_t node);

/* The neighbour of `me` on the path to `to`; me != to. */
uint32_t tree_next(const struct tree *t, uint32_t me, uint32_t to);

#endif
