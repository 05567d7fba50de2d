/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * internode.c - see internode.h.  Uses: core/team, core/block, rma, rma/order, probe,
 * barrier, datatype/copy.
 *
 * On each node the PEs count in with their leader, which waits for them, then meets the
 * other leaders over the network, then releases its node.  What comes over the network
 * wakes nobody but the PE to which it comes: so a leader alone waits for it.
 *
 * Leaders meet by dissemination, log2 (nodes) one-way latencies, as in barrier.c; a few
 * of them in one round, in which each calls all others.  A call is a put of one byte, its
 * number, which needs no answer; or where an update is sooner there, one of the word in
 * which that byte is.  The calls of a round need no order: those with even and odd
 * numbers have a word each, and a leader begins crossing n + 2 after all have ended
 * crossing n, for which its partner had got the call.  So it is there too early by at
 * most one.
 *
 * In a small collective they hand on in each round what they have got from how many nodes
 * until then (Bruck et al. 1997), or a few of them their own to all.  It lies in the
 * leaders' boxes, node by node.  The call goes with its last part as a signal: all bytes
 * of the word are set to its number then, as who waits looks at the first one.  A
 * leader's box is the one of two that was not used last.  Invariant: nobody writes to a
 * box that somebody still reads or sends.  Who uses it again has gone through another
 * meeting since, into which a PE goes after it has read all that it wanted of the meeting
 * before; and what a leader had sent from it has come to its partners, which have waited
 * for it.  The same holds for the bytes from which the calls are sent.
 */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/probe.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/stress.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

enum {
    NO_LEADER = -1,
    AT_ONCE = 5, /* nodes at most whose leaders call each other in one round */
};

/* What this PE waits for: that a word is at least `value`, or a byte is `value`. */
struct goal {
    const void *word;
    uint32_t value;
    int from; /* the node whose leader changes it, or NO_LEADER */
    const struct shmem_team *team;
    const char *fn;
    struct look *look;
};

static bool internode_reached(const void *arg)
{
    const struct goal *g = arg;

    return (int32_t)(load_acquire_u32(g->word) - g->value) >= 0; /* they wrap around */
}

static void internode_probe_node(const struct goal *g)
{
    const struct team_nodes *n = g->team->nodes;

    if (atomic_load_explicit(&pgas_self.node->left, memory_order_acquire) == 0)
        return;
    for (int k = 0; k < n->local_pes; k++)
        barrier_check_left(g->team, n->local_pe[k],
                           load_acquire_u32(&team_words(g->team, n->local_pe[k])->left),
                           g->fn);
}

/* Each leader looks at the one for which it waits; if that waits for another one in turn,
 * it looks itself. */
void internode_probe(const struct shmem_team *team, int node, struct look *look,
                     const char *fn)
{
    if (!probe_due(look))
        return;
    int i = team->nodes->leader[node];
    const uint32_t *left = team_here(team, offsetof(struct team_words, left));
    uint32_t seen = probe_pe(left, team_world_pe(team, i), fn);
    barrier_check_left(team, i, seen, fn);
}

static void internode_on_stall(const void *arg)
{
    const struct goal *g = arg;

    internode_probe_node(g);
    if (g->from != NO_LEADER)
        internode_probe(g->team, g->from, g->look, g->fn);
}

/* A word of a PE of this node; `here` is its symmetric address. */
static void internode_wait_near(const struct shmem_team *team, const uint32_t *word,
                                const uint32_t *here, uint32_t value, const char *fn)
{
    struct goal g = {word, value, NO_LEADER, team, fn, NULL};

    block_until(&(struct block_wait){.ready = internode_reached,
                                     .arg = &g,
                                     .word = here,
                                     .what = fn,
                                     .on_stall = internode_on_stall});
}

static bool internode_called(const void *arg)
{
    const struct goal *g = arg;

    return __atomic_load_n((const uint8_t *)g->word, __ATOMIC_ACQUIRE) ==
           (uint8_t)g->value;
}

/* The leader of another node has made call number n of round k. */
static void internode_await_call(const struct shmem_team *team, int k, uint32_t n,
                                 int from, const char *fn)
{
    const struct team_words *mine = team_words(team, team->me);
    const uint32_t *word = &mine->round[k].called[n % 2];
    struct look look = {0};
    struct goal g = {word, n, from, team, fn, &look};

    block_until(&(struct block_wait){.ready = internode_called,
                                     .arg = &g,
                                     .far = true,
                                     .word = word,
                                     .what = fn,
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

static struct team_words *internode_leaders_words(const struct shmem_team *team)
{
    return team_words(team, team->nodes->local_pe[0]);
}

static struct team_words *internode_own_words(const struct shmem_team *team)
{
    return team_words(team, team->me);
}

/* The calls that the leader has seen when all of its node have called.  (Not every epoch
 * has such calls: see internode_begin.) */
static uint32_t internode_all_calls(const struct shmem_team *team)
{
    return team->nodes->counts * (uint32_t)(team->nodes->local_pes - 1);
}

/* Invariant: `arrived` of a leader counts the calls of its node but its own, modulo 2^32.
 * Nobody calls again before the leader has seen all calls. */
static void internode_count_in(const struct shmem_team *team)
{
    stress_point();
    if (fetch_add_acq_rel_u32(&internode_leaders_words(team)->arrived, 1) + 1 ==
        internode_all_calls(team))
        rma_changed(&internode_own_words(team)->arrived, sizeof(uint32_t),
                    internode_leader(team));
}

static void internode_await_node(const struct shmem_team *team, const char *fn)
{
    const uint32_t *arrived = &internode_own_words(team)->arrived;

    if (team->nodes->local_pes > 1)
        internode_wait_near(team, arrived, arrived, internode_all_calls(team), fn);
}

static void internode_wake_node(const struct shmem_team *team, const uint32_t *word)
{
    for (int k = 1; k < team->nodes->local_pes; k++)
        rma_changed(word, sizeof *word, team_world_pe(team, team->nodes->local_pe[k]));
}

static void internode_release_node(const struct shmem_team *team)
{
    uint32_t *epoch = &internode_own_words(team)->epoch;

    stress_point();
    store_release_u32(epoch, team->epoch);
    internode_wake_node(team, epoch);
}

static void internode_await_release(const struct shmem_team *team, const char *fn)
{
    internode_wait_near(team, &internode_leaders_words(team)->epoch,
                        &internode_own_words(team)->epoch, team->epoch, fn);
}

/* ---- between leaders ------------------------------------------------------------- */

/* What goes with the calls: in the box `bytes` of each PE, or of each node, or of one
 * alone. */
struct cargo {
    char *box; /* ours */
    size_t bytes;
    int from;      /* the node of the one, or -1 */
    bool of_nodes; /* of each node */
};

/* How many parts the nodes before this one have in a box. */
static int internode_begin_of(const struct team_nodes *n, const struct cargo *c, int node)
{
    return c->of_nodes ? node : n->begin[node];
}

/* Put to another leader, which waits for it. */
static void internode_note(void *here, const void *from, size_t bytes, int to,
                           const char *fn)
{
    net_notify(net_ctx_default(), peer_place(here, bytes, to, fn), from, bytes, NULL,
               NULL, fn);
}

/* Bytes of our box that belong to the same place of others'; after: of more that have
 * been put before. */
struct run {
    char *at;
    size_t bytes;
    bool after;
};

static struct run internode_run_of(const struct cargo *c, int begin, int end)
{
    return (struct run){.at = c->box + (size_t)begin * c->bytes,
                        .bytes = (size_t)(end - begin) * c->bytes};
}

/* Hand on what belongs to so many nodes: ours and those before it, all around; but for
 * the last run of it, which goes with the call: that is returned, and empty if there is
 * nothing. */
static struct run internode_hand_on(const struct team_nodes *n, const struct cargo *c,
                                    int nodes, int to, const char *fn)
{
    int first = n->me - nodes + 1;
    bool wraps = first < 0;

    if (c->from >= 0) {
        bool have = (n->me - c->from + n->leaders) % n->leaders < nodes;
        return internode_run_of(c, 0, have ? 1 : 0);
    }
    if (wraps) {
        struct run run = internode_run_of(c, internode_begin_of(n, c, first + n->leaders),
                                          internode_begin_of(n, c, n->leaders));
        internode_note(run.at, run.at, run.bytes, to, fn);
        first = 0;
    }
    struct run last = internode_run_of(c, internode_begin_of(n, c, first),
                                       internode_begin_of(n, c, n->me + 1));
    last.after = wraps;
    return last;
}

/* Tell a leader that this one has called, for the n-th time in round k, with bytes that
 * are there then; or with none, by an update that is a message as short as a put. */
static void internode_call_with(struct team_words *mine, struct run run, int k,
                                uint32_t n, int to, const char *fn)
{
    const uint32_t each_byte = UINT32_MAX / UINT8_MAX;
    uint32_t *here = &mine->round[k].called[n % 2];
    const struct transport_signal signal = {.at = peer_place(here, sizeof *here, to, fn),
                                            .op = TRANSPORT_AMO_SET,
                                            .size = sizeof *here,
                                            .operand = (uint8_t)n * each_byte,
                                            .after_puts = run.after};
    struct transport_symaddr place = signal.at;

    if (run.bytes > 0)
        place = peer_place(run.at, run.bytes, to, fn);
    stress_point();
    net_notify(net_ctx_default(), place, run.at, run.bytes, &signal, NULL, fn);
}

/* The same without bytes. */
static void internode_call(struct team_words *mine, int k, uint32_t n, int to,
                           const char *fn)
{
    uint8_t *from = &mine->round[k].call[n % 2];

    if (net_quick_add()) {
        internode_call_with(mine, (struct run){.bytes = 0}, k, n, to, fn);
        return;
    }
    *from = (uint8_t)n;
    internode_note(&mine->round[k].called[n % 2], from, 1, to, fn);
}

/* ---- rounds ---------------------------------------------------------------------- */

static bool internode_all_at_once(const struct team_nodes *n)
{
    return n->leaders <= AT_ONCE;
}

/* How far from a leader the one is that it calls in round k. */
static int internode_distance_of(const struct team_nodes *n, int k)
{
    return internode_all_at_once(n) ? k + 1 : 1 << k;
}

static bool internode_has_round(const struct team_nodes *n, int k)
{
    return internode_distance_of(n, k) < n->leaders;
}

static int internode_partner_of(const struct shmem_team *team, int k)
{
    const struct team_nodes *n = team->nodes;

    return team_world_pe(team,
                         n->leader[(n->me + internode_distance_of(n, k)) % n->leaders]);
}

/* Whose bytes go with a call: of so many nodes, up to ours. */
static int internode_nodes_of_call(const struct team_nodes *n, int k)
{
    int step = internode_distance_of(n, k);

    if (internode_all_at_once(n))
        return 1;
    return n->leaders - step < step ? n->leaders - step : step;
}

static void internode_call_partner(struct shmem_team *team, const struct cargo *c, int k,
                                   const char *fn)
{
    struct team_nodes *n = team->nodes;
    struct team_words *mine = internode_own_words(team);
    int to = internode_partner_of(team, k);
    struct run last = {.bytes = 0};

    if (c->bytes > 0)
        last = internode_hand_on(n, c, internode_nodes_of_call(n, k), to, fn);
    if (last.bytes > 0 || last.after)
        internode_call_with(mine, last, k, n->internode_epoch, to, fn);
    else
        internode_call(mine, k, n->internode_epoch, to, fn);
}

static void internode_await_partner(struct shmem_team *team, int k, const char *fn)
{
    const struct team_nodes *n = team->nodes;
    int from = (n->me - internode_distance_of(n, k) + n->leaders) % n->leaders;

    internode_await_call(team, k, n->internode_epoch, from, fn);
}

static void internode_exchange(struct shmem_team *team, const struct cargo *c,
                               const char *fn)
{
    struct team_nodes *n = team->nodes;

    n->internode_epoch++;
    n->leader_synced = n->leader_calls; /* who comes here has ended those */
    for (int k = 0; internode_has_round(n, k); k++) {
        internode_call_partner(team, c, k, fn);
        if (!internode_all_at_once(n))
            internode_await_partner(team, k, fn);
    }
    for (int k = 0; internode_all_at_once(n) && internode_has_round(n, k); k++)
        internode_await_partner(team, k, fn);
}

/* ---- all together ---------------------------------------------------------------- */

static void internode_cross_epoch(struct shmem_team *team, const struct cargo *c,
                                  const char *fn)
{
    team->nodes->counts++;
    if (!internode_is_leader(team)) {
        internode_count_in(team);
        internode_await_release(team, fn);
        return;
    }
    internode_await_node(team, fn);
    internode_exchange(team, c, fn);
    internode_release_node(team);
}

void internode_cross(struct shmem_team *team, const char *fn)
{
    team->epoch++;
    internode_cross_epoch(team, &(struct cargo){.bytes = 0}, fn);
}

/* The last calls must have left before their words are cleared for another team. */
static void internode_flush_calls(const struct shmem_team *team, const char *fn)
{
    uint8_t byte = 0;

    for (int k = 0; internode_has_round(team->nodes, k); k++)
        rma_get_nbi(SHMEM_CTX_DEFAULT, &byte, team_here(team, 0), 1,
                    internode_partner_of(team, k), fn);
    order_quiet(SHMEM_CTX_DEFAULT, fn);
}

/* When its node has been released, the leader waits until all have seen that: they look
 * at its words.  Nobody looks at the others', and what comes to a leader over the network
 * in a barrier has come before it leaves. */
void internode_cross_last(struct shmem_team *team, const char *fn)
{
    internode_cross(team, fn);
    team->epoch++;
    team->nodes->counts++;
    if (!internode_is_leader(team)) {
        internode_count_in(team);
        return;
    }
    internode_flush_calls(team, fn);
    internode_await_node(team, fn);
}

void internode_begin(struct shmem_team *team)
{
    team->epoch++;
}

void internode_barrier(struct shmem_team *team, const char *fn)
{
    if (internode_is_leader(team))
        internode_exchange(team, &(struct cargo){.bytes = 0}, fn);
}

const char *internode_gather_nodes(struct shmem_team *team, const void *mine,
                                   size_t bytes, const char *fn)
{
    struct team_nodes *n = team->nodes;
    uint32_t number = n->boxes++;

    if (!internode_is_leader(team))
        return NULL;
    char *box = internode_own_words(team)->box[number % 2];
    copy_bytes(box + (size_t)n->me * bytes, mine, bytes);
    internode_exchange(
        team, &(struct cargo){.box = box, .bytes = bytes, .from = -1, .of_nodes = true},
        fn);
    return box;
}

int *internode_order(const struct shmem_team *team, const char *fn)
{
    const int *place = team->nodes->place;

    if (place == NULL)
        return NULL;
    int *order = malloc((size_t)team->npes * sizeof *order);
    if (order == NULL)
        log_die("%s: no memory for a list of %d PEs", fn, team->npes);
    for (int i = 0; i < team->npes; i++)
        order[place[i]] = i;
    return order;
}

bool internode_fits(const struct shmem_team *team, size_t parts, size_t bytes)
{
    return team->nodes != NULL && bytes <= TEAM_BOX / parts;
}

static const char *internode_gather_step(struct shmem_team *team, const void *mine,
                                         size_t bytes, int root, const char *fn)
{
    char *box = internode_leaders_words(team)->box[team->nodes->boxes++ % 2];
    struct cargo c = {.box = box,
                      .bytes = bytes,
                      .from = root >= 0 && bytes > 0 ? team_node(team, root) : -1};
    int place = root >= 0 ? 0 : team_place(team, team->me);

    team->epoch++;
    if (bytes > 0 && (root < 0 || root == team->me))
        copy_bytes(box + (size_t)place * bytes, mine, bytes);
    internode_cross_epoch(team, &c, fn);
    return box;
}

const char *internode_gather(struct shmem_team *team, const void *mine, size_t bytes,
                             int root, const char *fn)
{
    if (likely(!pgas_self.checks))
        return internode_gather_step(team, mine, bytes, root, fn);
    barrier_enter(team, fn);
    const char *box = internode_gather_step(team, mine, bytes, root, fn);
    barrier_leave(team, fn);
    return box;
}
