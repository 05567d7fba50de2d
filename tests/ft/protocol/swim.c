/* SPDX-License-Identifier: BSD-3-Clause */
/* swim.c - SWIM in the simulator's event queue (swim.h). */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/transport/test/random.h"
#include "tests/ft/protocol/queue.h"
#include "tests/ft/protocol/swim.h"

enum {
    INDIRECT = 3,
    NEWS_MAX = 2, /* one victim: a suspicion, then a failure */
    SUSPECT_MULTIPLE = 4,
    RETRANSMIT_MULTIPLE = 4,
};
#define PERIOD UINT64_C(1000000)
#define DELAY  (PERIOD / 100)

enum swim_event {
    SWIM_PERIOD,   /* node starts a period */
    SWIM_INDIRECT, /* node: no direct acknowledgement in time? */
    SWIM_PING,     /* frame: answer to `from`, on behalf of `sent` */
    SWIM_ACK,      /* frame */
    SWIM_REQUEST,  /* frame: ping `sent` for `from` */
    SWIM_CONFIRM,  /* node: the suspicion has lasted long enough */
};

/* All failures are of one victim: what a member knows of it, and what it still spreads.
 */
struct swim_member {
    uint32_t state;              /* 0 alive, 1 suspect, 2 failed */
    uint32_t left[NEWS_MAX + 1]; /* transmissions left of the news `state` */
    uint32_t next, target;
    uint32_t *order; /* permutation of the members, shared generator */
    bool acked;
};

struct swim {
    uint32_t n, victim, known, transmissions;
    uint64_t now, random, first, last, suspicion, died;
    struct queue queue;
    struct swim_member *member;
};

/* A frame carries the news of the sender: in `len`. */
static void swim_send(struct swim *s, enum swim_event kind, uint32_t from, uint32_t to,
                      uint64_t about)
{
    struct swim_member *m = &s->member[from];
    uint32_t news = 0;

    if (m->state > 0 && m->left[m->state] > 0) {
        m->left[m->state]--;
        news = m->state;
    }
    queue_push(&s->queue, (struct event){.at = s->now + DELAY,
                                         .kind = kind,
                                         .node = to,
                                         .from = from,
                                         .sent = about,
                                         .len = news});
}

static void swim_learn(struct swim *s, uint32_t node, uint32_t state)
{
    struct swim_member *m = &s->member[node];

    if (state <= m->state || node == s->victim)
        return;
    m->state = state;
    m->left[state] = s->transmissions;
    if (state == 1) {
        queue_push(&s->queue, (struct event){.at = s->now + s->suspicion,
                                             .kind = SWIM_CONFIRM,
                                             .node = node});
        return;
    }
    if (s->first == 0)
        s->first = s->now;
    s->last = s->now;
    s->known++;
}

static void swim_shuffle(struct swim *s, struct swim_member *m)
{
    for (uint32_t i = s->n - 1; i > 0; i--) {
        uint32_t k = (uint32_t)random_below(&s->random, i + 1), x = m->order[i];

        m->order[i] = m->order[k];
        m->order[k] = x;
    }
    m->next = 0;
}

static void swim_period(struct swim *s, uint32_t node)
{
    struct swim_member *m = &s->member[node];

    if (m->target != node && !m->acked)
        swim_learn(s, node, 1);
    do {
        if (m->next == s->n)
            swim_shuffle(s, m);
        m->target = m->order[m->next++];
    } while (m->target == node || (m->target == s->victim && m->state == 2));
    m->acked = false;
    swim_send(s, SWIM_PING, node, m->target, node);
    queue_push(
        &s->queue,
        (struct event){.at = s->now + PERIOD / 4, .kind = SWIM_INDIRECT, .node = node});
    queue_push(&s->queue,
               (struct event){.at = s->now + PERIOD, .kind = SWIM_PERIOD, .node = node});
}

static void swim_event(struct swim *s, const struct event *e)
{
    struct swim_member *m = &s->member[e->node];

    if (e->node == s->victim && s->now >= s->died)
        return;
    if (e->kind == SWIM_PING || e->kind == SWIM_ACK || e->kind == SWIM_REQUEST)
        swim_learn(s, e->node, e->len);
    switch ((enum swim_event)e->kind) {
    case SWIM_PERIOD:
        swim_period(s, e->node);
        break;
    case SWIM_INDIRECT:
        for (uint32_t i = 0; !m->acked && i < INDIRECT; i++)
            swim_send(s, SWIM_REQUEST, e->node, (uint32_t)random_below(&s->random, s->n),
                      m->target);
        break;
    case SWIM_PING:
        swim_send(s, SWIM_ACK, e->node, e->from, e->sent);
        break;
    case SWIM_REQUEST:
        swim_send(s, SWIM_PING, e->node, (uint32_t)e->sent, e->from);
        break;
    case SWIM_ACK:
        if (e->sent != e->node) /* on behalf of another member */
            swim_send(s, SWIM_ACK, e->node, (uint32_t)e->sent, e->sent);
        else
            m->acked = true;
        break;
    case SWIM_CONFIRM:
        swim_learn(s, e->node, 2);
        break;
    }
}

static void swim_open(struct swim *s, uint32_t n, uint64_t seed)
{
    double log10n = log10((double)n);

    *s = (struct swim){.n = n, .random = random_stream(seed, n)};
    s->victim = (uint32_t)random_below(&s->random, n);
    s->died = 2 * PERIOD + random_below(&s->random, PERIOD);
    s->suspicion =
        (uint64_t)(SUSPECT_MULTIPLE * (log10n > 1 ? log10n : 1) * (double)PERIOD);
    s->transmissions = RETRANSMIT_MULTIPLE * (uint32_t)ceil(log10((double)n + 1));
    s->member = calloc(n, sizeof *s->member);
    for (uint32_t i = 0; s->member != NULL && i < n; i++) {
        struct swim_member *m = &s->member[i];

        m->order = malloc(n * sizeof *m->order);
        if (m->order == NULL)
            abort();
        for (uint32_t k = 0; k < n; k++)
            m->order[k] = k;
        swim_shuffle(s, m);
        m->target = i;
        queue_push(&s->queue, (struct event){.at = random_below(&s->random, PERIOD),
                                             .kind = SWIM_PERIOD,
                                             .node = i});
    }
}

static void swim_close(struct swim *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        free(s->member[i].order);
    free(s->member);
    queue_clear(&s->queue);
    free(s->queue.heap);
}

struct swim_result swim_measure(uint32_t n, uint32_t trials)
{
    struct swim_result result = {0, 0};

    for (uint32_t t = 0; t < trials; t++) {
        struct swim s;
        struct event e;

        swim_open(&s, n, t + 1);
        if (s.member == NULL)
            abort();
        while (s.known < n - 1 && s.now < 200 * PERIOD && queue_pop(&s.queue, &e)) {
            s.now = e.at;
            swim_event(&s, &e);
        }
        result.detected += (double)(s.first - s.died) / (double)PERIOD / trials;
        result.known += (double)(s.last - s.died) / (double)PERIOD / trials;
        swim_close(&s);
    }
    return result;
}
