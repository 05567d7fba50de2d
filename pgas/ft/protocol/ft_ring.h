/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_ring.h - the heartbeat ring: each live node watches its closest live predecessor.
 *
 * Every delta a node sends a heartbeat to its observer.  Silence of the observed node for
 * eta is a verdict; the ring is then mended: the node watches the next predecessor that
 * is not known as failed, and requests heartbeats from it.  A node changes its observer
 * only on such a request, and only if the requester is the closest successor that is not
 * known as failed (the request carries the requester's failed set, which the caller
 * merges first).
 *
 * What decides is silence as this node could observe it.  Time in which the host did not
 * run (stopped, swapped, busy) is no silence: heartbeats may lie unread in its sockets.
 * The only trace of such a time is that an input comes later than the wake-up that the
 * host was asked for.  The deadline is therefore moved by that lateness; if it exceeds
 * delta/4, by all the time since the previous input (the host may have stopped anywhere
 * in it), and at least delta remains, in which the host reads its sockets.
 *
 * Let the host stop at time a and run again at b, and let w >= a be the time of the
 * wake-up that it was asked for.  Only w and b are known.  If b - w <= delta/4, the
 * deadline moves by b - w, and w - a counts as silence.  To bound w - a, the host is
 * woken every delta/8 while a heartbeat is overdue by delta/8.  If the observed node is
 * on the same machine and stops from a' to b', no stop of whatever length is taken for a
 * failure while |a - a'| + |b - b'| + delay < 7/8 delta.
 *
 * A host whose wake-ups are steadily late would thereby never detect a silent node.  So
 * the extensions since the last heartbeat are limited: after a sum of 4 eta, in which
 * each counts eta at most, none is granted.  A single stop, however long, is therefore
 * granted.  At the limit the host has read its sockets at least four times, over several
 * eta: the heartbeats that a live node sent in this time were in them.
 *
 * A closed connection is no verdict, because a connection can break without a failure.  A
 * live node answers a heartbeat request within two delays, so after a close the remaining
 * time is reduced to delta, once per heartbeat received.  In the grace period a node that
 * has sent nothing may not be armed yet, and accept no connections: its closed
 * connections change nothing.
 *
 * No clock, no I/O.  `failed`, `order` and `pos` belong to the caller and outlive the
 * ring; after a change of `failed` the caller calls ft_ring_mend. Invariants: observing
 * and observer are never `me`; observing == FT_NODE_NONE if and only if no other node is
 * alive or the ring is stopped. Uses: ft_types.  Used by: ft_proto.
 */
#ifndef PGAS_FT_RING_H
#define PGAS_FT_RING_H

#include "pgas/ft/ft_types.h"

struct ft_ring {
    uint32_t me, n;
    const uint32_t *order; /* node at each position */
    const uint32_t *pos;   /* position of each node */
    const uint64_t *failed;
    uint64_t delta, eta;
    uint32_t observing, observer;
    uint64_t next_beat; /* when to send the next heartbeat */
    uint64_t extended;  /* sum of the extensions of `deadline` since the last heartbeat */
    uint64_t deadline;  /* verdict if nothing is received from `observing` before */
    uint64_t wake; /* when the caller promised to call ft_ring_advance at the latest */
    uint64_t last_input; /* time of the last input */
    bool stalled;   /* the host did not run in time: probe `observing` (caller clears) */
    bool shortened; /* `closed` has reduced the deadline since the last heartbeat */
    bool alive;     /* `observing` has sent something, or there was no grace period */
    bool stopped;
};

enum { FT_RING_BEAT = 1, FT_RING_VERDICT = 2 };

/* The caller has set me, n, order, pos, failed, delta and eta.  The first timeout is
 * longer by `grace`. */
void ft_ring_init(struct ft_ring *r, uint64_t now, uint64_t grace);

/* Every input begins with it.  Returns `now`, or the time of the previous input if the
 * clock went backwards. */
uint64_t ft_ring_advance(struct ft_ring *r, uint64_t now);

/* Returns FT_RING_BEAT if a heartbeat is to be sent to `observer`, and FT_RING_VERDICT if
 * `observing` has failed: the caller adds it to `failed` and calls ft_ring_mend. */
unsigned ft_ring_tick(struct ft_ring *r, uint64_t now);
void ft_ring_received(struct ft_ring *r, uint64_t now, uint32_t from);

/* Returns whether to probe `node` with a heartbeat request. */
bool ft_ring_closed(struct ft_ring *r, uint64_t now, uint32_t node);

/* Node `from` requests heartbeats.  Returns whether it is now the observer: the caller
 * sends it a heartbeat at once. */
bool ft_ring_request(struct ft_ring *r, uint64_t now, uint32_t from);

/* `failed` has changed.  Returns whether `observing` is another node now, from which the
 * caller requests heartbeats. */
bool ft_ring_mend(struct ft_ring *r, uint64_t now);

void ft_ring_stop(struct ft_ring *r);

/* Computes when the next tick is due, and holds the caller to it. */
uint64_t ft_ring_wake(struct ft_ring *r);

/* Makes a ring order in which two nodes of one failure domain are at least floor(n / m)
 * apart, where m is the size of the largest domain; no order achieves more.  The result
 * depends only on the arguments.  Returns 0, or -1 if there is no memory for the sort. */
int ft_ring_order(const uint32_t *domain, uint32_t n, uint32_t *order);

#endif
