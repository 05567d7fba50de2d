/* SPDX-License-Identifier: BSD-3-Clause */
/* daemons_send.c - see daemons_int.h: commands to the daemons, confirmation of output,
 * and collection of reports.  Uses route.c, pack.c. */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/start/daemons_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_MS       2000  /* for the part of a node in a table */
#define STACKS_MS       20000 /* with stacks; daemons give up on debuggers earlier */
#define LINES_FIRST     64
#define LINE_BYTES      512
#define CONFIRM_DIVISOR 4 /* confirm when window / CONFIRM_DIVISOR is unconfirmed */

void daemons_send(struct daemons *ds, enum wire_type type, uint32_t to, const void *data,
                  size_t len)
{
    route_send(&ds->route,
               &(struct frame){
                   .type = type, .from = WIRE_FRONT, .to = to, .data = data, .len = len});
}

void daemons_send_pack(struct daemons *ds, enum wire_type type, uint32_t to,
                       struct pack *p)
{
    if (p->failed)
        error_no_memory();
    daemons_send(ds, type, to, p->data, p->len);
    pack_free(p);
}

/* ---- commands --------------------------------------------------------------------- */

/* A daemon that connects after this point starts no PEs. */
static void daemons_send_give_up_absent(struct daemons *ds)
{
    ds->ending = true;
    for (uint32_t i = 0; i < ds->job->nnodes; i++)
        if (ds->conn[i].state <= CONN_UNPLACED)
            daemons_lost(ds, i, "is no longer needed");
}

void daemons_signal(struct daemons *ds, int sig)
{
    struct pack p = {0};
    if (daemon_is_fatal(sig))
        daemons_send_give_up_absent(ds);
    pack_u32(&p, (uint32_t)sig);
    daemons_send_pack(ds, WIRE_SIGNAL, WIRE_ALL, &p);
}

void daemons_control(struct daemons *ds, int sig, const uint32_t *rank, uint32_t count)
{
    struct pack p = {0};
    pack_u32(&p, (uint32_t)sig);
    pack_numbers(&p, rank, count);
    daemons_send_pack(ds, WIRE_CONTROL, WIRE_ALL, &p);
}

void daemons_close_output(struct daemons *ds, enum daemon_stream s)
{
    struct pack p = {0};
    pack_u8(&p, (uint8_t)s);
    daemons_send_pack(ds, WIRE_OUTPUT_CLOSE, WIRE_ALL, &p);
}

void daemons_input(struct daemons *ds, const char *text, size_t len)
{
    if (ds->job->stdin_pe != JOB_NO_PE)
        daemons_send(ds, WIRE_INPUT, ds->pe[ds->job->stdin_pe].node, text, len);
}

/* ---- output ----------------------------------------------------------------------- */

static void daemons_send_confirm(struct daemons *ds, struct daemon_conn *dc,
                                 enum daemon_stream s)
{
    struct pack p = {0};
    pack_u8(&p, (uint8_t)s);
    pack_u64(&p, dc->unconfirmed[s]);
    dc->unconfirmed[s] = 0;
    daemons_send_pack(ds, WIRE_OUTPUT_TAKEN, dc->node, &p);
}

void daemons_output_taken(struct daemons *ds, struct daemon_conn *dc,
                          enum daemon_stream s, size_t len)
{
    dc->unconfirmed[s] += len;
    if (!ds->paused[s] && dc->unconfirmed[s] >= ds->window / CONFIRM_DIVISOR)
        daemons_send_confirm(ds, dc, s);
}

/* Without confirmations, the daemons stop reading when their window is full. */
void daemons_flow(struct daemons *ds, enum daemon_stream s, bool go)
{
    ds->paused[s] = !go;
    for (uint32_t i = 0; go && i < ds->job->nnodes; i++)
        if (ds->conn[i].unconfirmed[s] > 0)
            daemons_send_confirm(ds, &ds->conn[i], s);
}

/* ---- reports ---------------------------------------------------------------------- */

static void daemons_send_await_report(struct daemons *ds, struct daemon_conn *dc)
{
    char line[LINE_BYTES];
    dc->reports = dc->state == CONN_READY;
    ds->reports += dc->reports;
    if (dc->state >= CONN_READY)
        return;
    snprintf(line, sizeof line, "%s: its daemon has not been started yet",
             daemons_host(ds, dc->node));
    daemons_report_line(ds, ds->report_number, dc->node, JOB_NO_PE, line);
}

static void daemons_send_ask_report(struct daemons *ds, struct daemon_conn *dc,
                                    bool stacks)
{
    struct pack p = {0};
    pack_u8(&p, stacks);
    pack_u32(&p, ds->report_number);
    if (dc->reports)
        daemons_send_pack(ds, WIRE_REPORT, dc->node, &p);
    else
        pack_free(&p);
}

/* One report runs at a time; further requests are queued. */
void daemons_report(struct daemons *ds, bool stacks)
{
    if (ds->reporting) {
        ds->next_report[stacks]++;
        return;
    }
    ds->reporting = true;
    ds->report_number++;
    for (uint32_t i = 0; i < ds->job->nnodes; i++)
        daemons_send_await_report(ds, &ds->conn[i]);
    for (uint32_t i = 0; i < ds->job->nnodes; i++)
        daemons_send_ask_report(ds, &ds->conn[i], stacks);
    loop_after(ds->loop, &ds->report_limit,
               ds->reports == 0 ? 0
               : stacks         ? STACKS_MS
                                : REPORT_MS);
}

/* By rank; lines that belong to no PE follow, by node and order of arrival. */
static int daemons_send_by_rank(const void *a, const void *b)
{
    const struct report_line *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void daemons_report_free(struct daemons *ds)
{
    for (size_t i = 0; i < ds->report_len; i++)
        free(ds->report[i].text);
    free(ds->report);
    ds->report = NULL;
    ds->report_len = ds->report_capacity = 0;
}

static void daemons_send_finish_report(struct daemons *ds)
{
    loop_cancel(ds->loop, &ds->report_limit);
    ds->reports = 0;
    ds->reporting = false;
    if (ds->report_len > 0)
        qsort(ds->report, ds->report_len, sizeof *ds->report, daemons_send_by_rank);
    for (size_t i = 0; i < ds->report_len; i++)
        ds->ev->pe.report(ds->front, ds->report[i].rank, ds->report[i].text);
    daemons_report_free(ds);
    ds->ev->pe.reported(ds->front);
    for (int stacks = 0; stacks < 2; stacks++)
        if (ds->next_report[stacks] > 0 && !ds->reporting) {
            ds->next_report[stacks]--;
            daemons_report(ds, stacks);
        }
}

void daemons_report_line(struct daemons *ds, uint32_t number, uint32_t node,
                         uint32_t rank, const char *text)
{
    if (number == 0) { /* how a PE is bound */
        ds->ev->pe.report(ds->front, rank, text);
        return;
    }
    if (!ds->reporting || number != ds->report_number)
        return; /* too late */
    if (ds->report_len == ds->report_capacity) {
        size_t capacity = ds->report_capacity ? ds->report_capacity * 2 : LINES_FIRST;
        struct report_line *more = realloc(ds->report, capacity * sizeof *more);
        if (more == NULL)
            return;
        ds->report = more;
        ds->report_capacity = capacity;
    }
    char *copy = strdup(text);
    if (copy == NULL)
        return;
    ds->report[ds->report_len] = (struct report_line){
        .rank = rank, .node = node, .order = ds->report_len, .text = copy};
    ds->report_len++;
}

void daemons_report_part(struct daemons *ds, struct daemon_conn *dc)
{
    if (!dc->reports)
        return;
    dc->reports = false;
    if (--ds->reports == 0)
        daemons_send_finish_report(ds);
}

void daemons_on_report_limit(void *arg)
{
    struct daemons *ds = arg;
    char line[LINE_BYTES];
    for (uint32_t i = 0; i < ds->job->nnodes; i++) {
        if (!ds->conn[i].reports)
            continue;
        snprintf(line, sizeof line, "%s: its daemon has not answered in time",
                 daemons_host(ds, i));
        daemons_report_line(ds, ds->report_number, i, JOB_NO_PE, line);
        ds->conn[i].reports = false;
    }
    daemons_send_finish_report(ds);
}
