/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * internode.c - see internode.h.  Uses: core/team, core/block, rma, rma/order, probe,
 * barrier, mailbox, leader_msg, datatype/copy.
 *
 * Algorithm, for N nodes: the PEs of a node arrive at their leader (a counter, or by
 * groups: node_barrier.h); the leaders synchronise over the network; each leader releases
 * its node. Only leaders wait for the network in a barrier, because an incoming message
 * wakes only its target PE.
 *
 * Between leaders: the schedule `dissemination`; up to DIRECT_NODES nodes `direct`.  A
 * message is an unacknowledged one-byte put of the epoch, or an atomic set of the word
 * that contains that byte if this is faster on the transport (net_quick_signal). Messages
 * of a round need no order: even and odd epochs have separate words.  A leader begins
 * epoch e + 2 only after all leaders have ended e, and so have received its messages of
 * e. So a partner that is ahead has sent e + 1 at most, to the other word: comparing
 * epochs modulo 256 is enough.
 *
 * Small collectives piggyback data: the blocks of the schedule, in node order in the
 * leaders' piggyback buffers.  The last put carries the signal, which sets all four bytes
 * of the word to the epoch; the waiter compares the first one.
 *
 * Invariant: no PE writes to a piggyback buffer that another PE still reads or sends
 * from.  There are two buffers, used alternately.  Before a PE reuses one, it completes
 * another barrier, which each PE enters only after it has read the previous result; and
 * the puts from the buffer have arrived, because their targets waited for them. The
 * sources of the one-byte puts are safe for the same reason.
 */
#include "config.h"

#include "pgas/coll/groups/node_barrier.h"
#include "pgas/coll/schedule/executor.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/leader_msg.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/probe.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/base/counter.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/stress.h"
#include "pgas/datatype/copy.h"
#include "pgas/ft/ft_temp.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

enum {
    NO_LEADER = -1,
    DIRECT_NODES = 5, /* maximum number of nodes of the schedule `direct` */
};

/* Wait until a word is >= `value`, or a byte is == `value` modulo 256. */
struct goal {
    const void *word;
    uint64_t value;
    int from; /* node of the leader that stores it, or NO_LEADER */
    const struct shmem_team *team;
    const char *fn;
    struct probe_timer *timer;
};

static bool internode_reached(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u64(g->word) >= g->value;
}

void internode_probe_local(const struct shmem_team *team, const char *fn)
{
    const struct team_nodes *n = team->nodes;

    if (atomic_load_explicit(&pgas_self.node->departed, memory_order_acquire) == 0)
        return;
    for (int k = 0; k < n->local_pes; k++)
        barrier_check_departed(
            team, n->local_pe[k],
            load_acquire_u64(&team_words(team, n->local_pe[k])->departure.epoch), fn);
}

/* A leader probes only the leader for which it waits; that one in turn probes the leader
 * for which it waits. */
void internode_probe(const struct shmem_team *team, int node, struct probe_timer *timer,
                     const char *fn)
{
    if (!probe_due(timer))
        return;
    int i = team->nodes->leader[node];
    const uint64_t *departed =
        team_here(team, offsetof(struct team_words, departure.epoch));
    uint64_t seen = probe_pe(departed, team_world_pe(team, i), fn);
    barrier_check_departed(team, i, seen, fn);
}

static void internode_on_stall(const void *arg)
{
    const struct goal *g = arg;

    internode_probe_local(g->team, g->fn);
    if (g->from != NO_LEADER)
        internode_probe(g->team, g->from, g->timer, g->fn);
}

void internode_wait_on_node(const struct shmem_team *team, const uint64_t *word,
                            const void *here, uint64_t value, const char *fn)
{
    struct goal g = {word, value, NO_LEADER, team, fn, NULL};

    block_until(&(struct block_wait){.ready = internode_reached,
                                     .arg = &g,
                                     .word = here,
                                     .what = fn,
                                     .team = team,
                                     .on_stall = internode_on_stall});
}

/* True if the first byte of the word is n modulo 256. */
static bool internode_has_signal(const void *word, uint64_t n)
{
    return __atomic_load_n((const uint8_t *)word, __ATOMIC_ACQUIRE) == (uint8_t)n;
}

static bool internode_signalled(const void *arg)
{
    const struct goal *g = arg;

    return internode_has_signal(g->word, g->value);
}

/* Wait for the message of round k in epoch n from the leader of node `from`. */
static void internode_await_signal(const struct shmem_team *team, int k, uint64_t n,
                                   int from, const char *fn)
{
    const struct internode_words *mine = internode_own_words(team);
    const uint32_t *word = &mine->round[k].signal[n % 2];
    struct probe_timer timer = {0};
    struct goal g = {word, n, from, team, fn, &timer};

    block_until(&(struct block_wait){.ready = internode_signalled,
                                     .arg = &g,
                                     .remote = true,
                                     .word = word,
                                     .what = fn,
                                     .team = team,
                                     .on_stall = internode_on_stall});
}

/* ---- on the node ------------------------------------------------------------------- */

bool internode_is_leader(const struct shmem_team *team)
{
    return team->nodes->local_pe[0] == team->me;
}

int internode_leader(const struct shmem_team *team)
{
    return team_world_pe(team, team->nodes->local_pe[0]);
}

struct internode_words *internode_leaders_words(const struct shmem_team *team)
{
    struct internode_state *s = &team->coll->internode;

    if (unlikely(s->leader == NULL)) /* its heap is mapped now, and stays mapped */
        s->leader = internode_words(team, team->nodes->local_pe[0]);
    return s->leader;
}

/* Value of the leader's `arrived` when all PEs of its node have arrived. (`counts`
 * differs from the epoch, which internode_begin advances without an arrival.) */
static uint64_t internode_all_arrivals(const struct shmem_team *team)
{
    return team->coll->internode.counts * (uint64_t)(team->nodes->local_pes - 1);
}

static bool internode_has_groups(struct shmem_team *team)
{
    struct internode_state *s = &team->coll->internode;

    if (unlikely(s->phase == NODE_PHASE_UNKNOWN))
        s->phase = node_barrier_by_groups(team) ? NODE_PHASE_GROUPS : NODE_PHASE_COUNTER;
    return s->phase == NODE_PHASE_GROUPS;
}

/* Invariant: `arrived` of a leader is the number of arrivals of the other PEs of its
 * node.  No PE arrives again before the leader has seen all arrivals. */
static void internode_arrive(struct shmem_team *team, const char *fn)
{
    if (internode_has_groups(team)) {
        node_barrier_arrive(team, fn);
        return;
    }
    stress_point();
    if (fetch_add_acq_rel_u64(&internode_leaders_words(team)->team.barrier.arrived, 1) +
            1 ==
        internode_all_arrivals(team))
        rma_changed(&internode_own_words(team)->team.barrier.arrived, sizeof(uint64_t),
                    internode_leader(team));
}

static void internode_await_node(struct shmem_team *team, const char *fn)
{
    const uint64_t *arrived = &internode_own_words(team)->team.barrier.arrived;

    if (internode_has_groups(team))
        node_barrier_arrive(team, fn);
    else if (team->nodes->local_pes > 1)
        internode_wait_on_node(team, arrived, arrived, internode_all_arrivals(team), fn);
}

void internode_wake_node(const struct shmem_team *team, const void *word, size_t size)
{
    for (int k = 1; k < team->nodes->local_pes; k++)
        rma_changed(word, size, team_world_pe(team, team->nodes->local_pe[k]));
}

static void internode_release_node(struct shmem_team *team, const char *fn)
{
    uint64_t *epoch = &internode_own_words(team)->team.barrier.epoch;

    if (internode_has_groups(team)) {
        node_barrier_release(team, fn);
        return;
    }
    stress_point();
    store_release_u64(epoch, team->coll->barrier.epoch);
    internode_wake_node(team, epoch, sizeof *epoch);
}

static void internode_await_release(struct shmem_team *team, const char *fn)
{
    if (internode_has_groups(team)) {
        node_barrier_release(team, fn);
        return;
    }
    internode_wait_on_node(team, &internode_leaders_words(team)->team.barrier.epoch,
                           &internode_own_words(team)->team.barrier.epoch,
                           team->coll->barrier.epoch, fn);
}

/* ---- between leaders ------------------------------------------------------------- */

/* Data piggybacked on the messages. */
struct piggyback {
    char *buffer;  /* this leader's piggyback buffer */
    bool large;    /* it is in scratch memory, whose offset differs between leaders */
    unsigned turn; /* which of the two buffers */
    size_t bytes;  /* size of a block; 0 = no data */
    int from;      /* node of the only block, or -1 for a block of each PE or node */
    bool of_nodes; /* a block per node instead of per PE */
};

/* Index of the first block of a node in the buffer. */
static int internode_begin_of(const struct team_nodes *n, const struct piggyback *c,
                              int node)
{
    return c->of_nodes ? node : n->begin[node];
}

/* Unacknowledged put to another leader, which waits for it. */
static void internode_notify(void *here, const void *from, size_t bytes, int to,
                             const char *fn)
{
    net_notify(net_ctx_0(), peer_symaddr(here, bytes, to, fn), from, bytes, NULL, NULL,
               fn);
}

/* Contiguous blocks of the buffer, put to symmetric address `there`; after: other blocks
 * of the message were put before. */
struct blocks {
    const char *at;
    char *there;
    size_t bytes;
    bool after;
};

/* Symmetric address of the buffer of a node's leader. */
static char *internode_buffer_of(const struct shmem_team *team, const struct piggyback *c,
                                 int node)
{
    return c->large ? scratch_at(&team->coll->internode.eager, node,
                                 offsetof(struct internode_eager, buffer[c->turn]))
                    : c->buffer;
}

static struct blocks internode_blocks_of(const struct piggyback *c, char *there,
                                         int begin, int end)
{
    size_t at = (size_t)begin * c->bytes;

    return (struct blocks){.at = c->buffer + at,
                           .there = there + at,
                           .bytes = (size_t)(end - begin) * c->bytes};
}

/* Put the blocks of `nodes` nodes, cyclically ending with this one, to leader `target`,
 * except the last contiguous blocks, which are sent with the signal and returned (bytes
 * == 0: no data). */
static struct blocks internode_forward_blocks(const struct shmem_team *team,
                                              const struct piggyback *c, int nodes,
                                              int target, const char *fn)
{
    const struct team_nodes *n = team->nodes;
    char *there = internode_buffer_of(team, c, target);
    int first = n->me - nodes + 1;
    bool wraps = first < 0;

    if (c->from >= 0) {
        bool have = (n->me - c->from + n->leaders) % n->leaders < nodes;
        return internode_blocks_of(c, there, 0, have ? 1 : 0);
    }
    if (wraps) {
        struct blocks blocks =
            internode_blocks_of(c, there, internode_begin_of(n, c, first + n->leaders),
                                internode_begin_of(n, c, n->leaders));
        internode_notify(blocks.there, blocks.at, blocks.bytes,
                         team_world_pe(team, n->leader[target]), fn);
        first = 0;
    }
    struct blocks last = internode_blocks_of(c, there, internode_begin_of(n, c, first),
                                             internode_begin_of(n, c, n->me + 1));
    last.after = wraps;
    return last;
}

/* Signal round k of epoch n to a leader by a put with signal, or by an atomic set if
 * there is no data. */
static void internode_signal_with_data(struct internode_words *mine, struct blocks blocks,
                                       int k, uint64_t n, int to, const char *fn)
{
    const uint32_t each_byte = UINT32_MAX / UINT8_MAX;
    uint32_t *here = &mine->round[k].signal[n % 2];
    const struct transport_signal signal = {.at =
                                                peer_symaddr(here, sizeof *here, to, fn),
                                            .op = TRANSPORT_AMO_SET,
                                            .size = sizeof *here,
                                            .operand = (uint8_t)n * each_byte,
                                            .after_puts = blocks.after};
    struct transport_symaddr to_at = signal.at;

    if (blocks.bytes > 0)
        to_at = peer_symaddr(blocks.there, blocks.bytes, to, fn);
    stress_point();
    net_notify(net_ctx_0(), to_at, blocks.at, blocks.bytes, &signal, NULL, fn);
}

/* Signal without data. */
static void internode_signal(struct internode_words *mine, int k, uint64_t n, int to,
                             const char *fn)
{
    uint8_t *from = &mine->round[k].source[n % 2];

    if (net_quick_signal()) {
        internode_signal_with_data(mine, (struct blocks){.bytes = 0}, k, n, to, fn);
        return;
    }
    *from = (uint8_t)n;
    internode_notify(&mine->round[k].signal[n % 2], from, 1, to, fn);
}

/* ---- the schedule ---------------------------------------------------------------- */

struct epoch_job {
    struct shmem_team *team;
    const struct piggyback *data;
    const char *fn;
};

static struct schedule internode_schedule(const struct team_nodes *n)
{
    return (struct schedule){.name = n->leaders <= DIRECT_NODES ? SCHEDULE_GATHER_DIRECT
                                                                : SCHEDULE_DISSEMINATION,
                             .nodes = n->leaders,
                             .rank = n->me};
}

static bool internode_send(void *arg, const struct schedule_step *step)
{
    const struct epoch_job *c = arg;
    struct internode_words *mine = internode_own_words(c->team);
    uint64_t epoch = c->team->coll->internode.epoch;
    int to = team_world_pe(c->team, c->team->nodes->leader[step->peer]);
    struct blocks last = {.bytes = 0};

    if (c->data->bytes > 0)
        last = internode_forward_blocks(c->team, c->data, (int)step->from.count,
                                        step->peer, c->fn);
    if (last.bytes > 0 || last.after)
        internode_signal_with_data(mine, last, step->tag, epoch, to, c->fn);
    else
        internode_signal(mine, step->tag, epoch, to, c->fn);
    return true;
}

static bool internode_arrived(void *arg, const struct schedule_step *step)
{
    const struct epoch_job *c = arg;
    uint64_t epoch = c->team->coll->internode.epoch;

    return internode_has_signal(
        &internode_own_words(c->team)->round[step->tag].signal[epoch % 2], epoch);
}

static void internode_await(void *arg, const struct schedule_step *step)
{
    const struct epoch_job *c = arg;

    internode_await_signal(c->team, step->tag, c->team->coll->internode.epoch, step->peer,
                           c->fn);
}

static const struct executor_ops ops = {
    .send = internode_send, .arrived = internode_arrived, .await = internode_await};

/* The leader's credit for the slots of broadcasts, for the roots on its node. */
static void internode_publish_credit(const struct shmem_team *team, uint64_t *word,
                                     uint64_t acked)
{
    if (*word == acked)
        return;
    stress_point();
    store_release_u64(word, acked);
    internode_wake_node(team, word, sizeof *word);
}

static void internode_exchange(struct shmem_team *team, const struct piggyback *c,
                               const char *fn)
{
    struct team_coll *coll = team->coll;
    struct bcast_words *words = &internode_own_words(team)->bcast;
    struct epoch_job job = {team, c, fn};

    internode_await_read(team, fn);
    coll->internode.epoch++;
    /* Valid when the exchange ends: a leader enters it after it has ended all earlier
     * collectives. */
    credit_return_all(&coll->leader.calls);
    credit_return_all(&coll->bcast.eager);
    credit_return_all(&coll->bcast.chunks);
    executor_run(&(struct executor){
        .schedule = internode_schedule(team->nodes), .ops = &ops, .job = &job});
    if (select_first_leader() && team->nodes->local_pes > 1) {
        internode_publish_credit(team, &words->eager_forwarder.acked,
                                 coll->bcast.eager.acked);
        internode_publish_credit(team, &words->stream_forwarder.acked,
                                 coll->bcast.chunks.acked);
    }
}

/* ---- all PEs --------------------------------------------------------------------- */

static void internode_barrier_epoch(struct shmem_team *team, const struct piggyback *c,
                                    const char *fn)
{
    team->coll->internode.counts++;
    if (!internode_is_leader(team)) {
        internode_arrive(team, fn);
        internode_await_release(team, fn);
        return;
    }
    internode_await_node(team, fn);
    team->coll->internode.unread = 0; /* those that have arrived have ended all calls */
    internode_exchange(team, c, fn);
    internode_release_node(team, fn);
}

void internode_barrier_sync(struct shmem_team *team, const char *fn)
{
    team->coll->barrier.epoch++;
    internode_barrier_epoch(team, &(struct piggyback){.bytes = 0}, fn);
}

/* The last messages must arrive before their words are cleared for another team. */
static void internode_flush_signals(const struct shmem_team *team, const char *fn)
{
    struct schedule s = internode_schedule(team->nodes);
    struct schedule_step step;
    uint8_t byte = 0;

    for (int i = 0; schedule_step(&s, i, &step); i++)
        if (step.kind == STEP_SEND)
            rma_get_nbi(CTX_LIBRARY, &byte, team_here(team, 0), 1,
                        team_world_pe(team, team->nodes->leader[step.peer]), fn);
    order_quiet(CTX_LIBRARY, fn);
}

/* After the release the leader waits until all PEs of its node have observed it, because
 * they read the leader's words. No PE reads other words, and a leader leaves a barrier
 * only after all messages to it have arrived. */
void internode_barrier_last(struct shmem_team *team, const char *fn)
{
    internode_barrier_sync(team, fn);
    team->coll->barrier.epoch++;
    team->coll->internode.counts++;
    if (!internode_is_leader(team)) {
        internode_arrive(team, fn);
        return;
    }
    internode_flush_signals(team, fn);
    internode_await_node(team, fn);
}

void internode_begin(struct shmem_team *team)
{
    team->coll->barrier.epoch += counter_step();
}

void internode_set_unread(struct shmem_team *team, const struct mailbox *b)
{
    PGAS_ASSERT(b->call > team->coll->internode.unread);
    team->coll->internode.unread = b->call;
}

/* A later call of the node team implies that all earlier ones are closed. */
void internode_await_read(struct shmem_team *team, const char *fn)
{
    uint64_t call = team->coll->internode.unread;

    if (likely(call == 0))
        return;
    team->coll->internode.unread = 0;
    mailbox_await_all_closed(&(struct mailbox){team->node_team, call, true, fn});
}

void internode_barrier(struct shmem_team *team, const char *fn)
{
    if (internode_is_leader(team))
        internode_exchange(team, &(struct piggyback){.bytes = 0}, fn);
}

int *internode_order(const struct shmem_team *team, const char *fn)
{
    const int *pos = team->nodes->pos;

    if (pos == NULL)
        return NULL;
    int *order = ft_temp_alloc((size_t)team->npes * sizeof *order);
    if (order == NULL)
        log_die("%s: no memory for a list of %d PEs", fn, team->npes);
    for (int i = 0; i < team->npes; i++)
        order[pos[i]] = i;
    return order;
}

/* ---- piggybacked data ------------------------------------------------------------ */

size_t internode_small_bytes(void)
{
    /* With fault injection on one node each PE may count as a node (team.c). */
    size_t nodes = pgas_self.node_of != NULL ? pgas_self.nnodes : pgas_self.npes;

    nodes = (nodes + NODE_LINE - 1) / NODE_LINE * NODE_LINE;
    return nodes > INTERNODE_BUFFER_SMALL ? nodes : INTERNODE_BUFFER_SMALL;
}

bool internode_has_eager(struct shmem_team *team, const char *fn)
{
    return scratch_of_leaders(team, &team->coll->internode.eager,
                              sizeof(struct internode_eager), fn);
}

bool internode_fits(struct shmem_team *team, size_t parts, size_t bytes, const char *fn)
{
    if (team->nodes == NULL || bytes > INTERNODE_BUFFER / parts)
        return false;
    return parts * bytes <= internode_small_bytes() || internode_has_eager(team, fn);
}

/* The next buffer, for `parts` blocks, in the memory of this node's leader. */
static struct piggyback internode_next_buffer(struct shmem_team *team, size_t parts,
                                              size_t bytes, const char *fn)
{
    struct internode_state *s = &team->coll->internode;
    struct piggyback c = {.turn = s->buffers++ % 2, .bytes = bytes, .from = -1};

    c.large = parts * bytes > internode_small_bytes();
    if (!c.large) {
        c.buffer =
            internode_leaders_words(team)->buffer + c.turn * internode_small_bytes();
        return c;
    }
    c.buffer = internode_buffer_of(team, &c, team->nodes->me);
    if (!internode_is_leader(team))
        c.buffer = peer_at(c.buffer, INTERNODE_BUFFER, internode_leader(team), fn);
    return c;
}

/* The next buffer, for a block of each node; on a leader with its own block. */
static struct piggyback internode_next_buffer_of_nodes(struct shmem_team *team,
                                                       const void *mine, size_t bytes,
                                                       const char *fn)
{
    const struct team_nodes *n = team->nodes;
    struct piggyback c = internode_next_buffer(team, (size_t)n->leaders, bytes, fn);

    c.of_nodes = true;
    if (internode_is_leader(team))
        copy_bytes(c.buffer + (size_t)n->me * bytes, mine, bytes);
    return c;
}

const char *internode_gather_nodes(struct shmem_team *team, const void *mine,
                                   size_t bytes, const char *fn)
{
    struct piggyback c = internode_next_buffer_of_nodes(team, mine, bytes, fn);

    if (!internode_is_leader(team))
        return NULL;
    internode_exchange(team, &c, fn);
    return c.buffer;
}

const char *internode_gather_leaders(struct shmem_team *team, const void *mine,
                                     size_t bytes, const char *fn)
{
    struct piggyback c = internode_next_buffer_of_nodes(team, mine, bytes, fn);

    PGAS_ASSERT(!c.large);
    team->coll->barrier.epoch++;
    internode_barrier_epoch(team, &c, fn);
    return c.buffer;
}

static const char *internode_gather_step(struct shmem_team *team, const void *mine,
                                         size_t bytes, int root, const char *fn)
{
    size_t parts = root >= 0 ? 1 : (size_t)team->npes;
    struct piggyback c = internode_next_buffer(team, parts, bytes, fn);
    int pos = root >= 0 ? 0 : team_pos(team, team->me);

    if (root >= 0 && bytes > 0)
        c.from = team_node(team, root);
    team->coll->barrier.epoch++;
    if (bytes > 0 && (root < 0 || root == team->me))
        copy_bytes(c.buffer + (size_t)pos * bytes, mine, bytes);
    internode_barrier_epoch(team, &c, fn);
    return c.buffer;
}

const char *internode_gather(struct shmem_team *team, const void *mine, size_t bytes,
                             int root, const char *fn)
{
    if (likely(!pgas_self.checks))
        return internode_gather_step(team, mine, bytes, root, fn);
    barrier_enter(team, fn);
    const char *buffer = internode_gather_step(team, mine, bytes, root, fn);
    barrier_leave(team, fn);
    return buffer;
}
