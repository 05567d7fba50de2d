/* SPDX-License-Identifier: BSD-3-Clause */
/* net_tree_test.c - the tree of front end and daemons against hand-made tables. */
#include "config.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tools/oshrun/net/tree.h"

enum { NODES_MAX = 40, FANOUT_MAX = 9, PLACES = NODES_MAX + 1 };

/* The front end has index 0 in the tables, node i has index i + 1. */
static uint32_t node_of(uint32_t index)
{
    return index == 0 ? WIRE_FRONT : index - 1;
}

static uint32_t place_of(uint32_t node)
{
    return node == WIRE_FRONT ? 0 : node + 1;
}

/* parent[] by definition: indices get parents in order, `fanout` per parent. */
static void make_parents(const struct tree *t, uint32_t parent[PLACES])
{
    uint32_t owner = 0, children = 0;
    for (uint32_t p = 1; p <= t->nnodes; p++) {
        parent[p] = owner;
        if (++children == t->fanout) {
            owner++;
            children = 0;
        }
    }
}

static bool is_above(const uint32_t parent[PLACES], uint32_t top, uint32_t p)
{
    while (p != top && p != 0)
        p = parent[p];
    return p == top;
}

/* The next node on the route: down to the child above `to`, or up. */
static uint32_t next_place(const uint32_t parent[PLACES], uint32_t n, uint32_t me,
                           uint32_t to)
{
    for (uint32_t child = 1; child <= n; child++)
        if (parent[child] == me && is_above(parent, child, to))
            return child;
    return parent[me];
}

static void check_node(const struct tree *t, const uint32_t parent[PLACES], uint32_t p)
{
    uint32_t children = 0;
    if (p == 0)
        cr_assert_eq(tree_parent(t, WIRE_FRONT), WIRE_NONE);
    else
        cr_assert_eq(tree_parent(t, node_of(p)), node_of(parent[p]));
    for (uint32_t c = 1; c <= t->nnodes; c++)
        if (parent[c] == p)
            cr_assert_eq(tree_child(t, node_of(p), children++), node_of(c));
    cr_assert_eq(tree_children(t, node_of(p)), children, "n %u k %u index %u", t->nnodes,
                 t->fanout, p);
    for (uint32_t q = 0; q <= t->nnodes; q++) {
        cr_assert_eq(tree_below(t, node_of(p), node_of(q)), is_above(parent, p, q),
                     "n %u k %u: %u below %u", t->nnodes, t->fanout, q, p);
        if (p != q)
            cr_assert_eq(place_of(tree_next(t, node_of(p), node_of(q))),
                         next_place(parent, t->nnodes, p, q), "n %u k %u: %u to %u",
                         t->nnodes, t->fanout, p, q);
    }
}

Test(net_tree, all_small_trees)
{
    for (uint32_t n = 0; n <= NODES_MAX; n++)
        for (uint32_t k = 1; k <= FANOUT_MAX; k++) {
            struct tree t = {.nnodes = n, .fanout = k};
            uint32_t parent[PLACES] = {0};
            make_parents(&t, parent);
            for (uint32_t p = 0; p <= n; p++)
                check_node(&t, parent, p);
        }
}

/* Values near the limit of their type; the depth is the number of levels. */
Test(net_tree, large_trees)
{
    static const struct tree trees[] = {{65536, 1},
                                        {1u << 20, 2},
                                        {4000000000u, 64},
                                        {UINT32_MAX - 3, UINT32_MAX},
                                        {100, 1000}};
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        const struct tree *t = &trees[i];
        uint32_t last = t->nnodes - 1, at = 0, exchange = 0;
        cr_assert(tree_below(t, WIRE_FRONT, last));
        cr_assert_eq(tree_children(t, last), 0);
        uint32_t above = tree_parent(t, last);
        cr_assert_eq(tree_child(t, above, tree_children(t, above) - 1), last);
        if (t->fanout == 1)
            continue; /* as many exchange as nodes */
        for (; at != last; exchange++) {
            cr_assert_lt(exchange, 64);
            at = tree_next(t, at, last);
        }
    }
}
