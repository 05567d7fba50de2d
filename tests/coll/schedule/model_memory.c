/* SPDX-License-Identifier: BSD-3-Clause */
/* model_memory.c - see model_int.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/coll/algorithms/slice.h"
#include "tests/coll/schedule/model_int.h"

_Noreturn void model_wrong(struct model *m, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(m->why, m->why_bytes, format, args);
    va_end(args);
    longjmp(m->wrong, 1);
}

void *model_calloc(size_t n, size_t size)
{
    void *p = calloc(n > 0 ? n : 1, size);

    if (p == NULL) {
        fprintf(stderr, "no memory for %zu x %zu bytes\n", n, size);
        exit(1);
    }
    return p;
}

/* ---- contents ---------------------------------------------------------------------- */

bool model_reduces(const struct model *m)
{
    enum schedule_name name = m->config->schedule.name;

    return (name >= SCHEDULE_REDUCE_EXCHANGE && name < SCHEDULE_PULL_BCAST) ||
           name >= SCHEDULE_PULL_TREE;
}

bool model_pulls(const struct model *m)
{
    return m->config->schedule.name >= SCHEDULE_PULL_BCAST;
}

bool model_chains(const struct model *m)
{
    enum schedule_name name = m->config->schedule.name;

    return name == SCHEDULE_SCAN_CHAIN || name == SCHEDULE_REDUCE_ORDERED;
}

uint64_t *model_content_of(const struct model *m, int rank, size_t unit)
{
    return m->leader[rank].content + unit * m->words;
}

uint64_t model_result_of(const struct model *m, int rank, size_t unit)
{
    uint64_t nodes = (uint64_t)m->nodes, r = (uint64_t)rank;

    if (m->config->schedule.name == SCHEDULE_ALLTOALL_BRUCK)
        return (r + nodes - unit) % nodes * nodes + r + 1;
    if (m->config->schedule.name == SCHEDULE_ALLTOALL_DIRECT ||
        m->config->schedule.name == SCHEDULE_ALLTOALL_PAIRWISE)
        return unit * nodes + r + 1;
    if (m->config->schedule.name == SCHEDULE_PULL_ALLTOALL)
        return unit == r ? 0 : unit * nodes + r + 1;
    return unit + 1;
}

static uint64_t source_of(const struct model *m, int rank, size_t unit)
{
    const struct schedule *s = &m->config->schedule;
    uint64_t nodes = (uint64_t)m->nodes, r = (uint64_t)rank;

    switch (s->name) {
    case SCHEDULE_ALLTOALL_DIRECT:
    case SCHEDULE_ALLTOALL_PAIRWISE:
    case SCHEDULE_PULL_ALLTOALL:
        return 0;
    case SCHEDULE_PULL_GATHER: {
        struct slice slice = slice_aligned(s->units, s->line, rank, s->nodes);
        return unit >= slice.first && unit < slice.end ? unit + 1 : 0;
    }
    case SCHEDULE_PULL_BCAST:
    case SCHEDULE_BCAST_KNOMIAL:
    case SCHEDULE_BCAST_SCATTER:
        return rank == 0 ? unit + 1 : 0;
    case SCHEDULE_ALLTOALL_BRUCK:
        return r * nodes + (r + unit) % nodes + 1;
    default:
        return unit == r ? unit + 1 : 0;
    }
}

void model_fill(struct model *m, int rank)
{
    bool scans = m->config->schedule.name >= SCHEDULE_PULL_SCAN;
    bool in_data = (!model_pulls(m) && !model_chains(m)) || scans || m->config->in_place;

    for (size_t u = 0; u < m->units; u++) {
        uint64_t *c = model_content_of(m, rank, u);
        bool source = u >= m->data + m->config->inbox;
        bool inbox = u >= m->data && !source;
        if (model_reduces(m) && (in_data || source) && !inbox)
            c[rank / BITS] = (uint64_t)1 << rank % BITS;
        else if (source)
            c[0] = (uint64_t)rank * (uint64_t)m->nodes + (u - m->source) + 1;
        else if (!model_reduces(m) && !inbox)
            c[0] = source_of(m, rank, u);
        m->leader[rank].unit[u] =
            (struct unit){.touched = !inbox, .written = !inbox, .sends = -1};
    }
}

void model_check_sum(struct model *m, int rank, size_t unit)
{
    enum schedule_name name = m->config->schedule.name;
    const uint64_t *c = model_content_of(m, rank, unit);
    bool scan = name == SCHEDULE_PULL_SCAN || name == SCHEDULE_SCAN_CHAIN;
    bool exscan = name == SCHEDULE_PULL_EXSCAN || name == SCHEDULE_SCAN_DOUBLING;
    int end = scan ? rank + 1 : exscan ? rank : m->nodes;

    for (int k = 0; k < m->nodes; k++)
        if ((c[k / BITS] >> k % BITS & 1) != (k < end))
            model_wrong(m, "unit %zu of rank %d %s the contribution of rank %d", unit,
                        rank, k < end ? "lacks" : "has", k);
}

void model_check_result(struct model *m, int rank)
{
    enum schedule_name name = m->config->schedule.name;
    bool in_inbox = name == SCHEDULE_SCAN_CHAIN || name == SCHEDULE_SCAN_DOUBLING;

    if (rank != 0 && (name == SCHEDULE_REDUCE_TREE || name == SCHEDULE_PULL_TREE))
        return;
    if (rank == 0 && (name == SCHEDULE_PULL_EXSCAN || name == SCHEDULE_SCAN_DOUBLING))
        return; /* undefined */
    if (m->nodes == 1 && model_chains(m))
        return; /* no steps */
    for (size_t u = 0; u < m->data; u++)
        if (model_reduces(m))
            model_check_sum(m, rank, in_inbox ? m->data + u : u);
        else if (*model_content_of(m, rank, u) != model_result_of(m, rank, u))
            model_wrong(m, "unit %zu of rank %d has content %llu at the end, not %llu", u,
                        rank, (unsigned long long)*model_content_of(m, rank, u),
                        (unsigned long long)model_result_of(m, rank, u));
}

/* ---- regions ----------------------------------------------------------------------- */

size_t model_unit_of(struct model *m, const struct schedule_region *r, size_t k)
{
    size_t nodes = (size_t)m->nodes, n = 0;
    bool wraps = m->config->schedule.name <= SCHEDULE_GATHER_RING;

    if (r->bit != 0) {
        for (size_t i = 1; i < nodes; i++)
            if ((i & r->bit) != 0 && n++ == k)
                return i;
        model_wrong(m, "fewer than %zu bundles have bit %u", r->count, r->bit);
    }
    n = r->first + k;
    if (r->space == SPACE_DATA && wraps)
        n %= nodes;
    if (n >= (r->space == SPACE_INBOX ? m->config->inbox : m->data))
        model_wrong(m, "unit %zu of the %s is out of bounds", n,
                    r->space == SPACE_INBOX ? "inbox" : "data");
    return r->space == SPACE_INBOX    ? m->data + n
           : r->space == SPACE_SOURCE ? m->source + n
                                      : n;
}

/* ---- vector clocks ----------------------------------------------------------------- */

struct view *model_view_new(const struct model *m)
{
    struct view *v = model_calloc(1, sizeof *v + (size_t)m->nodes * sizeof v->clock[0]);

    v->users = 1;
    return v;
}

void model_view_release(struct view *v)
{
    if (--v->users == 0)
        free(v);
}

uint16_t model_clock_known(const struct model *m, int rank, int of)
{
    return rank == of ? m->leader[rank].clock : m->leader[rank].view->clock[of];
}

void model_view_join(struct model *m, int rank, const struct message *from)
{
    struct view *old = m->leader[rank].view, *v = old;

    if (old->users > 1) {
        v = model_view_new(m);
        memcpy(v->clock, old->clock, (size_t)m->nodes * sizeof v->clock[0]);
        model_view_release(old);
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

void model_reading_add(struct model *m, struct unit *unit, const struct message *message)
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

bool model_is_known(const struct model *m, int rank, const struct message *message)
{
    return message->received != 0 &&
           message->received <= model_clock_known(m, rank, message->receiver);
}

void model_check_order(struct model *m, int rank, int owner, size_t u, bool writes,
                       const char *what)
{
    const struct unit *unit = &m->leader[owner].unit[u];

    if (unit->writer != NULL && !model_is_known(m, rank, unit->writer))
        model_wrong(m, "race: %s of rank %d and message %d to rank %d at unit %zu", what,
                    rank, unit->writer->tag, owner, u);
    if (writes && rank != owner && unit->touched > model_clock_known(m, rank, owner))
        model_wrong(m, "race: %s of rank %d and the use of unit %zu by rank %d", what,
                    rank, u, owner);
    for (const struct reading *r = unit->readings; writes && r != NULL; r = r->next)
        if (!model_is_known(m, rank, r->message))
            model_wrong(
                m, "race: %s of rank %d at unit %zu of rank %d, which message %d reads",
                what, rank, u, owner, r->message->tag);
}

void model_touch(struct model *m, int rank, size_t u, bool writes, const char *what)
{
    struct unit *unit = &m->leader[rank].unit[u];

    model_check_order(m, rank, rank, u, writes, what);
    unit->touched = m->leader[rank].clock;
    if (!writes && unit->sends >= 0 && unit->sends != m->leader[rank].messages)
        model_wrong(m, "%s of rank %d at unit %zu after the SEND that ends the GET", what,
                    rank, u);
    if (!writes)
        return;
    unit->written = unit->touched;
    readings_drop(m, unit);
}
