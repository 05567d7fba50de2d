/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_ring.c - the heartbeat ring (ft_ring.h). */
#include "config.h"

#include "pgas/ft/protocol/ft_ring.h"

#include <stdlib.h>

enum {
    EXTENSION_ETAS = 4, /* limit of the sum of extensions */
    LATE_PART = 4,      /* of delta: what is later may be the end of a stop */
    SAMPLE_PART = 8,    /* of delta: a heartbeat is overdue; time between two samples */
};

static uint64_t ft_ring_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t ft_ring_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The closest node in direction `step` (1: successors, n - 1: predecessors) that is not
 * known as failed. */
static uint32_t ft_ring_closest(const struct ft_ring *r, uint32_t step)
{
    uint32_t at = r->pos[r->me];

    for (uint32_t i = 1; i < r->n; i++) {
        at = (at + step) % r->n;
        if (!ft_set_has(r->failed, r->order[at]))
            return r->order[at];
    }
    return FT_NODE_NONE;
}

void ft_ring_init(struct ft_ring *r, uint64_t now, uint64_t grace)
{
    r->observing = ft_ring_closest(r, r->n - 1);
    r->observer = ft_ring_closest(r, 1);
    r->next_beat = now;
    r->deadline = now + grace + r->eta;
    r->last_input = now;
    r->extended = 0;
    r->shortened = r->stopped = r->stalled = false;
    r->alive = grace == 0;
    ft_ring_wake(r);
}

/* When the host must run to observe that it runs, while a heartbeat is overdue. */
static uint64_t ft_ring_sample(const struct ft_ring *r)
{
    uint64_t part = r->delta / SAMPLE_PART, rest = r->eta - r->delta - part;
    uint64_t overdue = r->deadline > rest ? r->deadline - rest : 0;

    return ft_ring_max(overdue, r->last_input + ft_ring_max(part, 1));
}

uint64_t ft_ring_wake(struct ft_ring *r)
{
    uint64_t wake = FT_NEVER;

    if (!r->stopped && r->observer != FT_NODE_NONE)
        wake = r->next_beat;
    if (!r->stopped && r->observing != FT_NODE_NONE)
        wake = ft_ring_min(wake, ft_ring_min(r->deadline, ft_ring_sample(r)));
    r->wake = ft_ring_max(wake, r->last_input);
    return r->wake;
}

/* The host came `late`: see ft_ring.h. */
static void ft_ring_extend(struct ft_ring *r, uint64_t now, uint64_t late)
{
    uint64_t before = r->deadline;

    if (r->extended >= EXTENSION_ETAS * r->eta)
        return;
    if (late > r->delta / LATE_PART) {
        r->deadline += now - r->last_input;
        r->deadline = ft_ring_max(r->deadline, now + r->delta);
    } else {
        r->deadline += late;
    }
    r->extended += ft_ring_min(r->deadline - before, r->eta);
}

uint64_t ft_ring_advance(struct ft_ring *r, uint64_t now)
{
    now = ft_ring_max(now, r->last_input);
    if (now > r->wake) {
        uint64_t late = now - r->wake;

        ft_ring_extend(r, now, late);
        if (late > r->delta / LATE_PART)
            r->stalled = !r->stopped;
        r->wake = now; /* accounted for */
    }
    r->last_input = now;
    return now;
}

unsigned ft_ring_tick(struct ft_ring *r, uint64_t now)
{
    unsigned due = 0;

    if (r->stopped)
        return 0;
    if (r->observer != FT_NODE_NONE && now >= r->next_beat) {
        due |= FT_RING_BEAT;
        r->next_beat = ft_ring_max(r->next_beat + r->delta, now + r->delta / 2);
    }
    if (r->observing != FT_NODE_NONE && now >= r->deadline)
        due |= FT_RING_VERDICT;
    return due;
}

void ft_ring_received(struct ft_ring *r, uint64_t now, uint32_t from)
{
    if (from != r->observing)
        return;
    r->deadline = ft_ring_max(r->deadline, now + r->eta); /* the grace period stays */
    r->extended = 0;
    r->shortened = false;
    r->alive = true;
}

bool ft_ring_closed(struct ft_ring *r, uint64_t now, uint32_t node)
{
    if (node != r->observing || r->shortened || !r->alive)
        return false;
    r->shortened = true;
    if (r->deadline > now + r->delta)
        r->deadline = now + r->delta;
    return true;
}

bool ft_ring_request(struct ft_ring *r, uint64_t now, uint32_t from)
{
    if (r->stopped || from != ft_ring_closest(r, 1))
        return false;
    r->observer = from;
    r->next_beat = now + r->delta; /* the caller sends one now */
    return true;
}

bool ft_ring_mend(struct ft_ring *r, uint64_t now)
{
    uint32_t before = r->observing;

    if (r->stopped)
        return false;
    /* The next live successor will request heartbeats when it has mended the ring. */
    if (r->observer != FT_NODE_NONE && ft_set_has(r->failed, r->observer))
        r->observer = FT_NODE_NONE;
    if (before == FT_NODE_NONE || !ft_set_has(r->failed, before))
        return false;
    r->observing = ft_ring_closest(r, r->n - 1);
    r->deadline = now + r->eta;
    r->extended = 0;
    r->shortened = false;
    return r->observing != FT_NODE_NONE;
}

void ft_ring_stop(struct ft_ring *r)
{
    r->stopped = true;
    r->observing = r->observer = FT_NODE_NONE;
}

/* ---- order
 * ------------------------------------------------------------------------------- */

struct ft_ring_node {
    uint32_t node, domain, domain_size;
};

static int ft_ring_compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int ft_ring_by_domain(const void *a, const void *b)
{
    const struct ft_ring_node *x = a, *y = b;
    int order = ft_ring_compare(x->domain, y->domain);

    return order != 0 ? order : ft_ring_compare(x->node, y->node);
}

static int ft_ring_by_size(const void *a, const void *b)
{
    const struct ft_ring_node *x = a, *y = b;
    int order = ft_ring_compare(y->domain_size, x->domain_size);

    return order != 0 ? order : ft_ring_by_domain(a, b);
}

/* With m the size of the largest domain, deals the nodes, domain by domain and the
 * largest first, to m rows in turn; the ring is row after row.  A domain has at most one
 * node per row, and in consecutive rows they are in the same column, or after the last
 * row in the next column of row 0: consecutive ones are at least one row length, floor(n
 * / m), apart. */
int ft_ring_order(const uint32_t *domain, uint32_t n, uint32_t *order)
{
    struct ft_ring_node *sorted = calloc(n > 0 ? n : 1, sizeof *sorted);
    uint32_t rows, at = 0;

    if (sorted == NULL)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = (struct ft_ring_node){.node = i, .domain = domain[i]};
    qsort(sorted, n, sizeof *sorted, ft_ring_by_domain);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && sorted[end].domain == sorted[i].domain;)
            end++;
        for (uint32_t k = i; k < end; k++)
            sorted[k].domain_size = end - i;
    }
    qsort(sorted, n, sizeof *sorted, ft_ring_by_size);
    rows = n > 0 ? sorted[0].domain_size : 0;
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t i = row; i < n; i += rows)
            order[at++] = sorted[i].node;
    free(sorted);
    return 0;
}
