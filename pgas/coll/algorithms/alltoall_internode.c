/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall_internode.c - see alltoall_internode.h.
 * Uses: core/team, core/check, core/peer, leader_job, mailbox, internode, select,
 * bounce, scratch, datatype/copy, rma/strided.
 *
 * N nodes.  Very small blocks are piggybacked on a barrier (internode_gather): every PE
 * receives the blocks of all PEs.
 *
 * Else the leader packs the blocks of its PEs for each node into a bundle, the leaders
 * exchange bundles (schedule.h), and the PEs of a node copy their blocks from their
 * leader's memory.  A bundle is ordered by target PE, within a target by source PE; its
 * length follows from the number of PEs of both nodes and is known to both.
 *
 * - direct: one message with data and signal to each other leader; N - 1 messages, one
 *   latency.  The PEs of a node copy each bundle when it arrives, from where it arrived.
 *   Leader scratch memory: an inbox part per source node; the bundles to be sent, and the
 *   one for the own node, by target node.
 * - bruck (Bruck et al. 1997): log2 N messages of N / 2 bundles.  Before round k, node x
 *   holds the bundle number i that originates from node x - (i mod 2^k).  Leader scratch
 *   memory: an inbox part per round, and the bundles for the own node, ordered by PE,
 *   within a PE by source node.
 *
 * Invariants.  No barrier precedes the exchange: the inbox of call k is reused in call
 * k + 2, which a leader begins when it has received the bundles of all leaders in call
 * k + 1, hence after all of them have ended call k (leader_msg.c).  A leader begins an
 * exchange when its PEs have closed the mailbox of its last one, hence have copied all
 * blocks (acquire of `parts` before, release of `done` after the copies), and ends it
 * when the transport has read all bundles.  So inbox and bundles are free when it begins.
 */
#include "config.h"

#include "pgas/coll/algorithms/alltoall_internode.h"
#include "pgas/coll/schedule/leader_job.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/bounce.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/team/ctx.h"
#include "pgas/core/check/check.h"
#include "pgas/core/base/log.h"
#include "pgas/core/memory/peer.h"
#include "pgas/datatype/copy.h"
#include "pgas/ft/ft_temp.h"
#include "pgas/rma/strided.h"

/* With larger blocks the leader waits for the PEs of its node before it returns, so that
 * its next call does not compete with their copies. */
enum { RETURN_EARLY_BYTES = 16 * 1024 };

/* ---- piggybacked ----------------------------------------------------------------- */

/* True if `gather` is selected for blocks of `each` bytes and they fit the piggyback
 * buffer. */
static bool alltoall_gathers(struct shmem_team *team, size_t each, const char *fn)
{
    size_t npes = (size_t)team->npes;

    return select_algorithm(team, SELECT_INTERNODE_ALLTOALL, each) ==
               INTERNODE_ALLTOALL_GATHER &&
           each < INTERNODE_BUFFER && internode_fits(team, npes, npes * each, fn);
}

void alltoall_gather(struct shmem_team *team, char *dest, const void *source, size_t each,
                     const char *fn)
{
    size_t mine = (size_t)team->npes * each;
    const char *buffer = internode_gather(team, source, mine, -1, fn);

    for (int i = 0; i < team->npes; i++)
        copy_bytes(dest + (size_t)i * each,
                   internode_part(team, buffer, mine, i) + (size_t)team->me * each, each);
}

/* ---- bundles --------------------------------------------------------------------- */

struct job {
    struct leader_job leaders;
    struct shmem_team *team;
    const struct team_nodes *nodes;
    struct strides x;
    size_t each;   /* bytes of a block */
    int *order;    /* PEs of the team in node order; NULL: team order is node order */
    size_t most;   /* bytes of the longest bundle, rounded up in direct */
    char **bundle; /* bruck: by number; 0 = for this leader's own node */
    char *memory;  /* bruck: of the bundles */
    bool direct;
    bool packs;        /* direct: the source does not contain the bundles as they are */
    const char *inbox; /* direct: of this node's leader */
    char *dest;
    const char *source;
    struct mailbox mailbox;
    const char *fn;
};

/* ---- sizes ----------------------------------------------------------------------- */

static int alltoall_inter_pes_of(const struct team_nodes *n, int node)
{
    return n->begin[node + 1] - n->begin[node];
}

static int alltoall_inter_node_at(const struct team_nodes *n, int distance)
{
    return ((n->me + distance) % n->leaders + n->leaders) % n->leaders;
}

static int alltoall_inter_largest(const struct team_nodes *n)
{
    int most = 0;

    for (int node = 0; node < n->leaders; node++)
        most =
            alltoall_inter_pes_of(n, node) > most ? alltoall_inter_pes_of(n, node) : most;
    return most;
}

static size_t alltoall_inter_bundle_bytes(const struct job *j, int from, int to)
{
    return (size_t)alltoall_inter_pes_of(j->nodes, from) *
           (size_t)alltoall_inter_pes_of(j->nodes, to) * j->each;
}

/* A part of an inbox that holds `most` bytes: parts begin at cache lines. */
static size_t alltoall_inter_part(size_t most)
{
    return (most + NODE_LINE - 1) / NODE_LINE * NODE_LINE;
}

/* Maximum bytes of a message. */
static size_t alltoall_inter_step_bytes(const struct team_nodes *n, size_t most)
{
    return (size_t)(n->leaders / 2 + 1) * most;
}

/* As alltoall_bruck_fits. */
static bool alltoall_direct_fits(struct shmem_team *team, size_t each, const char *fn)
{
    const struct team_nodes *n = team->nodes;
    size_t pes = (size_t)alltoall_inter_largest(n), parts = (size_t)n->leaders;

    return each <= SCRATCH_SEGMENT &&
           alltoall_inter_part(pes * pes * each) <= SCRATCH_SEGMENT / parts &&
           scratch_get(team, fn);
}

/* True if the leaders have scratch memory for blocks of `each` bytes; collective as
 * scratch_get. */
static bool alltoall_bruck_fits(struct shmem_team *team, size_t each, const char *fn)
{
    const struct team_nodes *n = team->nodes;
    size_t pes = (size_t)alltoall_inter_largest(n);
    size_t most = pes * pes * each, all = (size_t)team->npes * pes * each;
    struct schedule s = {.name = SCHEDULE_ALLTOALL_BRUCK, .nodes = n->leaders};

    if (each > SCRATCH_SEGMENT || most > SCRATCH_SEGMENT || all > SCRATCH_SEGMENT)
        return false;
    return schedule_inbox(&s) * most <= SCRATCH_BYTES && scratch_get(team, fn);
}

enum select_algorithm alltoall_internode_algorithm(struct shmem_team *team, size_t each,
                                                   const char *fn)
{
    enum select_algorithm a = select_algorithm(team, SELECT_INTERNODE_ALLTOALL, each);

    if (a == INTERNODE_ALLTOALL_GATHER && !alltoall_gathers(team, each, fn))
        a = INTERNODE_ALLTOALL_DIRECT;
    if (a == INTERNODE_ALLTOALL_DIRECT && (team->nodes->leaders > SELECT_DIRECT_NODES ||
                                           !alltoall_direct_fits(team, each, fn)))
        a = INTERNODE_ALLTOALL_BRUCK;
    if (a == INTERNODE_ALLTOALL_BRUCK && !alltoall_bruck_fits(team, each, fn))
        a = INTERNODE_ALLTOALL_PAIRWISE;
    return a;
}

/* ---- node phase ------------------------------------------------------------------- */

static int alltoall_inter_pe_at(const struct job *j, int pos)
{
    return j->order != NULL ? j->order[pos] : pos;
}

/* What a PE tells the PEs of its node. */
struct notice {
    uint64_t source; /* symmetric addresses: of its source, */
    uint64_t inbox;  /* and on the leader, of the inbox of direct */
};

/* Publish the address of this PE's source. */
static void alltoall_inter_publish(struct job *j)
{
    struct notice notice = {.source = symaddr_encode(j->source)};

    if (j->direct && internode_is_leader(j->team)) {
        j->inbox = leader_next_scratch(j->team);
        notice.inbox = symaddr_encode(j->inbox);
    }
    j->mailbox = mailbox_open(j->team->node_team, sizeof notice, j->fn);
    *(struct notice *)mailbox_own(&j->mailbox) = notice;
    mailbox_post(&j->mailbox);
}

static const struct notice *alltoall_inter_notice(const struct job *j, int k)
{
    return (const struct notice *)mailbox_of(&j->mailbox, k);
}

/* The elements of a block; one strided block if there are no gaps. */
static struct strided alltoall_inter_elements(const struct job *j, ptrdiff_t dst,
                                              ptrdiff_t sst)
{
    bool dense = dst == 1 && sst == 1;

    return (struct strided){dst, sst, dense ? j->x.n : 1, dense ? 1 : j->x.n, j->x.size};
}

/* Pack the bundle for a node: for each PE there, the blocks of all PEs of this node. */
static void alltoall_inter_pack(const struct job *j, char *to, int node)
{
    const struct team_nodes *n = j->nodes;

    for (int pos = n->begin[node]; pos < n->begin[node + 1]; pos++)
        for (int k = 0; k < n->local_pes; k++, to += j->each) {
            const char *source = symaddr_decode(alltoall_inter_notice(j, k)->source);
            size_t block = (size_t)alltoall_inter_pe_at(j, pos) * j->each;
            strided_get(CTX_LIBRARY, to, source + block * (size_t)j->x.sst,
                        alltoall_inter_elements(j, 1, j->x.sst),
                        team_world_pe(j->team, n->local_pe[k]), j->fn);
        }
}

/* direct: the bundle for a node in the leader's scratch memory. */
static char *alltoall_inter_outbox(const struct job *j, int node)
{
    return scratch_at(&j->team->coll->scratch, j->nodes->me,
                      SCRATCH_OWN + (size_t)node * j->most);
}

/* bruck: offset in the leader's scratch memory of the blocks from `node` to local PE k.
 */
static size_t alltoall_inter_result_at(const struct job *j, int node, int k)
{
    const struct team_nodes *n = j->nodes;

    return SCRATCH_OWN + ((size_t)n->begin[node] * (size_t)n->local_pes +
                          (size_t)k * (size_t)alltoall_inter_pes_of(n, node)) *
                             j->each;
}

/* After the exchange, bundle i is the one from the node at distance -i to this node. */
static void alltoall_inter_store_result(const struct job *j)
{
    const struct team_nodes *n = j->nodes;

    for (int i = 0; i < n->leaders; i++) {
        int from = alltoall_inter_node_at(n, -i);
        copy_bytes(scratch_at(&j->team->coll->scratch, n->me,
                              alltoall_inter_result_at(j, from, 0)),
                   j->bundle[i], alltoall_inter_bundle_bytes(j, from, n->me));
    }
}

/* Symmetric address of the blocks from `node` to this PE, in the leader's memory. */
static const char *alltoall_inter_result(const struct job *j, int node)
{
    const struct team_nodes *n = j->nodes;
    int k = j->team->node_team->me;
    size_t at = (size_t)k * (size_t)alltoall_inter_pes_of(n, node) * j->each;

    if (!j->direct)
        return scratch_at(&j->team->coll->scratch, n->me,
                          alltoall_inter_result_at(j, node, k));
    return (node == n->me ? alltoall_inter_outbox(j, node)
                          : j->inbox + (size_t)node * j->most) +
           at;
}

/* Copy the blocks from the PEs of `node`. */
static void alltoall_inter_copy_node(const struct job *j, int node)
{
    const struct team_nodes *n = j->nodes;
    const struct strided elements = alltoall_inter_elements(j, j->x.dst, 1);
    size_t bytes = (size_t)alltoall_inter_pes_of(n, node) * j->each;
    const char *from =
        peer_at(alltoall_inter_result(j, node), bytes, internode_leader(j->team), j->fn);

    for (int pos = n->begin[node]; pos < n->begin[node + 1]; pos++) {
        size_t block = (size_t)alltoall_inter_pe_at(j, pos) * j->each;
        strided_copy(j->dest + block * (size_t)j->x.dst, from, &elements);
        from += j->each;
    }
}

/* ---- inter-node phase: direct ------------------------------------------------------ */

/* Send the bundle for a node; without packing it is a part of the source. */
static bool alltoall_direct_send(void *arg, const struct schedule_step *step)
{
    const struct job *j = arg;
    const struct team_nodes *n = j->nodes;
    int node = step->peer;
    const char *from = j->source + (size_t)n->begin[node] * j->each;

    if (j->packs) {
        char *bundle = alltoall_inter_outbox(j, node);
        alltoall_inter_pack(j, bundle, node);
        from = bundle;
    }
    leader_put(&j->leaders.exchange, step->tag, node,
               leader_scratch(&j->leaders.exchange, node, step->to.first * j->most), from,
               alltoall_inter_bundle_bytes(j, n->me, node));
    return true;
}

/* COPY: the bundle from a node has arrived.  The one from this node is first. */
static bool alltoall_direct_arrived(void *arg, const struct schedule_step *step)
{
    const struct job *j = arg;

    if (step->tag == 0 && !j->packs) {
        size_t at = (size_t)j->team->me * j->each;
        copy_bytes(j->dest + at, j->source + at, j->each);
        return true;
    }
    if (step->tag == 0)
        alltoall_inter_pack(j, alltoall_inter_outbox(j, step->peer), step->peer);
    if (j->nodes->local_pes > 1)
        mailbox_publish_parts(&j->mailbox, (uint64_t)step->tag + 1);
    alltoall_inter_copy_node(j, step->peer);
    return true;
}

static const struct executor_ops direct_ops = {.send = alltoall_direct_send,
                                               .arrived = leader_job_arrived,
                                               .await = leader_job_await,
                                               .compute = alltoall_direct_arrived};

static void alltoall_direct_exchange(struct job *j)
{
    const struct team_nodes *n = j->nodes;
    size_t extent = (size_t)j->team->npes * j->each;

    j->packs = n->local_pes > 1 || j->order != NULL || j->x.dst != 1 || j->x.sst != 1 ||
               bounce_overlap(j->dest, extent, j->source, extent);
    leader_job_run(&j->leaders, (struct schedule){.name = SCHEDULE_ALLTOALL_DIRECT},
                   &direct_ops, true);
}

/* The other PEs of a node copy from the leader's memory. */
static void alltoall_direct_receive(struct job *j)
{
    j->inbox = symaddr_decode(alltoall_inter_notice(j, 0)->inbox);
    for (int k = 0; k < j->nodes->leaders; k++) {
        mailbox_await_parts(&j->mailbox, 0, (uint64_t)k + 1);
        alltoall_inter_copy_node(j, alltoall_inter_node_at(j->nodes, -k));
    }
}

/* ---- inter-node phase: bruck ------------------------------------------------------- */

/* Bytes of bundle number i that the node at `distance` holds before round k. */
static size_t alltoall_inter_bytes_of(const struct job *j, int i, int k, int distance)
{
    int from = alltoall_inter_node_at(j->nodes, distance - (i & ((1 << k) - 1)));
    int to = (from + i) % j->nodes->leaders;

    return alltoall_inter_bundle_bytes(j, from, to);
}

/* Symmetric address of a part of the inbox of a node's leader; each unit has the size of
 * the longest bundle. */
static char *alltoall_inter_inbox(const struct job *j, int node,
                                  const struct schedule_region *r)
{
    return leader_scratch(&j->leaders.exchange, node, r->first * j->most);
}

/* Send the bundles whose number has bit k to the node at distance 2^k. */
static bool alltoall_inter_send(void *arg, const struct schedule_step *step)
{
    const struct job *j = arg;
    char *buffer = j->memory + (size_t)j->nodes->leaders * j->most;
    size_t at = 0;

    for (int i = 1; i < j->nodes->leaders; i++) {
        if (((unsigned)i & step->from.bit) == 0)
            continue;
        size_t bytes = alltoall_inter_bytes_of(j, i, step->tag, 0);
        copy_bytes(buffer + at, j->bundle[i], bytes);
        at += bytes;
    }
    leader_put_now(&j->leaders.exchange, step->tag, step->peer,
                   alltoall_inter_inbox(j, step->peer, &step->to), buffer, at);
    return true;
}

/* COPY: the bundles of round k from the inbox. */
static bool alltoall_inter_unpack(void *arg, const struct schedule_step *step)
{
    const struct job *j = arg;
    const char *from = alltoall_inter_inbox(j, j->nodes->me, &step->from);

    for (int i = 1; i < j->nodes->leaders; i++) {
        if (((unsigned)i & step->to.bit) == 0)
            continue;
        size_t bytes = alltoall_inter_bytes_of(j, i, step->tag, -(int)step->to.bit);
        copy_bytes(j->bundle[i], from, bytes);
        from += bytes;
    }
    return true;
}

static const struct executor_ops ops = {.send = alltoall_inter_send,
                                        .arrived = leader_job_arrived,
                                        .await = leader_job_await,
                                        .compute = alltoall_inter_unpack};

static void alltoall_inter_make_bundles(struct job *j)
{
    size_t n = (size_t)j->nodes->leaders;

    j->bundle = ft_temp_alloc(n * sizeof *j->bundle);
    j->memory = ft_temp_alloc(n * j->most + alltoall_inter_step_bytes(j->nodes, j->most));
    if (j->bundle == NULL || j->memory == NULL)
        log_die("%s: no memory for the blocks of %zu nodes", j->fn, n);
    for (size_t i = 0; i < n; i++)
        j->bundle[i] = j->memory + i * j->most;
}

static void alltoall_bruck_exchange(struct job *j)
{
    alltoall_inter_make_bundles(j);
    for (int i = 0; i < j->nodes->leaders; i++)
        alltoall_inter_pack(j, j->bundle[i], alltoall_inter_node_at(j->nodes, i));
    leader_job_run(&j->leaders, (struct schedule){.name = SCHEDULE_ALLTOALL_BRUCK}, &ops,
                   true);
    alltoall_inter_store_result(j);
    ft_temp_free(j->memory);
    ft_temp_free(j->bundle);
}

static void alltoall_bruck_run(struct job *j)
{
    if (internode_is_leader(j->team)) {
        alltoall_bruck_exchange(j);
        mailbox_publish_parts(&j->mailbox, 1);
    } else {
        mailbox_await_parts(&j->mailbox, 0, 1);
    }
    for (int node = 0; node < j->nodes->leaders; node++)
        alltoall_inter_copy_node(j, node);
}

/* ---- all PEs ----------------------------------------------------------------------- */

static struct job alltoall_inter_job(struct shmem_team *team, bool direct, void *dest,
                                     const void *source, const struct strides *x,
                                     const char *fn)
{
    struct job j = {.leaders = {.team = team, .fn = fn},
                    .team = team,
                    .nodes = team->nodes,
                    .x = *x,
                    .each = x->n * x->size,
                    .order = internode_order(team, fn),
                    .direct = direct,
                    .dest = dest,
                    .source = source,
                    .fn = fn};
    size_t pes = (size_t)alltoall_inter_largest(j.nodes);

    j.most = pes * pes * j.each;
    if (direct)
        j.most = alltoall_inter_part(j.most);
    return j;
}

void alltoall_bundles(struct shmem_team *team, enum select_algorithm a, void *dest,
                      const void *source, const struct strides *x, const char *fn)
{
    struct job j =
        alltoall_inter_job(team, a == INTERNODE_ALLTOALL_DIRECT, dest, source, x, fn);
    bool is_leader = internode_is_leader(team);

    internode_begin(team);
    alltoall_inter_publish(&j);
    if (!j.direct)
        alltoall_bruck_run(&j);
    else if (is_leader)
        alltoall_direct_exchange(&j);
    else
        alltoall_direct_receive(&j);
    if (is_leader && j.each > RETURN_EARLY_BYTES)
        mailbox_await_all_closed(&j.mailbox);
    else if (is_leader && j.nodes->local_pes > 1)
        internode_set_unread(team, &j.mailbox);
    mailbox_close(&j.mailbox);
    ft_temp_free(j.order);
}
