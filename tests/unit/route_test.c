/* SPDX-License-Identifier: BSD-3-Clause */
/* route_test.c - routing of frames in the tree, over real links. */
#include "config.h"

#include "tests/unit/link_help.h"
#include "tools/oshrun/net/route.h"

TestSuite(route, .timeout = 60);

/*
 * Of the front: nodes 0, 1, 2; of 0: 3, 4, 5; of 1: 6, 7, 8; of 2: 9, 10, 11; of 3: 12.
 */
enum { NODES = 13, FANOUT = 3, HEARD_MAX = 16, MANY = 2000, UP = 100 };

static const struct tree tree = {.nnodes = NODES, .fanout = FANOUT};

/* The remote end of a link of the route, with the frames received. */
struct remote {
    struct end e;  /* first: converted from its address */
    uint32_t node; /* node at that end; UP: the parent */
    struct end near;
    struct heard {
        enum wire_type type;
        uint32_t from, to;
        size_t len;
    } heard[HEARD_MAX];
    unsigned count;
    bool done; /* the mark of pump() has arrived */
};

/* A route, and the remote ends of its links in the order in which they were made. */
struct spot {
    struct route r;
    struct remote *remote[FANOUT + 1];
    unsigned remotes;
};

#define MARK WIRE_HELLO

static void keep_heard(struct end *e, const struct frame *f)
{
    struct remote *remote = (struct remote *)e;
    if (f->type == MARK) {
        remote->done = true;
        loop.stop = true;
        return;
    }
    if (remote->count < HEARD_MAX)
        remote->heard[remote->count] = (struct heard){f->type, f->from, f->to, f->len};
    else
        cr_assert_eq(f->len, remote->count, "frame %u has %zu bytes", remote->count,
                     f->len);
    remote->count++;
}

static struct spot *open_spot(uint32_t me)
{
    struct spot *s = calloc(1, sizeof *s);
    set_up();
    route_open(&s->r, &tree, me);
    return s;
}

/* A link to the parent (UP), or to a node that is not attached yet. */
static struct remote *link_to(struct spot *s, uint32_t node)
{
    struct remote *remote = calloc(1, sizeof *remote);
    remote->node = node;
    remote->e.at_frame = keep_heard;
    open_both(&remote->near, &remote->e, PATIENT_MS);
    if (node == UP)
        s->r.up = remote->near.link;
    s->remote[s->remotes++] = remote;
    return remote;
}

static struct remote *attach(struct spot *s, uint32_t node, const struct frame *first)
{
    struct remote *remote = link_to(s, node);
    cr_assert_eq(route_attach(&s->r, node, remote->near.link, first), 0);
    return remote;
}

static struct spot *open_with(uint32_t me, unsigned children)
{
    struct spot *s = open_spot(me);
    for (uint32_t i = 0; i < children; i++)
        attach(s, tree_child(&tree, me, i), NULL);
    if (me != WIRE_FRONT)
        link_to(s, UP);
    return s;
}

static void close_spot(struct spot *s)
{
    route_close(&s->r);
    for (unsigned i = 0; i < s->remotes; i++) {
        link_free(s->remote[i]->e.link);
        free(s->remote[i]);
    }
    free(s);
    tear_down();
}

static struct link *link_of(const struct spot *s, uint32_t node)
{
    for (unsigned i = 0; i < s->remotes; i++)
        if (s->remote[i]->node == node)
            return s->remote[i]->near.link;
    return NULL;
}

/* Waits until all frames sent to this end have arrived. */
static void pump(struct remote *remote)
{
    remote->done = false;
    send_one(remote->near.link, MARK, 0);
    while (!remote->done)
        cr_assert(run(PATIENT_MS));
}

/* Exactly the n remote ends in ends[] have received one frame. */
static void expect_at(struct spot *s, const uint32_t *ends, unsigned n, uint32_t from,
                      uint32_t to)
{
    for (unsigned i = 0; i < s->remotes; i++) {
        struct remote *remote = s->remote[i];
        unsigned want = 0;
        pump(remote);
        for (unsigned k = 0; k < n; k++)
            want += ends[k] == remote->node;
        cr_assert_eq(remote->count, want, "%u to %u: %u frames at %u, not %u", from, to,
                     remote->count, remote->node, want);
        if (want > 0) {
            cr_assert_eq(remote->heard[0].type, WIRE_EVENT);
            cr_assert_eq(remote->heard[0].from, from);
            cr_assert_eq(remote->heard[0].to, to);
            cr_assert_eq(remote->heard[0].len, 100);
        }
        remote->count = 0;
    }
}

static struct frame frame_of(enum wire_type type, uint32_t from, uint32_t to, size_t len)
{
    static unsigned char data[MANY];
    fill(data, len);
    return (struct frame){.type = type, .from = from, .to = to, .data = data, .len = len};
}

/* -- one target ---------------------------------------------------------------------- */

static const struct {
    uint32_t me, to, leader_msg;
} way[] = {
    {0, WIRE_FRONT, UP}, {0, 1, UP},
    {0, 2, UP},          {0, 6, UP},
    {0, 11, UP},         {0, 3, 3},
    {0, 4, 4},           {0, 5, 5},
    {0, 12, 3},          {3, 12, 12},
    {3, 0, UP},          {3, 4, UP},
    {3, WIRE_FRONT, UP}, {12, WIRE_FRONT, UP},
    {12, 3, UP},         {WIRE_FRONT, 0, 0},
    {WIRE_FRONT, 2, 2},  {WIRE_FRONT, 4, 0},
    {WIRE_FRONT, 12, 0}, {WIRE_FRONT, 8, 1},
    {WIRE_FRONT, 9, 2},
};

Test(route, frames_go_to_their_target)
{
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        struct spot *s = open_with(way[i].me, tree_children(&tree, way[i].me));
        struct frame f = frame_of(WIRE_EVENT, way[i].me, way[i].to, 100);
        route_send(&s->r, &f);
        expect_at(s, &way[i].leader_msg, 1, way[i].me, way[i].to);
        for (unsigned k = 0; k < s->remotes;
             k++) { /* from a neighbour, also back to it */
            f.from = 7;
            cr_assert_not(route_recv(&s->r, s->remote[k]->near.link, &f));
            expect_at(s, &way[i].leader_msg, 1, 7, way[i].to);
        }
        close_spot(s);
    }
}

Test(route, frames_for_this_node_are_not_forwarded)
{
    static const uint32_t me[] = {0, 3, WIRE_FRONT};
    for (size_t i = 0; i < sizeof me / sizeof *me; i++) {
        struct spot *s = open_with(me[i], tree_children(&tree, me[i]));
        struct frame f = frame_of(WIRE_EVENT, 7, me[i], 100);
        for (unsigned k = 0; k < s->remotes; k++)
            cr_assert(route_recv(&s->r, s->remote[k]->near.link, &f));
        expect_at(s, NULL, 0, 7, me[i]);
        close_spot(s);
    }
}

Test(route, frames_for_unknown_nodes_are_dropped)
{
    static const uint32_t unknown[] = {NODES, NODES + 1, WIRE_NONE, WIRE_NONE - 1};
    struct spot *s = open_with(0, FANOUT);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct frame f = frame_of(WIRE_EVENT, 3, unknown[i], 100);
        cr_assert_not(route_recv(&s->r, link_of(s, 3), &f));
        cr_assert_not(route_recv(&s->r, link_of(s, UP), &f));
        expect_at(s, NULL, 0, 3, unknown[i]);
    }
    close_spot(s);
}

/* -- all ----------------------------------------------------------------------------- */

Test(route, for_all_from_the_front)
{
    static const uint32_t children[] = {0, 1, 2};
    struct spot *s = open_with(WIRE_FRONT, FANOUT);
    struct frame f = frame_of(WIRE_EVENT, WIRE_FRONT, WIRE_ALL, 100);
    route_send(&s->r, &f);
    expect_at(s, children, FANOUT, WIRE_FRONT, WIRE_ALL);
    f.from = 7; /* a daemon's frame reaches all, the sender's subtree too */
    cr_assert_not(route_recv(&s->r, link_of(s, 1), &f),
                  "a frame for all is not for the front end");
    expect_at(s, children, FANOUT, 7, WIRE_ALL);
    close_spot(s);
}

Test(route, for_all_in_the_middle)
{
    static const uint32_t children[] = {3, 4, 5}, up[] = {UP};
    struct spot *s = open_with(0, FANOUT);
    struct frame f = frame_of(WIRE_EVENT, 0, WIRE_ALL, 100);
    route_send(&s->r, &f);
    expect_at(s, up, 1, 0, WIRE_ALL);
    f.from = 4;
    cr_assert_not(route_recv(&s->r, link_of(s, 4), &f), "it returns from the front end");
    expect_at(s, up, 1, 4, WIRE_ALL);
    cr_assert(route_recv(&s->r, link_of(s, UP), &f), "from above: for this node too");
    expect_at(s, children, FANOUT, 4, WIRE_ALL);
    close_spot(s);
}

Test(route, for_all_at_a_leaf)
{
    struct spot *s = open_with(12, 0);
    struct frame f = frame_of(WIRE_EVENT, 4, WIRE_ALL, 100);
    cr_assert(route_recv(&s->r, link_of(s, UP), &f));
    expect_at(s, NULL, 0, 4, WIRE_ALL);
    close_spot(s);
}

/* -- attaching and losing links ------------------------------------------------------ */

/* Order: the job, the frames queued before the link was attached, later frames. */
Test(route, frames_wait_for_a_link)
{
    struct spot *s = open_with(0, 1);
    struct frame f = frame_of(WIRE_SIGNAL, 0, 4, 1);
    route_send(&s->r, &f);
    f = frame_of(WIRE_INPUT, WIRE_FRONT, 4, 300);
    cr_assert_not(route_recv(&s->r, link_of(s, UP), &f));
    f = frame_of(WIRE_EVENT, 9, WIRE_ALL, 0);
    cr_assert(route_recv(&s->r, link_of(s, UP), &f));
    f = frame_of(WIRE_MODEX_ASK, 3, 4, 20);
    cr_assert_not(route_recv(&s->r, link_of(s, 3), &f));
    cr_assert_not(route_has_child(&s->r, 4));
    struct frame job = frame_of(WIRE_JOB, 0, 4, 77);
    struct remote *remote = attach(s, 4, &job);
    f = frame_of(WIRE_STOP, WIRE_FRONT, 4, 5);
    route_send(&s->r, &f);
    pump(remote);
    static const struct heard want[] = {
        {WIRE_JOB, 0, 4, 77},
        {WIRE_SIGNAL, 0, 4, 1},
        {WIRE_INPUT, WIRE_FRONT, 4, 300},
        {WIRE_EVENT, 9, WIRE_ALL, 0},
        {WIRE_MODEX_ASK, 3, 4, 20},
        {WIRE_STOP, WIRE_FRONT, 4, 5},
    };
    unsigned n = sizeof want / sizeof *want;
    cr_assert_eq(remote->count, n, "%u frames", remote->count);
    for (unsigned i = 0; i < n; i++) {
        cr_expect_eq(remote->heard[i].type, want[i].type, "frame %u: %s", i,
                     wire_name(remote->heard[i].type));
        cr_expect_eq(remote->heard[i].from, want[i].from);
        cr_expect_eq(remote->heard[i].to, want[i].to);
        cr_expect_eq(remote->heard[i].len, want[i].len);
    }
    close_spot(s);
}

Test(route, many_frames_wait_in_order)
{
    struct spot *s = open_with(WIRE_FRONT, 0);
    for (size_t i = 0; i < MANY; i++) {
        struct frame f = frame_of(WIRE_INPUT, WIRE_FRONT, i % 2 ? 1 : 7, i);
        route_send(&s->r, &f);
    }
    struct remote *remote = attach(s, 1, NULL);
    pump(remote);
    cr_assert_eq(remote->count, MANY);
    for (size_t i = 0; i < HEARD_MAX; i++)
        cr_assert_eq(remote->heard[i].len, i);
    close_spot(s);
}

Test(route, frames_for_a_lost_child_are_dropped)
{
    struct spot *s = open_with(0, 1); /* node 3 is attached, 4 and 5 are not yet */
    struct frame f = frame_of(WIRE_EVENT, 0, 4, 100);
    route_send(&s->r, &f); /* queued, and then discarded */
    route_detach(&s->r, 4);
    route_send(&s->r, &f);
    cr_assert_not(route_recv(&s->r, link_of(s, UP), &f));
    struct remote *late = link_to(s, 4);
    cr_assert_eq(route_attach(&s->r, 4, late->near.link, NULL), -1, "it is gone");
    pump(late);
    cr_assert_eq(late->count, 0);
    link_free(late->near.link);
    link_free(late->e.link);
    free(s->remote[--s->remotes]);

    cr_assert(route_has_child(&s->r, 3));
    cr_assert(route_has_children(&s->r));
    route_detach(&s->r, 3);
    cr_assert_not(route_has_child(&s->r, 3));
    cr_assert_not(route_has_children(&s->r));
    f.to = 12; /* below it */
    route_send(&s->r, &f);
    f.to = WIRE_ALL;
    cr_assert(route_recv(&s->r, link_of(s, UP), &f));
    struct remote *other = attach(s, 5, NULL);
    pump(other);
    cr_assert_eq(other->count, 1, "frames for all still reach the others");
    pump(s->remote[1]);
    cr_assert_eq(s->remote[1]->count, 0, "the parent gets none");
    route_detach(&s->r, 3);
    route_detach(&s->r, 11);
    close_spot(s);
}

Test(route, a_missing_parent)
{
    struct spot *s = open_spot(3);
    struct frame f = frame_of(WIRE_EVENT, 3, WIRE_FRONT, 100);
    route_send(&s->r, &f);
    f.to = WIRE_ALL;
    route_send(&s->r, &f);
    f = frame_of(WIRE_EVENT, 0, 12, 100); /* no link fetches it */
    route_send(&s->r, &f);
    cr_assert_not(route_has_children(&s->r));
    close_spot(s);
}

Test(route, nodes_that_may_be_attached)
{
    struct spot *s = open_with(0, 1);
    struct link *l = link_of(s, 3);
    cr_assert_eq(route_child_of(&s->r, l), 3);
    cr_assert_eq(route_child_of(&s->r, link_of(s, UP)), WIRE_NONE);
    cr_assert_eq(route_attach(&s->r, 3, l, NULL), -1, "it is there");
    cr_assert_eq(route_attach(&s->r, 0, l, NULL), -1, "it is this node");
    cr_assert_eq(route_attach(&s->r, 12, l, NULL), -1, "a child's child");
    cr_assert_eq(route_attach(&s->r, 1, l, NULL), -1, "a neighbour");
    cr_assert_eq(route_attach(&s->r, NODES, l, NULL), -1);
    cr_assert_eq(route_attach(&s->r, WIRE_FRONT, l, NULL), -1);
    cr_assert_not(route_has_child(&s->r, 4));
    cr_assert_not(route_has_child(&s->r, 12));
    close_spot(s);
}
