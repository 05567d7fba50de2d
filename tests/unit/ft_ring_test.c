/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_ring_test.c - the heartbeat ring in isolation: timeouts, mending, late hosts, order.
 */
#include "config.h"

#include <criterion/criterion.h>
#include <string.h>

#include "pgas/ft/protocol/ft_ring.h"

enum { NODES = 8, ORDER_MAX = 40 };
#define DELTA UINT64_C(1000)
#define ETA   (2 * DELTA)

static uint32_t identity[NODES] = {0, 1, 2, 3, 4, 5, 6, 7};
static uint64_t failed_nodes[1];
static struct ft_ring ring;

/* Node 3, which watches 2 and is watched by 4. */
static void ring_start(void)
{
    failed_nodes[0] = 0;
    ring = (struct ft_ring){.me = 3,
                            .n = NODES,
                            .order = identity,
                            .pos = identity,
                            .failed = failed_nodes,
                            .delta = DELTA,
                            .eta = ETA};
    ft_ring_init(&ring, 0, 0);
}

static unsigned ring_tick_at(uint64_t now)
{
    unsigned due = ft_ring_tick(&ring, ft_ring_advance(&ring, now));

    ft_ring_wake(&ring);
    return due;
}

/* A host that runs whenever it has to, until `now`. */
static unsigned ring_run_to(uint64_t now)
{
    while (ring.wake < now)
        ring_tick_at(ring.wake);
    return ring_tick_at(now);
}

static void ring_hear_at(uint64_t now, uint32_t from)
{
    ft_ring_received(&ring, ft_ring_advance(&ring, now), from);
    ft_ring_wake(&ring);
}

Test(ft_ring, heartbeats_are_periodic, .init = ring_start)
{
    cr_assert_eq(ring_tick_at(0), FT_RING_BEAT);
    cr_assert_eq(ring.wake, DELTA);
    cr_assert_eq(ring_tick_at(DELTA / 2), 0);
    cr_assert_eq(ring_tick_at(DELTA), FT_RING_BEAT);
}

Test(ft_ring, silence_of_eta_is_a_verdict, .init = ring_start)
{
    ring_tick_at(0);
    ring_hear_at(DELTA / 2, 2);
    ring_hear_at(DELTA / 2 + 1, 4); /* not the observed node */
    cr_assert_eq(ring_run_to(DELTA / 2 + ETA - 1) & FT_RING_VERDICT, 0);
    cr_assert(ring_run_to(DELTA / 2 + ETA) & FT_RING_VERDICT);
}

Test(ft_ring, grace_is_added_once, .init = ring_start)
{
    ft_ring_init(&ring, 0, 10 * DELTA);
    for (uint64_t t = 0; t < 12 * DELTA; t += DELTA)
        cr_assert_eq(ring_tick_at(t), FT_RING_BEAT);
    cr_assert(ring_run_to(12 * DELTA) & FT_RING_VERDICT);
}

/* A node that is not armed yet accepts no connections. */
Test(ft_ring, closed_does_not_end_the_grace_of_a_node_never_heard, .init = ring_start)
{
    ft_ring_init(&ring, 0, 10 * DELTA);
    ring_tick_at(0);
    cr_assert_not(ft_ring_closed(&ring, 0, 2));
    cr_assert_eq(ring.deadline, 12 * DELTA);
    ring_hear_at(DELTA / 2, 2);
    cr_assert(ft_ring_closed(&ring, DELTA / 2, 2));
    cr_assert_eq(ring.deadline, DELTA / 2 + DELTA);
}

Test(ft_ring, mending_skips_the_failed, .init = ring_start)
{
    ft_set_add(failed_nodes, 1);
    cr_assert_not(ft_ring_mend(&ring, 5));
    cr_assert_eq(ring.observing, 2);
    ft_set_add(failed_nodes, 2);
    cr_assert(ft_ring_mend(&ring, 10));
    cr_assert_eq(ring.observing, 0);
    cr_assert_eq(ring.deadline, 10 + ETA);
}

Test(ft_ring, only_the_closest_live_successor_observes, .init = ring_start)
{
    ft_set_add(failed_nodes, 4);
    ft_ring_mend(&ring, 5);
    cr_assert_eq(ring.observer, FT_NODE_NONE);
    cr_assert_not(ft_ring_request(&ring, 6, 6));
    cr_assert_not(ft_ring_request(&ring, 6, 4));
    cr_assert(ft_ring_request(&ring, 6, 5));
    cr_assert_eq(ring.observer, 5);
}

Test(ft_ring, the_last_node_is_alone, .init = ring_start)
{
    failed_nodes[0] = 0xff & ~(1u << 3);
    cr_assert_not(ft_ring_mend(&ring, 5));
    cr_assert_eq(ring.observing, FT_NODE_NONE);
    cr_assert_eq(ft_ring_wake(&ring), FT_NEVER);
    cr_assert_eq(ft_ring_tick(&ring, 100 * DELTA), 0);
}

Test(ft_ring, closed_shortens_once_and_is_no_verdict, .init = ring_start)
{
    ring_tick_at(0);
    cr_assert_not(ft_ring_closed(&ring, 0, 5));
    cr_assert(ft_ring_closed(&ring, 0, 2));
    cr_assert_eq(ring.deadline, DELTA);
    cr_assert_not(ft_ring_closed(&ring, 10, 2));
    cr_assert_eq(ring_tick_at(DELTA - 1), 0);
    ring_hear_at(DELTA - 1, 2);
    cr_assert_eq(ring.deadline, DELTA - 1 + ETA);
}

/* The host is stopped from 1.2 to 50 delta: that is no silence of node 2. */
Test(ft_ring, time_in_which_the_host_did_not_run_is_no_silence, .init = ring_start)
{
    ring_tick_at(0);
    ring_tick_at(DELTA);
    cr_assert_eq(ring_tick_at(50 * DELTA) & FT_RING_VERDICT, 0);
    cr_assert(ring.stalled);
    cr_assert_geq(ring.deadline, 51 * DELTA);
    ring_hear_at(50 * DELTA + 1, 2);
    cr_assert_eq(ring.deadline, 50 * DELTA + 1 + ETA);
}

/* Likewise if the first input after the stop is a frame of another node. */
Test(ft_ring, a_frame_may_end_the_stop, .init = ring_start)
{
    ring_tick_at(0);
    ring_hear_at(50 * DELTA, 6);
    cr_assert_eq(ring_tick_at(50 * DELTA) & FT_RING_VERDICT, 0);
    cr_assert_geq(ring.deadline, 51 * DELTA);
}

Test(ft_ring, lateness_counts_once, .init = ring_start)
{
    ring_tick_at(0);
    ring_tick_at(DELTA + 10);
    ring_hear_at(DELTA + 11, 6);
    ring_hear_at(DELTA + 12, 6);
    cr_assert_eq(ring.deadline, ETA + 10);
}

/* A host whose wake-ups are all late by delta detects a silent node nevertheless. */
Test(ft_ring, a_steadily_late_host_detects_silence, .init = ring_start)
{
    uint64_t now = 0;

    while ((ring_tick_at(now) & FT_RING_VERDICT) == 0) {
        now = ring.wake + DELTA;
        cr_assert_leq(now, 20 * ETA);
    }
    cr_assert_geq(now, 4 * ETA);
}

/* ---- order
 * ------------------------------------------------------------------------------- */

/* The smallest circular distance of two nodes of one domain. */
static uint32_t order_distance(const uint32_t *domain, const uint32_t *order, uint32_t n)
{
    for (uint32_t d = 1; d < n; d++)
        for (uint32_t i = 0; i < n; i++)
            if (domain[order[i]] == domain[order[(i + d) % n]])
                return d;
    return n;
}

static void check_order(const uint32_t *domain, uint32_t n)
{
    uint32_t order[ORDER_MAX], size[ORDER_MAX] = {0}, largest = 0;
    uint64_t seen = 0;

    cr_assert_eq(ft_ring_order(domain, n, order), 0);
    for (uint32_t i = 0; i < n; i++) {
        seen |= UINT64_C(1) << order[i];
        if (++size[domain[i]] > largest)
            largest = size[domain[i]];
    }
    cr_assert_eq(seen, (UINT64_C(1) << n) - 1, "not a permutation");
    cr_assert_geq(order_distance(domain, order, n), n / largest);
}

Test(ft_ring, order_keeps_domains_apart)
{
    uint32_t domain[ORDER_MAX], state = 1;

    for (uint32_t n = 1; n <= ORDER_MAX; n++)
        for (uint32_t ndomains = 1; ndomains <= n; ndomains++) {
            for (uint32_t i = 0; i < n; i++) {
                state = state * 1664525 + 1013904223;
                domain[i] = (state >> 16) % ndomains;
            }
            check_order(domain, n);
        }
    for (uint32_t i = 0; i < 12; i++)
        domain[i] = i / 3; /* 4 cabinets of 3 nodes, in sequence: distance 4 */
    check_order(domain, 12);
}
