/* SPDX-License-Identifier: BSD-3-Clause */
/* crew_tell.c - see crew_int.h: what the daemons are told, output that is confirmed to
 * them, and the reports that they give.  Uses route.c, pack.c. */
#include "config.h"

#include "tools/oshrun/complain.h"
#include "tools/oshrun/crew_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_MS   2000  /* for the part of a node in a table */
#define STACKS_MS   20000 /* ... with stacks: daemons give up on debuggers before that */
#define LINES_FIRST 64
#define LINE_BYTES  512
#define OWED_PART   4 /* output is confirmed when this part of the window is owed */

void crew_send(struct crew *c, enum wire_type type, uint32_t to, const void *data,
               size_t len)
{
    route_send(&c->route,
               &(struct frame){
                   .type = type, .from = WIRE_FRONT, .to = to, .data = data, .len = len});
}

void crew_send_pack(struct crew *c, enum wire_type type, uint32_t to, struct pack *p)
{
    if (p->failed)
        complain_no_memory();
    crew_send(c, type, to, p->data, p->len);
    pack_free(p);
}

/* ---- commands --------------------------------------------------------------------- */

/* Nodes whose daemons have not come yet will not start anything any more. */
static void give_up_absent(struct crew *c)
{
    c->ending = true;
    for (uint32_t i = 0; i < c->job->nnodes; i++)
        if (c->member[i].state <= MEMBER_CALLED)
            crew_lost(c, i, "is not needed any more");
}

void crew_signal(struct crew *c, int sig)
{
    struct pack p = {0};
    if (daemon_is_fatal(sig))
        give_up_absent(c);
    pack_u32(&p, (uint32_t)sig);
    crew_send_pack(c, WIRE_SIGNAL, WIRE_ALL, &p);
}

void crew_control(struct crew *c, int sig, const uint32_t *rank, uint32_t count)
{
    struct pack p = {0};
    pack_u32(&p, (uint32_t)sig);
    pack_numbers(&p, rank, count);
    crew_send_pack(c, WIRE_CONTROL, WIRE_ALL, &p);
}

void crew_close_output(struct crew *c, enum daemon_stream s)
{
    struct pack p = {0};
    pack_u8(&p, (uint8_t)s);
    crew_send_pack(c, WIRE_OUTPUT_CLOSE, WIRE_ALL, &p);
}

void crew_input(struct crew *c, const char *text, size_t len)
{
    if (c->job->stdin_pe != JOB_NO_PE)
        crew_send(c, WIRE_INPUT, c->pe[c->job->stdin_pe].node, text, len);
}

/* ---- output ----------------------------------------------------------------------- */

static void confirm(struct crew *c, struct member *m, enum daemon_stream s)
{
    struct pack p = {0};
    pack_u8(&p, (uint8_t)s);
    pack_u64(&p, m->owed[s]);
    m->owed[s] = 0;
    crew_send_pack(c, WIRE_OUTPUT_TAKEN, m->node, &p);
}

void crew_output_taken(struct crew *c, struct member *m, enum daemon_stream s, size_t len)
{
    m->owed[s] += len;
    if (!c->paused[s] && m->owed[s] >= c->window / OWED_PART)
        confirm(c, m, s);
}

/* The daemons stop by themselves when nothing is confirmed. */
void crew_flow(struct crew *c, enum daemon_stream s, bool go)
{
    c->paused[s] = !go;
    for (uint32_t i = 0; go && i < c->job->nnodes; i++)
        if (c->member[i].owed[s] > 0)
            confirm(c, &c->member[i], s);
}

/* ---- reports ---------------------------------------------------------------------- */

static void await_report(struct crew *c, struct member *m)
{
    char line[LINE_BYTES];
    m->reports = m->state == MEMBER_THERE;
    c->reports += m->reports;
    if (m->state >= MEMBER_THERE)
        return;
    snprintf(line, sizeof line, "%s: its daemon has not been started yet",
             crew_host(c, m->node));
    crew_report_line(c, c->report_number, m->node, JOB_NO_PE, line);
}

static void ask_report(struct crew *c, struct member *m, bool stacks)
{
    struct pack p = {0};
    pack_u8(&p, stacks);
    pack_u32(&p, c->report_number);
    if (m->reports)
        crew_send_pack(c, WIRE_REPORT, m->node, &p);
    else
        pack_free(&p);
}

/* One at a time; another one waits for its turn. */
void crew_report(struct crew *c, bool stacks)
{
    if (c->reporting) {
        c->next_report[stacks]++;
        return;
    }
    c->reporting = true;
    c->report_number++;
    for (uint32_t i = 0; i < c->job->nnodes; i++)
        await_report(c, &c->member[i]);
    for (uint32_t i = 0; i < c->job->nnodes; i++)
        ask_report(c, &c->member[i], stacks);
    loop_after(c->loop, &c->report_limit,
               c->reports == 0 ? 0
               : stacks        ? STACKS_MS
                               : REPORT_MS);
}

/* By rank; what belongs to no PE comes after, by node, as it arrived. */
static int by_rank(const void *a, const void *b)
{
    const struct report_line *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void crew_report_free(struct crew *c)
{
    for (size_t i = 0; i < c->report_len; i++)
        free(c->report[i].text);
    free(c->report);
    c->report = NULL;
    c->report_len = c->report_room = 0;
}

static void finish_report(struct crew *c)
{
    loop_cancel(c->loop, &c->report_limit);
    c->reports = 0;
    c->reporting = false;
    if (c->report_len > 0)
        qsort(c->report, c->report_len, sizeof *c->report, by_rank);
    for (size_t i = 0; i < c->report_len; i++)
        c->ev->pe.report(c->front, c->report[i].rank, c->report[i].text);
    crew_report_free(c);
    c->ev->pe.reported(c->front);
    for (int stacks = 0; stacks < 2; stacks++)
        if (c->next_report[stacks] > 0 && !c->reporting) {
            c->next_report[stacks]--;
            crew_report(c, stacks);
        }
}

void crew_report_line(struct crew *c, uint32_t number, uint32_t node, uint32_t rank,
                      const char *text)
{
    if (number == 0) { /* how a PE is bound */
        c->ev->pe.report(c->front, rank, text);
        return;
    }
    if (!c->reporting || number != c->report_number)
        return; /* too late */
    if (c->report_len == c->report_room) {
        size_t room = c->report_room ? c->report_room * 2 : LINES_FIRST;
        struct report_line *more = realloc(c->report, room * sizeof *more);
        if (more == NULL)
            return;
        c->report = more;
        c->report_room = room;
    }
    char *copy = strdup(text);
    if (copy == NULL)
        return;
    c->report[c->report_len] = (struct report_line){
        .rank = rank, .node = node, .order = c->report_len, .text = copy};
    c->report_len++;
}

void crew_report_part(struct crew *c, struct member *m)
{
    if (!m->reports)
        return;
    m->reports = false;
    if (--c->reports == 0)
        finish_report(c);
}

void crew_on_report_limit(void *arg)
{
    struct crew *c = arg;
    char line[LINE_BYTES];
    for (uint32_t i = 0; i < c->job->nnodes; i++) {
        if (!c->member[i].reports)
            continue;
        snprintf(line, sizeof line, "%s: its daemon has not answered in time",
                 crew_host(c, i));
        crew_report_line(c, c->report_number, i, JOB_NO_PE, line);
        c->member[i].reports = false;
    }
    finish_report(c);
}
