/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * route.h - the links of one node of the tree, and the routing of frames.
 *
 * Uses link.h, tree.h.  Used by daemons*.c (the front) and daemon_main.c.
 *
 * A frame for a child that has not connected yet is queued; one for a child whose link
 * was lost is dropped.
 */
#ifndef OSHRUN_NET_ROUTE_H
#define OSHRUN_NET_ROUTE_H

#include "tools/oshrun/net/link.h"
#include "tools/oshrun/net/tree.h"

#include <stdbool.h>

struct route_child;

struct route {
    struct tree tree;
    uint32_t me;     /* a node, or WIRE_FRONT */
    struct link *up; /* to the parent; NULL: not connected (the front has none) */
    uint32_t nchildren;
    struct route_child *child;
};

void route_open(struct route *r, const struct tree *tree, uint32_t me);
/* Frees the links too. */
void route_close(struct route *r);

/* Attaches the link of a child: sends `first` (may be NULL), then the queued frames.
 * -1: node is no child of ours, or was attached before. */
int route_attach(struct route *r, uint32_t node, struct link *l,
                 const struct frame *first);

/* The child whose link this is, or WIRE_NONE. */
uint32_t route_child_of(const struct route *r, const struct link *l);

/* Detaches a lost child and frees its link. */
void route_detach(struct route *r, uint32_t node);

/* Whether this child, or any child, has a link. */
bool route_has_child(const struct route *r, uint32_t node);
bool route_has_children(const struct route *r);

/* Writes what the sockets to the children accept now, and not only from the loop. */
void route_push(struct route *r);

/* Sends a frame of this node toward f->to. */
void route_send(struct route *r, const struct frame *f);

/* Forwards a frame that was received on l.  True: it is (also) for this node. */
bool route_recv(struct route *r, const struct link *l, const struct frame *f);

#endif
