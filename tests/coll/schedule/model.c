/* SPDX-License-Identifier: BSD-3-Clause */
/* model.c - see model.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tests/coll/schedule/model_int.h"

/* ---- steps ------------------------------------------------------------------------- */

static void check_tag(struct model *m, int rank, const struct schedule_step *step)
{
    int *last = &m->leader[rank].last_tag[step->peer];
    const struct message *before;

    if (step->peer < 0 || step->peer >= m->nodes || step->peer == rank)
        model_wrong(m, "rank %d sends to rank %d", rank, step->peer);
    if (step->tag < 0 || step->tag >= m->tags)
        model_wrong(m, "rank %d sends message %d of %d", rank, step->tag, m->tags);
    if (step->tag < *last && !model_pulls(m))
        model_wrong(m, "rank %d sends message %d after %d to rank %d", rank, step->tag,
                    *last, step->peer);
    before = m->message[(size_t)step->peer * (size_t)m->tags + (size_t)step->tag];
    if (before != NULL && !(model_pulls(m) && model_is_known(m, rank, before)))
        model_wrong(m, "rank %d receives message %d twice", step->peer, step->tag);
    *last = step->tag;
}

static void message_keep(struct model *m, struct message *message)
{
    if (m->messages == m->capacity) {
        m->capacity = 2 * m->capacity + READINGS;
        m->all = realloc(m->all, m->capacity * sizeof(struct message *));
        if (m->all == NULL)
            exit(1);
    }
    message->view->users++;
    m->all[m->messages++] = message;
}

static struct message *message_new(struct model *m, int rank,
                                   const struct schedule_step *step)
{
    struct leader *l = &m->leader[rank];
    struct message *message = model_calloc(1, sizeof *message);

    l->port = (l->time > l->port ? l->time : l->port) + 1;
    *message = (struct message){.view = l->view,
                                .clock = l->clock,
                                .sender = rank,
                                .receiver = step->peer,
                                .tag = step->tag,
                                .arrival = l->port,
                                .units = step->from.count};
    l->messages++;
    l->sent += step->from.count;
    m->message[(size_t)step->peer * (size_t)m->tags + (size_t)step->tag] = message;
    message_keep(m, message);
    return message;
}

/* The content is written at the SEND: the order of all accesses is proved separately. */
static void step_send(struct model *m, int rank, const struct schedule_step *step)
{
    check_tag(m, rank, step);
    if (step->from.count != step->to.count)
        model_wrong(m, "rank %d sends %zu units to %zu", rank, step->from.count,
                    step->to.count);
    const struct message *message = message_new(m, rank, step);
    for (size_t k = 0; k < step->from.count; k++) {
        size_t from = model_unit_of(m, &step->from, k),
               to = model_unit_of(m, &step->to, k);
        model_touch(m, rank, from, false, "SEND");
        model_check_order(m, rank, step->peer, to, true, "SEND");
        if (!step->copied)
            model_reading_add(m, &m->leader[rank].unit[from], message);
        memcpy(model_content_of(m, step->peer, to), model_content_of(m, rank, from),
               m->words * sizeof(uint64_t));
        m->leader[step->peer].unit[to].writer = message;
    }
}

/* False: the message has not been sent. */
static bool step_recv(struct model *m, int rank, const struct schedule_step *step)
{
    if (step->tag < 0 || step->tag >= m->tags)
        model_wrong(m, "rank %d receives message %d of %d", rank, step->tag, m->tags);
    struct message *message =
        m->message[(size_t)rank * (size_t)m->tags + (size_t)step->tag];
    if (message == NULL || (model_pulls(m) && message->received != 0))
        return false;
    if (message->sender != step->peer)
        model_wrong(m, "rank %d expects message %d from rank %d, but rank %d sends it",
                    rank, step->tag, step->peer, message->sender);
    if (message->received != 0)
        model_wrong(m, "rank %d waits twice for message %d", rank, step->tag);
    if (message->units != step->to.count)
        model_wrong(m, "message %d to rank %d has %zu units, expected are %zu", step->tag,
                    rank, message->units, step->to.count);
    struct leader *l = &m->leader[rank];
    model_view_join(m, rank, message);
    message->received = l->clock;
    l->time = message->arrival > l->time ? message->arrival : l->time;
    for (size_t k = 0; k < step->to.count; k++)
        model_touch(m, rank, model_unit_of(m, &step->to, k), false, "RECV");
    return true;
}

/* Reads the peer's memory until the next SEND of this rank: others learn of both at the
 * same time, by messages after it. */
static void step_get(struct model *m, int rank, const struct schedule_step *step)
{
    struct leader *l = &m->leader[rank], *peer = &m->leader[step->peer];
    struct message *message = model_calloc(1, sizeof *message);

    *message = (struct message){.view = l->view,
                                .received = l->clock,
                                .sender = step->peer,
                                .receiver = rank,
                                .tag = TAG_GET};
    message_keep(m, message);
    if (step->peer == rank || step->from.count != step->to.count)
        model_wrong(m, "rank %d gets %zu units of rank %d to %zu", rank, step->from.count,
                    step->peer, step->to.count);
    l->sent += step->from.count;
    for (size_t k = 0; k < step->from.count; k++) {
        size_t from = model_unit_of(m, &step->from, k),
               to = model_unit_of(m, &step->to, k);
        if (peer->unit[from].written > model_clock_known(m, rank, step->peer))
            model_wrong(m, "race: GET of rank %d and a write of unit %zu by rank %d",
                        rank, from, step->peer);
        model_reading_add(m, &peer->unit[from], message);
        model_touch(m, rank, to, true, "GET");
        l->unit[to].sends =
            step->to.space == SPACE_INBOX && !step->copied ? l->messages : -1;
        memcpy(model_content_of(m, rank, to), model_content_of(m, step->peer, from),
               m->words * sizeof(uint64_t));
    }
}

static void step_put(struct model *m, int rank, const struct schedule_step *step)
{
    struct leader *l = &m->leader[rank];
    struct message *message = model_calloc(1, sizeof *message);

    l->port = (l->time > l->port ? l->time : l->port) + 1;
    *message = (struct message){.view = l->view,
                                .clock = l->clock,
                                .sender = rank,
                                .receiver = step->peer,
                                .tag = TAG_PUT};
    message_keep(m, message);
    if (step->peer == rank || step->from.count != step->to.count)
        model_wrong(m, "rank %d puts %zu units to %zu of rank %d", rank, step->from.count,
                    step->to.count, step->peer);
    l->messages++;
    l->sent += step->from.count;
    for (size_t k = 0; k < step->from.count; k++) {
        size_t from = model_unit_of(m, &step->from, k),
               to = model_unit_of(m, &step->to, k);
        model_touch(m, rank, from, false, "PUT");
        model_check_order(m, rank, step->peer, to, true, "PUT");
        model_reading_add(m, &l->unit[from], message);
        memcpy(model_content_of(m, step->peer, to), model_content_of(m, rank, from),
               m->words * sizeof(uint64_t));
        m->leader[step->peer].unit[to].writer = message;
    }
}

/* All ranks have reached a barrier: each knows all that any of them knows, and the PUTs
 * are complete.  It counts as a dissemination. */
static void barrier_release(struct model *m)
{
    int rounds = schedule_log2(m->nodes);
    struct view *all = model_view_new(m);
    long time = 0;

    for (int r = 0; r < m->nodes; r++) {
        struct leader *l = &m->leader[r];
        all->clock[r] = l->clock;
        time = l->time > time ? l->time : time;
        time = l->port > time ? l->port : time;
    }
    for (; m->complete < m->messages; m->complete++)
        if (m->all[m->complete]->tag == TAG_PUT)
            m->all[m->complete]->received = all->clock[m->all[m->complete]->receiver];
    all->users = m->nodes;
    for (int r = 0; r < m->nodes; r++) {
        struct leader *l = &m->leader[r];
        model_view_release(l->view);
        l->view = all;
        l->time = time + rounds;
        l->messages += rounds;
        l->passed = true;
    }
    m->waiting = 0;
}

/* False: other ranks have not reached it. */
static bool step_barrier(struct model *m, int rank)
{
    struct leader *l = &m->leader[rank];

    m->waiting += !l->waits;
    l->waits = true;
    if (m->waiting == m->nodes)
        barrier_release(m);
    if (!l->passed)
        return false;
    l->waits = l->passed = false;
    return true;
}

/* Whether the contributions in `a` are those of lower ranks than those in `b`. */
static bool in_order(const struct model *m, const uint64_t *a, const uint64_t *b)
{
    int highest = -1, lowest = m->nodes;

    for (int k = 0; k < m->nodes; k++) {
        if ((a[k / BITS] >> k % BITS & 1) != 0)
            highest = k;
        if ((b[k / BITS] >> k % BITS & 1) != 0 && lowest == m->nodes)
            lowest = k;
    }
    return highest < lowest;
}

static void step_compute(struct model *m, int rank, const struct schedule_step *step)
{
    if (step->from.count != step->to.count)
        model_wrong(m, "rank %d combines %zu units with %zu", rank, step->from.count,
                    step->to.count);
    for (size_t k = 0; k < step->to.count; k++) {
        size_t from = model_unit_of(m, &step->from, k),
               to = model_unit_of(m, &step->to, k);
        uint64_t *a = model_content_of(m, rank, to), *b = model_content_of(m, rank, from);
        model_touch(m, rank, from, false, "COPY");
        model_touch(m, rank, to, true, "REDUCE");
        if (m->leader[rank].unit[to].sends >= 0)
            model_wrong(m, "rank %d changes unit %zu, where a GET is only read", rank,
                        to);
        if (step->kind == STEP_REDUCE &&
            m->config->schedule.name >= SCHEDULE_SCAN_CHAIN &&
            !in_order(m, step->before ? b : a, step->before ? a : b))
            model_wrong(m, "rank %d combines unit %zu out of order", rank, to);
        for (size_t w = 0; w < m->words; w++) {
            if (step->kind == STEP_REDUCE && (a[w] & b[w]) != 0)
                model_wrong(m, "rank %d combines a contribution twice at unit %zu", rank,
                            to);
            a[w] = step->kind == STEP_REDUCE ? a[w] | b[w] : b[w];
        }
    }
}

static void step_ready(struct model *m, int rank, const struct schedule_step *step)
{
    for (size_t k = 0; k < step->to.count; k++) {
        size_t u = model_unit_of(m, &step->to, k);
        model_touch(m, rank, u, false, "READY");
        if (model_reduces(m))
            model_check_sum(m, rank, u);
        else if (*model_content_of(m, rank, u) != model_result_of(m, rank, u))
            model_wrong(m, "unit %zu of rank %d is not final when it is READY", u, rank);
    }
}

/* Execute the next step of a rank; false: it waits or has ended. */
static bool advance(struct model *m, int rank)
{
    struct leader *l = &m->leader[rank];
    struct schedule s = m->config->schedule;
    struct schedule_step step;

    s.rank = rank;
    if (!m->config->step(&s, l->i, &step)) {
        l->ended = true;
        return false;
    }
    l->clock++;
    bool done = true;
    if (step.kind == STEP_SEND)
        step_send(m, rank, &step);
    else if (step.kind == STEP_RECV)
        done = step_recv(m, rank, &step);
    else if (step.kind == STEP_GET)
        step_get(m, rank, &step);
    else if (step.kind == STEP_PUT)
        step_put(m, rank, &step);
    else if (step.kind == STEP_BARRIER)
        done = step_barrier(m, rank);
    else if (step.kind == STEP_READY)
        step_ready(m, rank, &step);
    else if (step.kind != STEP_NONE)
        step_compute(m, rank, &step);
    l->i += done;
    l->clock -= !done;
    return done;
}

/* ---- the whole --------------------------------------------------------------------- */

static const struct message *message_of(const struct model *m, int rank, int tag)
{
    return m->message[(size_t)rank * (size_t)m->tags + (size_t)tag];
}

/* Messages whose tags are equal modulo `words` share a signal word, which only one leader
 * may write. */
static void check_words(struct model *m)
{
    int words = m->config->words;

    for (int r = 0; r < m->nodes && words > 0; r++)
        for (int tag = words; tag < m->tags; tag++) {
            const struct message *a = message_of(m, r, tag),
                                 *b = message_of(m, r, tag - words);
            if (a != NULL && b != NULL && a->sender != b->sender)
                model_wrong(m, "messages %d and %d to rank %d share a signal word",
                            a->tag, b->tag, r);
        }
}

static void model_init(struct model *m)
{
    const struct schedule *s = &m->config->schedule;
    bool blocks = s->name <= SCHEDULE_GATHER_RING || s->name == SCHEDULE_ALLTOALL_BRUCK ||
                  s->name == SCHEDULE_ALLTOALL_DIRECT ||
                  s->name == SCHEDULE_ALLTOALL_PAIRWISE ||
                  s->name == SCHEDULE_PULL_ALLTOALL;
    bool source = s->name == SCHEDULE_ALLTOALL_DIRECT ||
                  s->name == SCHEDULE_ALLTOALL_PAIRWISE ||
                  s->name == SCHEDULE_PULL_ALLTOALL || s->name == SCHEDULE_PULL_TREE ||
                  s->name == SCHEDULE_PULL_DIRECT || model_chains(m);

    m->nodes = s->nodes;
    m->data = blocks ? (size_t)s->nodes : s->units;
    m->source = m->config->in_place ? 0 : m->data + m->config->inbox;
    m->units =
        m->data + m->config->inbox + (source && !m->config->in_place ? m->data : 0);
    m->words = model_reduces(m) ? (size_t)(m->nodes + BITS - 1) / BITS : 1;
    m->tags = schedule_tags(s);
    m->leader = model_calloc((size_t)m->nodes, sizeof *m->leader);
    m->message =
        model_calloc((size_t)m->nodes * (size_t)(m->tags + 1), sizeof *m->message);
    for (int r = 0; r < m->nodes; r++) {
        struct leader *l = &m->leader[r];
        *l = (struct leader){.clock = 1, .view = model_view_new(m)};
        for (int k = 0; m->config->entered && k < m->nodes; k++)
            l->view->clock[k] = 1;
        l->last_tag = model_calloc((size_t)m->nodes, sizeof *l->last_tag);
        l->unit = model_calloc(m->units, sizeof *l->unit);
        l->content = model_calloc(m->units * m->words, sizeof *l->content);
        model_fill(m, r);
    }
}

static void leader_free(struct leader *l)
{
    model_view_release(l->view);
    free(l->last_tag);
    free(l->unit);
    free(l->content);
}

static void model_free(struct model *m)
{
    for (size_t k = 0; k < m->messages; k++) {
        model_view_release(m->all[k]->view);
        free(m->all[k]);
    }
    for (int r = 0; r < m->nodes; r++)
        leader_free(&m->leader[r]);
    while (m->readings != NULL) {
        struct readings *block = m->readings;
        m->readings = block->next;
        free(block);
    }
    free(m->leader);
    free(m->message);
    free(m->all);
}

/* A sweep advances each rank as far as possible; without progress the rest waits in a
 * cycle, or for messages that are never sent. */
static void run(struct model *m)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int r = 0; r < m->nodes; r++)
            while (!m->leader[r].ended && advance(m, r))
                moved = true;
    }
    for (int r = 0; r < m->nodes; r++)
        if (!m->leader[r].ended)
            model_wrong(m, "rank %d waits forever in step %d", r, m->leader[r].i);
    for (size_t k = 0; k < m->messages; k++)
        if (m->all[k]->received == 0 && m->all[k]->tag == TAG_PUT)
            model_wrong(m, "rank %d may end while rank %d writes to its memory",
                        m->all[k]->receiver, m->all[k]->sender);
        else if (m->all[k]->received == 0)
            model_wrong(m, "rank %d never waits for message %d of rank %d",
                        m->all[k]->receiver, m->all[k]->tag, m->all[k]->sender);
        else if (m->all[k]->tag < 0 && !model_is_known(m, m->all[k]->sender, m->all[k]))
            model_wrong(m, "rank %d may end while rank %d reads its memory",
                        m->all[k]->sender, m->all[k]->receiver);
}

static void count(const struct model *m, struct model_counts *c)
{
    *c = (struct model_counts){.all = true};
    for (int r = 0; r < m->nodes; r++) {
        const struct leader *l = &m->leader[r];
        c->rounds = l->time > c->rounds ? l->time : c->rounds;
        c->messages = l->messages > c->messages ? l->messages : c->messages;
        c->units = l->sent > c->units ? l->sent : c->units;
        for (int k = 0; k < m->nodes; k++)
            c->all = c->all && model_clock_known(m, r, k) >= 1;
    }
}

bool model_prove(const struct model_config *config, struct model_counts *counts,
                 char *why, size_t why_bytes)
{
    struct model *m = model_calloc(1, sizeof *m);
    bool right = false;

    *m = (struct model){.config = config, .why = why, .why_bytes = why_bytes};
    model_init(m);
    if (setjmp(m->wrong) == 0) {
        run(m);
        check_words(m);
        for (int r = 0; r < m->nodes; r++)
            model_check_result(m, r);
        count(m, counts);
        right = true;
    }
    model_free(m);
    free(m);
    return right;
}
