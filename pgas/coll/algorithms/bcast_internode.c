/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast_internode.c - broadcast of a team over several nodes.
 * Uses: core/team, bcast, leader_job, mailbox, internode, select, datatype/copy.
 *
 * Ranks are nodes, numbered cyclically from the root's node; the algorithms are schedules
 * (schedule.h).
 *
 * Small (bcast_eager): binomial tree of the leaders, from eager slot to eager slot; no PE
 * waits for its descendants.  A leader has BCAST_EAGER_SLOTS slots in its scratch memory.
 * Invariant: a slot is reused only after an inter-node barrier, which a leader enters
 * after it has forwarded the data of all earlier calls and passed them to its node.
 *
 * Large: the root's node broadcasts as on a node; its leader sends to the other leaders
 * in segments, and each leader publishes every segment to its node on arrival (READY).
 *
 * Invariant: a leader's dest is written only after the leader has entered the call
 * (internode_barrier), and is not modified before its node has read all segments.
 */
#include "config.h"

#include <string.h>

#include "pgas/coll/algorithms/bcast.h"
#include "pgas/coll/algorithms/bcast_internode.h"
#include "pgas/coll/schedule/leader_job.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/memory/peer.h"
#include "pgas/datatype/copy.h"

enum {
    SEGMENT_BYTES = 128 * 1024,
    SEGMENTS_MAX = 1 << 15,
};

struct job {
    struct leader_job leaders;
    struct shmem_team *team;
    char *dest;
    const char *from; /* the data on a leader: dest, except on the root */
    size_t bytes;
    int vrank;                /* cyclic distance of this node from the node of the root */
    struct schedule schedule; /* of the leaders; defines the segments */
    struct mailbox mailbox;   /* of this node; unused on the root's node */
    const char *fn;
};

/* ---- node phase ------------------------------------------------------------------- */

static bool bcast_inter_has_local_pes(const struct job *j)
{
    return j->vrank != 0 && j->team->node_team->npes > 1;
}

/* Publish all segments up to the end of this region to the node. */
static void bcast_inter_ready(void *arg, const struct schedule_step *step)
{
    const struct job *j = arg;
    size_t end = step->to.first + step->to.count;

    if (bcast_inter_has_local_pes(j))
        mailbox_publish_parts(&j->mailbox, (end - 1) / j->schedule.segment + 1);
}

static void bcast_inter_copy_segments(const struct job *j)
{
    for (int i = 0; i < schedule_segments(&j->schedule); i++) {
        struct schedule_region s = schedule_segment(&j->schedule, i);
        mailbox_await_parts(&j->mailbox, 0, (uint64_t)i + 1);
        copy_bytes(j->dest + s.first,
                   peer_at(j->dest + s.first, s.count, internode_leader(j->team), j->fn),
                   s.count);
    }
}

/* ---- large broadcast between leaders ----------------------------------------------- */

static bool bcast_inter_send(void *arg, const struct schedule_step *step)
{
    const struct job *j = arg;

    leader_put(&j->leaders.exchange, step->tag, leader_job_node(&j->leaders, step->peer),
               j->dest + step->to.first, j->from + step->from.first, step->from.count);
    return true;
}

static const struct executor_ops ops = {.send = bcast_inter_send,
                                        .arrived = leader_job_arrived,
                                        .await = leader_job_await,
                                        .ready = bcast_inter_ready};

static const enum schedule_name schedules[] = {
    [INTERNODE_BROADCAST_BINOMIAL] = SCHEDULE_BCAST_BINOMIAL,
    [INTERNODE_BROADCAST_KARY] = SCHEDULE_BCAST_KARY,
    [INTERNODE_BROADCAST_SCATTER] = SCHEDULE_BCAST_SCATTER,
};

static void bcast_inter_run_leaders(struct job *j)
{
    j->schedule.name =
        schedules[select_algorithm(j->team, SELECT_INTERNODE_BROADCAST, j->bytes)];
    internode_barrier(j->team, j->fn); /* every leader's dest may be written */
    leader_job_run(&j->leaders, j->schedule, &ops, false);
}

/* ---- large broadcast --------------------------------------------------------------- */

/* Node phase on the root's node: all PEs receive the data in dest; the root only if
 * `copies`. */
static void bcast_inter_node_phase(struct job *j, const void *source, int root,
                                   bool copies)
{
    struct shmem_team *node_team = j->team->node_team;
    int i = team_index(node_team, team_world_pe(j->team, root));

    if (node_team->npes > 1)
        bcast_node(node_team, j->dest, source, j->bytes, i, copies, j->fn);
    else if (copies)
        memmove(j->dest, source, j->bytes);
    if (!copies && j->team->me == root)
        j->from = source;
}

static void bcast_inter_run_root_node(struct job *j, const void *source, int root,
                                      bool copies)
{
    bcast_inter_node_phase(j, source, root, copies);
    if (internode_is_leader(j->team))
        bcast_inter_run_leaders(j);
}

static void bcast_inter_run_other_node(struct job *j)
{
    bool local_pes = bcast_inter_has_local_pes(j),
         is_leader = internode_is_leader(j->team);

    if (local_pes)
        j->mailbox = mailbox_open(j->team->node_team, 0, j->fn);
    if (is_leader)
        bcast_inter_run_leaders(j);
    else
        bcast_inter_copy_segments(j);
    if (local_pes && is_leader)
        mailbox_await_all_closed(&j->mailbox);
    if (local_pes)
        mailbox_close(&j->mailbox);
}

static struct job bcast_inter_job_of(struct shmem_team *team, void *dest, size_t bytes,
                                     int root, const char *fn)
{
    struct job j = {.leaders = {.team = team, .fn = fn, .root = team_node(team, root)},
                    .team = team,
                    .dest = dest,
                    .from = dest,
                    .bytes = bytes,
                    .schedule = {.units = bytes,
                                 .line = NODE_LINE,
                                 .segment = SEGMENT_BYTES + bytes / SEGMENTS_MAX},
                    .fn = fn};

    j.vrank = leader_job_rank(&j.leaders);
    return j;
}

void bcast_internode(struct shmem_team *team, void *dest, const void *source,
                     size_t bytes, int root, bool copies, const char *fn)
{
    struct job j = bcast_inter_job_of(team, dest, bytes, root, fn);

    internode_begin(team);
    if (j.vrank == 0)
        bcast_inter_run_root_node(&j, source, root, copies);
    else
        bcast_inter_run_other_node(&j);
}

/* ---- small broadcast --------------------------------------------------------------- */

/* An eager broadcast: its number, and the signal word of its message. */
struct eager_bcast {
    const struct job *job;
    uint64_t number;
    uint64_t *word; /* same symmetric address on all leaders */
};

static struct eager_bcast bcast_inter_eager_begin(const struct job *j)
{
    struct internode_words *w = internode_own_words(j->team);
    struct credit *eager = &j->team->coll->bcast.eager;

    if (!credit_available(eager, BCAST_EAGER_SLOTS))
        internode_barrier(j->team, j->fn); /* returns the credit of leaders */
    uint64_t number = credit_begin(eager);
    return (struct eager_bcast){j, number, &w->bcast.eager[number % BCAST_EAGER_SLOTS]};
}

/* Symmetric address of the slot of a node's leader. */
static char *bcast_inter_slot(const struct eager_bcast *p, int node)
{
    return scratch_at(
        &p->job->team->coll->internode.eager, node,
        offsetof(struct internode_eager, slot[p->number % BCAST_EAGER_SLOTS]));
}

static bool bcast_inter_eager_send(void *arg, const struct schedule_step *step)
{
    const struct eager_bcast *p = arg;
    const struct job *j = p->job;
    int node = leader_job_node(&j->leaders, step->peer);

    leader_eager_put(j->team, node, bcast_inter_slot(p, node),
                     bcast_inter_slot(p, j->team->nodes->me), j->bytes, p->word,
                     p->number, j->fn);
    return true;
}

static bool bcast_inter_eager_arrived(void *arg, const struct schedule_step *step)
{
    const struct eager_bcast *p = arg;

    (void)step; /* a leader receives only one message */
    return leader_eager_arrived(p->word, p->number);
}

static void bcast_inter_eager_await(void *arg, const struct schedule_step *step)
{
    const struct eager_bcast *p = arg;

    leader_eager_await(p->job->team, leader_job_node(&p->job->leaders, step->peer),
                       p->word, p->number, p->job->fn);
}

static const struct executor_ops eager_ops = {.send = bcast_inter_eager_send,
                                              .arrived = bcast_inter_eager_arrived,
                                              .await = bcast_inter_eager_await};

/* Broadcast from the slot of the root's leader to the slots of all leaders. */
static void bcast_inter_eager_run_leaders(struct eager_bcast *p)
{
    const struct job *j = p->job;

    executor_run(&(struct executor){.schedule = {.name = SCHEDULE_BCAST_BINOMIAL,
                                                 .nodes = j->team->nodes->leaders,
                                                 .rank = j->vrank,
                                                 .units = j->bytes,
                                                 .line = NODE_LINE,
                                                 .segment = j->bytes},
                                    .ops = &eager_ops,
                                    .job = p});
}

static void bcast_inter_eager_root(struct job *j, struct eager_bcast *p,
                                   const void *source, int root, bool copies)
{
    bcast_inter_node_phase(j, source, root, copies);
    if (!internode_is_leader(j->team))
        return;
    copy_bytes(bcast_inter_slot(p, j->team->nodes->me), j->from, j->bytes);
    bcast_inter_eager_run_leaders(p);
}

static void bcast_inter_eager_other(const struct job *j, struct eager_bcast *p)
{
    const char *slot = bcast_inter_slot(p, j->team->nodes->me); /* of the leader */

    if (internode_is_leader(j->team))
        bcast_inter_eager_run_leaders(p);
    if (j->team->node_team->npes > 1)
        bcast_node(j->team->node_team, j->dest, slot, j->bytes, 0, true, j->fn);
    else
        copy_bytes(j->dest, slot, j->bytes);
}

void bcast_eager(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                 int root, bool copies, const char *fn)
{
    struct job j = bcast_inter_job_of(team, dest, bytes, root, fn);

    internode_begin(team);
    struct eager_bcast p = bcast_inter_eager_begin(&j);
    if (j.vrank == 0)
        bcast_inter_eager_root(&j, &p, source, root, copies);
    else
        bcast_inter_eager_other(&j, &p);
}
