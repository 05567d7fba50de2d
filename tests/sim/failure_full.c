/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure_full.c - a queue of an agent that overflows (ft_mesh.h): the frame, some of
 * those in flight, and all later ones to the node are lost; the sender reports the node.
 *
 * The agent of the other node goes on until it learns that it is considered failed: it
 * takes part in broadcasts and agreements, may be their coordinator, and must be told.
 * Its PEs end when the first node considers them failed, since what they would write into
 * the memory of the survivors until they are killed is not defined.
 */
#include "config.h"

#include "pgas/ft/protocol/ft_proto_int.h"
#include "pgas/transport/test/random.h"
#include "tests/sim/failure_int.h"

enum { LEFT_BITS = 5 /* it overflows after 0 .. 2^(LEFT_BITS - 1) - 1 frames, or .. */ };
#define ARMED_NS UINT64_C(1000000) /* .. not at all after that time */

static uint32_t failure_full_in_flight(const struct failure_agent *a)
{
    uint32_t n = 0;

    for (const struct failure_frame *m = a->f->frames; m != NULL; m = m->next)
        n += m->from == a->node && m->to == a->full.to && !m->closed;
    return n;
}

/* The list has the latest frame first. */
static void failure_full_lose(struct failure_agent *a)
{
    uint64_t lost = random_below(&a->f->random, failure_full_in_flight(a) + 1);

    for (struct failure_frame *m = a->f->frames; m != NULL && lost > 0; m = m->next)
        if (m->from == a->node && m->to == a->full.to && !m->closed) {
            m->lost = true;
            lost--;
        }
}

bool failure_full_drops(struct failure_agent *a, int to, const void *bytes)
{
    struct failure_full *full = &a->full;

    if (!full->armed || to != full->to)
        return false;
    if (full->dropped)
        return ((const unsigned char *)bytes)[1] != FT_FRAME_VERDICT;
    if (full->left > 0) {
        full->left--;
        return false;
    }
    failure_full_lose(a);
    full->dropped = full->report = true;
    return true;
}

void failure_full_report(struct failure_agent *a)
{
    struct failure_full *full = &a->full;

    if (!full->report)
        return;
    full->report = false;
    ft_service_node_lost(&a->service, failure_clock(a->f), (uint32_t)full->to);
    if (ft_proto_node_failed(a->service.proto, (uint32_t)full->to) &&
        !a->f->job->node_dead[full->to])
        failure_strand(a->f, full->to);
}

static void failure_full_disarm(void *data)
{
    struct failure_agent *a = data;

    if (!a->full.dropped)
        a->full.armed = false;
}

void failure_full_arm(struct failure *f, int pe)
{
    const struct job_config *c = &f->job->config;
    int to = job_node(c, pe), from = (int)random_below(&f->random, (uint64_t)c->nodes);
    struct failure_agent *a = &f->agent[from];

    if (from == to || !a->runs || a->full.armed || f->job->node_dead[from])
        return;
    a->full.armed = true;
    a->full.to = to;
    a->full.left = (uint32_t)random_below(
        &f->random, UINT64_C(1) << random_below(&f->random, LEFT_BITS));
    sim_call_at(f->job->sim, sim_time_ns(f->job->sim) + ARMED_NS, failure_full_disarm, a);
}
