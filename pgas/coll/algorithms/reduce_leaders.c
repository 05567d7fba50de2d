/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_leaders.c - in-place allreduce between the node leaders of a team over several
 * nodes, by notified puts.
 * Uses: core/team, leader_msg, select, reduce_int, scratch, slice.
 *
 * The data is processed in pieces that fit the leader scratch buffer.  No barrier is
 * needed at the beginning: a leader writes to the user buffer of another leader only
 * after the data there has been delivered to every leader that combines it; the scratch
 * buffer may be written at any time.  With N nodes and m bytes:
 *
 * - direct: reduce-scatter and allgather by direct exchange: 2 rounds of N - 1
 *   messages, 2 m (N - 1) / N bytes per leader.
 * - ring: ring reduce-scatter and ring allgather (Patarasuk, Yuan 2009): 2 (N - 1) rounds
 *   of one message, 2 m (N - 1) / N bytes.
 * - halving: recursive halving reduce-scatter and recursive doubling allgather
 *   (Rabenseifner 2004): 2 log2 N rounds of one message, 2 m (N - 1) / N bytes.
 * - doubling: recursive doubling of the whole data: log2 N rounds, m log2 N bytes.
 *
 * In halving and doubling, leaders in excess of a power of two first pass their data to a
 * neighbour, and receive the result from it at the end.  All leaders obtain the same
 * bits: each slice is combined by one leader, or by all leaders in the same order.
 */
#include "config.h"

#include "pgas/coll/sync/leader_msg.h"
#include "pgas/coll/algorithms/reduce_int.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/coll/algorithms/slice.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/datatype/copy.h"

/* One piece of the data. */
struct piece {
    struct exchange exchange;
    const struct reduce_job *job;
    char *buf; /* same symmetric address on all leaders */
    size_t n;
    int nodes, me;
};

static char *reduce_leaders_theirs(const struct piece *p, int node, size_t at)
{
    return leader_scratch(&p->exchange, node, at);
}

static const char *reduce_leaders_came(const struct piece *p, size_t at)
{
    return leader_scratch(&p->exchange, p->me, at);
}

static int reduce_leaders_node_at(const struct piece *p, int distance)
{
    return (p->me + distance + p->nodes) % p->nodes;
}

/* ---- direct ---------------------------------------------------------------------- */

static struct slice reduce_leaders_slice_of_node(const struct piece *p, int node)
{
    return slice_of(p->n, p->job->size, node, p->nodes);
}

static size_t reduce_leaders_slice_bytes(const struct piece *p, struct slice s)
{
    return (s.end - s.first) * p->job->size;
}

/* Distance in bytes between the parts of two nodes in the scratch buffer. */
static size_t reduce_leaders_stride_of(const struct piece *p)
{
    size_t bytes = reduce_leaders_slice_bytes(p, reduce_leaders_slice_of_node(p, 0));

    return (bytes + NODE_LINE - 1) / NODE_LINE * NODE_LINE;
}

/* Combine this leader's slice of all nodes, in node order. */
static void reduce_leaders_combine_slices(const struct piece *p, struct slice s)
{
    size_t stride = reduce_leaders_stride_of(p), n = s.end - s.first;
    char *mine = p->buf + s.first * p->job->size;
    char *acc = p->me == 0 ? mine : reduce_leaders_theirs(p, p->me, 0);

    for (int node = 0; node < p->nodes; node++) {
        char *part =
            node == p->me ? mine : reduce_leaders_theirs(p, p->me, (size_t)node * stride);
        if (node != p->me)
            leader_await(&p->exchange, (p->me - node + p->nodes) % p->nodes, node);
        if (node > 0)
            p->job->op->two(acc, part, n);
    }
    if (acc != mine)
        copy_bytes(mine, acc, n * p->job->size);
}

static void reduce_direct(const struct piece *p)
{
    struct slice mine = reduce_leaders_slice_of_node(p, p->me);
    size_t at = (size_t)p->me * reduce_leaders_stride_of(p);
    char *ready = p->buf + mine.first * p->job->size;

    for (int k = 1; k < p->nodes; k++) {
        struct slice s = reduce_leaders_slice_of_node(p, reduce_leaders_node_at(p, k));
        leader_put(&p->exchange, k, reduce_leaders_node_at(p, k),
                   reduce_leaders_theirs(p, reduce_leaders_node_at(p, k), at),
                   p->buf + s.first * p->job->size, reduce_leaders_slice_bytes(p, s));
    }
    reduce_leaders_combine_slices(p, mine);
    for (int k = 1; k < p->nodes; k++)
        leader_put(&p->exchange, p->nodes + k, reduce_leaders_node_at(p, k), ready, ready,
                   reduce_leaders_slice_bytes(p, mine));
    for (int k = 1; k < p->nodes; k++)
        leader_await(&p->exchange, p->nodes + k, reduce_leaders_node_at(p, -k));
}

/* ---- ring ------------------------------------------------------------------------ */

/* Put slice i (modulo the number of nodes) to the next leader: a partial result to its
 * scratch buffer, a final one (ready) to its user buffer. */
static void reduce_leaders_pass_on(const struct piece *p, int step, int i, bool ready)
{
    struct slice s = reduce_leaders_slice_of_node(p, reduce_leaders_node_at(p, i));
    int next = reduce_leaders_node_at(p, 1);
    size_t at = s.first * p->job->size;

    leader_put(&p->exchange, step, next,
               ready ? p->buf + at : reduce_leaders_theirs(p, next, at), p->buf + at,
               reduce_leaders_slice_bytes(p, s));
}

static void reduce_ring(const struct piece *p)
{
    int last = reduce_leaders_node_at(p, -1), rounds = p->nodes - 1;

    for (int k = 0; k < rounds; k++) {
        struct slice s =
            reduce_leaders_slice_of_node(p, reduce_leaders_node_at(p, -k - 1));
        size_t at = s.first * p->job->size;
        reduce_leaders_pass_on(p, k, -k, false);
        leader_await(&p->exchange, k, last);
        p->job->op->two(p->buf + at, reduce_leaders_came(p, at), s.end - s.first);
    }
    for (int k = 0; k < rounds; k++) {
        reduce_leaders_pass_on(p, rounds + k, 1 - k, true);
        leader_await(&p->exchange, rounds + k, last);
    }
}

/* ---- powers of two ----------------------------------------------------------------- */

/* Ranks of the 2^levels leaders that take part in the exchange.  The first 2 * extra
 * nodes form pairs, of which the even node gets a rank; all later nodes get a rank. */
struct ranks {
    int extra, levels;
    int mine; /* -1: the neighbour represents this leader */
};

static struct ranks reduce_leaders_ranks_of(const struct piece *p)
{
    struct ranks r = {.levels = 0};

    while (2 << r.levels <= p->nodes)
        r.levels++;
    r.extra = p->nodes - (1 << r.levels);
    r.mine = p->me >= 2 * r.extra ? p->me - r.extra : p->me % 2 == 0 ? p->me / 2 : -1;
    return r;
}

static int reduce_leaders_node_of_rank(const struct ranks *r, int rank)
{
    return rank < r->extra ? 2 * rank : rank + r->extra;
}

static bool reduce_leaders_is_paired(const struct piece *p, const struct ranks *r)
{
    return p->me < 2 * r->extra;
}

/* Step 0: the odd leader of a pair sends its whole piece to the even one. */
static void reduce_leaders_fold(const struct piece *p, const struct ranks *r)
{
    if (!reduce_leaders_is_paired(p, r))
        return;
    if (r->mine < 0) {
        leader_put(&p->exchange, 0, p->me - 1, reduce_leaders_theirs(p, p->me - 1, 0),
                   p->buf, p->n * p->job->size);
        return;
    }
    leader_await(&p->exchange, 0, p->me + 1);
    p->job->op->two(p->buf, reduce_leaders_came(p, 0), p->n);
}

/* Last step: the even leader of a pair sends the result to the odd one. */
static void reduce_leaders_unfold(const struct piece *p, const struct ranks *r, int step)
{
    if (!reduce_leaders_is_paired(p, r))
        return;
    if (r->mine < 0)
        leader_await(&p->exchange, step, p->me - 1);
    else
        leader_put(&p->exchange, step, p->me + 1, p->buf, p->buf, p->n * p->job->size);
}

/* ---- halving --------------------------------------------------------------------- */

/* At level k this leader is responsible for elements first[k] .. end[k] - 1, and at[k] is
 * the offset in the scratch buffer at which the partner's contribution arrives.  That
 * contribution is at most half of the elements of the level. */
struct levels {
    size_t first[REDUCE_LEVELS + 1], end[REDUCE_LEVELS + 1], at[REDUCE_LEVELS + 1];
};

static int reduce_leaders_partner_of(const struct ranks *r, int level)
{
    return reduce_leaders_node_of_rank(r, r->mine ^ (1 << (r->levels - 1 - level)));
}

static bool reduce_leaders_keeps_lower(const struct ranks *r, int level)
{
    return (r->mine & (1 << (r->levels - 1 - level))) == 0;
}

static void reduce_leaders_plan_levels(const struct piece *p, const struct ranks *r,
                                       struct levels *l)
{
    size_t most = p->n;

    l->first[0] = 0;
    l->end[0] = p->n;
    l->at[0] =
        p->n * p->job->size; /* behind the piece that reduce_leaders_fold() receives */
    for (int k = 0; k < r->levels; k++) {
        size_t middle = l->first[k] + (l->end[k] - l->first[k] + 1) / 2;
        bool lower = reduce_leaders_keeps_lower(r, k);
        most = (most + 1) / 2;
        l->first[k + 1] = lower ? l->first[k] : middle;
        l->end[k + 1] = lower ? middle : l->end[k];
        l->at[k + 1] = l->at[k] + most * p->job->size;
    }
}

static void reduce_leaders_halve(const struct piece *p, const struct ranks *r,
                                 const struct levels *l, int k)
{
    int partner = reduce_leaders_partner_of(r, k);
    bool lower = reduce_leaders_keeps_lower(r, k);
    size_t first = lower ? l->end[k + 1] : l->first[k];
    size_t end = lower ? l->end[k] : l->first[k + 1];
    size_t kept = l->first[k + 1];

    leader_put(&p->exchange, 1 + k, partner, reduce_leaders_theirs(p, partner, l->at[k]),
               p->buf + first * p->job->size, (end - first) * p->job->size);
    leader_await(&p->exchange, 1 + k, partner);
    p->job->op->two(p->buf + kept * p->job->size, reduce_leaders_came(p, l->at[k]),
                    l->end[k + 1] - kept);
}

static void reduce_leaders_join(const struct piece *p, const struct ranks *r,
                                const struct levels *l, int k)
{
    int partner = reduce_leaders_partner_of(r, k), step = 1 + r->levels + k;
    char *ready = p->buf + l->first[k + 1] * p->job->size;

    leader_put(&p->exchange, step, partner, ready, ready,
               (l->end[k + 1] - l->first[k + 1]) * p->job->size);
    leader_await(&p->exchange, step, partner);
}

static void reduce_halving(const struct piece *p)
{
    struct ranks r = reduce_leaders_ranks_of(p);
    struct levels l;

    reduce_leaders_fold(p, &r);
    if (r.mine >= 0) {
        reduce_leaders_plan_levels(p, &r, &l);
        for (int k = 0; k < r.levels; k++)
            reduce_leaders_halve(p, &r, &l, k);
        for (int k = r.levels - 1; k >= 0; k--)
            reduce_leaders_join(p, &r, &l, k);
    }
    reduce_leaders_unfold(p, &r, 1 + 2 * r.levels);
}

/* ---- doubling -------------------------------------------------------------------- */

static void reduce_doubling(const struct piece *p)
{
    struct ranks r = reduce_leaders_ranks_of(p);
    size_t bytes = p->n * p->job->size;

    reduce_leaders_fold(p, &r);
    for (int k = 0; r.mine >= 0 && k < r.levels; k++) {
        int partner = reduce_leaders_partner_of(&r, k);
        size_t at = (size_t)(k + 1) * bytes;
        leader_put_now(&p->exchange, 1 + k, partner,
                       reduce_leaders_theirs(p, partner, at), p->buf, bytes);
        leader_await(&p->exchange, 1 + k, partner);
        if (partner > p->me)
            p->job->op->two(p->buf, reduce_leaders_came(p, at), p->n);
        else
            p->job->op->three(p->buf, reduce_leaders_came(p, at), p->buf, p->n);
    }
    reduce_leaders_unfold(p, &r, 1 + r.levels);
}

/* ---- dispatch ---------------------------------------------------------------------- */

struct leaders_algorithm {
    void (*run)(const struct piece *);
    bool per_node; /* the number of steps is O(nodes), not O(log nodes) */
};

static const struct leaders_algorithm algorithms[] = {
    [INTERNODE_REDUCE_DIRECT] = {reduce_direct, true},
    [INTERNODE_REDUCE_RING] = {reduce_ring, true},
    [INTERNODE_REDUCE_HALVING] = {reduce_halving, false},
    [INTERNODE_REDUCE_DOUBLING] = {reduce_doubling, false},
};

/* An upper bound of the number of steps. */
static int reduce_leaders_steps_of(enum select_algorithm a, int nodes)
{
    return algorithms[a].per_node ? 2 * nodes : 2 * REDUCE_LEVELS;
}

void reduce_leaders(const struct reduce_job *j, enum select_algorithm a)
{
    size_t most = SCRATCH_PIECE / j->size;
    const struct team_nodes *nodes = j->team->nodes;

    for (size_t first = 0; first < j->n; first += most) {
        size_t n = j->n - first < most ? j->n - first : most;
        struct piece p = {.exchange = leader_exchange_begin(
                              j->team, reduce_leaders_steps_of(a, nodes->leaders), j->fn),
                          .job = j,
                          .buf = j->dest + first * j->size,
                          .n = n,
                          .nodes = nodes->leaders,
                          .me = nodes->me};
        algorithms[a].run(&p);
        leader_exchange_end(&p.exchange, true);
    }
}

/* ---- rooted ---------------------------------------------------------------------- */

/* Reduce up a binomial tree of the nodes with root `node`. */
static void reduce_leaders_climb(const struct piece *p, int node)
{
    int vrank = (p->me - node + p->nodes) % p->nodes, step = 0;
    size_t bytes = p->n * p->job->size;

    for (int bit = 1; bit < p->nodes; bit *= 2, step++) {
        size_t at = (size_t)step * bytes;
        if ((vrank & bit) != 0) {
            int up = reduce_leaders_node_at(p, -bit);
            leader_put(&p->exchange, step, up, reduce_leaders_theirs(p, up, at), p->buf,
                       bytes);
            break;
        }
        if (bit < p->nodes - vrank) {
            leader_await(&p->exchange, step, reduce_leaders_node_at(p, bit));
            p->job->op->two(p->buf, reduce_leaders_came(p, at), p->n);
        }
    }
}

void reduce_up(const struct reduce_job *j, char *buf, int node)
{
    const struct team_nodes *nodes = j->team->nodes;

    struct piece p = {.exchange = leader_exchange_begin(j->team, REDUCE_LEVELS, j->fn),
                      .job = j,
                      .buf = buf,
                      .n = j->n,
                      .nodes = nodes->leaders,
                      .me = nodes->me};
    reduce_leaders_climb(&p, node);
    leader_exchange_end(&p.exchange, false);
}
