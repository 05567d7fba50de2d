/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.h - the event queue of the simulator: events by virtual time, equal times in the
 * order of insertion. */
#ifndef TESTS_FT_QUEUE_H
#define TESTS_FT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
    uint64_t at, order;
    uint64_t sent; /* messages: when */
    uint32_t kind, node, from, len;
    void *bytes; /* malloc; the receiver of the event frees it */
};

struct queue {
    struct event *heap;
    size_t n, size;
    uint64_t order;
};

void queue_push(struct queue *q, struct event e);
bool queue_pop(struct queue *q, struct event *e);
void queue_clear(struct queue *q); /* frees the events, keeps the memory of the heap */

#endif
