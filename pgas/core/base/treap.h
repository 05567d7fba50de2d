/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * treap.h - an intrusive ordered set: a treap, O(log n) expected.  Priorities come from a
 * pseudorandom generator with a fixed seed: the same calls build the same tree on every
 * PE.
 * A leaf.  Used by: alloc.
 */
#ifndef PGAS_CORE_TREE_H
#define PGAS_CORE_TREE_H

#include <stdint.h>

struct tree_node {
    struct tree_node *left, *right;
    uint32_t priority;
};

/* Returns < 0, 0 or > 0, as strcmp does. */
typedef int (*tree_compare)(const struct tree_node *, const struct tree_node *);

struct tree {
    struct tree_node *root;
    tree_compare compare;
    uint32_t seed;
};

/* The node must not compare equal to a member. */
void tree_insert(struct tree *t, struct tree_node *n);

/* The node must be a member. */
void tree_remove(struct tree *t, struct tree_node *n);

/* The first node that is not less than key; NULL if there is none. */
struct tree_node *tree_at_least(const struct tree *t, const struct tree_node *key);

/* The first node that is greater than key; NULL if there is none. */
struct tree_node *tree_after(const struct tree *t, const struct tree_node *key);

/* The last node that is not greater than key; NULL if there is none. */
struct tree_node *tree_at_most(const struct tree *t, const struct tree_node *key);

#endif
