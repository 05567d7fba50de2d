/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c - the event queue of the simulator: a binary heap (queue.h). */
#include "tests/ft/protocol/queue.h"

#include <stdlib.h>

static bool queue_before(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void queue_push(struct queue *q, struct event e)
{
    size_t i = q->n++;

    if (q->n > q->size) {
        q->size = q->size > 0 ? 2 * q->size : 256;
        q->heap = realloc(q->heap, q->size * sizeof *q->heap);
        if (q->heap == NULL)
            abort();
    }
    e.order = q->order++;
    for (; i > 0 && queue_before(&e, &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = e;
}

bool queue_pop(struct queue *q, struct event *e)
{
    size_t i = 0, child;

    if (q->n == 0)
        return false;
    *e = q->heap[0];
    struct event last = q->heap[--q->n];

    for (; (child = 2 * i + 1) < q->n; i = child) {
        if (child + 1 < q->n && queue_before(&q->heap[child + 1], &q->heap[child]))
            child++;
        if (!queue_before(&q->heap[child], &last))
            break;
        q->heap[i] = q->heap[child];
    }
    q->heap[i] = last;
    return true;
}

void queue_clear(struct queue *q)
{
    for (size_t i = 0; i < q->n; i++)
        free(q->heap[i].bytes);
    q->n = 0;
    q->order = 0;
}
