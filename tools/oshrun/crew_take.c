/* SPDX-License-Identifier: BSD-3-Clause */
/* crew_take.c - see crew_int.h: what the daemons say, from their first call to the end of
 * their links.  Uses route.c, pack.c, gather.c, starter.c. */
#include "config.h"

#include "tools/oshrun/complain.h"
#include "tools/oshrun/crew_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAD (-1) /* the message is not a right one */

/* ---- calls and places ------------------------------------------------------------- */

/* The daemon has the job, or will get it: it is attached to its parent. */
static void place(struct crew *c, struct member *m)
{
    const struct tree *t = &c->route.tree;
    uint32_t parent = tree_parent(t, m->node);
    struct pack p = {0};
    pack_u32(&p, m->node);
    pack_u32(&p, t->nnodes);
    pack_u32(&p, t->fanout);
    pack_string(&p, parent == WIRE_FRONT ? NULL : c->member[parent].addresses);
    m->state = MEMBER_PLACED;
    crew_give_time(c, m, c->o->start_timeout_ms);
    link_send(m->call, &(struct frame){.type = WIRE_PLACE,
                                       .from = WIRE_FRONT,
                                       .to = m->node,
                                       .data = p.data,
                                       .len = p.len});
    pack_free(&p);
    if (parent != WIRE_FRONT)
        return;
    struct link *l = m->call;
    m->call = NULL;
    m->state = MEMBER_THERE;
    route_attach(&c->route, m->node, l,
                 &(struct frame){.type = WIRE_JOB,
                                 .from = WIRE_FRONT,
                                 .to = m->node,
                                 .data = c->job_bytes.data,
                                 .len = c->job_bytes.len});
}

static bool may_place(const struct crew *c, const struct member *m)
{
    uint32_t parent = tree_parent(&c->route.tree, m->node);
    return m->state == MEMBER_CALLED &&
           (parent == WIRE_FRONT || c->member[parent].addresses != NULL);
}

/* A daemon that has called lets itself and its children be placed. */
static void place_around(struct crew *c, struct member *m)
{
    const struct tree *t = &c->route.tree;
    if (may_place(c, m))
        place(c, m);
    for (uint32_t i = 0; i < tree_children(t, m->node); i++) {
        struct member *child = &c->member[tree_child(t, m->node, i)];
        if (may_place(c, child))
            place(c, child);
    }
}

static void forget_caller(struct crew *c, const struct link *l)
{
    for (uint32_t i = 0; i < c->ncallers; i++)
        if (c->caller[i] == l)
            c->caller[i] = c->caller[--c->ncallers];
}

static void hang_up(struct crew *c, struct link *l, const char *why)
{
    complain("refused the node daemon at %s: %s", link_peer(l), why);
    forget_caller(c, l);
    link_free(l);
}

static void take_hello(struct crew *c, struct link *l, const struct frame *f)
{
    struct unpack u = unpack_of(f->data, f->len);
    uint32_t wire = unpack_u32(&u);
    const char *version = unpack_string(&u);
    uint32_t node = unpack_u32(&u);
    const char *host = unpack_string(&u);
    unpack_u32(&u); /* its pid, for who reads along */
    uint64_t clock_ns = unpack_u64(&u);
    const char *addresses = unpack_string(&u);
    node = crew_find_node(c, node, host);
    if (version != NULL &&
        (wire != WIRE_VERSION || strcmp(version, PACKAGE_VERSION) != 0)) {
        crew_fail(
            c, CREW_EXIT_ERROR,
            "the oshrun at %s is of version %s (messages %u), this one of %s "
            "(messages %u); install the same on all hosts, or set SHMEM_LAUNCH_DAEMON",
            link_peer(l), version, wire, PACKAGE_VERSION, WIRE_VERSION);
        return;
    }
    if (u.failed || version == NULL || addresses == NULL || node >= c->job->nnodes) {
        hang_up(c, l, "it is for no node of this job");
        return;
    }
    struct member *m = &c->member[node];
    if (m->state == MEMBER_LOST) { /* too late */
        forget_caller(c, l);
        link_free(l);
        return;
    }
    if (m->state != MEMBER_AWAITED) {
        hang_up(c, l, "its node has a daemon already");
        return;
    }
    forget_caller(c, l);
    link_set_user(l, m);
    m->state = MEMBER_CALLED;
    crew_give_time(c, m, 0); /* until its parent has called */
    m->call = l;
    m->clock_ns = (int64_t)(loop_now_ns() - clock_ns);
    m->addresses = strdup(addresses);
    starter_arrived(c->starter, node);
    if (++c->staged[DAEMON_STAGE_CALLED] == c->job->nnodes)
        c->ev->pe.stage(c->front, DAEMON_STAGE_CALLED);
    place_around(c, m);
}

/* ---- what becomes of PEs ---------------------------------------------------------- */

/* The PE that a message is about, if it is one of that node. */
static struct member_pe *read_pe(struct crew *c, const struct member *m, struct unpack *u,
                                 uint32_t *rank)
{
    *rank = unpack_u32(u);
    if (u->failed || *rank >= c->job->npes || c->pe[*rank].node != m->node)
        return NULL;
    return &c->pe[*rank];
}

static int take_started(struct crew *c, struct member *m, struct unpack *u)
{
    uint32_t rank, pid;
    struct member_pe *pe = read_pe(c, m, u, &rank);
    pid = unpack_u32(u);
    if (pe == NULL || !unpack_done(u))
        return BAD;
    pe->pid = pid;
    pe->state = WIRE_PE_RUNS;
    c->ev->pe.started(c->front, rank, (int32_t)pid);
    return 0;
}

static int take_output(struct crew *c, struct member *m, struct unpack *u)
{
    uint32_t rank;
    size_t len;
    struct member_pe *pe = read_pe(c, m, u, &rank);
    uint8_t s = unpack_u8(u);
    const char *text = unpack_bytes(u, &len);
    if (pe == NULL || !unpack_done(u) || s >= DAEMON_STREAMS)
        return BAD;
    c->ev->pe.output(c->front, rank, (enum daemon_stream)s, text, len);
    crew_output_taken(c, m, (enum daemon_stream)s, len);
    return 0;
}

static int take_connected(struct crew *c, struct member *m, struct unpack *u)
{
    uint32_t rank;
    if (read_pe(c, m, u, &rank) == NULL || !unpack_done(u))
        return BAD;
    c->ev->pe.connected(c->front, rank);
    return 0;
}

static int take_finalized(struct crew *c, struct member *m, struct unpack *u)
{
    uint32_t rank;
    if (read_pe(c, m, u, &rank) == NULL || !unpack_done(u))
        return BAD;
    c->ev->pe.finalized(c->front, rank);
    return 0;
}

static int take_ended(struct crew *c, struct member *m, struct unpack *u)
{
    struct daemon_end end;
    struct member_pe *pe = read_pe(c, m, u, &end.rank);
    end.pid = (int32_t)unpack_u32(u);
    end.signalled = unpack_u8(u) != 0;
    end.code = (int)unpack_u32(u);
    end.connected = unpack_u8(u) != 0;
    end.finalized = unpack_u8(u) != 0;
    for (int i = 0; i < NODE_STAGES; i++) {
        uint64_t at = unpack_u64(u);
        end.stage_ns[i] = at != 0 ? at + (uint64_t)m->clock_ns : 0;
    }
    if (pe == NULL || !unpack_done(u) || pe->state == WIRE_PE_ENDED)
        return BAD;
    pe->state = WIRE_PE_ENDED;
    pe->how = end.signalled ? (uint32_t)end.code : (uint32_t)end.code << 8;
    m->live--;
    c->ev->pe.ended(c->front, &end);
    return 0;
}

static int take_aborted(struct crew *c, struct member *m, struct unpack *u)
{
    uint32_t rank;
    struct member_pe *pe = read_pe(c, m, u, &rank);
    int status = (int)unpack_u32(u);
    const char *text = unpack_string(u);
    if (pe == NULL || !unpack_done(u) || text == NULL)
        return BAD;
    c->ev->pe.aborted(c->front, rank, status, text);
    return 0;
}

static int take_input_wanted(struct crew *c, struct member *m, struct unpack *u)
{
    bool open = unpack_u8(u) != 0;
    if (!unpack_done(u))
        return BAD;
    if (c->job->stdin_pe != JOB_NO_PE && c->pe[c->job->stdin_pe].node == m->node)
        c->ev->pe.input(c->front, open);
    return 0;
}

/* ---- what becomes of nodes -------------------------------------------------------- */

static int take_report_line(struct crew *c, struct member *m, struct unpack *u)
{
    uint32_t number = unpack_u32(u), rank = unpack_u32(u);
    const char *text = unpack_string(u);
    if (!unpack_done(u) || text == NULL)
        return BAD;
    crew_report_line(c, number, m->node, rank, text);
    return 0;
}

static int take_reported(struct crew *c, struct member *m, struct unpack *u)
{
    uint32_t number = unpack_u32(u);
    if (!unpack_done(u))
        return BAD;
    if (number == c->report_number)
        crew_report_part(c, m);
    return 0;
}

static int take_stage(struct crew *c, struct member *m, struct unpack *u)
{
    (void)m;
    uint8_t stage = unpack_u8(u);
    if (!unpack_done(u) || stage >= DAEMON_STAGES)
        return BAD;
    if (++c->staged[stage] == c->job->nnodes)
        c->ev->pe.stage(c->front, (enum daemon_stage)stage);
    return 0;
}

static int take_drained(struct crew *c, struct member *m, struct unpack *u)
{
    if (!unpack_done(u) || m->state >= MEMBER_DRAINED)
        return BAD;
    m->state = MEMBER_DRAINED;
    crew_report_part(c, m);
    crew_member_over(c);
    return 0;
}

static int take_say(struct crew *c, struct member *m, struct unpack *u)
{
    const char *text = unpack_string(u);
    char line[COMPLAINT_BYTES];
    if (!unpack_done(u) || text == NULL)
        return BAD;
    snprintf(line, sizeof line, "%s: %s", crew_host(c, m->node), text);
    c->ev->pe.say(c->front, line);
    return 0;
}

static int take_failed(struct crew *c, struct member *m, struct unpack *u)
{
    int status = (int)unpack_u32(u);
    const char *text = unpack_string(u);
    if (!unpack_done(u) || text == NULL)
        return BAD;
    if (c->ending) /* it has no PEs, and will have none */
        crew_lost(c, m->node, text);
    crew_fail(c, status, "%s: %s", crew_host(c, m->node), text);
    return 0;
}

static int take_lost(struct crew *c, struct member *m, struct unpack *u)
{
    uint32_t node = unpack_u32(u);
    const char *why = unpack_string(u);
    if (!unpack_done(u) || why == NULL || node >= c->job->nnodes || node == m->node ||
        !tree_below(&c->route.tree, m->node, node))
        return BAD;
    crew_lost(c, node, why);
    return 0;
}

/* ---- PMIx ------------------------------------------------------------------------- */

static int take_query(struct crew *c, struct member *m, struct unpack *u)
{
    uint64_t number = unpack_u64(u);
    struct pack p = {0};
    pack_u64(&p, number);
    pack_u32(&p, c->job->npes);
    for (uint32_t i = 0; i < c->job->npes; i++) {
        pack_u32(&p, i);
        pack_u32(&p, c->pe[i].node);
        pack_u32(&p, c->pe[i].pid);
        pack_u8(&p, (uint8_t)c->pe[i].state);
        pack_u32(&p, c->pe[i].how);
    }
    crew_send_pack(c, WIRE_QUERY_ANSWER, m->node, &p);
    return 0;
}

static int take_control(struct crew *c, struct member *m, struct unpack *u)
{
    (void)m;
    int sig = (int)unpack_u32(u);
    uint32_t count, *rank = unpack_numbers(u, &count);
    bool good = unpack_done(u);
    if (good)
        c->ev->pe.control(c->front, sig, rank, count);
    free(rank);
    return good ? 0 : BAD;
}

/* ---- frames ----------------------------------------------------------------------- */

typedef int take_fn(struct crew *c, struct member *m, struct unpack *u);

static take_fn *const take[WIRE_TYPES] = {
    [WIRE_STARTED] = take_started,
    [WIRE_OUTPUT] = take_output,
    [WIRE_CONNECTED] = take_connected,
    [WIRE_FINALIZED] = take_finalized,
    [WIRE_ENDED] = take_ended,
    [WIRE_ABORTED] = take_aborted,
    [WIRE_INPUT_WANTED] = take_input_wanted,
    [WIRE_REPORT_LINE] = take_report_line,
    [WIRE_REPORTED] = take_reported,
    [WIRE_STAGE] = take_stage,
    [WIRE_DRAINED] = take_drained,
    [WIRE_SAY] = take_say,
    [WIRE_FAILED] = take_failed,
    [WIRE_LOST] = take_lost,
    [WIRE_QUERY_ASK] = take_query,
    [WIRE_CONTROL_ASK] = take_control,
};

static int take_here(struct crew *c, const struct frame *f)
{
    struct unpack u = unpack_of(f->data, f->len);
    if (f->type == WIRE_GATHER_UP || f->type == WIRE_GATHER_DOWN)
        return gather_take(c->gather, f);
    if (take[f->type] == NULL || f->from >= c->job->nnodes)
        return BAD;
    struct member *m = &c->member[f->from];
    if (m->state == MEMBER_LOST)
        return 0; /* its last words came after the news of its end */
    return take[f->type](c, m, &u);
}

/* From a daemon that has not its place in the tree yet. */
static int take_call(struct crew *c, struct member *m, const struct frame *f)
{
    struct unpack u = unpack_of(f->data, f->len);
    /* What it says through the tree may have come before. */
    if (f->type == WIRE_PLACE && m->state == MEMBER_PLACED)
        m->state = MEMBER_THERE;
    else if (f->type == WIRE_PLACE && m->state > MEMBER_PLACED)
        return 0;
    else if (f->type == WIRE_FAILED)
        return take_failed(c, m, &u);
    else if (f->type == WIRE_SAY)
        return take_say(c, m, &u);
    else
        return BAD;
    return 0;
}

static void on_frame(void *arg, struct link *l, const struct frame *f)
{
    struct crew *c = arg;
    struct member *m = link_user(l);
    int rc = 0;
    if (c->failed || c->stopping)
        return;
    if (m == NULL && f->type == WIRE_HELLO)
        take_hello(c, l, f);
    else if (m == NULL)
        hang_up(c, l, "it does not say who it is");
    else if (m->call == l)
        rc = take_call(c, m, f);
    else if (route_take(&c->route, l, f))
        rc = take_here(c, f);
    if (rc != 0)
        crew_fail(c, CREW_EXIT_ERROR, "%s: its daemon has sent a wrong message (%s)",
                  crew_host(c, m->node), wire_name(f->type));
}

/* A daemon hangs up when it has the job from its parent. */
static void on_call_down(struct crew *c, struct member *m, const char *why)
{
    struct link *l = m->call;
    m->call = NULL;
    if (m->state < MEMBER_THERE)
        crew_lost(c, m->node, why);
    link_free(l);
}

static void on_down(void *arg, struct link *l, const char *why)
{
    struct crew *c = arg;
    struct member *m = link_user(l);
    if (c->stopping) {
        crew_left(c, l);
        return;
    }
    if (m == NULL) {
        forget_caller(c, l);
        link_free(l);
        return;
    }
    if (m->call == l) {
        on_call_down(c, m, why);
        return;
    }
    char copy[COMPLAINT_BYTES]; /* why goes with the link */
    snprintf(copy, sizeof copy, "%s", why);
    route_detach(&c->route, m->node);
    crew_lost(c, m->node, copy);
}

const struct link_events crew_link_events = {.frame = on_frame, .down = on_down};
