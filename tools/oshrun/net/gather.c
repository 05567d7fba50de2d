/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.c - see gather.h.  Pure.
 *
 * GATHER_UP: the group, then for each member at or below the sender, in ascending order,
 * its bytes.  GATHER_DOWN: the group, u64 number, all bytes.  A group on the wire: the
 * bytes of its key, u32 count, count times u32 node.
 *
 * Links preserve order and no member contributes to round n + 1 of a group before round
 * n, so that the rounds of a group complete in order: messages need no round number, and
 * a node needs only two lists.  `open` has the rounds that lack pieces of this subtree,
 * oldest first; `sent` has those that were sent up and wait for GATHER_DOWN.
 */
#include "config.h"

#include "tools/oshrun/net/gather.h"
#include "tools/oshrun/net/pack.h"
#include "tools/oshrun/util/mem.h"

#include <stdlib.h>
#include <string.h>

#define NODE_BYTES 4 /* of a node on the wire */

/* Key and members. */
struct group {
    const void *key;
    size_t key_len;
    const uint32_t *node;
    uint32_t nnodes;
};

struct piece {
    const void *data;
    size_t len;
};

/* Storage for the data of pieces. */
struct block {
    struct block *next;
    unsigned char data[];
};

struct round {
    struct round *next;
    struct group group;  /* points into the same allocation */
    struct piece *piece; /* per member */
    bool *came;          /* per child, this node last; true: received, or not expected */
    bool *waived;        /* the same; true: it is absent, `came` is true */
    uint32_t missing;    /* number of false entries in came */
    struct block *blocks;
    bool joined; /* this node is a member and has contributed */
    void *mine;
};

struct gather {
    struct tree tree;
    uint32_t me;
    uint32_t nchildren;
    struct net_out out;
    gather_done_fn *done;
    void *arg;
    gather_absent_fn *absent; /* NULL: no node is */
    void *absent_arg;
    struct round *open, *sent;
    uint64_t rounds; /* completed with this node as the top */
    uint32_t *lost;
    uint32_t nlost;
};

/* ---- groups ----------------------------------------------------------------------- */

static bool gather_same_group(const struct group *a, const struct group *b)
{
    return a->key_len == b->key_len && a->nnodes == b->nnodes &&
           memcmp(a->key, b->key, a->key_len) == 0 &&
           memcmp(a->node, b->node, a->nnodes * sizeof *a->node) == 0;
}

static bool gather_is_member(const struct group *group, uint32_t node)
{
    for (uint32_t i = 0; i < group->nnodes; i++)
        if (group->node[i] == node)
            return true;
    return false;
}

static uint32_t gather_count_below(const struct gather *g, const struct group *group,
                                   uint32_t top)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < group->nnodes; i++)
        n += tree_below(&g->tree, top, group->node[i]);
    return n;
}

/* Sets from[0, nchildren]: the children with members below them, and this node if it is
 * a member.  Returns the number of set entries. */
static uint32_t gather_sources(const struct gather *g, const struct group *group,
                               bool *from)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < g->nchildren; c++) {
        from[c] = gather_count_below(g, group, tree_child(&g->tree, g->me, c)) > 0;
        n += from[c];
    }
    from[g->nchildren] = gather_is_member(group, g->me);
    return n + from[g->nchildren];
}

/* The lowest common ancestor of the members, which combines the pieces. */
static uint32_t gather_top_of(const struct gather *g, const struct group *group)
{
    uint32_t top = group->node[0];
    while (gather_count_below(g, group, top) != group->nnodes)
        top = tree_parent(&g->tree, top);
    return top;
}

/* True if messages of the group pass through `node`. */
static bool gather_passes(const struct gather *g, const struct group *group,
                          uint32_t node)
{
    return gather_count_below(g, group, node) > 0 &&
           tree_below(&g->tree, gather_top_of(g, group), node);
}

static bool gather_is_lost(const struct gather *g, const struct group *group)
{
    for (uint32_t i = 0; i < g->nlost; i++)
        if (gather_passes(g, group, g->lost[i]))
            return true;
    return false;
}

static void gather_pack_group(struct pack *p, const struct group *group)
{
    pack_bytes(p, group->key, group->key_len);
    pack_u32(p, group->nnodes);
    for (uint32_t i = 0; i < group->nnodes; i++)
        pack_u32(p, group->node[i]);
}

/* Its members must exist and ascend.  The caller frees *nodes, also on failure. */
static int gather_read_group(const struct gather *g, struct unpack *u,
                             struct group *group, uint32_t **nodes)
{
    group->key = unpack_bytes(u, &group->key_len);
    group->nnodes = unpack_count(u, NODE_BYTES);
    if (u->failed || group->nnodes == 0 || group->nnodes > g->tree.nnodes)
        return -1;
    uint32_t *node = *nodes = mem_calloc(group->nnodes, sizeof *node);
    group->node = node;
    for (uint32_t i = 0; i < group->nnodes; i++) {
        node[i] = unpack_u32(u);
        if (node[i] >= g->tree.nnodes || (i > 0 && node[i] <= node[i - 1]))
            return -1;
    }
    return u->failed ? -1 : 0;
}

/* ---- rounds ----------------------------------------------------------------------- */

static bool gather_is_absent(const struct gather *g, const struct group *group,
                             uint32_t child)
{
    return g->absent != NULL && child < g->nchildren &&
           g->absent(g->absent_arg, group->key, group->key_len,
                     tree_child(&g->tree, g->me, child));
}

/* Marks the missing children that are absent.  The pieces of their nodes stay empty. */
static void gather_waive(const struct gather *g, struct round *r)
{
    for (uint32_t c = 0; c < g->nchildren; c++)
        if (!r->came[c] && gather_is_absent(g, &r->group, c)) {
            r->came[c] = r->waived[c] = true;
            r->missing--;
        }
}

/* One allocation, which gather_free_round frees. */
static struct round *gather_make_round(const struct gather *g, const struct group *group)
{
    size_t pieces = group->nnodes * sizeof(struct piece);
    size_t nodes = group->nnodes * sizeof *group->node;
    size_t sources = g->nchildren + 1, came = 2 * sources * sizeof(bool);
    struct round *r = mem_calloc(1, sizeof *r + pieces + nodes + came + group->key_len);
    unsigned char *at = (unsigned char *)(r + 1);
    r->piece = (struct piece *)at;
    r->group = *group;
    r->group.node = memcpy(at + pieces, group->node, nodes);
    r->came = (bool *)(at + pieces + nodes);
    r->waived = r->came + sources;
    r->group.key = at + pieces + nodes + came;
    if (group->key_len > 0)
        memcpy(at + pieces + nodes + came, group->key, group->key_len);
    r->missing = gather_sources(g, group, r->came);
    for (uint32_t i = 0; i <= g->nchildren; i++)
        r->came[i] = !r->came[i]; /* none is expected from a child without members */
    gather_waive(g, r);
    return r;
}

static void gather_drop_blocks(struct round *r)
{
    while (r->blocks != NULL) {
        struct block *b = r->blocks;
        r->blocks = b->next;
        free(b);
    }
}

static void gather_free_round(struct round *r)
{
    gather_drop_blocks(r);
    free(r);
}

static void gather_append(struct round **list, struct round *r)
{
    while (*list != NULL)
        list = &(*list)->next;
    r->next = NULL;
    *list = r;
}

static void gather_remove(struct round **list, struct round *r)
{
    while (*list != r)
        list = &(*list)->next;
    *list = r->next;
}

/* The first open round of the group that `child` has not contributed to, or a new one. */
static struct round *gather_round_for(struct gather *g, const struct group *group,
                                      uint32_t child)
{
    for (struct round *r = g->open; r != NULL; r = r->next)
        if (!r->came[child] && gather_same_group(&r->group, group))
            return r;
    struct round *r = gather_make_round(g, group);
    gather_append(&g->open, r);
    return r;
}

static void *gather_keep(struct round *r, const void *data, size_t len)
{
    struct block *b = mem_alloc(sizeof *b + len);
    if (len > 0)
        memcpy(b->data, data, len);
    b->next = r->blocks;
    r->blocks = b;
    return b->data;
}

/* ---- messages --------------------------------------------------------------------- */

static void gather_send(struct gather *g, enum wire_type type, uint32_t to,
                        const struct pack *p)
{
    const struct frame f = {
        .type = type, .from = g->me, .to = to, .data = p->data, .len = p->len};
    g->out.send(g->out.arg, &f);
}

/* Ends a round that was removed from its list. */
static void gather_end_round(struct gather *g, struct round *r, int status,
                             uint64_t number, const void *data, size_t len)
{
    if (r->joined)
        g->done(g->arg, r->mine, status, number, data, len);
    gather_free_round(r);
}

/* To the children with members below them, and to this node. */
static void gather_send_down(struct gather *g, struct round *r, uint64_t number,
                             const void *data, size_t len)
{
    struct pack p = {0};
    for (uint32_t c = 0; c < g->nchildren; c++) {
        uint32_t child = tree_child(&g->tree, g->me, c);
        if (gather_count_below(g, &r->group, child) == 0 || r->waived[c])
            continue;
        if (p.len == 0) {
            gather_pack_group(&p, &r->group);
            pack_u64(&p, number);
            pack_bytes(&p, data, len);
        }
        gather_send(g, WIRE_GATHER_DOWN, child, &p);
    }
    pack_free(&p);
    gather_end_round(g, r, 0, number, data, len);
}

/* This node is the top and has all pieces. */
static void gather_finish(struct gather *g, struct round *r)
{
    size_t len = 0;
    for (uint32_t i = 0; i < r->group.nnodes; i++)
        len += r->piece[i].len;
    unsigned char *all = mem_alloc(len), *end = all;
    for (uint32_t i = 0; i < r->group.nnodes; i++)
        if (r->piece[i].len > 0) {
            memcpy(end, r->piece[i].data, r->piece[i].len);
            end += r->piece[i].len;
        }
    gather_drop_blocks(r);
    /* number = round * (nnodes + 1) + position in the tree: unique in the job, never
     * 0. */
    uint64_t place = g->me == WIRE_FRONT ? 0 : (uint64_t)g->me + 1;
    uint64_t number = ++g->rounds * ((uint64_t)g->tree.nnodes + 1) + place;
    gather_send_down(g, r, number, all, len);
    free(all);
}

/* This node is not the top and has all pieces of its subtree. */
static void gather_send_up(struct gather *g, struct round *r)
{
    struct pack p = {0};
    gather_pack_group(&p, &r->group);
    for (uint32_t i = 0; i < r->group.nnodes; i++)
        if (tree_below(&g->tree, g->me, r->group.node[i]))
            pack_bytes(&p, r->piece[i].data, r->piece[i].len);
    gather_drop_blocks(r);
    gather_append(&g->sent, r);
    gather_send(g, WIRE_GATHER_UP, tree_parent(&g->tree, g->me), &p);
    pack_free(&p);
}

static void gather_complete(struct gather *g, struct round *r)
{
    gather_remove(&g->open, r);
    if (gather_count_below(g, &r->group, g->me) == r->group.nnodes)
        gather_finish(g, r);
    else
        gather_send_up(g, r);
}

static void gather_arrived(struct gather *g, struct round *r, uint32_t child)
{
    r->came[child] = true;
    if (--r->missing == 0)
        gather_complete(g, r);
}

/* Index of the child, or nchildren. */
static uint32_t gather_child_number(const struct gather *g, uint32_t node)
{
    uint32_t c = 0;
    while (c < g->nchildren && tree_child(&g->tree, g->me, c) != node)
        c++;
    return c;
}

/* Reads one piece per member below child, and nothing else.  r = NULL: only checks. */
static int gather_read_pieces(const struct gather *g, struct unpack u,
                              const struct group *group, uint32_t child, struct round *r)
{
    for (uint32_t i = 0; i < group->nnodes; i++) {
        if (!tree_below(&g->tree, child, group->node[i]))
            continue;
        struct piece piece;
        piece.data = unpack_bytes(&u, &piece.len);
        if (r != NULL)
            r->piece[i] = piece;
    }
    return unpack_done(&u) ? 0 : -1;
}

static int gather_recv_up(struct gather *g, const struct frame *f, struct unpack u,
                          const struct group *group)
{
    uint32_t child = gather_child_number(g, f->from);
    /* A node above the top gets no messages of the group. */
    if (child == g->nchildren || gather_count_below(g, group, f->from) == 0 ||
        gather_count_below(g, group, f->from) == group->nnodes ||
        gather_read_pieces(g, u, group, f->from, NULL) != 0)
        return -1;
    if (gather_is_lost(g, group) || gather_is_absent(g, group, child))
        return 0;
    struct round *r = gather_round_for(g, group, child);
    size_t len = (size_t)(u.end - u.at);
    const void *data = gather_keep(r, u.at, len);
    gather_read_pieces(g, unpack_of(data, len), group, f->from, r);
    gather_arrived(g, r, child);
    return 0;
}

static int gather_recv_down(struct gather *g, const struct frame *f, struct unpack u,
                            const struct group *group)
{
    uint64_t number = unpack_u64(&u);
    size_t len;
    const void *data = unpack_bytes(&u, &len);
    if (!unpack_done(&u) || f->from != tree_parent(&g->tree, g->me))
        return -1;
    struct round *r = g->sent;
    while (r != NULL && !gather_same_group(&r->group, group))
        r = r->next;
    if (r == NULL)
        return gather_is_lost(g, group) ? 0 : -1;
    gather_remove(&g->sent, r);
    gather_send_down(g, r, number, data, len);
    return 0;
}

int gather_recv(struct gather *g, const struct frame *f)
{
    struct unpack u = unpack_of(f->data, f->len);
    struct group group;
    uint32_t *nodes = NULL;
    int rc = gather_read_group(g, &u, &group, &nodes);
    if (rc == 0 && f->type == WIRE_GATHER_UP)
        rc = gather_recv_up(g, f, u, &group);
    else if (rc == 0)
        rc = f->type == WIRE_GATHER_DOWN ? gather_recv_down(g, f, u, &group) : -1;
    free(nodes);
    return rc;
}

/* ---- interface -------------------------------------------------------------------- */

void gather_join(struct gather *g, const void *key, size_t key_len, const uint32_t *node,
                 uint32_t nnodes, const void *data, size_t len, void *mine)
{
    const struct group group = {key, key_len, node, nnodes};
    if (gather_is_lost(g, &group)) {
        g->done(g->arg, mine, -1, 0, NULL, 0);
        return;
    }
    struct round *r = gather_round_for(g, &group, g->nchildren);
    void *copy = gather_keep(r, data, len);
    for (uint32_t i = 0; i < nnodes; i++)
        if (node[i] == g->me)
            r->piece[i] = (struct piece){copy, len};
    r->joined = true;
    r->mine = mine;
    gather_arrived(g, r, g->nchildren);
}

void gather_set_absent(struct gather *g, gather_absent_fn *absent, void *arg)
{
    g->absent = absent;
    g->absent_arg = arg;
}

/* The first open round that now lacks nothing. */
static struct round *gather_find_complete(struct gather *g)
{
    for (struct round *r = g->open; r != NULL; r = r->next) {
        gather_waive(g, r);
        if (r->missing == 0)
            return r;
    }
    return NULL;
}

void gather_update(struct gather *g)
{
    struct round *r;
    while ((r = gather_find_complete(g)) != NULL)
        gather_complete(g, r); /* restart: done() may have changed the list */
}

static void gather_end_lost(struct gather *g, struct round **list, uint32_t node)
{
    struct round *r;
    do {
        for (r = *list; r != NULL; r = r->next)
            if (gather_passes(g, &r->group, node))
                break;
        if (r != NULL) {
            gather_remove(list, r);
            gather_end_round(g, r, -1, 0, NULL, 0);
        }
    } while (r != NULL); /* restart: done() may have changed the list */
}

void gather_lost(struct gather *g, uint32_t node)
{
    g->lost = mem_resize(g->lost, g->nlost + 1, sizeof *g->lost);
    g->lost[g->nlost++] = node;
    gather_end_lost(g, &g->open, node);
    gather_end_lost(g, &g->sent, node);
}

struct gather *gather_new(const struct tree *t, uint32_t me, const struct net_out *out,
                          gather_done_fn *done, void *arg)
{
    struct gather *g = mem_calloc(1, sizeof *g);
    g->tree = *t;
    g->me = me;
    g->nchildren = tree_children(t, me);
    g->out = *out;
    g->done = done;
    g->arg = arg;
    return g;
}

static void gather_free_all(struct round *r)
{
    for (struct round *next; r != NULL; r = next) {
        next = r->next;
        gather_free_round(r);
    }
}

void gather_free(struct gather *g)
{
    if (g == NULL)
        return;
    gather_free_all(g->open);
    gather_free_all(g->sent);
    free(g->lost);
    free(g);
}
