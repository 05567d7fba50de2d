/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_leaders_chain.c - allreduce in place between the node leaders of a team, in the
 * order in which they arrive (INTERNODE_REDUCE_CHAIN).
 * Uses: core/team, leader_msg, reduce_int, scratch, slice, rma/amo_at.
 *
 * Method, for N leaders.  The leaders form a chain in arrival order.  Each one combines
 * the partial result of its predecessor with its own operand, in dest, and sends it to
 * its successor's scratch memory.  The last one, the tail, has the result and distributes
 * it: to all leaders, if it is small, otherwise along the chain in reverse.  Both
 * directions are pipelined in chunks.
 *
 * A leader swaps its node number into a word of the home leader of the call, and so
 * learns its predecessor (none: it is the head); then it sends to it a message JOIN. With
 * the partial result travel the position in the chain and the sum of the node numbers of
 * its members.  So the leader at position N - 2 knows the only missing leader, and sends
 * to it without a JOIN; if that leader finds the partial result when it arrives, it omits
 * the swap.  When a late leader arrives, the operands of the others are combined and in
 * its memory: one combination and the distribution remain.  A static algorithm has to
 * move and combine the late operand at all leaders (exchange), or in two or more rounds.
 * In return, when all arrive together, a chain takes N - 1 messages one after another,
 * preceded by the swap and the JOIN.
 *
 * Data of more than one segment: the order is known after the first segment, and further
 * segments need no swap and no JOIN.  Each one runs through the chain in the direction in
 * which the result of the previous one travels, whose tail is its head.
 *
 * Invariants:
 * - Each segment is an exchange (leader_msg.h), which bounds the use of the signal words
 *   and of the scratch memory: the result depends on all leaders, so a leader that has it
 *   knows that all have begun the exchange, and hence have ended the one before.  That
 *   also permits it to write to the scratch memory of a leader that has not arrived.
 * - Every message is received before its receiver ends the exchange: the tail sends the
 *   JOIN even if its predecessor did not wait for it, and the predecessor receives it.
 * - All swaps of a call precede the result, and hence all swaps of later calls.  So the
 *   word holds the number of this call or of an earlier one, and needs no reset; in the
 *   latter case the leader is the head.
 * - A chunk of the result is written to the dest of a leader that has entered the call,
 *   and whose partial result of this chunk has been received: the chunk depends on it.
 * - All leaders get the same bits: those of the tail.
 */
#include "config.h"

#include "pgas/coll/algorithms/reduce_int.h"
#include "pgas/coll/algorithms/slice.h"
#include "pgas/coll/sync/leader_msg.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/stress.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/amo_at.h"

enum {
    CHAIN_CHUNKS = (LEADER_WORDS - 1) / 2, /* of a segment; the words suffice for them */
    CHAIN_CHUNK_BYTES = 32 * 1024,         /* of a chunk at least */
    CHAIN_DIRECT_BYTES = 256 * 1024, /* that the tail sends to all leaders at most */
    CHAIN_NODE_BITS = 24, /* of the word, for the node; the others are the call number */
};

/* Scratch memory of a leader in an exchange, and, for the first chunk and the JOIN, the
 * memory from which it sends. */
struct chain_inbox {
    _Alignas(NODE_LINE) int64_t joined; /* node of the successor */
    struct chain_head {
        _Alignas(NODE_LINE) int64_t node, position; /* of the sender */
        int64_t sum; /* of the node numbers up to the sender's */
    } head;
    _Alignas(NODE_LINE) char data[];
};
_Static_assert(offsetof(struct chain_inbox, data) ==
                   offsetof(struct chain_inbox, head) + sizeof(struct chain_head),
               "the first chunk follows the head in one message");
enum { CHAIN_SEGMENT = 2 * SCRATCH_SEGMENT };
_Static_assert(sizeof(struct chain_inbox) + CHAIN_SEGMENT <= SCRATCH_BYTES, "a segment");
_Static_assert(sizeof(struct chain_inbox) + CHAIN_SEGMENT / CHAIN_CHUNKS + NODE_LINE <=
                   SCRATCH_SEGMENT,
               "the first chunk");

enum { CHAIN_NONE = -1 };

struct chain {
    const struct reduce_job *job;
    struct exchange exchange;
    /* The segment. */
    char *data;
    size_t n, chunk; /* elements, of a chunk */
    int chunks, sent;
    /* Nodes of the predecessor and the successor; CHAIN_NONE: there is none, or it is not
     * known yet.  Valid for the head at once, for others when the first chunk is here. */
    int before, after;
    int position;
    int64_t sum;
    bool has_joined; /* this leader has sent its JOIN */
};

/* ---- memory and steps ----------------------------------------------------------------
 */

/* Step 0 is the JOIN; then the chunks of the partial result, and those of the result. */
enum { CHAIN_JOIN };

static int chain_partial_step(int chunk)
{
    return CHAIN_JOIN + 1 + chunk;
}

static int chain_result_step(const struct chain *c, int chunk)
{
    return chain_partial_step(c->chunks) + chunk;
}

static int chain_nodes(const struct chain *c)
{
    return c->job->team->nodes->leaders;
}

static int chain_me(const struct chain *c)
{
    return c->job->team->nodes->me;
}

static bool chain_is_tail(const struct chain *c)
{
    return c->position == chain_nodes(c) - 1;
}

static struct chain_inbox *chain_inbox_of(const struct chain *c, int node)
{
    return (struct chain_inbox *)leader_scratch(&c->exchange, node, 0);
}

static struct chain_inbox *chain_outbox(const struct chain *c)
{
    return (struct chain_inbox *)scratch_at(&c->job->team->coll->scratch, chain_me(c),
                                            SCRATCH_OWN);
}

static size_t chain_chunk_at(const struct chain *c, int chunk)
{
    return (size_t)chunk * c->chunk * c->job->size;
}

static size_t chain_chunk_elements(const struct chain *c, int chunk)
{
    size_t first = (size_t)chunk * c->chunk;

    return c->n - first < c->chunk ? c->n - first : c->chunk;
}

static size_t chain_chunk_bytes(const struct chain *c, int chunk)
{
    return chain_chunk_elements(c, chunk) * c->job->size;
}

/* ---- order ----------------------------------------------------------------------------
 */

/* Enters this leader in the arrival order of the call; returns the node of its
 * predecessor, or CHAIN_NONE. */
static int chain_swap(const struct chain *c)
{
    const uint64_t node_mask = (UINT64_C(1) << CHAIN_NODE_BITS) - 1;
    struct shmem_team *team = c->job->team;
    uint64_t call = team->coll->leader.calls.seq;
    int home = (int)(call % (uint64_t)chain_nodes(c));

    stress_point();
    uint64_t last =
        amo_at(TRANSPORT_AMO_SWAP, &internode_own_words(team)->chain.last,
               sizeof(uint64_t), call << CHAIN_NODE_BITS | (uint64_t)chain_me(c),
               team_world_pe(team, team->nodes->leader[home]), c->job->fn);
    stress_point();
    return last >> CHAIN_NODE_BITS == call ? (int)(last & node_mask) : CHAIN_NONE;
}

static void chain_join(struct chain *c)
{
    struct chain_inbox *out = chain_outbox(c);

    out->joined = chain_me(c);
    leader_put(&c->exchange, CHAIN_JOIN, c->before, &chain_inbox_of(c, c->before)->joined,
               &out->joined, sizeof out->joined);
    c->has_joined = true;
}

/* The predecessor of this leader, if it is not the head. */
static void chain_arrive(struct chain *c)
{
    if (leader_arrived(&c->exchange, chain_partial_step(0)))
        c->before = (int)chain_inbox_of(c, chain_me(c))->head.node;
    else if ((c->before = chain_swap(c)) != CHAIN_NONE)
        chain_join(c);
}

/* The first chunk is here. */
static void chain_enter(struct chain *c)
{
    const struct chain_head *h = &chain_inbox_of(c, chain_me(c))->head;

    PGAS_ASSERT(h->node == c->before && h->position < chain_nodes(c) - 1);
    c->position = (int)h->position + 1;
    c->sum = h->sum + chain_me(c);
}

/* True if the successor is known now. */
static bool chain_knows_successor(struct chain *c)
{
    int64_t nodes = chain_nodes(c);

    if (c->after != CHAIN_NONE)
        return true;
    if (c->position == nodes - 2)
        c->after = (int)(nodes * (nodes - 1) / 2 - c->sum);
    else if (leader_arrived(&c->exchange, CHAIN_JOIN))
        c->after = (int)chain_inbox_of(c, chain_me(c))->joined;
    return c->after != CHAIN_NONE;
}

static void chain_await_successor(struct chain *c)
{
    if (!chain_knows_successor(c)) {
        leader_await(&c->exchange, CHAIN_JOIN, LEADER_ANY);
        (void)chain_knows_successor(c);
    }
}

/* The JOIN that was not needed. */
static void chain_finish_order(struct chain *c)
{
    if (c->before != CHAIN_NONE && !c->has_joined)
        chain_join(c);
    if (c->after != CHAIN_NONE)
        leader_await(&c->exchange, CHAIN_JOIN, c->after);
}

/* The order of the next segment. */
static void chain_reverse(struct chain *c)
{
    int before = c->before;

    c->before = c->after;
    c->after = before;
    c->position = chain_nodes(c) - 1 - c->position;
}

/* ---- data -----------------------------------------------------------------------------
 */

/* The first chunk of the first segment, after a description of this leader. */
static void chain_send_head(const struct chain *c)
{
    struct chain_inbox *out = chain_outbox(c);
    size_t bytes = chain_chunk_bytes(c, 0);

    out->head = (struct chain_head){chain_me(c), c->position, c->sum};
    copy_bytes(out->data, c->data, bytes);
    leader_put(&c->exchange, chain_partial_step(0), c->after,
               &chain_inbox_of(c, c->after)->head, &out->head, sizeof out->head + bytes);
}

/* Send the chunks of the partial result before `end`. */
static void chain_send_partial(struct chain *c, int end)
{
    if (c->sent == 0 && c->data == c->job->dest) {
        chain_send_head(c);
        c->sent = 1;
    }
    for (; c->sent < end; c->sent++) {
        size_t at = chain_chunk_at(c, c->sent);
        leader_put(&c->exchange, chain_partial_step(c->sent), c->after,
                   chain_inbox_of(c, c->after)->data + at, c->data + at,
                   chain_chunk_bytes(c, c->sent));
    }
}

static void chain_send_result(const struct chain *c, int chunk, int node)
{
    char *data = c->data + chain_chunk_at(c, chunk);

    leader_put(&c->exchange, chain_result_step(c, chunk), node, data, data,
               chain_chunk_bytes(c, chunk));
}

static bool chain_is_direct(const struct chain *c)
{
    return c->n * c->job->size * (size_t)(chain_nodes(c) - 1) <= CHAIN_DIRECT_BYTES;
}

/* On the tail: a chunk of the result is complete. */
static void chain_distribute(const struct chain *c, int chunk)
{
    if (!chain_is_direct(c)) {
        chain_send_result(c, chunk, c->before);
        return;
    }
    for (int node = 0; node < chain_nodes(c); node++)
        if (node != chain_me(c))
            chain_send_result(c, chunk, node);
}

/* On another leader than the head. */
static void chain_combine(struct chain *c, int chunk)
{
    size_t at = chain_chunk_at(c, chunk);

    leader_await(&c->exchange, chain_partial_step(chunk), c->before);
    if (chunk == 0 && c->data == c->job->dest)
        chain_enter(c);
    c->job->op->two(c->data + at, chain_inbox_of(c, chain_me(c))->data + at,
                    chain_chunk_elements(c, chunk));
}

static void chain_reduce(struct chain *c)
{
    for (int k = 0; k < c->chunks; k++) {
        if (c->before != CHAIN_NONE)
            chain_combine(c, k);
        if (chain_is_tail(c))
            chain_distribute(c, k);
        else if (chain_knows_successor(c))
            chain_send_partial(c, k + 1);
    }
    if (!chain_is_tail(c)) {
        chain_await_successor(c);
        chain_send_partial(c, c->chunks);
    }
}

static void chain_receive_result(const struct chain *c)
{
    for (int k = 0; k < c->chunks && !chain_is_tail(c); k++) {
        leader_await(&c->exchange, chain_result_step(c, k), c->after);
        if (c->before != CHAIN_NONE && !chain_is_direct(c))
            chain_send_result(c, k, c->before);
    }
}

/* ---- segments -------------------------------------------------------------------------
 */

static void chain_set_segment(struct chain *c, size_t first, size_t n)
{
    size_t size = c->job->size, least = CHAIN_CHUNK_BYTES / size;
    size_t even = slice_most(n, slice_line(size), CHAIN_CHUNKS);

    c->data = c->job->dest + first * size;
    c->n = n;
    c->chunk = even > least ? even : least;
    c->chunks = (int)((n + c->chunk - 1) / c->chunk);
    c->sent = 0;
}

static void chain_run_segment(struct chain *c, size_t first, size_t n)
{
    chain_set_segment(c, first, n);
    c->exchange =
        leader_exchange_begin(c->job->team, chain_result_step(c, c->chunks), c->job->fn);
    if (first == 0)
        chain_arrive(c);
    else
        chain_reverse(c);
    chain_reduce(c);
    chain_receive_result(c);
    if (first == 0)
        chain_finish_order(c);
    leader_exchange_end(&c->exchange, true);
}

void reduce_leaders_chain(const struct reduce_job *j)
{
    size_t most = CHAIN_SEGMENT / j->size;
    struct chain c = {
        .job = j, .before = CHAIN_NONE, .after = CHAIN_NONE, .sum = j->team->nodes->me};

    for (size_t first = 0; first < j->n; first += most)
        chain_run_segment(&c, first, j->n - first < most ? j->n - first : most);
}
