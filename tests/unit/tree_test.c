/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_test.c - the treap against a sorted array. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdint.h>

#include "pgas/core/base/treap.h"

enum { KEYS = 512, STEPS = 20000 };

struct item {
    struct tree_node node;
    int key;
};

static int compare(const struct tree_node *a, const struct tree_node *b)
{
    return ((const struct item *)(const void *)a)->key -
           ((const struct item *)(const void *)b)->key;
}

static int key_of(const struct tree_node *n)
{
    return n == NULL ? -1 : ((const struct item *)(const void *)n)->key;
}

static int first_from(const _Bool *in, int key)
{
    for (; key < KEYS; key++)
        if (in[key])
            return key;
    return -1;
}

static int last_to(const _Bool *in, int key)
{
    for (; key >= 0; key--)
        if (in[key])
            return key;
    return -1;
}

static int depth(const struct tree_node *n)
{
    if (n == NULL)
        return 0;
    int l = depth(n->left), r = depth(n->right);
    return 1 + (l > r ? l : r);
}

Test(tree, finds_what_a_sorted_array_finds)
{
    static struct item item[KEYS];
    static _Bool in[KEYS];
    struct tree t = {.compare = compare};
    uint32_t seed = 1;

    for (int i = 0; i < STEPS; i++) {
        seed = seed * 1664525u + 1013904223u;
        int k = (int)((seed >> 8) % KEYS);
        item[k].key = k;
        if (in[k])
            tree_remove(&t, &item[k].node);
        else
            tree_insert(&t, &item[k].node);
        in[k] = !in[k];
        struct item probe = {.key = (int)((seed >> 16) % KEYS)};
        cr_assert_eq(key_of(tree_at_least(&t, &probe.node)), first_from(in, probe.key));
        cr_assert_eq(key_of(tree_after(&t, &probe.node)), first_from(in, probe.key + 1));
        cr_assert_eq(key_of(tree_at_most(&t, &probe.node)), last_to(in, probe.key));
    }
}

Test(tree, stays_flat_under_sorted_insertion)
{
    static struct item item[KEYS];
    struct tree t = {.compare = compare};

    for (int k = 0; k < KEYS; k++) {
        item[k].key = k;
        tree_insert(&t, &item[k].node);
    }
    cr_assert_lt(depth(t.root), 40);
}
