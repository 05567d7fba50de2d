/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_service_commit.c - the agents decide the outcome of synchronizing calls that a
 * failure has interrupted (ft/ft_commit.h).
 *
 * ask     The agent of a PE that asks broadcasts the call and the cause to all nodes.
 * open    The coordinator, the lowest live node, broadcasts that the call is open, for
 *         at most OPEN_MOST calls at a time: so the nodes cannot fill the instances of
 *         ft_agree with different calls, each waiting for the others.
 * settle  Each node records the cause in its map, increments the epoch and calls
 *         membarrier(); from then on no PE of the node enters the call.  A PE is settled
 *         if it has not entered the call, has completed it, or asks for its outcome.
 *         When all live PEs of the node are settled, the node contributes whether one of
 *         them has completed the call.
 * decide  An agreement of all live nodes (ft_agree): the maximum of the contributions.
 *         Its key is derived from team and call, since two calls of a team may be open.
 *
 * An agent whose PEs ask repeats the question, at growing intervals, until it knows the
 * outcome, since a coordinator or an agent may have been replaced meanwhile.  The
 * coordinator then opens the call again, for the successor of an agent that has lost the
 * first OPEN or the outcome; agents that know the outcome contribute it once more.
 *
 * An agent keeps the latest DECIDED_MOST outcomes.  A call whose record it has freed may
 * thus be opened again.  The outcome is the same: the call is closed on its PEs, and the
 * lines of those that have got the answer contain it.
 *
 * A PE that crashes may leave any value in its lines: only a question with a cause that
 * the agent knows itself is processed. Uses: ft_service.h, ft_proto, ft_map.
 */
#include "config.h"

#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/os.h"
#include "pgas/ft/agent/ft_service.h"

enum {
    OPEN_MOST = 64,    /* undecided calls that a coordinator opens */
    DECIDED_MOST = 64, /* decided calls that are kept */
};
/* After AGAIN_NS a question is repeated, then after twice the time, up to AGAIN_MOST_NS.
 */
#define AGAIN_NS      UINT64_C(200000000)
#define AGAIN_MOST_NS UINT64_C(2000000000)
#define RETRY_NS      UINT64_C(10000000) /* after which a contribution is repeated */

/* ---- records ------------------------------------------------------------------------
 */

static struct ft_commit *ft_service_find_commit(const struct ft_service *s, uint64_t team,
                                                uint64_t call)
{
    struct ft_commit *c = s->commits;

    while (c != NULL && (c->what.team != team || c->what.call != call))
        c = c->next;
    return c;
}

/* NULL: no memory; the question will be repeated. */
static struct ft_commit *ft_service_add_commit(struct ft_service *s,
                                               const struct ft_commit_call *what)
{
    struct ft_commit *c = ft_service_find_commit(s, what->team, what->call);

    if (c != NULL || (c = malloc(sizeof *c)) == NULL)
        return c;
    *c = (struct ft_commit){.next = s->commits, .what = *what, .wait_ns = AGAIN_NS};
    s->commits = c;
    return c;
}

/* Frees the oldest decided records but DECIDED_MOST. */
static void ft_service_trim_commits(struct ft_service *s)
{
    uint32_t decided = 0;

    for (struct ft_commit **at = &s->commits; *at != NULL;) {
        struct ft_commit *c = *at;
        if (c->state == FT_COMMIT_DECIDED && ++decided > DECIDED_MOST) {
            *at = c->next;
            free(c);
        } else {
            at = &c->next;
        }
    }
}

void ft_service_free_commits(struct ft_service *s)
{
    for (struct ft_commit *c = s->commits, *next; c != NULL; c = next) {
        next = c->next;
        free(c);
    }
    s->commits = NULL;
}

/* ---- messages ------------------------------------------------------------------------
 */

static void ft_service_broadcast_commit(struct ft_service *s, uint64_t now, uint32_t kind,
                                        const struct ft_commit *c)
{
    struct ft_commit_call what = c->what;

    what.again = c->again;
    ft_proto_broadcast(s->proto, now, kind, &what, sizeof what);
}

void ft_service_on_commit(struct ft_service *s, uint32_t kind, const void *data,
                          size_t len)
{
    struct ft_commit_call what;

    if (len != sizeof what)
        return;
    memcpy(&what, data, sizeof what);
    if ((what.cause != FT_CAUSE_REVOKED && what.cause >= s->map->npes) ||
        what.line >= FT_TEAMS)
        return;
    struct ft_commit *c = ft_service_add_commit(s, &what);
    if (c == NULL)
        return;
    s->commits_changed = true;
    s->due_ns = 0;
    if (kind == FT_PAYLOAD_COMMIT_ASK) {
        c->repeat = c->repeat || c->state == FT_COMMIT_DECIDED || what.again != 0;
    } else if (kind == FT_PAYLOAD_COMMIT_OPEN) {
        /* A repeated one does not make the questions more frequent. */
        if (c->state == FT_COMMIT_ASKED) {
            c->wait_ns = AGAIN_NS;
            c->state = FT_COMMIT_OPEN;
        }
        c->reopened = c->state == FT_COMMIT_DECIDED;
    }
}

void ft_service_expect_answers(struct ft_service *s)
{
    for (struct ft_commit *c = s->commits; c != NULL; c = c->next)
        c->wait_ns = AGAIN_NS;
}

/* ---- questions of the PEs ------------------------------------------------------------
 */

/* False: not a question of a PE that runs; nobody must be considered failed for it. */
static bool ft_service_is_sound(const struct ft_service *s, uint32_t local,
                                const struct ft_commit_call *what)
{
    if (what->team == 0 || what->call == 0)
        return false;
    if (what->cause != FT_CAUSE_REVOKED)
        return what->cause < s->map->npes && ft_map_has_failed(s->map, what->cause);
    return ft_map_is_revoked(s->map, local, what->line, what->team);
}

/* Broadcasts the question, unless another node has just done so (`known`), and again when
 * its time has come. */
static void ft_service_ask(struct ft_service *s, uint64_t now, struct ft_commit *c,
                           bool known)
{
    bool first = c->asked_ns == 0;

    c->again = !first && now >= c->asked_ns + c->wait_ns;
    if (c->again && c->wait_ns < AGAIN_MOST_NS)
        c->wait_ns = c->wait_ns < AGAIN_MOST_NS / 2 ? 2 * c->wait_ns : AGAIN_MOST_NS;
    if (first || c->again)
        c->asked_ns = now;
    if (c->again || (first && !known))
        ft_service_broadcast_commit(s, now, FT_PAYLOAD_COMMIT_ASK, c);
    ft_service_retry_after(s, c->asked_ns, c->wait_ns);
}

static void ft_service_process_question(struct ft_service *s, uint64_t now,
                                        uint32_t local, uint32_t line)
{
    const struct ft_call *call = &ft_map_calls(s->map, local)->line[line];
    struct ft_commit_call what = {
        .team = atomic_load_explicit(&call->team, memory_order_acquire),
        .call = atomic_load_explicit(&call->asked, memory_order_acquire),
        .cause = call->cause,
        .line = line};

    if (!ft_service_is_sound(s, local, &what))
        return;
    bool known = ft_service_find_commit(s, what.team, what.call) != NULL;
    struct ft_commit *c = ft_service_add_commit(s, &what);
    if (c == NULL)
        ft_service_retry_after(s, now, RETRY_NS);
    else if (c->state == FT_COMMIT_DECIDED)
        ft_map_answer(s->node, local, line, c->success != 0);
    else
        ft_service_ask(s, now, c, known);
}

static void ft_service_process_questions(struct ft_service *s, uint64_t now)
{
    for (uint32_t i = 0; i < s->map->local; i++) {
        struct ft_calls *calls = ft_map_calls(s->map, i);
        uint32_t used = atomic_load_explicit(&calls->used, memory_order_acquire);
        uint32_t words = (used < FT_TEAMS ? used + 63 : FT_TEAMS) / 64;
        for (uint32_t w = 0; w < words && ft_service_is_live(s, i); w++) {
            uint64_t bits = atomic_load_explicit(&calls->asking[w], memory_order_acquire);
            for (; bits != 0; bits &= bits - 1)
                ft_service_process_question(s, now, i,
                                            w * 64 + (uint32_t)__builtin_ctzll(bits));
        }
    }
}

/* ---- contribution of this node -------------------------------------------------------
 */

/* The line of the team on a PE; `guess` if it is that line, or the PE has none. */
static uint32_t ft_service_line_of(const struct ft_calls *calls, uint64_t team,
                                   uint32_t guess)
{
    uint32_t used = atomic_load_explicit(&calls->used, memory_order_acquire);

    used = used < FT_TEAMS ? used : FT_TEAMS;
    if (atomic_load_explicit(&calls->line[guess].team, memory_order_acquire) == team)
        return guess;
    for (uint32_t line = 0; line < used; line++)
        if (atomic_load_explicit(&calls->line[line].team, memory_order_acquire) == team)
            return line;
    return guess;
}

/* A PE without the team does not enter its calls. */
static void ft_service_revoke_call(struct ft_service *s,
                                   const struct ft_commit_call *what)
{
    bool fresh = false;

    for (uint32_t i = 0; i < s->map->local; i++) {
        uint32_t line =
            ft_service_line_of(ft_map_calls(s->map, i), what->team, what->line);
        fresh =
            ft_map_revoke(s->map, i, line, what->team, line == FT_SLOT_WORLD) || fresh;
    }
    if (fresh)
        ft_map_changed(s->node);
}

/* After it, no PE of the node enters the call. */
static void ft_service_close_call(struct ft_service *s, const struct ft_commit_call *what)
{
    if (what->cause != FT_CAUSE_REVOKED)
        ft_map_fail(s->node, &what->cause, 1);
    else
        ft_service_revoke_call(s, what);
    ft_map_wake_watchers(s->map); /* another process may have set the bit only */
    /* Where it fails, the PEs execute full fences, and this thread must, too. */
    atomic_thread_fence(memory_order_seq_cst);
    os_membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

/* False: the PE is in the call.  *completed: it has completed the call, or a predecessor
 * of this agent has answered that the call succeeds. */
static bool ft_service_is_settled(const struct ft_call *line, uint64_t call,
                                  bool *completed)
{
    if (atomic_load_explicit(&line->begun, memory_order_acquire) < call)
        return true;
    bool asks = atomic_load_explicit(&line->asked, memory_order_acquire) == call;
    bool succeeds = atomic_load_explicit(&line->answered, memory_order_acquire) == call &&
                    line->success != 0;
    bool ended = atomic_load_explicit(&line->ended, memory_order_acquire) >= call;
    *completed = *completed || succeeds || ended;
    return asks || ended;
}

/* True if all live PEs of the node are settled.  A team has the same line on all PEs, but
 * the line that is known may be that of a PE which has damaged its lines before it
 * crashed, so each PE's own line is looked up, after the membarrier. */
static bool ft_service_settle(const struct ft_service *s, const struct ft_commit *c,
                              bool *completed)
{
    for (uint32_t i = 0; i < s->map->local; i++) {
        const struct ft_calls *calls = ft_map_calls(s->map, i);
        const struct ft_call *line =
            &calls->line[ft_service_line_of(calls, c->what.team, c->what.line)];
        if (ft_service_is_live(s, i) &&
            atomic_load_explicit(&line->team, memory_order_acquire) == c->what.team &&
            !ft_service_is_settled(line, c->what.call, completed))
            return false;
    }
    return true;
}

/* A sequence number that no other agreement has, and a team for each call. */
static struct ft_key ft_service_commit_key(const struct ft_commit_call *what)
{
    return (struct ft_key){.team =
                               what->team ^ (what->call * UINT64_C(0x9e3779b97f4a7c15)),
                           .seq = FT_COMMIT_SEQ};
}

/* Contributes whether the call has been completed.  False: no space in the protocol, it
 * is tried again. */
static bool ft_service_agree_commit(struct ft_service *s, uint64_t now,
                                    const struct ft_commit *c, bool completed)
{
    struct ft_words words = {.n_max = 1, .word = {completed}};

    memset(s->set, 0, s->map->node_words * sizeof *s->set);
    for (uint32_t node = 0; node < s->map->nnodes; node++)
        ft_set_add(s->set, node);
    if (ft_proto_agree(s->proto, now, ft_service_commit_key(&c->what), s->set, &words) ==
        0)
        return true;
    ft_service_retry_after(s, now, RETRY_NS);
    return false;
}

static void ft_service_contribute_commit(struct ft_service *s, uint64_t now,
                                         struct ft_commit *c)
{
    bool completed = false;

    if (c->state == FT_COMMIT_OPEN) {
        ft_service_close_call(s, &c->what);
        c->state = FT_COMMIT_CLOSED;
    }
    if (!ft_service_settle(s, c, &completed))
        return;
    c->state = FT_COMMIT_CONTRIBUTED;
    /* The decision may be delivered in this call. */
    if (!ft_service_agree_commit(s, now, c, completed))
        c->state = FT_COMMIT_CLOSED;
}

bool ft_service_decide_commit(struct ft_service *s, const struct ft_decision *decision)
{
    for (struct ft_commit *c = s->commits; c != NULL; c = c->next) {
        struct ft_key key = ft_service_commit_key(&c->what);
        if (decision->key.seq != FT_COMMIT_SEQ || key.team != decision->key.team ||
            c->state == FT_COMMIT_DECIDED)
            continue;
        c->state = FT_COMMIT_DECIDED;
        c->success = decision->words.word[0] != 0;
        s->commits_changed = true;
        s->due_ns = 0;
    }
    return decision->key.seq == FT_COMMIT_SEQ;
}

/* ---- coordinator ---------------------------------------------------------------------
 */

static bool ft_service_is_coordinator(const struct ft_service *s)
{
    for (uint32_t node = 0; node < s->map->node; node++)
        if (!ft_proto_node_failed(s->proto, node))
            return false;
    return true;
}

static void ft_service_coordinate(struct ft_service *s, uint64_t now)
{
    uint32_t open = 0;

    for (const struct ft_commit *c = s->commits; c != NULL; c = c->next)
        open += c->state != FT_COMMIT_ASKED && c->state != FT_COMMIT_DECIDED;
    for (struct ft_commit *c = s->commits; c != NULL; c = c->next) {
        bool opens = c->state == FT_COMMIT_ASKED ? open < OPEN_MOST : c->repeat;
        c->repeat = false;
        open += c->state == FT_COMMIT_ASKED && opens;
        if (opens)
            ft_service_broadcast_commit(s, now, FT_PAYLOAD_COMMIT_OPEN, c);
    }
}

/* Calls are few, and most of them wait for PEs that will ask soon. */
static void ft_service_contribute_commits(struct ft_service *s, uint64_t now)
{
    for (struct ft_commit *c = s->commits; c != NULL; c = c->next) {
        if (c->state == FT_COMMIT_OPEN || c->state == FT_COMMIT_CLOSED)
            ft_service_contribute_commit(s, now, c);
        else if (c->state == FT_COMMIT_DECIDED && c->reopened)
            c->reopened = !ft_service_agree_commit(s, now, c, c->success != 0);
    }
}

void ft_service_serve_commits(struct ft_service *s, uint64_t now)
{
    do {
        s->commits_changed = false;
        ft_service_process_questions(s, now);
        if (ft_service_is_coordinator(s))
            ft_service_coordinate(s, now);
        ft_service_contribute_commits(s, now);
    } while (s->commits_changed);
    ft_service_trim_commits(s);
}
