/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schedule.h - the inter-node phases of the collectives as data: what each leader sends,
 * receives and computes.
 *
 * A schedule is a pure function of (algorithm, nodes, rank, units, alignment, segment):
 * schedule_step yields step i of one leader.  It depends on its argument only, has no
 * effects, and is independent of teams and transports.  So one executor (executor.h) runs
 * every schedule, and tests/coll/schedule proves each one on a model: every
 * message is received exactly once, no cycle, no data race, every contribution arrives
 * exactly once, and the messages, bytes and rounds are those of the formula.
 *
 * A leader executes its steps in order; a step depends on all earlier steps of the leader
 * and, if it is a RECV, on the SEND of the same message.
 *
 * Push and pull.  In the blocking collectives the nodes are those of the team, and data
 * travel with the messages.  The schedules PULL_* are those of the nonblocking
 * collectives: the nodes are the PEs of the team, messages are signals without data, and
 * a PE reads the data of others by GET.  In ALLTOALL_PAIRWISE the nodes are the PEs of
 * the team, too; barriers of the team separate its PUTs from other accesses.
 *
 * Ranks.  In an algorithm with a root the ranks are relative to the node of the root,
 * which has rank 0; in the others a rank is the number of the node.
 *
 * Units.  Regions are counted in units: elements of a reduction, bytes of a broadcast,
 * the blocks of one node in a collect, allgather or barrier, bundles (the blocks from one
 * node to another one) in an alltoall.
 * A leaf.  Used by: executor, the inter-node algorithms, tests.
 */
#ifndef PGAS_COLL_SCHEDULE_H
#define PGAS_COLL_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>

enum schedule_space {
    SPACE_DATA,   /* operand and result; equal symmetric addresses on all leaders */
    SPACE_INBOX,  /* scratch memory of the leader, written by other leaders */
    SPACE_SOURCE, /* PULL_*, ALLTOALL_DIRECT, ALLTOALL_PAIRWISE, SCAN_CHAIN,
                     REDUCE_ORDERED: the operand; in PULL_* and REDUCE_ORDERED it may be
                     the same memory as DATA */
};

/* Units first .. first + count - 1.  Units of an alltoall and of an allgather wrap around
 * at the number of nodes; with `bit` set, the region contains the units between 1 and
 * nodes - 1 that have this bit (Bruck), and `first` and `count` describe the message. */
struct schedule_region {
    enum schedule_space space;
    size_t first, count;
    unsigned bit;
};

/*
 * SEND    put region `from` to region `to` of rank `peer` and signal message `tag`.  The
 *         source must not change until the message is received; with `copied`, only until
 *         the transport has read it, for which the leader waits in this step.
 * RECV    wait for message `tag` of rank `peer`, which fills region `to`.
 * GET     to = region `from` of rank `peer`.  The leader reads that region until its next
 *         SEND, so that a message after the GET tells the peer that it may change it; and
 *         it ends only after all its own regions have been read.  With `copied`, and if
 *         `to` is not in the inbox, only until its next step that is not a GET.  Without,
 *         `to` is only read, and before that SEND.
 * PUT     region `to` of rank `peer` = from, without a message.  Both regions are in use
 *         until the next BARRIER.
 * BARRIER wait until all ranks have reached it, and all PUTs before it are complete.
 * REDUCE  to = to op from; with `before`, to = from op to.
 * COPY    to = from.
 * READY   region `to` is final: the other PEs of the node may read it.
 * NONE    no operation.
 */
enum schedule_kind {
    STEP_NONE,
    STEP_SEND,
    STEP_RECV,
    STEP_GET,
    STEP_PUT,
    STEP_BARRIER,
    STEP_REDUCE,
    STEP_COPY,
    STEP_READY,
};

struct schedule_step {
    enum schedule_kind kind;
    int peer, tag;
    bool copied, before;
    struct schedule_region from, to;
};

/*
 * X(NAME, function, tags, inbox, text): see schedule_int.h.  N nodes, m bytes, B
 * segments.
 *
 * allgather of one block per node, and barrier:
 * - direct: N - 1 messages to N - 1 leaders at once; the blocks are received in
 *   descending cyclic order of the nodes.
 * - dissemination (Bruck et al. 1997): ceil(log2 N) rounds of one message; a leader
 *   receives all blocks once.
 * - ring: N - 1 rounds; each leader forwards the block that it received last; blocks
 *   arrive in the same order as in direct.
 *
 * broadcast, numbered from the node of the root:
 * - knomial: k-nomial tree, k = radix; a segment is forwarded on arrival: at most
 *   B (k - 1) ceil(logk N) rounds.  Radix 2 is the binomial tree.
 * - scatter: scatter + ring allgather (van de Geijn 1994): 2 (N - 1) rounds, 2 m bytes
 * per leader.
 *
 * alltoall:
 * - bruck (Bruck et al. 1997): ceil(log2 N) rounds of one message of up to N / 2 bundles.
 *   The bundle from node s to node s + i (cyclic) has number i and moves by 2^k nodes in
 *   round k if i has bit k set.
 * - direct: N - 1 messages to N - 1 leaders at once, into the receivers' inboxes; the
 *   bundles arrive in descending cyclic order of the nodes, after the own one.
 * - pairwise: N - 1 PUTs to N - 1 ranks in cyclic order, between two barriers; block
 *   `peer` of SOURCE to block `rank` of the peer's DATA.
 *
 * allreduce in place:
 * - exchange: N - 1 messages of the whole data to N - 1 leaders, each after the local
 *   completion of the one before, and each leader combines all of them: 1 round,
 *   m (N - 1) bytes per leader.
 * - direct: reduce-scatter and allgather by direct exchange: 2 rounds of N - 1 messages,
 *   2 m (N - 1) / N bytes per leader.
 * - ring: ring reduce-scatter and ring allgather (Patarasuk, Yuan 2009): 2 (N - 1) rounds
 *   of one message, 2 m (N - 1) / N bytes.
 * - halving: recursive halving reduce-scatter and recursive doubling allgather
 *   (Rabenseifner 2004): 2 log2 N rounds of one message, 2 m (N - 1) / N bytes.
 * - doubling: recursive doubling of the whole data: log2 N rounds, m log2 N bytes.
 * In halving and doubling, leaders in excess of a power of two first pass their data to a
 * neighbor, and receive the result from it at the end.
 *
 * scans and allreduce in the order of the ranks:
 * - scan chain: each leader adds its contribution to the combination of the previous
 *   ranks in its inbox, and sends it to the next rank: N + B - 2 rounds, B messages.  The
 *   inbox of rank r ends as the combination of ranks 0 .. r.
 * - reduce ordered: allreduce; the scan chain, and the result of the last rank back along
 *   the chain, at most 2 B messages, or with one segment by a binomial tree.
 * - scan doubling: recursive doubling (Hillis, Steele 1986): log N rounds, m log N bytes.
 *   Part 0 of the inbox of rank r > 0 ends as the combination of ranks 0 .. r - 1, which
 *   are combined in pairs of neighbouring sequences.
 *
 * reduction to the root:
 * - tree: binomial tree, ceil(log2 N) rounds, one message of m bytes per leader.
 *
 * by GETs; a signal is a message without data, and a barrier is a dissemination of
 * signals.  Contributions are combined in the order of the ranks.  A tag may be used
 * again when its sender knows that the message before has been received.
 * - pull bcast: binomial tree, a signal and an acknowledgement per edge.
 * - pull gather, alltoall: N - 1 GETs between two barriers.  Slices of DATA; block `rank`
 *   of the peers' SOURCE to DATA.
 * - pull tree: reduction to the root as in tree, a signal and an acknowledgement per
 *   edge.  The leaves contribute SOURCE; the sums are in DATA of the other ranks.
 * - pull direct: allreduce.  Each rank combines its slice of SOURCE of all ranks, then
 *   gets the other slices of DATA; three barriers.
 * - pull scan, exscan: DATA = sum of the ranks 0 .. rank (rank - 1; undefined on rank 0),
 *   by recursive doubling (Hillis, Steele 1986): ceil(log2 N) rounds (one more) of one
 *   signal and one acknowledgement.
 * In tree and direct the inbox consists of parts of `segment` units.
 */
/* clang-format off */
#define SCHEDULE_TABLE(X)                                                                \
    X(GATHER_DIRECT, gather_direct, nodes, none, "allgather direct")                     \
    X(DISSEMINATION, dissemination, log2, none, "allgather dissemination")               \
    X(GATHER_RING, gather_ring, nodes, none, "allgather ring")                           \
    X(BCAST_KNOMIAL, bcast_knomial, segments, none, "broadcast knomial")                 \
    X(BCAST_SCATTER, bcast_scatter, nodes, none, "broadcast scatter")
#define SCHEDULE_TABLE_ALLTOALL(X)                                                       \
    X(ALLTOALL_BRUCK, alltoall_bruck, log2, bruck, "alltoall bruck")                     \
    X(ALLTOALL_DIRECT, alltoall_direct, nodes, nodes, "alltoall direct")                 \
    X(ALLTOALL_PAIRWISE, alltoall_pairwise, none, none, "alltoall pairwise")
#define SCHEDULE_TABLE_COMPUTING(X)                                                      \
    X(REDUCE_EXCHANGE, reduce_exchange, nodes, operands, "reduce exchange")              \
    X(REDUCE_DIRECT, reduce_direct, twice_nodes, slices, "reduce direct")                \
    X(REDUCE_RING, reduce_ring, twice_nodes, operand, "reduce ring")                     \
    X(REDUCE_HALVING, reduce_halving, twice_log2_fold, halves, "reduce halving")         \
    X(REDUCE_DOUBLING, reduce_doubling, log2_fold, levels, "reduce doubling")            \
    X(REDUCE_TREE, reduce_tree, log2, rounds, "reduce tree")
#define SCHEDULE_TABLE_CHAINS(X)                                                         \
    X(SCAN_CHAIN, scan_chain, segments, operand, "scan chain")                           \
    X(REDUCE_ORDERED, reduce_ordered, twice_segments, operand, "reduce ordered")         \
    X(SCAN_DOUBLING, scan_doubling, log2, rounds, "scan doubling")
#define SCHEDULE_TABLE_PULL(X)                                                           \
    X(PULL_BCAST, pull_bcast, log2_one, none, "pull broadcast")                          \
    X(PULL_GATHER, pull_gather, twice_log2, none, "pull allgather")                      \
    X(PULL_ALLTOALL, pull_alltoall, twice_log2, none, "pull alltoall")                   \
    X(PULL_TREE, pull_tree, log2_one, segment, "pull reduce tree")                       \
    X(PULL_DIRECT, pull_direct, twice_log2, segments, "pull reduce direct")              \
    X(PULL_SCAN, pull_scan, twice_log2, operand, "pull scan")                            \
    X(PULL_EXSCAN, pull_exscan, twice_log2_fold, operand, "pull exscan")
/* clang-format on */
#define SCHEDULE_ALL(X)                                                                  \
    SCHEDULE_TABLE(X)                                                                    \
    SCHEDULE_TABLE_ALLTOALL(X)                                                           \
    SCHEDULE_TABLE_COMPUTING(X) SCHEDULE_TABLE_CHAINS(X) SCHEDULE_TABLE_PULL(X)

#define X(NAME, function, tags, inbox, text) SCHEDULE_##NAME,
enum schedule_name { SCHEDULE_ALL(X) SCHEDULES };
#undef X

struct schedule {
    enum schedule_name name;
    int nodes, rank;
    size_t units;   /* of the operand (reduce, broadcast); else ignored */
    size_t line;    /* slices and inbox parts start at multiples of it; >= 1 */
    int radix;      /* of the tree (BCAST_KNOMIAL); >= 2 */
    size_t segment; /* units of a segment (broadcast, SCAN_CHAIN, REDUCE_ORDERED,
                       PULL_TREE, PULL_DIRECT); >= 1 */
};

/* Store step i = 0, 1, .. of this leader; false: the schedule has no more steps.  Costs
 * O(log nodes) at most.  With one node there are no steps. */
bool schedule_step(const struct schedule *s, int i, struct schedule_step *step);
/* An upper bound of the tags, equal on all leaders: tags are 0 .. schedule_tags - 1. */
int schedule_tags(const struct schedule *s);
/* The number of segments of a pipeline, and the region of segment i. */
int schedule_segments(const struct schedule *s);
struct schedule_region schedule_segment(const struct schedule *s, int i);
/* An upper bound of the units of the inbox of a leader. */
size_t schedule_inbox(const struct schedule *s);
/* As in the table: "reduce ring". */
const char *schedule_text(enum schedule_name name);

/* ceil(log2 n), n >= 1. */
static inline int schedule_log2(int n)
{
    int levels = 0;

    while ((1u << levels) < (unsigned)n)
        levels++;
    return levels;
}

#endif
