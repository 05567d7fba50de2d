/* SPDX-License-Identifier: BSD-3-Clause */
/* daemons_send.c - see daemons_int.h: commands to the daemons, confirmation of output,
 * and requests for reports.  Uses route.c, pack.c. */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/start/daemons_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_MS       35000 /* daemons give up on debuggers earlier */
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

static void daemons_send_remark(struct daemons *ds, uint32_t node, const char *remark)
{
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "%s: %s", daemons_host(ds, node), remark);
    ds->ev->pe.report(ds->front, DAEMON_LINE_REMARK, NULL, 0, line);
}

static void daemons_send_ask_report(struct daemons *ds, struct daemon_conn *dc,
                                    bool verbose)
{
    struct pack p = {0};
    pack_u8(&p, verbose);
    pack_u32(&p, ds->report_number);
    daemons_send_pack(ds, WIRE_REPORT, dc->node, &p);
}

void daemons_report(struct daemons *ds, bool verbose)
{
    ds->report_number++;
    ds->reporting = true;
    for (uint32_t i = 0; i < ds->job->nnodes; i++) {
        ds->conn[i].reports = ds->conn[i].state == CONN_READY;
        ds->reports += ds->conn[i].reports;
        if (ds->conn[i].state < CONN_READY)
            daemons_send_remark(ds, i, "its daemon has not been started yet");
    }
    for (uint32_t i = 0; i < ds->job->nnodes; i++)
        if (ds->conn[i].reports)
            daemons_send_ask_report(ds, &ds->conn[i], verbose);
    loop_after(ds->loop, &ds->report_limit, ds->reports == 0 ? 0 : REPORT_MS);
}

static void daemons_send_finish_report(struct daemons *ds)
{
    loop_cancel(ds->loop, &ds->report_limit);
    ds->reports = 0;
    ds->reporting = false;
    ds->ev->pe.reported(ds->front);
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
    for (uint32_t i = 0; i < ds->job->nnodes; i++) {
        if (ds->conn[i].reports)
            daemons_send_remark(ds, i, "its daemon has not answered in time");
        ds->conn[i].reports = false;
    }
    daemons_send_finish_report(ds);
}
