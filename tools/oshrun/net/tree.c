/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c - see tree.h.  Pure. */
#include "config.h"

#include "tools/oshrun/net/tree.h"

static uint32_t tree_position(uint32_t node)
{
    return node == WIRE_FRONT ? 0 : node + 1;
}

static uint32_t tree_node_at_position(uint64_t place)
{
    return place == 0 ? WIRE_FRONT : (uint32_t)(place - 1);
}

uint32_t tree_parent(const struct tree *t, uint32_t node)
{
    return node == WIRE_FRONT
               ? WIRE_NONE
               : tree_node_at_position((tree_position(node) - 1) / t->fanout);
}

uint32_t tree_children(const struct tree *t, uint32_t node)
{
    uint64_t first = (uint64_t)tree_position(node) * t->fanout + 1;
    if (first > t->nnodes)
        return 0;
    uint64_t left = t->nnodes - first + 1;
    return left < t->fanout ? (uint32_t)left : t->fanout;
}

uint32_t tree_child(const struct tree *t, uint32_t node, uint32_t i)
{
    return tree_node_at_position((uint64_t)tree_position(node) * t->fanout + 1 + i);
}

bool tree_below(const struct tree *t, uint32_t top, uint32_t node)
{
    while (node != top && node != WIRE_NONE)
        node = tree_parent(t, node);
    return node == top;
}

uint32_t tree_next(const struct tree *t, uint32_t me, uint32_t to)
{
    uint32_t from = WIRE_NONE; /* last node before `me` on the way up: its child */
    for (uint32_t n = to; n != me; n = tree_parent(t, n)) {
        if (n == WIRE_NONE)
            return tree_parent(t, me);
        from = n;
    }
    return from;
}
