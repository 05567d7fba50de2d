/* SPDX-License-Identifier: BSD-3-Clause */
/* daemons_recv.c - see daemons_int.h: unpacks the frames of the daemons, and passes the
 * events to the front end.  Uses front_*.c, route.c, pack.c, gather.c, starter.c. */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/start/daemons_int.h"
#include "tools/oshrun/util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAD (-1) /* malformed message */

/* ---- connections and positions ---------------------------------------------------- */

/* Sends PLACE, and then to the daemons below that have connected, but not before PLACE to
 * their parent.  A child of the front end is attached and gets the job here, any other
 * daemon from its parent. */
static void daemons_place(struct daemons *ds, struct daemon_conn *dc)
{
    const struct tree *t = &ds->route.tree;
    uint32_t parent = tree_parent(t, dc->node);
    struct pack p = {0};
    if (dc->state != CONN_UNPLACED ||
        (parent != WIRE_FRONT && ds->conn[parent].state < CONN_PLACED))
        return;
    pack_u32(&p, dc->node);
    pack_u32(&p, t->nnodes);
    pack_u32(&p, t->fanout);
    pack_string(&p, parent == WIRE_FRONT ? NULL : ds->conn[parent].addresses);
    dc->state = CONN_PLACED;
    daemons_set_deadline(ds, dc, ds->o->start_timeout_ms);
    link_send(dc->direct, &(struct frame){.type = WIRE_PLACE,
                                          .from = WIRE_FRONT,
                                          .to = dc->node,
                                          .data = p.data,
                                          .len = p.len});
    pack_free(&p);
    if (parent == WIRE_FRONT) {
        struct frame job = {.type = WIRE_JOB,
                            .from = WIRE_FRONT,
                            .to = dc->node,
                            .data = ds->job_bytes.data,
                            .len = ds->job_bytes.len};
        route_attach(&ds->route, dc->node, dc->direct, &job);
        dc->direct = NULL;
        dc->state = CONN_READY;
    }
    for (uint32_t i = 0; i < tree_children(t, dc->node); i++)
        daemons_place(ds, &ds->conn[tree_child(t, dc->node, i)]);
}

static void daemons_recv_forget_link(struct daemons *ds, const struct link *l)
{
    for (uint32_t i = 0; i < ds->nunidentified; i++)
        if (ds->unidentified[i] == l)
            ds->unidentified[i] = ds->unidentified[--ds->nunidentified];
}

static void daemons_recv_close_link(struct daemons *ds, struct link *l, const char *why)
{
    error_report("refused the node daemon at %s: %s", link_peer(l), why);
    daemons_recv_forget_link(ds, l);
    link_free(l);
}

static void daemons_recv_hello(struct daemons *ds, struct link *l, const struct frame *f)
{
    struct unpack u = unpack_of(f->data, f->len);
    uint32_t wire = unpack_u32(&u);
    const char *version = unpack_string(&u);
    uint32_t node = unpack_u32(&u);
    const char *host = unpack_string(&u);
    unpack_u32(&u); /* its pid, not used */
    uint64_t clock_ns = unpack_u64(&u);
    const char *addresses = unpack_string(&u);
    node = daemons_find_node(ds, node, host);
    if (version != NULL &&
        (wire != WIRE_VERSION || strcmp(version, PACKAGE_VERSION) != 0)) {
        daemons_fail(
            ds, DAEMONS_EXIT_ERROR,
            "the oshrun at %s has version %s (messages %u), this one has %s "
            "(messages %u); install the same on all hosts, or set SHMEM_LAUNCH_DAEMON",
            link_peer(l), version, wire, PACKAGE_VERSION, WIRE_VERSION);
        return;
    }
    if (u.failed || version == NULL || addresses == NULL || node >= ds->job->nnodes) {
        daemons_recv_close_link(ds, l, "it belongs to no node of this job");
        return;
    }
    struct daemon_conn *dc = &ds->conn[node];
    if (dc->state == CONN_LOST) { /* too late */
        daemons_recv_forget_link(ds, l);
        link_free(l);
        return;
    }
    if (dc->state != CONN_STARTED) {
        daemons_recv_close_link(ds, l, "its node already has a daemon");
        return;
    }
    daemons_recv_forget_link(ds, l);
    link_set_user(l, dc);
    dc->state = CONN_UNPLACED;
    daemons_set_deadline(ds, dc, 0); /* no limit until its parent has its place */
    dc->direct = l;
    dc->clock_ns = (int64_t)(loop_now_ns() - clock_ns);
    dc->addresses = mem_strdup(addresses);
    starter_arrived(ds->starter, node);
    if (++ds->staged[DAEMON_STAGE_CALLED] == ds->job->nnodes)
        timing_stage(&ds->front->timing, DAEMON_STAGE_CALLED);
    daemons_place(ds, dc);
}

/* ---- events of PEs ---------------------------------------------------------------- */

static int daemons_recv_started(struct daemons *ds, uint32_t rank, struct unpack *u)
{
    uint32_t pid = unpack_u32(u);
    if (!unpack_done(u))
        return BAD;
    ds->pe[rank].pid = pid;
    ds->pe[rank].state = WIRE_PE_RUNS;
    return 0;
}

static int daemons_recv_output(struct daemons *ds, uint32_t rank, struct unpack *u)
{
    size_t len;
    uint8_t s = unpack_u8(u);
    const char *text = unpack_rest(u, &len);
    if (u->failed || s >= DAEMON_STREAMS)
        return BAD;
    front_on_output(ds->front, rank, (enum daemon_stream)s, text, len);
    daemons_output_taken(ds, &ds->conn[ds->pe[rank].node], (enum daemon_stream)s, len);
    return 0;
}

static int daemons_recv_connected(struct daemons *ds, uint32_t rank, struct unpack *u)
{
    if (!unpack_done(u))
        return BAD;
    front_on_connected(ds->front, rank);
    return 0;
}

static int daemons_recv_finalized(struct daemons *ds, uint32_t rank, struct unpack *u)
{
    if (!unpack_done(u))
        return BAD;
    front_on_finalized(ds->front, rank);
    return 0;
}

static int daemons_recv_ended(struct daemons *ds, uint32_t rank, struct unpack *u)
{
    struct conn_pe *pe = &ds->pe[rank];
    struct daemon_conn *dc = &ds->conn[pe->node];
    struct daemon_end end = {.rank = rank};
    end.pid = (int32_t)unpack_u32(u);
    end.signalled = unpack_u8(u) != 0;
    end.code = (int)unpack_u32(u);
    end.connected = unpack_u8(u) != 0;
    end.finalized = unpack_u8(u) != 0;
    end.failed = unpack_u8(u) != 0;
    for (int i = 0; i < NODE_STAGES; i++) {
        uint64_t at = unpack_u64(u);
        end.stage_ns[i] = at != 0 ? at + (uint64_t)dc->clock_ns : 0;
    }
    if (!unpack_done(u) || pe->state == WIRE_PE_ENDED)
        return BAD;
    pe->state = WIRE_PE_ENDED;
    pe->how = end.signalled ? (uint32_t)end.code : (uint32_t)end.code << 8;
    dc->live--;
    front_on_ended(ds->front, &end);
    return 0;
}

static int daemons_recv_aborted(struct daemons *ds, uint32_t rank, struct unpack *u)
{
    int status = (int)unpack_u32(u);
    const char *text = unpack_string(u);
    if (!unpack_done(u) || text == NULL)
        return BAD;
    front_on_aborted(ds->front, rank, status, text);
    return 0;
}

/* ---- events of nodes -------------------------------------------------------------- */

static int daemons_recv_input_wanted(struct daemons *ds, struct daemon_conn *dc,
                                     struct unpack *u)
{
    bool open = unpack_u32(u) != 0;
    if (!unpack_done(u))
        return BAD;
    if (ds->job->stdin_pe != JOB_NO_PE && ds->pe[ds->job->stdin_pe].node == dc->node)
        front_on_input(ds->front, open);
    return 0;
}

static int daemons_recv_report_line(struct daemons *ds, struct daemon_conn *dc,
                                    struct unpack *u)
{
    (void)dc;
    uint32_t number = unpack_u32(u), count;
    uint8_t line = unpack_u8(u);
    uint32_t *rank = unpack_numbers(u, &count);
    const char *text = unpack_string(u);
    bool good = unpack_done(u) && text != NULL && line < DAEMON_LINES;
    for (uint32_t i = 0; good && i < count; i++)
        good = rank[i] < ds->job->npes;
    bool late = ds->reports == 0 || number != ds->report_number;
    if (good && (!late || line == DAEMON_LINE_BINDING))
        front_report_add(ds->front, (enum daemon_line)line, rank, count, text);
    free(rank);
    return good ? 0 : BAD;
}

static int daemons_recv_reported(struct daemons *ds, struct daemon_conn *dc,
                                 struct unpack *u)
{
    uint32_t number = unpack_u32(u);
    if (!unpack_done(u))
        return BAD;
    if (number == ds->report_number)
        daemons_report_part(ds, dc);
    return 0;
}

static int daemons_recv_stage(struct daemons *ds, struct daemon_conn *dc,
                              struct unpack *u)
{
    uint32_t stage = unpack_u32(u);
    if (!unpack_done(u) || stage >= DAEMON_STAGES)
        return BAD;
    dc->spawned = dc->spawned || stage == DAEMON_STAGE_SPAWN;
    if (++ds->staged[stage] == ds->job->nnodes)
        timing_stage(&ds->front->timing, (enum daemon_stage)stage);
    return 0;
}

static int daemons_recv_drained(struct daemons *ds, struct daemon_conn *dc,
                                struct unpack *u)
{
    if (!unpack_done(u) || dc->state >= CONN_DRAINED)
        return BAD;
    dc->state = CONN_DRAINED;
    if (ds->drained + 1 < ds->job->nnodes) /* else the job is complete */
        daemons_report_part(ds, dc);
    daemons_conn_finished(ds);
    return 0;
}

static int daemons_recv_say(struct daemons *ds, struct daemon_conn *dc, struct unpack *u)
{
    const char *text = unpack_string(u);
    if (!unpack_done(u) || text == NULL)
        return BAD;
    if (ds->here != NULL)
        front_say(ds->front, "%s", text);
    else
        front_say(ds->front, "%s: %s", daemons_host(ds, dc->node), text);
    return 0;
}

static int daemons_recv_failed(struct daemons *ds, struct daemon_conn *dc,
                               struct unpack *u)
{
    int status = (int)unpack_u32(u);
    const char *text = unpack_string(u);
    if (!unpack_done(u) || text == NULL)
        return BAD;
    if (ds->here != NULL) { /* its error messages are those of this process */
        front_on_failed(ds->front, status);
        return 0;
    }
    if (ds->job->ft.on && dc->spawned) {
        daemons_ft_recv_failed(ds, dc, text);
        return 0;
    }
    if (ds->ending) /* it has not started any PEs */
        daemons_lost(ds, dc->node, text);
    daemons_fail(ds, status, "%s: %s", daemons_host(ds, dc->node), text);
    return 0;
}

static int daemons_recv_lost(struct daemons *ds, struct daemon_conn *dc, struct unpack *u)
{
    uint32_t node = unpack_u32(u);
    const char *why = unpack_string(u);
    if (!unpack_done(u) || why == NULL || node >= ds->job->nnodes || node == dc->node ||
        !tree_below(&ds->route.tree, dc->node, node))
        return BAD;
    daemons_lost(ds, node, why);
    return 0;
}

/* ---- PMIx ------------------------------------------------------------------------- */

static int daemons_recv_query(struct daemons *ds, struct daemon_conn *dc,
                              struct unpack *u)
{
    uint64_t number = unpack_u64(u);
    struct pack p = {0};
    pack_u64(&p, number);
    pack_u32(&p, ds->job->npes);
    for (uint32_t i = 0; i < ds->job->npes; i++) {
        pack_u32(&p, i);
        pack_u32(&p, ds->pe[i].node);
        pack_u32(&p, ds->pe[i].pid);
        pack_u8(&p, (uint8_t)ds->pe[i].state);
        pack_u32(&p, ds->pe[i].how);
    }
    daemons_send(ds, WIRE_QUERY_ANSWER, dc->node, &p);
    return 0;
}

/* ---- frames ----------------------------------------------------------------------- */

/* An event of PE rank, which is one of this daemon, or of the daemon. */
typedef int recv_pe_fn(struct daemons *ds, uint32_t rank, struct unpack *u);
typedef int recv_fn(struct daemons *ds, struct daemon_conn *dc, struct unpack *u);

static recv_pe_fn *const recv_pe_table[WIRE_TYPES] = {
    [WIRE_STARTED] = daemons_recv_started,     [WIRE_OUTPUT] = daemons_recv_output,
    [WIRE_CONNECTED] = daemons_recv_connected, [WIRE_FINALIZED] = daemons_recv_finalized,
    [WIRE_ENDED] = daemons_recv_ended,         [WIRE_ABORTED] = daemons_recv_aborted,
};

static recv_fn *const recv_table[WIRE_TYPES] = {
    [WIRE_INPUT_WANTED] = daemons_recv_input_wanted,
    [WIRE_REPORT_LINE] = daemons_recv_report_line,
    [WIRE_REPORTED] = daemons_recv_reported,
    [WIRE_STAGE] = daemons_recv_stage,
    [WIRE_DRAINED] = daemons_recv_drained,
    [WIRE_SAY] = daemons_recv_say,
    [WIRE_FAILED] = daemons_recv_failed,
    [WIRE_LOST] = daemons_recv_lost,
    [WIRE_QUERY_ASK] = daemons_recv_query,
    [WIRE_PE_FAILED] = daemons_ft_recv,
};

static int daemons_recv_frame(struct daemons *ds, const struct frame *f)
{
    struct unpack u = frame_unpack(f);
    if (f->type == WIRE_GATHER_UP || f->type == WIRE_GATHER_DOWN)
        return gather_recv(ds->gather, f);
    if (f->from >= ds->job->nnodes)
        return BAD;
    struct daemon_conn *dc = &ds->conn[f->from];
    if (dc->state == CONN_LOST)
        return 0; /* the loss of the daemon was reported before its last frames arrived */
    if (recv_table[f->type] != NULL)
        return recv_table[f->type](ds, dc, &u);
    uint32_t rank = unpack_u32(&u);
    if (recv_pe_table[f->type] == NULL || u.failed || rank >= ds->job->npes ||
        ds->pe[rank].node != dc->node)
        return BAD;
    return recv_pe_table[f->type](ds, rank, &u);
}

void daemons_recv_here(void *arg, const struct frame *f)
{
    struct daemons *ds = arg;
    if (f->to == WIRE_FRONT)
        daemons_recv_frame(ds, f);
    else
        daemon_recv(ds->here, f); /* to all */
}

/* Handles a frame of a daemon that is not attached to the tree yet. */
static int daemons_recv_direct(struct daemons *ds, struct daemon_conn *dc,
                               const struct frame *f)
{
    struct unpack u = unpack_of(f->data, f->len);
    /* A message through the tree may have overtaken this one. */
    if (f->type == WIRE_PLACE && dc->state == CONN_PLACED)
        dc->state = CONN_READY;
    else if (f->type == WIRE_PLACE && dc->state > CONN_PLACED)
        return 0;
    else if (f->type == WIRE_FAILED)
        return daemons_recv_failed(ds, dc, &u);
    else if (f->type == WIRE_SAY)
        return daemons_recv_say(ds, dc, &u);
    else
        return BAD;
    return 0;
}

static void daemons_recv_on_frame(void *arg, struct link *l, const struct frame *f)
{
    struct daemons *ds = arg;
    struct daemon_conn *dc = link_user(l);
    int rc = 0;
    if (ds->failed || ds->stopping)
        return;
    if (dc == NULL && f->type == WIRE_HELLO)
        daemons_recv_hello(ds, l, f);
    else if (dc == NULL)
        daemons_recv_close_link(ds, l, "it has not identified itself");
    else if (dc->direct == l)
        rc = daemons_recv_direct(ds, dc, f);
    else if (route_recv(&ds->route, l, f))
        rc = daemons_recv_frame(ds, f);
    if (rc != 0)
        daemons_fail(ds, DAEMONS_EXIT_ERROR,
                     "%s: its daemon has sent an invalid message (%s)",
                     daemons_host(ds, dc->node), wire_name(f->type));
}

/* A daemon closes its direct link when it has received the job from its parent. */
static void daemons_recv_on_direct_down(struct daemons *ds, struct daemon_conn *dc,
                                        const char *why)
{
    struct link *l = dc->direct;
    dc->direct = NULL;
    if (dc->state < CONN_READY)
        daemons_lost(ds, dc->node, why);
    link_free(l);
}

static void daemons_recv_on_down(void *arg, struct link *l, const char *why)
{
    struct daemons *ds = arg;
    struct daemon_conn *dc = link_user(l);
    if (ds->stopping) {
        daemons_departed(ds, l);
        return;
    }
    if (dc == NULL) {
        if (link_not_authentic(l))
            daemons_fail(ds, DAEMONS_EXIT_ERROR, "the node daemon at %s %s", link_peer(l),
                         why);
        daemons_recv_forget_link(ds, l);
        link_free(l);
        return;
    }
    if (dc->direct == l) {
        daemons_recv_on_direct_down(ds, dc, why);
        return;
    }
    char copy[ERROR_BYTES]; /* link.h does not guarantee that why outlives the link */
    snprintf(copy, sizeof copy, "%s", why);
    route_detach(&ds->route, dc->node);
    daemons_lost(ds, dc->node, copy);
}

const struct link_events daemons_link_events = {.frame = daemons_recv_on_frame,
                                                .down = daemons_recv_on_down};
