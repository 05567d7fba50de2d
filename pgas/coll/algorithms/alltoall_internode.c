/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall_internode.c - see alltoall_internode.h.
 * Uses: core/team, core/check, core/peer, leader_job, mailbox, internode, select,
 * scratch, datatype/copy, rma/strided.
 *
 * N nodes.  Very small blocks are piggybacked on a barrier (internode_gather): every PE
 * receives the blocks of all PEs.
 *
 * Else Bruck et al. 1997 over nodes (schedule.h): the leader packs the blocks of its PEs
 * for each node into a bundle; leaders exchange bundles; the PEs of a node copy their
 * blocks from their leader's memory.  Before round k, node x holds the bundle number i
 * that originates from node x - (i mod 2^k).  The length of a bundle follows from the
 * number of PEs of both nodes and is known to both.
 *
 * Leader scratch memory: one inbox part per round, and the bundles for the own node,
 * ordered by PE, within a PE by source node.
 */
#include "config.h"

#include "pgas/coll/algorithms/alltoall_internode.h"
#include "pgas/coll/schedule/leader_job.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/check/check.h"
#include "pgas/core/base/log.h"
#include "pgas/core/memory/peer.h"
#include "pgas/datatype/copy.h"
#include "pgas/ft/ft_temp.h"
#include "pgas/rma/strided.h"

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
    char **bundle; /* by number; 0 = for this leader's own node */
    char *memory;  /* of the bundles */
    size_t most;   /* bytes of the longest bundle */
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

/* Maximum bytes of a message. */
static size_t alltoall_inter_step_bytes(const struct team_nodes *n, size_t most)
{
    return (size_t)(n->leaders / 2 + 1) * most;
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

/* Publish the address of this PE's source. */
static void alltoall_inter_publish_source(struct job *j, const void *source)
{
    j->mailbox = mailbox_open(j->team->node_team, sizeof(uint64_t), j->fn);
    *(uint64_t *)mailbox_own(&j->mailbox) = symaddr_encode(source);
    mailbox_post(&j->mailbox);
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
            const char *source =
                symaddr_decode(*(const uint64_t *)mailbox_of(&j->mailbox, k));
            size_t block = (size_t)alltoall_inter_pe_at(j, pos) * j->each;
            strided_get(SHMEM_CTX_DEFAULT, to, source + block * (size_t)j->x.sst,
                        alltoall_inter_elements(j, 1, j->x.sst),
                        team_world_pe(j->team, n->local_pe[k]), j->fn);
        }
}

/* Offset in the leader's scratch memory of the blocks from `node` to local PE k. */
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

static void alltoall_inter_copy_result(const struct job *j, char *dest)
{
    const struct team_nodes *n = j->nodes;
    const struct strided elements = alltoall_inter_elements(j, j->x.dst, 1);

    for (int node = 0; node < n->leaders; node++) {
        size_t pes = (size_t)alltoall_inter_pes_of(n, node);
        const char *from =
            peer_at(scratch_at(&j->team->coll->scratch, n->me,
                               alltoall_inter_result_at(j, node, j->team->node_team->me)),
                    pes * j->each, internode_leader(j->team), j->fn);
        for (int pos = n->begin[node]; pos < n->begin[node + 1]; pos++) {
            size_t block = (size_t)alltoall_inter_pe_at(j, pos) * j->each;
            strided_copy(dest + block * (size_t)j->x.dst, from, &elements);
            from += j->each;
        }
    }
}

/* ---- inter-node phase -------------------------------------------------------------- */

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
    size_t n = (size_t)j->nodes->leaders, pes = (size_t)alltoall_inter_largest(j->nodes);

    j->most = pes * pes * j->each;
    j->bundle = ft_temp_alloc(n * sizeof *j->bundle);
    j->memory = ft_temp_alloc(n * j->most + alltoall_inter_step_bytes(j->nodes, j->most));
    if (j->bundle == NULL || j->memory == NULL)
        log_die("%s: no memory for the blocks of %zu nodes", j->fn, n);
    for (size_t i = 0; i < n; i++)
        j->bundle[i] = j->memory + i * j->most;
}

static void alltoall_inter_exchange(struct job *j)
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

/* ---- all PEs ----------------------------------------------------------------------- */

void alltoall_bruck(struct shmem_team *team, void *dest, const void *source,
                    const struct strides *x, const char *fn)
{
    struct job j = {.leaders = {.team = team, .fn = fn},
                    .team = team,
                    .nodes = team->nodes,
                    .x = *x,
                    .each = x->n * x->size,
                    .order = internode_order(team, fn),
                    .fn = fn};
    bool is_leader = internode_is_leader(team);

    internode_begin(team);
    alltoall_inter_publish_source(&j, source);
    if (is_leader) {
        alltoall_inter_exchange(&j);
        mailbox_publish_parts(&j.mailbox, 1);
    } else {
        mailbox_await_parts(&j.mailbox, 0, 1);
    }
    alltoall_inter_copy_result(&j, dest);
    if (is_leader)
        mailbox_await_all_closed(&j.mailbox);
    mailbox_close(&j.mailbox);
    ft_temp_free(j.order);
}
