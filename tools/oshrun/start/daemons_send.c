/* SPDX-License-Identifier: BSD-3-Clause */
/* daemons_send.c - see daemons_int.h: commands to the daemons, confirmation of output,
 * and requests for reports.  Uses wire.h, pack.c. */
#include "config.h"

#include "tools/oshrun/start/daemons_int.h"

#include <stdio.h>

#define REPORT_MS       35000 /* daemons give up on debuggers earlier */
#define LINE_BYTES      512
#define CONFIRM_DIVISOR 4 /* confirm when window / CONFIRM_DIVISOR is unconfirmed */

void daemons_send(struct daemons *ds, enum wire_type type, uint32_t to, struct pack *p)
{
    net_out_send(&ds->out, type, WIRE_FRONT, to, p);
}

/* ---- commands --------------------------------------------------------------------- */

void daemons_signal(struct daemons *ds, int sig)
{
    struct pack p = {0};
    if (daemon_is_fatal(sig))
        ds->ending = true; /* a daemon that connects after this point starts no PEs */
    for (uint32_t i = 0; ds->ending && i < ds->job->nnodes; i++)
        if (ds->conn[i].state <= CONN_UNPLACED)
            daemons_lost(ds, i, "is no longer needed");
    pack_u32(&p, (uint32_t)sig);
    pack_numbers(&p, NULL, 0);
    daemons_send(ds, WIRE_SIGNAL, WIRE_ALL, &p);
}

void daemons_close_output(struct daemons *ds, enum daemon_stream s)
{
    struct pack p = {0};
    pack_u8(&p, (uint8_t)s);
    daemons_send(ds, WIRE_OUTPUT_CLOSE, WIRE_ALL, &p);
}

void daemons_input(struct daemons *ds, const char *text, size_t len)
{
    if (ds->job->stdin_pe != JOB_NO_PE)
        ds->out.send(ds->out.arg, &(struct frame){.type = WIRE_INPUT,
                                                  .from = WIRE_FRONT,
                                                  .to = ds->pe[ds->job->stdin_pe].node,
                                                  .data = text,
                                                  .len = len});
}

/* ---- output ----------------------------------------------------------------------- */

static void daemons_send_confirm(struct daemons *ds, struct daemon_conn *dc,
                                 enum daemon_stream s)
{
    struct pack p = {0};
    pack_u8(&p, (uint8_t)s);
    pack_u64(&p, dc->unconfirmed[s]);
    dc->unconfirmed[s] = 0;
    daemons_send(ds, WIRE_OUTPUT_TAKEN, dc->node, &p);
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

static void daemons_report_remark(struct daemons *ds, uint32_t node, const char *remark)
{
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "%s: %s", daemons_host(ds, node), remark);
    front_report_add(ds->front, DAEMON_LINE_REMARK, NULL, 0, line);
}

void daemons_report(struct daemons *ds, bool verbose)
{
    ds->report_number++;
    for (uint32_t i = 0; i < ds->job->nnodes; i++) {
        ds->conn[i].reports = ds->conn[i].state == CONN_READY;
        ds->reports += ds->conn[i].reports;
        if (ds->conn[i].state < CONN_READY)
            daemons_report_remark(ds, i, "its daemon has not been started yet");
        if (ds->conn[i].state == CONN_LOST)
            daemons_report_remark(ds, i, "it is lost");
    }
    loop_after(ds->loop, &ds->report_limit, ds->reports == 0 ? 0 : REPORT_MS);
    for (uint32_t i = 0; i < ds->job->nnodes; i++) {
        struct pack p = {0};
        if (!ds->conn[i].reports)
            continue;
        pack_u8(&p, verbose);
        pack_u32(&p, ds->report_number);
        daemons_send(ds, WIRE_REPORT, i, &p); /* may complete the report */
    }
}

static void daemons_finish_report(struct daemons *ds)
{
    loop_cancel(ds->loop, &ds->report_limit);
    ds->reports = 0;
    front_on_reported(ds->front);
}

void daemons_report_part(struct daemons *ds, struct daemon_conn *dc)
{
    if (!dc->reports)
        return;
    dc->reports = false;
    if (--ds->reports == 0)
        daemons_finish_report(ds);
}

void daemons_on_report_limit(void *arg)
{
    struct daemons *ds = arg;
    for (uint32_t i = 0; i < ds->job->nnodes; i++) {
        if (ds->conn[i].reports)
            daemons_report_remark(ds, i, "its daemon has not answered in time");
        ds->conn[i].reports = false;
    }
    daemons_finish_report(ds);
}
