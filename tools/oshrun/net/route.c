/* SPDX-License-Identifier: BSD-3-Clause */
/* route.c - see route.h.  Uses iobuf.c, link.c, tree.c. */
#include "config.h"

#include "tools/oshrun/util/iobuf.h"
#include "tools/oshrun/net/route.h"
#include "tools/oshrun/util/mem.h"

#include <stdlib.h>

struct route_child {
    uint32_t node;
    struct link *link;
    bool gone;
    struct evbuffer *waiting; /* frames, until it connects; NULL: none */
};

void route_open(struct route *r, const struct tree *tree, uint32_t me)
{
    *r = (struct route){.tree = *tree, .me = me};
    uint32_t n = tree_children(tree, me);
    r->child = mem_calloc(n, sizeof *r->child);
    r->nchildren = n;
    for (uint32_t i = 0; i < n; i++)
        r->child[i].node = tree_child(tree, me, i);
}

void route_close(struct route *r)
{
    for (uint32_t i = 0; i < r->nchildren; i++) {
        iobuf_free(&r->child[i].waiting);
        if (r->child[i].link != NULL)
            link_free(r->child[i].link);
    }
    if (r->up != NULL)
        link_free(r->up);
    free(r->child);
    *r = (struct route){.me = WIRE_NONE};
}

static struct route_child *route_find_child(const struct route *r, uint32_t node)
{
    for (uint32_t i = 0; i < r->nchildren; i++)
        if (r->child[i].node == node)
            return &r->child[i];
    return NULL;
}

int route_attach(struct route *r, uint32_t node, struct link *l,
                 const struct frame *first)
{
    struct route_child *c = route_find_child(r, node);
    if (c == NULL || c->link != NULL || c->gone)
        return -1;
    c->link = l;
    if (first != NULL)
        link_send(l, first);
    if (c->waiting != NULL)
        link_send_encoded(l, c->waiting);
    iobuf_free(&c->waiting);
    return 0;
}

uint32_t route_child_of(const struct route *r, const struct link *l)
{
    for (uint32_t i = 0; i < r->nchildren; i++)
        if (r->child[i].link == l)
            return r->child[i].node;
    return WIRE_NONE;
}

void route_detach(struct route *r, uint32_t node)
{
    struct route_child *c = route_find_child(r, node);
    if (c == NULL)
        return;
    c->gone = true;
    iobuf_free(&c->waiting);
    if (c->link != NULL)
        link_free(c->link);
    c->link = NULL;
}

bool route_has_child(const struct route *r, uint32_t node)
{
    const struct route_child *c = route_find_child(r, node);
    return c != NULL && c->link != NULL;
}

bool route_has_children(const struct route *r)
{
    for (uint32_t i = 0; i < r->nchildren; i++)
        if (r->child[i].link != NULL)
            return true;
    return false;
}

static void route_send_child(struct route_child *c, const struct frame *f)
{
    if (c->link != NULL)
        link_send(c->link, f);
    else if (!c->gone)
        link_encode(&c->waiting, f);
}

static void route_send_children(struct route *r, const struct frame *f)
{
    for (uint32_t i = 0; i < r->nchildren; i++)
        route_send_child(&r->child[i], f);
}

static void route_send_up(struct route *r, const struct frame *f)
{
    if (r->up != NULL)
        link_send(r->up, f);
}

void route_push(struct route *r)
{
    for (uint32_t i = 0; i < r->nchildren; i++)
        if (r->child[i].link != NULL)
            link_push(r->child[i].link);
}

void route_send(struct route *r, const struct frame *f)
{
    if (f->to == WIRE_ALL && r->me == WIRE_FRONT) {
        route_send_children(r, f);
        return;
    }
    uint32_t next = f->to == WIRE_ALL ? tree_parent(&r->tree, r->me)
                                      : tree_next(&r->tree, r->me, f->to);
    struct route_child *c = route_find_child(r, next);
    if (c != NULL)
        route_send_child(c, f);
    else
        route_send_up(r, f);
}

/* A frame for all goes up to the front end, which sends it down to all. */
static bool route_recv_for_all(struct route *r, const struct link *l,
                               const struct frame *f)
{
    if (l != r->up && r->me != WIRE_FRONT) {
        route_send_up(r, f);
        return false;
    }
    route_send_children(r, f);
    return r->me != WIRE_FRONT;
}

bool route_recv(struct route *r, const struct link *l, const struct frame *f)
{
    if (f->to == WIRE_ALL)
        return route_recv_for_all(r, l, f);
    if (f->to == r->me)
        return true;
    bool known = f->to == WIRE_FRONT || f->to < r->tree.nnodes;
    if (known)
        route_send(r, f);
    return false;
}
