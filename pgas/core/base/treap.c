/* SPDX-License-Identifier: BSD-3-Clause */
/* treap.c - see treap.h.  Uses: nothing of ours. */
#include "config.h"

#include <stddef.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/base/treap.h"

/* Splits the subtree at `at` into the nodes less than key and the others. */
static void treap_split(const struct tree *t, struct tree_node *at,
                        const struct tree_node *key, struct tree_node **less,
                        struct tree_node **rest)
{
    while (at != NULL) {
        if (t->compare(at, key) < 0) {
            *less = at;
            less = &at->right;
            at = at->right;
        } else {
            *rest = at;
            rest = &at->left;
            at = at->left;
        }
    }
    *less = NULL;
    *rest = NULL;
}

/* Joins two trees; requires that all nodes of a are less than all nodes of b. */
static struct tree_node *treap_join(struct tree_node *a, struct tree_node *b)
{
    struct tree_node *root;
    struct tree_node **slot = &root;

    while (a != NULL && b != NULL) {
        if (a->priority > b->priority) {
            *slot = a;
            slot = &a->right;
            a = a->right;
        } else {
            *slot = b;
            slot = &b->left;
            b = b->left;
        }
    }
    *slot = a != NULL ? a : b;
    return root;
}

/* xorshift32, whose state never becomes 0. */
static uint32_t treap_next_priority(struct tree *t)
{
    uint32_t x = t->seed != 0 ? t->seed : 1;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    t->seed = x;
    return x;
}

void tree_insert(struct tree *t, struct tree_node *n)
{
    struct tree_node **slot = &t->root;

    n->priority = treap_next_priority(t);
    while (*slot != NULL && (*slot)->priority >= n->priority)
        slot = t->compare(*slot, n) < 0 ? &(*slot)->right : &(*slot)->left;
    treap_split(t, *slot, n, &n->left, &n->right);
    PGAS_ASSERT(n->left == NULL || n->left->priority <= n->priority);
    PGAS_ASSERT(n->right == NULL || n->right->priority <= n->priority);
    *slot = n;
}

void tree_remove(struct tree *t, struct tree_node *n)
{
    struct tree_node **slot = &t->root;

    while (*slot != n) {
        PGAS_ASSERT(*slot != NULL); /* n is in the tree */
        slot = t->compare(*slot, n) < 0 ? &(*slot)->right : &(*slot)->left;
    }
    *slot = treap_join(n->left, n->right);
}

struct tree_node *tree_at_least(const struct tree *t, const struct tree_node *key)
{
    struct tree_node *found = NULL;

    for (struct tree_node *at = t->root; at != NULL;) {
        if (t->compare(at, key) < 0) {
            at = at->right;
        } else {
            found = at;
            at = at->left;
        }
    }
    return found;
}

struct tree_node *tree_after(const struct tree *t, const struct tree_node *key)
{
    struct tree_node *found = NULL;

    for (struct tree_node *at = t->root; at != NULL;) {
        if (t->compare(at, key) <= 0) {
            at = at->right;
        } else {
            found = at;
            at = at->left;
        }
    }
    return found;
}

struct tree_node *tree_at_most(const struct tree *t, const struct tree_node *key)
{
    struct tree_node *found = NULL;

    for (struct tree_node *at = t->root; at != NULL;) {
        if (t->compare(at, key) <= 0) {
            found = at;
            at = at->right;
        } else {
            at = at->left;
        }
    }
    return found;
}
