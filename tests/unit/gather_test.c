/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_test.c - gathers over many simulated nodes in one process: messages are ordered
 * on each link only.
 */
#include "config.h"

#include "tools/oshrun/net/gather.h"
#include "tools/oshrun/net/pack.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX  40
#define RANKS      (NODES_MAX + 1) /* with the front end, which is the last one */
#define GROUPS_MAX 6
#define ROUNDS     4
#define PIECE_MAX  300
#define KEPT       64 /* frames that are kept to be corrupted */
#ifdef PGAS_SANITIZED /* slow */
#define SEEDS 100u
#else
#define SEEDS 300u
#endif

/* A message on a link, in one direction. */
struct message {
    struct message *next;
    struct frame f;
    unsigned char data[];
};

struct set {
    unsigned char key[8];
    size_t key_len;
    uint32_t node[NODES_MAX], n;
    uint64_t number[ROUNDS];
    uint32_t joined[RANKS], done[RANKS], failed[RANKS]; /* rounds of each node */
};

struct world {
    struct tree tree;
    struct gather *g[RANKS];
    struct message *link[RANKS][RANKS]; /* oldest first */
    struct set set[GROUPS_MAX];
    uint32_t nsets;
    uint32_t lost; /* a node or WIRE_NONE */
    bool notified[RANKS];
    unsigned rejected;
    struct message *kept[KEPT];
    unsigned nkept;
};

/* A join that is not complete. */
struct mine {
    struct world *w;
    struct set *set;
    uint32_t rank, round;
};

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static uint32_t rank_of(uint32_t node)
{
    return node == WIRE_FRONT ? NODES_MAX : node;
}

static uint32_t node_at(uint32_t rank)
{
    return rank == NODES_MAX ? WIRE_FRONT : rank;
}

/* Every byte depends on set, node and round. */
static size_t make_piece(const struct set *set, uint32_t node, uint32_t round,
                         unsigned char *out)
{
    size_t len = (node * 31 + round * 57 + set->key[0] * 13u) % PIECE_MAX;
    for (size_t i = 0; i < len; i++)
        out[i] = (unsigned char)(i * 7 + node * 3 + round * 11 + set->key[0]);
    return (node + round) % 5 == 0 ? 0 : len;
}

static size_t make_all(const struct set *set, uint32_t round, unsigned char *out)
{
    size_t len = 0;
    for (uint32_t i = 0; i < set->n; i++)
        len += make_piece(set, set->node[i], round, out + len);
    return len;
}

/* ---- events of a gather ----------------------------------------------------------- */

struct side {
    struct world *w;
    uint32_t rank;
};

static struct message *copy_frame(const struct frame *f)
{
    struct message *m = malloc(sizeof *m + f->len);
    cr_assert(m != NULL);
    m->next = NULL;
    m->f = *f;
    if (f->len > 0)
        memcpy(m->data, f->data, f->len);
    m->f.data = m->data;
    return m;
}

static void on_send(void *arg, const struct frame *f)
{
    struct side *s = arg;
    struct world *w = s->w;
    cr_assert_eq(rank_of(f->from), s->rank);
    if (w->nkept < KEPT)
        w->kept[w->nkept++] = copy_frame(f);
    struct message **at = &w->link[s->rank][rank_of(f->to)];
    while (*at != NULL)
        at = &(*at)->next;
    *at = copy_frame(f);
}

static void on_done(void *arg, void *mine, int status, uint64_t number, const void *data,
                    size_t len)
{
    static unsigned char want[NODES_MAX * PIECE_MAX];
    struct side *s = arg;
    struct mine *m = mine;
    struct set *set = m->set;
    cr_assert_eq(m->rank, s->rank);
    cr_assert(status == 0 || s->w->lost != WIRE_NONE);
    if (status != 0) {
        set->failed[m->rank]++;
        free(m);
        return;
    }
    cr_assert_eq(m->round, set->done[m->rank]++, "rounds end in order");
    cr_assert_eq(make_all(set, m->round, want), len);
    cr_assert(len == 0 || memcmp(want, data, len) == 0);
    if (set->number[m->round] == 0)
        set->number[m->round] = number;
    cr_assert_neq(number, 0);
    cr_assert_eq(set->number[m->round], number, "all members get the same number");
    free(m);
}

static struct side sides[RANKS];

/* ---- the world -------------------------------------------------------------------- */

static void make_set(struct world *w, struct set *set, uint32_t i)
{
    memset(set, 0, sizeof *set);
    set->key_len = 1 + below(sizeof set->key);
    memset(set->key, (int)i / 2, sizeof set->key); /* some differ by members only */
    uint32_t chance = 1 + below(4);
    for (uint32_t n = 0; n < w->tree.nnodes; n++)
        if (below(chance) == 0)
            set->node[set->n++] = n;
    if (set->n == 0)
        set->node[set->n++] = below(w->tree.nnodes);
}

static bool same_set(const struct set *a, const struct set *b)
{
    return a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0 &&
           a->n == b->n && memcmp(a->node, b->node, a->n * sizeof *a->node) == 0;
}

static void make_world(struct world *w, uint32_t nnodes, uint32_t fanout)
{
    memset(w, 0, sizeof *w);
    w->tree = (struct tree){.nnodes = nnodes, .fanout = fanout};
    w->lost = WIRE_NONE;
    for (uint32_t p = 0; p < RANKS; p++) {
        sides[p] = (struct side){w, p};
        if (p < nnodes || p == NODES_MAX)
            w->g[p] = gather_new(&w->tree, node_at(p),
                                 &(struct net_out){.send = on_send, .arg = &sides[p]},
                                 on_done, &sides[p]);
    }
    for (uint32_t want = 1 + below(GROUPS_MAX); w->nsets < want; w->nsets++) {
        make_set(w, &w->set[w->nsets], w->nsets);
        for (uint32_t i = 0; i < w->nsets; i++)
            if (same_set(&w->set[i], &w->set[w->nsets]))
                return;
    }
}

static void free_world(struct world *w)
{
    for (uint32_t p = 0; p < RANKS; p++) {
        gather_free(w->g[p]);
        for (uint32_t q = 0; q < RANKS; q++)
            while (w->link[p][q] != NULL) {
                struct message *m = w->link[p][q];
                w->link[p][q] = m->next;
                free(m);
            }
    }
    while (w->nkept > 0)
        free(w->kept[--w->nkept]);
}

static bool is_lost(const struct world *w, uint32_t rank)
{
    return w->lost != WIRE_NONE && rank_of(w->lost) == rank;
}

/* One node contributes to its next round of some set. */
static void join_one(struct world *w)
{
    static unsigned char piece[PIECE_MAX];
    struct set *set = &w->set[below(w->nsets)];
    uint32_t node = set->node[below(set->n)];
    if (set->joined[node] == ROUNDS || is_lost(w, node))
        return;
    struct mine *m = malloc(sizeof *m);
    cr_assert(m != NULL);
    *m = (struct mine){w, set, node, set->joined[node]++};
    size_t len = make_piece(set, node, m->round, piece);
    gather_join(w->g[node], set->key, set->key_len, set->node, set->n, piece, len, m);
}

/* The oldest message of a random link: 2n goes up from node n, 2n + 1 down to it. */
static void deliver_one(struct world *w)
{
    uint32_t links = 2 * w->tree.nnodes, at = below(links);
    for (uint32_t i = 0; i < links; i++, at = (at + 1) % links) {
        uint32_t p = at / 2, q = rank_of(tree_parent(&w->tree, p));
        if (at % 2 == 1) {
            p = q;
            q = at / 2;
        }
        struct message *m = w->link[p][q];
        if (m == NULL)
            continue;
        w->link[p][q] = m->next;
        if (!is_lost(w, p) && !is_lost(w, q))
            cr_assert_eq(gather_recv(w->g[q], &m->f), 0);
        free(m);
        return;
    }
}

static void tell_one(struct world *w)
{
    uint32_t p = below(RANKS);
    if (w->lost == WIRE_NONE || w->notified[p] || w->g[p] == NULL || is_lost(w, p))
        return;
    w->notified[p] = true;
    gather_lost(w->g[p], w->lost);
}

static bool is_quiet(const struct world *w)
{
    for (uint32_t p = 0; p < RANKS; p++) {
        if (w->lost != WIRE_NONE && w->g[p] != NULL && !w->notified[p] && !is_lost(w, p))
            return false;
        for (uint32_t q = 0; q < RANKS; q++)
            if (w->link[p][q] != NULL)
                return false;
    }
    for (uint32_t s = 0; s < w->nsets; s++)
        for (uint32_t i = 0; i < w->set[s].n; i++)
            if (w->set[s].joined[w->set[s].node[i]] < ROUNDS &&
                !is_lost(w, w->set[s].node[i]))
                return false;
    return true;
}

/* lose_at: the number of steps after which a node is lost. */
static void run(struct world *w, uint32_t lose_at)
{
    for (uint32_t step = 0; step % 256 != 0 || !is_quiet(w); step++) {
        if (step == lose_at)
            w->lost = below(w->tree.nnodes);
        uint32_t what = below(8);
        if (what == 0)
            join_one(w);
        else if (what == 1)
            tell_one(w);
        else
            deliver_one(w);
    }
}

/* True if messages of the set pass the lost node. */
static bool is_cut(const struct world *w, const struct set *set)
{
    uint32_t inside = 0;
    if (w->lost == WIRE_NONE)
        return false;
    for (uint32_t i = 0; i < set->n; i++)
        inside += tree_below(&w->tree, w->lost, set->node[i]);
    if (inside == 0)
        return false;
    if (inside < set->n) /* the others are on the other side of it */
        return true;
    for (uint32_t i = 0; i < set->n; i++)
        if (set->node[i] == w->lost)
            return true;
    for (uint32_t c = 0; c < tree_children(&w->tree, w->lost); c++) {
        uint32_t child = tree_child(&w->tree, w->lost, c), n = 0;
        for (uint32_t i = 0; i < set->n; i++)
            n += tree_below(&w->tree, child, set->node[i]);
        if (n == set->n)
            return false;
    }
    return true;
}

static void check_numbers(const struct world *w)
{
    const struct set *s = w->set;
    for (uint32_t a = 0; a < w->nsets * ROUNDS; a++)
        for (uint32_t b = 0; b < a; b++) {
            uint64_t x = s[a / ROUNDS].number[a % ROUNDS];
            cr_assert(x == 0 || x != s[b / ROUNDS].number[b % ROUNDS],
                      "all numbers differ");
        }
}

static void check_ends(const struct world *w)
{
    for (uint32_t s = 0; s < w->nsets; s++)
        for (uint32_t i = 0; i < w->set[s].n; i++) {
            uint32_t node = w->set[s].node[i];
            uint32_t done = w->set[s].done[node], failed = w->set[s].failed[node];
            if (is_lost(w, node))
                continue;
            cr_assert_eq(done + failed, ROUNDS, "every join ends");
            cr_assert(failed == 0 || is_cut(w, &w->set[s]),
                      "only rounds that need the lost node fail");
        }
}

Test(gather, random_trees)
{
    static struct world w;
    for (seed = 1; seed <= SEEDS; seed += 1) {
        uint64_t s = seed;
        make_world(&w, 1 + below(NODES_MAX), 1 + below(below(4) == 0 ? 33 : 4));
        run(&w, UINT32_MAX);
        check_ends(&w);
        check_numbers(&w);
        free_world(&w);
        seed = s;
    }
}

Test(gather, lost_node)
{
    static struct world w;
    unsigned failed = 0;
    for (uint64_t s = 1; s <= SEEDS; s++) {
        seed = s;
        make_world(&w, 2 + below(NODES_MAX - 1), 1 + below(5));
        run(&w, below(4000));
        check_ends(&w);
        check_numbers(&w);
        for (uint32_t i = 0; i < w.nsets; i++)
            for (uint32_t p = 0; p < RANKS; p++)
                failed += w.set[i].failed[p];
        if (w.lost != WIRE_NONE) /* what waits at the lost node itself */
            gather_lost(w.g[w.lost], w.lost);
        free_world(&w);
    }
    cr_assert_gt(failed, SEEDS * 16, "the losses hit something: %u", failed);
}

/* The front end has no data but may be an inner node of the tree; a single node's gather
 * completes at once. */
Test(gather, a_single_node_completes_at_once)
{
    static struct world w;
    seed = 7;
    make_world(&w, 3, 2);
    struct set *set = &w.set[0];
    set->n = 1;
    set->node[0] = 2;
    struct mine *m = malloc(sizeof *m);
    *m = (struct mine){&w, set, 2, 0};
    unsigned char piece[PIECE_MAX];
    size_t len = make_piece(set, 2, 0, piece);
    gather_join(w.g[2], set->key, set->key_len, set->node, 1, piece, len, m);
    cr_assert_eq(set->done[2], 1);
    cr_assert_eq(w.nkept, 0, "nothing was sent");
    free_world(&w);
}

/* ---- absent nodes ----------------------------------------------------------------- */

static bool is_absent(void *absent, const void *key, size_t len, uint32_t node)
{
    (void)key, (void)len;
    return node == *(uint32_t *)absent;
}

static void join_round(struct world *w, uint32_t node, uint32_t round)
{
    static unsigned char piece[PIECE_MAX];
    struct set *set = &w->set[0];
    struct mine *m = malloc(sizeof *m);
    *m = (struct mine){w, set, node, round};
    size_t len = make_piece(set, node, round, piece);
    gather_join(w->g[node], set->key, set->key_len, set->node, set->n, piece, len, m);
}

static void deliver_all(struct world *w)
{
    for (int i = 0; i < 100; i++)
        deliver_one(w);
}

/* Rounds complete without a node that becomes absent while others wait, and without what
 * it contributes late; nothing is sent to it. */
Test(gather, an_absent_node_is_waived)
{
    static struct world w;
    uint32_t absent = WIRE_NONE;
    seed = 5;
    make_world(&w, 3, 3);
    struct set *set = &w.set[0];
    set->n = 3;
    for (uint32_t i = 0; i < 3; i++)
        set->node[i] = i;
    gather_set_absent(w.g[NODES_MAX], is_absent, &absent);
    for (uint32_t i = 0; i < 3; i++)
        join_round(&w, i, 0);
    deliver_all(&w);
    cr_assert_eq(set->done[2], 1);
    join_round(&w, 0, 1);
    join_round(&w, 1, 1);
    deliver_all(&w);
    cr_assert_eq(set->done[0], 1, "round 1 waits for node 2");
    absent = 2;
    set->n = 2; /* what make_all expects */
    gather_update(w.g[NODES_MAX]);
    set->n = 3;
    join_round(&w, 2, 1); /* too late */
    set->n = 2;
    deliver_all(&w);
    cr_assert_eq(set->done[0], 2);
    cr_assert_eq(set->done[1], 2);
    cr_assert_eq(set->done[2], 1, "node 2 gets nothing");
    set->n = 3;
    join_round(&w, 1, 2);
    join_round(&w, 0, 2);
    set->n = 2;
    deliver_all(&w);
    cr_assert_eq(set->done[0], 3, "its late piece is in no round");
    w.lost = 2;
    gather_lost(w.g[2], 2); /* what waits at the node itself */
    free_world(&w);
}

/* A member that has joined two rounds with node 1. */
struct pair {
    struct gather *g;
    unsigned completed, failed;
};

/* Without node 1 the first round completes; the callback says that node 1 is lost, which
 * ends the other one. */
static void lose_in_done(void *arg, void *mine, int status, uint64_t number,
                         const void *data, size_t len)
{
    struct pair *p = arg;
    (void)mine, (void)number, (void)data, (void)len;
    if (status != 0) {
        p->failed++;
        return;
    }
    p->completed++;
    gather_lost(p->g, 1);
}

static void send_nothing(void *arg, const struct frame *f)
{
    (void)arg, (void)f;
}

Test(gather, a_callback_of_an_update_ends_other_rounds)
{
    static const uint32_t node[] = {0, 1};
    const struct tree chain = {.nnodes = 2, .fanout = 1};
    uint32_t absent = WIRE_NONE;
    struct pair p = {0};
    p.g =
        gather_new(&chain, 0, &(struct net_out){.send = send_nothing}, lose_in_done, &p);
    gather_set_absent(p.g, is_absent, &absent);
    gather_join(p.g, "a", 1, node, 2, "x", 1, NULL);
    gather_join(p.g, "b", 1, node, 2, "y", 1, NULL);
    absent = 1;
    gather_update(p.g);
    cr_assert_eq(p.completed, 1);
    cr_assert_eq(p.failed, 1);
    gather_free(p.g);
}

/* ---- invalid frames ---------------------------------------------------------------- */

/* Delivers a frame to node `to`: the group, then the payload. */
static int deliver_frame(struct world *w, uint32_t from, uint32_t to, enum wire_type type,
                         const uint32_t *node, uint32_t n, const struct pack *rest)
{
    struct pack p = {0};
    pack_bytes(&p, "k", 1);
    pack_u32(&p, n);
    for (uint32_t i = 0; i < n; i++)
        pack_u32(&p, node[i]);
    for (size_t i = 0; i < rest->len; i++)
        pack_u8(&p, rest->data[i]);
    const struct frame f = {
        .type = type, .from = from, .to = to, .data = p.data, .len = p.len};
    int rc = gather_recv(w->g[rank_of(to)], &f);
    pack_free(&p);
    return rc;
}

/* The front has the children 0 and 1, node 0 has 2 and 3, node 2 has 6. */
static void make_seven(struct world *w)
{
    seed = 3;
    make_world(w, 7, 2);
}

Test(gather, rejects_invalid_contributions)
{
    static struct world w;
    struct pack piece = {0}, both = {0};
    make_seven(&w);
    pack_bytes(&both, "data", 4);
    pack_bytes(&both, "more", 4);
    pack_bytes(&piece, "data", 4);
    const uint32_t two[] = {0, 1}, deep[] = {1, 2}, below_2[] = {2, 6}, same[] = {1, 1},
                   down[] = {1, 0}, none[] = {1, 7};
    cr_assert_eq(deliver_frame(&w, 2, WIRE_FRONT, WIRE_GATHER_UP, deep, 2, &piece), -1,
                 "2 is no child of the front");
    cr_assert_eq(deliver_frame(&w, 3, 0, WIRE_GATHER_UP, deep, 2, &piece), -1,
                 "no member is below 3");
    cr_assert_eq(deliver_frame(&w, 2, 0, WIRE_GATHER_UP, below_2, 2, &both), -1,
                 "2 has all pieces");
    cr_assert_eq(deliver_frame(&w, 1, WIRE_FRONT, WIRE_GATHER_UP, same, 2, &piece), -1);
    cr_assert_eq(deliver_frame(&w, 1, WIRE_FRONT, WIRE_GATHER_UP, down, 2, &piece), -1);
    cr_assert_eq(deliver_frame(&w, 1, WIRE_FRONT, WIRE_GATHER_UP, none, 2, &piece), -1);
    cr_assert_eq(deliver_frame(&w, 1, WIRE_FRONT, WIRE_GATHER_UP, two, 0, &piece), -1);
    cr_assert_eq(deliver_frame(&w, 1, WIRE_FRONT, WIRE_PING, two, 2, &piece), -1);
    size_t len = piece.len;
    for (piece.len = 0; piece.len < len; piece.len++)
        cr_assert_eq(deliver_frame(&w, 1, WIRE_FRONT, WIRE_GATHER_UP, two, 2, &piece), -1,
                     "%zu bytes of a piece", piece.len);
    cr_assert_eq(deliver_frame(&w, 1, WIRE_FRONT, WIRE_GATHER_UP, two, 2, &piece), 0);
    pack_u8(&piece, 0);
    cr_assert_eq(deliver_frame(&w, 1, WIRE_FRONT, WIRE_GATHER_UP, two, 2, &piece), -1,
                 "one byte more");
    pack_free(&piece);
    pack_free(&both);
    free_world(&w);
}

Test(gather, rejects_invalid_results)
{
    static struct world w;
    struct pack result = {0};
    make_seven(&w);
    const uint32_t two[] = {0, 1};
    struct set *set = &w.set[0];
    set->done[0] = ROUNDS;
    pack_u64(&result, 1);
    pack_bytes(&result, "", 0);
    cr_assert_eq(deliver_frame(&w, WIRE_FRONT, 0, WIRE_GATHER_DOWN, two, 2, &result), -1,
                 "no gather is outstanding");
    w.lost = 6; /* so that on_done accepts a failure */
    struct mine *m = malloc(sizeof *m);
    *m = (struct mine){&w, set, 0, 0};
    gather_join(w.g[0], "k", 1, two, 2, "piece", 5, m);
    cr_assert_eq(deliver_frame(&w, 2, 0, WIRE_GATHER_DOWN, two, 2, &result), -1,
                 "2 is not the parent");
    cr_assert_eq(deliver_frame(&w, WIRE_FRONT, 0, WIRE_GATHER_UP, two, 2, &result), -1);
    gather_lost(w.g[0], 1);
    cr_assert_eq(set->failed[0], 1);
    cr_assert_eq(deliver_frame(&w, WIRE_FRONT, 0, WIRE_GATHER_DOWN, two, 2, &result), 0,
                 "it was in flight when node 1 was lost");
    pack_free(&result);
    free_world(&w);
}

static void forget_mine(void *arg, void *mine, int status, uint64_t number,
                        const void *data, size_t len)
{
    (void)arg, (void)mine, (void)status, (void)number, (void)data, (void)len;
}

static void drop(void *arg, const struct frame *f)
{
    (void)arg, (void)f;
}

/* Corrupted frames of every message type are rejected without damage. */
Test(gather, survives_corrupted_frames)
{
    static const struct net_out discard = {.send = drop};
    static struct world w;
    unsigned rejected = 0, all = 0;
    for (uint64_t s = 1; s <= 60; s++) {
        seed = s;
        make_world(&w, 2 + below(NODES_MAX - 1), 1 + below(5));
        run(&w, UINT32_MAX);
        struct gather *victim =
            gather_new(&w.tree, WIRE_FRONT, &discard, forget_mine, NULL);
        struct gather *middle = gather_new(&w.tree, 0, &discard, forget_mine, NULL);
        for (uint32_t i = 0; i < w.nsets; i++)
            if (w.set[i].node[0] == 0)
                gather_join(middle, w.set[i].key, w.set[i].key_len, w.set[i].node,
                            w.set[i].n, "x", 1, NULL);
        for (unsigned i = 0; i < w.nkept * 20; i++) {
            struct message *m = copy_frame(&w.kept[i % w.nkept]->f);
            for (uint32_t k = below(4); m->f.len > 0 && k > 0; k--)
                m->data[below((uint32_t)m->f.len)] = (unsigned char)below(256);
            if (below(4) == 0)
                m->f.len = below((uint32_t)m->f.len + 1);
            if (below(8) == 0)
                m->f.from = below(w.tree.nnodes);
            rejected += gather_recv(below(2) ? victim : middle, &m->f) != 0;
            all++;
            free(m);
        }
        gather_free(victim);
        gather_free(middle);
        free_world(&w);
    }
    cr_assert(rejected > all / 4 && rejected < all, "%u of %u", rejected, all);
}
