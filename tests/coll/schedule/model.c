/* SPDX-License-Identifier: BSD-3-Clause */
/* model.c - see model.h. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/coll/algorithms/slice.h"
#include "tests/coll/schedule/model.h"

enum { BITS = 64, READINGS = 4096 };

/* An immutable vector clock, shared by a leader and the messages that it has sent. */
struct view {
    int users;
    uint16_t clock[];
};

/* Or a GET: the owner of the memory is its sender, the reader its receiver. */
struct message {
    struct view *view;         /* of the sender */
    uint16_t clock;            /* of the sender at the SEND */
    uint16_t received;         /* clock of the receiver at the RECV; 0: not yet */
    int sender, receiver, tag; /* tag -1: a GET */
    long arrival;              /* round */
    size_t units;
};

/* A message that reads a unit. */
struct reading {
    const struct message *message;
    struct reading *next;
};

struct readings {
    struct readings *next;
    struct reading reading[READINGS];
};

struct unit {
    uint16_t touched, written; /* clock of the owner's last access, and write */
    long sends; /* a GET, not copied, wrote it after so many SENDs; or -1 */
    const struct message *writer; /* the last message that wrote it */
    struct reading *readings;
};

struct leader {
    int i; /* the next step */
    bool ended;
    uint16_t clock;
    struct view *view;
    long time, port; /* rounds: of the last step, and of the end of the last SEND */
    long messages;
    size_t sent;
    int *last_tag;     /* by receiver */
    struct unit *unit; /* data, inbox, source */
    uint64_t *content; /* of each unit, `words` words */
};

struct model {
    const struct model_config *config;
    int nodes;
    size_t data, source, units; /* units of the data; first one of the source; all */
    size_t words;               /* of the content of a unit */
    struct leader *leader;
    struct message **message; /* by receiver and tag */
    int tags;
    struct message **all;
    size_t messages, capacity; /* of all */
    struct readings *readings; /* memory of all readings */
    struct reading *unused;
    jmp_buf wrong;
    char *why;
    size_t why_bytes;
};

__attribute__((format(printf, 2, 3))) static _Noreturn void wrong(struct model *m,
                                                                  const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(m->why, m->why_bytes, format, args);
    va_end(args);
    longjmp(m->wrong, 1);
}

static void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n > 0 ? n : 1, size);

    if (p == NULL) {
        fprintf(stderr, "no memory for %zu x %zu bytes\n", n, size);
        exit(1);
    }
    return p;
}

/* ---- contents ---------------------------------------------------------------------- */

static bool reduces(const struct model *m)
{
    enum schedule_name name = m->config->schedule.name;

    return (name >= SCHEDULE_REDUCE_DIRECT && name < SCHEDULE_PULL_BCAST) ||
           name >= SCHEDULE_PULL_TREE;
}

static bool pulls(const struct model *m)
{
    return m->config->schedule.name >= SCHEDULE_PULL_BCAST;
}

static uint64_t *content_of(const struct model *m, int rank, size_t unit)
{
    return m->leader[rank].content + unit * m->words;
}

/* The content that unit `unit` of the data of a rank has at the end, in a schedule
 * without computation; 0: not defined. */
static uint64_t result_of(const struct model *m, int rank, size_t unit)
{
    uint64_t nodes = (uint64_t)m->nodes, r = (uint64_t)rank;

    if (m->config->schedule.name == SCHEDULE_ALLTOALL_BRUCK)
        return (r + nodes - unit) % nodes * nodes + r + 1;
    if (m->config->schedule.name == SCHEDULE_PULL_ALLTOALL)
        return unit == r ? 0 : unit * nodes + r + 1;
    return unit + 1;
}

static uint64_t source_of(const struct model *m, int rank, size_t unit)
{
    const struct schedule *s = &m->config->schedule;
    uint64_t nodes = (uint64_t)m->nodes, r = (uint64_t)rank;

    switch (s->name) {
    case SCHEDULE_PULL_ALLTOALL:
        return 0;
    case SCHEDULE_PULL_GATHER: {
        struct slice slice = slice_aligned(s->units, s->line, rank, s->nodes);
        return unit >= slice.first && unit < slice.end ? unit + 1 : 0;
    }
    case SCHEDULE_PULL_BCAST:
    case SCHEDULE_BCAST_BINOMIAL:
    case SCHEDULE_BCAST_KARY:
    case SCHEDULE_BCAST_SCATTER:
        return rank == 0 ? unit + 1 : 0;
    case SCHEDULE_ALLTOALL_BRUCK:
        return r * nodes + (r + unit) % nodes + 1;
    default:
        return unit == r ? unit + 1 : 0;
    }
}

static void fill(struct model *m, int rank)
{
    bool scans = m->config->schedule.name >= SCHEDULE_PULL_SCAN;
    bool in_data = !pulls(m) || scans || m->config->in_place;

    for (size_t u = 0; u < m->units; u++) {
        uint64_t *c = content_of(m, rank, u);
        bool source = u >= m->data + m->config->inbox;
        bool inbox = u >= m->data && !source;
        if (reduces(m) && (in_data || source) && !inbox)
            c[rank / BITS] = (uint64_t)1 << rank % BITS;
        else if (source)
            c[0] = (uint64_t)rank * (uint64_t)m->nodes + (u - m->source) + 1;
        else if (!reduces(m) && !inbox)
            c[0] = source_of(m, rank, u);
        m->leader[rank].unit[u] =
            (struct unit){.touched = !inbox, .written = !inbox, .sends = -1};
    }
}

/* The contributions of ranks 0 .. end - 1 and of no others. */
static void check_sum(struct model *m, int rank, size_t unit)
{
    enum schedule_name name = m->config->schedule.name;
    const uint64_t *c = content_of(m, rank, unit);
    int end = name == SCHEDULE_PULL_SCAN     ? rank + 1
              : name == SCHEDULE_PULL_EXSCAN ? rank
                                             : m->nodes;

    for (int k = 0; k < m->nodes; k++)
        if ((c[k / BITS] >> k % BITS & 1) != (k < end))
            wrong(m, "unit %zu of rank %d %s the contribution of rank %d", unit, rank,
                  k < end ? "lacks" : "has", k);
}

static void check_result(struct model *m, int rank)
{
    enum schedule_name name = m->config->schedule.name;

    if (rank != 0 && (name == SCHEDULE_REDUCE_TREE || name == SCHEDULE_PULL_TREE))
        return;
    if (rank == 0 && name == SCHEDULE_PULL_EXSCAN)
        return; /* undefined */
    for (size_t u = 0; u < m->data; u++)
        if (reduces(m))
            check_sum(m, rank, u);
        else if (*content_of(m, rank, u) != result_of(m, rank, u))
            wrong(m, "unit %zu of rank %d has content %llu at the end, not %llu", u, rank,
                  (unsigned long long)*content_of(m, rank, u),
                  (unsigned long long)result_of(m, rank, u));
}

/* ---- regions ----------------------------------------------------------------------- */

/* Unit k of the region in the memory of any rank. */
static size_t unit_of(struct model *m, const struct schedule_region *r, size_t k)
{
    size_t nodes = (size_t)m->nodes, n = 0;
    bool wraps = m->config->schedule.name <= SCHEDULE_GATHER_RING;

    if (r->bit != 0) {
        for (size_t i = 1; i < nodes; i++)
            if ((i & r->bit) != 0 && n++ == k)
                return i;
        wrong(m, "fewer than %zu bundles have bit %u", r->count, r->bit);
    }
    n = r->first + k;
    if (r->space == SPACE_DATA && wraps)
        n %= nodes;
    if (n >= (r->space == SPACE_INBOX ? m->config->inbox : m->data))
        wrong(m, "unit %zu of the %s is out of bounds", n,
              r->space == SPACE_INBOX ? "inbox" : "data");
    return r->space == SPACE_INBOX    ? m->data + n
           : r->space == SPACE_SOURCE ? m->source + n
                                      : n;
}

/* ---- vector clocks ----------------------------------------------------------------- */

static struct view *view_new(const struct model *m)
{
    struct view *v = xcalloc(1, sizeof *v + (size_t)m->nodes * sizeof v->clock[0]);

    v->users = 1;
    return v;
}

static void view_release(struct view *v)
{
    if (--v->users == 0)
        free(v);
}

static uint16_t clock_known(const struct model *m, int rank, int of)
{
    return rank == of ? m->leader[rank].clock : m->leader[rank].view->clock[of];
}

/* The events of the message's sender become known to `rank`. */
static void view_join(struct model *m, int rank, const struct message *from)
{
    struct view *old = m->leader[rank].view, *v = old;

    if (old->users > 1) {
        v = view_new(m);
        memcpy(v->clock, old->clock, (size_t)m->nodes * sizeof v->clock[0]);
        view_release(old);
        m->leader[rank].view = v;
    }
    for (int k = 0; k < m->nodes; k++)
        v->clock[k] =
            from->view->clock[k] > v->clock[k] ? from->view->clock[k] : v->clock[k];
    if (from->clock > v->clock[from->sender])
        v->clock[from->sender] = from->clock;
}

/* ---- readings ---------------------------------------------------------------------- */

static void readings_add(struct model *m)
{
    struct readings *block = malloc(sizeof *block);

    if (block == NULL)
        exit(1);
    block->next = m->readings;
    m->readings = block;
    for (int i = 0; i < READINGS; i++) {
        block->reading[i].next = m->unused;
        m->unused = &block->reading[i];
    }
}

static void reading_add(struct model *m, struct unit *unit, const struct message *message)
{
    if (m->unused == NULL)
        readings_add(m);
    struct reading *r = m->unused;
    m->unused = r->next;
    *r = (struct reading){message, unit->readings};
    unit->readings = r;
}

static void readings_drop(struct model *m, struct unit *unit)
{
    while (unit->readings != NULL) {
        struct reading *r = unit->readings;
        unit->readings = r->next;
        r->next = m->unused;
        m->unused = r;
    }
}

/* ---- accesses ---------------------------------------------------------------------- */

static bool is_known(const struct model *m, int rank, const struct message *message)
{
    return message->received != 0 &&
           message->received <= clock_known(m, rank, message->receiver);
}

/* `rank` writes the unit of `owner`, or reads it; what: for the message. */
static void check_order(struct model *m, int rank, int owner, size_t u, bool writes,
                        const char *what)
{
    const struct unit *unit = &m->leader[owner].unit[u];

    if (unit->writer != NULL && !is_known(m, rank, unit->writer))
        wrong(m, "race: %s of rank %d and message %d to rank %d at unit %zu", what, rank,
              unit->writer->tag, owner, u);
    if (writes && rank != owner && unit->touched > clock_known(m, rank, owner))
        wrong(m, "race: %s of rank %d and the use of unit %zu by rank %d", what, rank, u,
              owner);
    for (const struct reading *r = unit->readings; writes && r != NULL; r = r->next)
        if (!is_known(m, rank, r->message))
            wrong(m, "race: %s of rank %d at unit %zu of rank %d, which message %d reads",
                  what, rank, u, owner, r->message->tag);
}

static void touch(struct model *m, int rank, size_t u, bool writes, const char *what)
{
    struct unit *unit = &m->leader[rank].unit[u];

    check_order(m, rank, rank, u, writes, what);
    unit->touched = m->leader[rank].clock;
    if (!writes && unit->sends >= 0 && unit->sends != m->leader[rank].messages)
        wrong(m, "%s of rank %d at unit %zu after the SEND that ends the GET", what, rank,
              u);
    if (!writes)
        return;
    unit->written = unit->touched;
    readings_drop(m, unit);
}

/* ---- steps ------------------------------------------------------------------------- */

static void check_tag(struct model *m, int rank, const struct schedule_step *step)
{
    int *last = &m->leader[rank].last_tag[step->peer];
    const struct message *before;

    if (step->peer < 0 || step->peer >= m->nodes || step->peer == rank)
        wrong(m, "rank %d sends to rank %d", rank, step->peer);
    if (step->tag < 0 || step->tag >= m->tags)
        wrong(m, "rank %d sends message %d of %d", rank, step->tag, m->tags);
    if (step->tag < *last && !pulls(m))
        wrong(m, "rank %d sends message %d after %d to rank %d", rank, step->tag, *last,
              step->peer);
    before = m->message[(size_t)step->peer * (size_t)m->tags + (size_t)step->tag];
    if (before != NULL && !(pulls(m) && is_known(m, rank, before)))
        wrong(m, "rank %d receives message %d twice", step->peer, step->tag);
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
    struct message *message = xcalloc(1, sizeof *message);

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
        wrong(m, "rank %d sends %zu units to %zu", rank, step->from.count,
              step->to.count);
    const struct message *message = message_new(m, rank, step);
    for (size_t k = 0; k < step->from.count; k++) {
        size_t from = unit_of(m, &step->from, k), to = unit_of(m, &step->to, k);
        touch(m, rank, from, false, "SEND");
        check_order(m, rank, step->peer, to, true, "SEND");
        if (!step->copied)
            reading_add(m, &m->leader[rank].unit[from], message);
        memcpy(content_of(m, step->peer, to), content_of(m, rank, from),
               m->words * sizeof(uint64_t));
        m->leader[step->peer].unit[to].writer = message;
    }
}

/* False: the message has not been sent. */
static bool step_recv(struct model *m, int rank, const struct schedule_step *step)
{
    if (step->tag < 0 || step->tag >= m->tags)
        wrong(m, "rank %d receives message %d of %d", rank, step->tag, m->tags);
    struct message *message =
        m->message[(size_t)rank * (size_t)m->tags + (size_t)step->tag];
    if (message == NULL || (pulls(m) && message->received != 0))
        return false;
    if (message->sender != step->peer)
        wrong(m, "rank %d expects message %d from rank %d, but rank %d sends it", rank,
              step->tag, step->peer, message->sender);
    if (message->received != 0)
        wrong(m, "rank %d waits twice for message %d", rank, step->tag);
    if (message->units != step->to.count)
        wrong(m, "message %d to rank %d has %zu units, expected are %zu", step->tag, rank,
              message->units, step->to.count);
    struct leader *l = &m->leader[rank];
    view_join(m, rank, message);
    message->received = l->clock;
    l->time = message->arrival > l->time ? message->arrival : l->time;
    for (size_t k = 0; k < step->to.count; k++)
        touch(m, rank, unit_of(m, &step->to, k), false, "RECV");
    return true;
}

/* Reads the peer's memory until the next SEND of this rank: others learn of both at the
 * same time, by messages after it. */
static void step_get(struct model *m, int rank, const struct schedule_step *step)
{
    struct leader *l = &m->leader[rank], *peer = &m->leader[step->peer];
    struct message *message = xcalloc(1, sizeof *message);

    *message = (struct message){.view = l->view,
                                .received = l->clock,
                                .sender = step->peer,
                                .receiver = rank,
                                .tag = -1};
    message_keep(m, message);
    if (step->peer == rank || step->from.count != step->to.count)
        wrong(m, "rank %d gets %zu units of rank %d to %zu", rank, step->from.count,
              step->peer, step->to.count);
    l->sent += step->from.count;
    for (size_t k = 0; k < step->from.count; k++) {
        size_t from = unit_of(m, &step->from, k), to = unit_of(m, &step->to, k);
        if (peer->unit[from].written > clock_known(m, rank, step->peer))
            wrong(m, "race: GET of rank %d and a write of unit %zu by rank %d", rank,
                  from, step->peer);
        reading_add(m, &peer->unit[from], message);
        touch(m, rank, to, true, "GET");
        l->unit[to].sends =
            step->to.space == SPACE_INBOX && !step->copied ? l->messages : -1;
        memcpy(content_of(m, rank, to), content_of(m, step->peer, from),
               m->words * sizeof(uint64_t));
    }
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
        wrong(m, "rank %d combines %zu units with %zu", rank, step->from.count,
              step->to.count);
    for (size_t k = 0; k < step->to.count; k++) {
        size_t from = unit_of(m, &step->from, k), to = unit_of(m, &step->to, k);
        uint64_t *a = content_of(m, rank, to), *b = content_of(m, rank, from);
        touch(m, rank, from, false, "COPY");
        touch(m, rank, to, true, "REDUCE");
        if (m->leader[rank].unit[to].sends >= 0)
            wrong(m, "rank %d changes unit %zu, where a GET is only read", rank, to);
        if (step->kind == STEP_REDUCE && pulls(m) &&
            !in_order(m, step->before ? b : a, step->before ? a : b))
            wrong(m, "rank %d combines unit %zu out of order", rank, to);
        for (size_t w = 0; w < m->words; w++) {
            if (step->kind == STEP_REDUCE && (a[w] & b[w]) != 0)
                wrong(m, "rank %d combines a contribution twice at unit %zu", rank, to);
            a[w] = step->kind == STEP_REDUCE ? a[w] | b[w] : b[w];
        }
    }
}

static void step_ready(struct model *m, int rank, const struct schedule_step *step)
{
    for (size_t k = 0; k < step->to.count; k++) {
        size_t u = unit_of(m, &step->to, k);
        touch(m, rank, u, false, "READY");
        if (*content_of(m, rank, u) != result_of(m, rank, u))
            wrong(m, "unit %zu of rank %d is not final when it is READY", u, rank);
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
                wrong(m, "messages %d and %d to rank %d share a signal word", a->tag,
                      b->tag, r);
        }
}

static void model_init(struct model *m)
{
    const struct schedule *s = &m->config->schedule;
    bool blocks = s->name <= SCHEDULE_GATHER_RING || s->name == SCHEDULE_ALLTOALL_BRUCK ||
                  s->name == SCHEDULE_PULL_ALLTOALL;
    bool source = s->name == SCHEDULE_PULL_ALLTOALL || s->name == SCHEDULE_PULL_TREE ||
                  s->name == SCHEDULE_PULL_DIRECT;

    m->nodes = s->nodes;
    m->data = blocks ? (size_t)s->nodes : s->units;
    m->source = m->config->in_place ? 0 : m->data + m->config->inbox;
    m->units =
        m->data + m->config->inbox + (source && !m->config->in_place ? m->data : 0);
    m->words = reduces(m) ? (size_t)(m->nodes + BITS - 1) / BITS : 1;
    m->tags = schedule_tags(s);
    m->leader = xcalloc((size_t)m->nodes, sizeof *m->leader);
    m->message = xcalloc((size_t)m->nodes * (size_t)(m->tags + 1), sizeof *m->message);
    for (int r = 0; r < m->nodes; r++) {
        struct leader *l = &m->leader[r];
        *l = (struct leader){.clock = 1, .view = view_new(m)};
        for (int k = 0; m->config->entered && k < m->nodes; k++)
            l->view->clock[k] = 1;
        l->last_tag = xcalloc((size_t)m->nodes, sizeof *l->last_tag);
        l->unit = xcalloc(m->units, sizeof *l->unit);
        l->content = xcalloc(m->units * m->words, sizeof *l->content);
        fill(m, r);
    }
}

static void leader_free(struct leader *l)
{
    view_release(l->view);
    free(l->last_tag);
    free(l->unit);
    free(l->content);
}

static void model_free(struct model *m)
{
    for (size_t k = 0; k < m->messages; k++) {
        view_release(m->all[k]->view);
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
            wrong(m, "rank %d waits forever in step %d", r, m->leader[r].i);
    for (size_t k = 0; k < m->messages; k++)
        if (m->all[k]->received == 0)
            wrong(m, "rank %d never waits for message %d of rank %d", m->all[k]->receiver,
                  m->all[k]->tag, m->all[k]->sender);
        else if (m->all[k]->tag < 0 && !is_known(m, m->all[k]->sender, m->all[k]))
            wrong(m, "rank %d may end while rank %d reads its memory", m->all[k]->sender,
                  m->all[k]->receiver);
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
            c->all = c->all && clock_known(m, r, k) >= 1;
    }
}

bool model_prove(const struct model_config *config, struct model_counts *counts,
                 char *why, size_t why_bytes)
{
    struct model *m = xcalloc(1, sizeof *m);
    bool right = false;

    *m = (struct model){.config = config, .why = why, .why_bytes = why_bytes};
    model_init(m);
    if (setjmp(m->wrong) == 0) {
        run(m);
        check_words(m);
        for (int r = 0; r < m->nodes; r++)
            check_result(m, r);
        count(m, counts);
        right = true;
    }
    model_free(m);
    free(m);
    return right;
}
