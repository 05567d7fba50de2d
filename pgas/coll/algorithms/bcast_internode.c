/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast_internode.c - broadcast of a team over several nodes.
 * Uses: core/team, bcast, leader_job, leader_msg, mailbox, forwarder, internode, scratch,
 * select, credit, datatype/copy.
 *
 * Ranks are nodes, numbered cyclically from the root's node; the algorithms are schedules
 * (schedule.h).
 *
 * Small (bcast_eager): k-nomial tree of the leaders, from eager slot to eager slot; no PE
 * waits for its descendants.  A leader has BCAST_EAGER_SLOTS slots in its scratch memory.
 * The PEs of its node wait for the leader's signal word and copy from its slot; on the
 * root's node they receive the data from the root's mailbox.
 * Invariant: a slot is reused only after an inter-node barrier, which a leader enters
 * after it has forwarded the data of all earlier calls, and after the PEs of its node
 * have read them: they closed a mailbox call of each broadcast (release), for which
 * internode_await_read waits (acquire).
 * Which PE of a node forwards: forwarder.h.  It forwards before it closes its mailbox
 * call.  What was sent from a slot has arrived when the leaders of the children enter
 * that barrier, too.
 *
 * Medium (bcast_stream): the same tree, in chunks of BCAST_CHUNK_BYTES from chunk slot to
 * chunk slot.  The PEs of a node copy each chunk from their leader's slot when it has
 * arrived, while the next one is on its way; on the root's node, when the forwarder has
 * published it.  The root waits only until the forwarder has copied the source.  A
 * broadcast of more than BCAST_CHUNKS chunks consists of rounds, each with its
 * forwarders.  Invariants: a chunk slot is reused only after an inter-node barrier, which
 * a leader enters when it has received and forwarded all earlier chunks, and when the PEs
 * of its node have read them: they closed the mailbox call of their round (release), for
 * which internode_await_read waits (acquire).  A round begins only with credit for all
 * its chunks, so no barrier is needed while it is in progress.  All PEs count chunks
 * alike; only leaders need the credit.
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
#include "pgas/coll/sync/forwarder.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/scratch.h"
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
    [INTERNODE_BROADCAST_EAGER] = SCHEDULE_BCAST_KNOMIAL,  /* without eager memory */
    [INTERNODE_BROADCAST_GATHER] = SCHEDULE_BCAST_KNOMIAL, /* likewise */
    [INTERNODE_BROADCAST_STREAM] = SCHEDULE_BCAST_KNOMIAL, /* without scratch memory */
    [INTERNODE_BROADCAST_KNOMIAL] = SCHEDULE_BCAST_KNOMIAL,
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
                                 .radix = select_radix(team),
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

/* An eager broadcast. */
struct eager_bcast {
    const struct job *job;
    struct forwarder_call call;
    struct forwarder_signal signal;
    char *slot; /* of this node's leader, mapped */
};

/* With one PE on the node there is nobody else who could forward. */
static bool bcast_inter_first(const struct shmem_team *team)
{
    return team->node_team->npes > 1 && select_first_leader();
}

/* Symmetric address of the slot of a node's leader. */
static char *bcast_inter_slot(const struct eager_bcast *p, int node)
{
    return scratch_at(
        &p->job->team->coll->internode.eager, node,
        offsetof(struct internode_eager, slot[p->call.number % BCAST_EAGER_SLOTS]));
}

static struct eager_bcast bcast_inter_eager_begin(const struct job *j)
{
    struct shmem_team *team = j->team;
    struct credit *eager = &team->coll->bcast.eager;

    if (!credit_available(eager, BCAST_EAGER_SLOTS))
        internode_barrier(team, j->fn); /* returns the credit of leaders */
    uint64_t number = credit_begin(eager);
    struct eager_bcast p = {
        .job = j,
        .call = {.team = team,
                 .words = &internode_leaders_words(team)->bcast.eager_forwarder,
                 .number = number,
                 .slots = BCAST_EAGER_SLOTS,
                 .last = number,
                 .first = bcast_inter_first(team),
                 .fn = j->fn},
        .signal = {&internode_own_words(team)->bcast.eager[number % BCAST_EAGER_SLOTS],
                   number}};
    p.slot = bcast_inter_slot(&p, team->nodes->me);
    if (!internode_is_leader(team))
        p.slot = peer_at(p.slot, BCAST_EAGER_BYTES, internode_leader(team), j->fn);
    return p;
}

static struct schedule bcast_inter_eager_schedule(const struct job *j)
{
    return (struct schedule){.name = SCHEDULE_BCAST_KNOMIAL,
                             .radix = select_radix(j->team),
                             .nodes = j->team->nodes->leaders,
                             .rank = j->vrank,
                             .units = j->bytes,
                             .line = NODE_LINE,
                             .segment = j->bytes};
}

static bool bcast_inter_eager_send(void *arg, const struct schedule_step *step)
{
    const struct eager_bcast *p = arg;
    const struct job *j = p->job;
    int node = leader_job_node(&j->leaders, step->peer);

    leader_eager_put(j->team, node, bcast_inter_slot(p, node), p->slot, j->bytes,
                     p->signal.word, p->signal.value, j->fn);
    return true;
}

static bool bcast_inter_eager_arrived(void *arg, const struct schedule_step *step)
{
    const struct eager_bcast *p = arg;

    (void)step; /* a leader receives only one message */
    return forwarder_arrived(&p->call, &p->signal);
}

static void bcast_inter_eager_await(void *arg, const struct schedule_step *step)
{
    const struct eager_bcast *p = arg;

    forwarder_await(&p->call, &p->signal, leader_job_node(&p->job->leaders, step->peer));
}

static const struct executor_ops eager_ops = {.send = bcast_inter_eager_send,
                                              .arrived = bcast_inter_eager_arrived,
                                              .await = bcast_inter_eager_await};

/* Broadcast from the slot of the root's node to the slots of all nodes: what the
 * forwarder of a node does. */
static void bcast_inter_eager_run(struct eager_bcast *p)
{
    executor_run(&(struct executor){
        .schedule = bcast_inter_eager_schedule(p->job), .ops = &eager_ops, .job = p});
}

/* On the root's node.  With static leaders the leader sends, when it has received the
 * data; otherwise the root does, before it passes them to its node. */
static void bcast_inter_eager_root(struct job *j, struct eager_bcast *p,
                                   const void *source, int root, bool copies)
{
    if (p->call.first && j->team->me == root) {
        forwarder_claim_root(&p->call);
        copy_bytes(p->slot, source, j->bytes);
        bcast_inter_eager_run(p);
    }
    bcast_inter_node_phase(j, source, root, copies);
    if (p->call.first || !internode_is_leader(j->team))
        return;
    copy_bytes(p->slot, j->from, j->bytes);
    bcast_inter_eager_run(p);
}

/* The node from which this one receives; only leaders need it. */
static int bcast_inter_parent(const struct job *j, const struct schedule *s)
{
    struct schedule_step recv = {.peer = 0};

    if (internode_is_leader(j->team))
        (void)schedule_step(s, 0, &recv);
    return leader_job_node(&j->leaders, recv.peer);
}

/* The forwarder sends first, wakes its node and copies last; the other PEs copy from the
 * leader's slot when the message has arrived. */
static void bcast_inter_eager_other(const struct job *j, struct eager_bcast *p)
{
    struct shmem_team *team = j->team;
    bool shares = team->nodes->local_pes > 1;
    struct schedule schedule = bcast_inter_eager_schedule(j);
    struct mailbox reads = {0};

    if (shares)
        reads = mailbox_open(team->node_team, 0, j->fn);
    if (forwarder_enter(&p->call, &p->signal, bcast_inter_parent(j, &schedule))) {
        bcast_inter_eager_run(p);
        forwarder_wake_node(&p->call, &p->signal);
    }
    if (shares && internode_is_leader(team))
        internode_set_unread(team, &reads);
    copy_bytes(j->dest, p->slot, j->bytes);
    if (shares)
        mailbox_close(&reads);
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

/* ---- streamed broadcast --------------------------------------------------------------
 */

_Static_assert(BCAST_CHUNKS *BCAST_CHUNK_BYTES <= SCRATCH_CHUNKS_BYTES,
               "the chunk slots are in the scratch memory");

/* A round of at most BCAST_CHUNKS chunks. */
struct stream {
    struct job *job;
    struct forwarder_call call;
    int root;           /* of the broadcast, in the team */
    char *dest;         /* of this round */
    const char *source; /* symmetric, of this round */
    const char *from;   /* on the PE that fills the slots: the root's source; else NULL */
    uint64_t base;      /* number of the chunk before this round */
    int parent;         /* on a leader that receives: the node that sends to it */
    struct mailbox mailbox;
    struct schedule schedule;
};

static bool bcast_stream_is_root(const struct stream *s)
{
    return s->job->team->me == s->root;
}

/* Symmetric address of the slot of chunk i of the round at a node's leader. */
static char *bcast_stream_slot(const struct stream *s, int node, int i)
{
    uint64_t slot = (s->base + (uint64_t)i + 1) % BCAST_CHUNKS;

    return scratch_at(&s->job->team->coll->scratch, node,
                      SCRATCH_CHUNKS + (size_t)slot * BCAST_CHUNK_BYTES);
}

/* The slot of this node's leader, mapped. */
static char *bcast_stream_own_slot(const struct stream *s, int i)
{
    const struct shmem_team *team = s->job->team;
    char *slot = bcast_stream_slot(s, team->nodes->me, i);

    if (internode_is_leader(team))
        return slot;
    return peer_at(slot, BCAST_CHUNK_BYTES, internode_leader(team), s->job->fn);
}

static struct forwarder_signal bcast_stream_signal(const struct stream *s, int i)
{
    uint64_t number = s->base + (uint64_t)i + 1;

    return (struct forwarder_signal){
        &internode_own_words(s->job->team)->bcast.chunk[number % BCAST_CHUNKS], number};
}

static bool bcast_stream_send(void *arg, const struct schedule_step *step)
{
    const struct stream *s = arg;
    struct forwarder_signal signal = bcast_stream_signal(s, step->tag);
    int node = leader_job_node(&s->job->leaders, step->peer);

    leader_eager_put(s->job->team, node, bcast_stream_slot(s, node, step->tag),
                     bcast_stream_own_slot(s, step->tag), step->from.count, signal.word,
                     signal.value, s->job->fn);
    return true;
}

static bool bcast_stream_arrived(void *arg, const struct schedule_step *step)
{
    const struct stream *s = arg;
    struct forwarder_signal signal = bcast_stream_signal(s, step->tag);

    return forwarder_arrived(&s->call, &signal);
}

static void bcast_stream_await(void *arg, const struct schedule_step *step)
{
    const struct stream *s = arg;
    struct forwarder_signal signal = bcast_stream_signal(s, step->tag);

    forwarder_await(&s->call, &signal, leader_job_node(&s->job->leaders, step->peer));
}

/* The slot contains the chunk, except on the root's node, where it is filled. */
static void bcast_stream_ready(void *arg, const struct schedule_step *step)
{
    const struct stream *s = arg;
    size_t first = step->to.first, bytes = step->to.count;
    int i = (int)(first / BCAST_CHUNK_BYTES);
    char *slot = bcast_stream_own_slot(s, i);
    struct forwarder_signal signal = bcast_stream_signal(s, i);

    if (s->from == NULL)
        forwarder_wake_node(&s->call, &signal);
    else
        copy_bytes(slot, s->from + first, bytes);
    if (s->from != NULL && s->job->team->nodes->local_pes > 1)
        mailbox_publish_parts(&s->mailbox, (uint64_t)i + 1);
    if (!bcast_stream_is_root(s))
        copy_bytes(s->dest + first, slot, bytes);
}

static const struct executor_ops stream_ops = {.send = bcast_stream_send,
                                               .arrived = bcast_stream_arrived,
                                               .await = bcast_stream_await,
                                               .ready = bcast_stream_ready};

/* What the forwarder of a node does. */
static void bcast_stream_run(struct stream *s)
{
    executor_run(
        &(struct executor){.schedule = s->schedule, .ops = &stream_ops, .job = s});
}

/* Copies each chunk when it is in the slot of this node's leader: from another node, or
 * from PE `publisher` of the node.  A leader that came late wakes those that were refused
 * a watch, among them perhaps the forwarder. */
static void bcast_stream_follow(struct stream *s, int publisher)
{
    for (int i = 0; i < schedule_segments(&s->schedule); i++) {
        struct schedule_region r = schedule_segment(&s->schedule, i);
        struct forwarder_signal signal = bcast_stream_signal(s, i);
        if (s->job->vrank == 0)
            mailbox_await_parts(&s->mailbox, publisher, (uint64_t)i + 1);
        else
            forwarder_await(&s->call, &signal, s->parent);
        if (s->job->vrank != 0 && internode_is_leader(s->job->team))
            forwarder_wake_node(&s->call, &signal);
        if (!bcast_stream_is_root(s))
            copy_bytes(s->dest + r.first, bcast_stream_own_slot(s, i), r.count);
    }
}

/* The root's source, when the root has entered the call. */
static const char *bcast_stream_source(const struct stream *s)
{
    const struct shmem_team *team = s->job->team;

    if (bcast_stream_is_root(s))
        return s->source;
    int pe = team_world_pe(team, s->root);
    (void)mailbox_of(&s->mailbox, team_index(team->node_team, pe));
    return peer_at(s->source, s->schedule.units, pe, s->job->fn);
}

/* On the root's node: the leader fills the slots and sends; or, with first leaders, the
 * root, when its leader has credit.  A root that is not the leader only waits, with
 * static leaders, until the leader has its source. */
static void bcast_stream_root_node(struct stream *s)
{
    const struct shmem_team *team = s->job->team;
    bool is_root = bcast_stream_is_root(s);
    int publisher =
        s->call.first ? team_index(team->node_team, team_world_pe(team, s->root)) : 0;

    if (s->call.first ? is_root : internode_is_leader(team)) {
        if (s->call.first)
            forwarder_claim_root(&s->call);
        s->from = bcast_stream_source(s);
        bcast_stream_run(s);
        return;
    }
    if (is_root) {
        (void)mailbox_own(&s->mailbox);
        mailbox_post_to(&s->mailbox, 0);
    }
    bcast_stream_follow(s, publisher);
}

static void bcast_stream_other_node(struct stream *s)
{
    struct forwarder_signal first = bcast_stream_signal(s, 0);

    s->parent = bcast_inter_parent(s->job, &s->schedule);
    if (forwarder_enter(&s->call, &first, s->parent))
        bcast_stream_run(s);
    else
        bcast_stream_follow(s, 0);
}

static void bcast_stream_begin(struct stream *s)
{
    struct shmem_team *team = s->job->team;
    struct bcast_state *state = &team->coll->bcast;
    uint64_t last;

    s->base = state->chunks.seq;
    last = s->base + (uint64_t)schedule_segments(&s->schedule);
    s->call = (struct forwarder_call){
        .team = team,
        .words = &internode_leaders_words(team)->bcast.stream_forwarder,
        .number = ++state->rounds,
        .slots = BCAST_CHUNKS,
        .last = last,
        .first = bcast_inter_first(team),
        .fn = s->job->fn};
    if (team->nodes->local_pes > 1)
        s->mailbox = mailbox_open(team->node_team, 0, s->job->fn);
    if (!credit_covers(&state->chunks, last, BCAST_CHUNKS))
        internode_barrier(team, s->job->fn); /* returns the credit of leaders */
}

static void bcast_stream_round(struct stream *s)
{
    struct shmem_team *team = s->job->team;
    bool shares = team->nodes->local_pes > 1;

    bcast_stream_begin(s);
    if (s->job->vrank == 0)
        bcast_stream_root_node(s);
    else
        bcast_stream_other_node(s);
    if (shares && internode_is_leader(team))
        internode_set_unread(team, &s->mailbox);
    while (team->coll->bcast.chunks.seq < s->call.last)
        (void)credit_begin(&team->coll->bcast.chunks);
    if (shares)
        mailbox_close(&s->mailbox);
}

void bcast_stream(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                  int root, bool copies, const char *fn)
{
    const size_t most = (size_t)BCAST_CHUNKS * BCAST_CHUNK_BYTES;
    struct job j = bcast_inter_job_of(team, dest, bytes, root, fn);

    internode_begin(team);
    for (size_t first = 0; first < bytes; first += most) {
        size_t n = bytes - first < most ? bytes - first : most;
        bcast_stream_round(&(struct stream){.job = &j,
                                            .root = root,
                                            .dest = (char *)dest + first,
                                            .source = (const char *)source + first,
                                            .schedule = {.name = SCHEDULE_BCAST_KNOMIAL,
                                                         .radix = select_radix(team),
                                                         .nodes = team->nodes->leaders,
                                                         .rank = j.vrank,
                                                         .units = n,
                                                         .line = NODE_LINE,
                                                         .segment = BCAST_CHUNK_BYTES}});
    }
    if (team->me == root && copies)
        memmove(dest, source, bytes);
}
