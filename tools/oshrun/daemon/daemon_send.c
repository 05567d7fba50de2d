/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon_send.c - see daemon_send.h. */
#include "config.h"

#include "tools/oshrun/daemon/daemon_send.h"

void daemon_send(struct daemon_send *s, enum wire_type type, struct pack *p)
{
    if (p->failed)
        error_no_memory();
    route_send(s->route, &(struct frame){.type = type,
                                         .from = s->route->me,
                                         .to = WIRE_FRONT,
                                         .data = p->data,
                                         .len = p->len});
    pack_free(p);
}

void daemon_say_text(struct daemon_send *s, enum wire_type type, const char *text)
{
    struct pack p = {0};
    pack_string(&p, text);
    daemon_send(s, type, &p);
}

void daemon_say_failed(struct daemon_send *s, int status)
{
    struct pack p = {0};
    pack_u32(&p, (uint32_t)status);
    pack_string(&p, s->why);
    daemon_send(s, WIRE_FAILED, &p);
}

static void daemon_send_say_number(struct daemon_send *s, enum wire_type type,
                                   uint32_t number)
{
    struct pack p = {0};
    pack_u32(&p, number);
    daemon_send(s, type, &p);
}

static void daemon_send_say_byte(struct daemon_send *s, enum wire_type type, uint8_t byte)
{
    struct pack p = {0};
    pack_u8(&p, byte);
    daemon_send(s, type, &p);
}

static void daemon_send_say_empty(struct daemon_send *s, enum wire_type type)
{
    struct pack p = {0};
    daemon_send(s, type, &p);
}

/* ---- output ----------------------------------------------------------------------- */

static void daemon_send_on_output(void *arg, uint32_t rank, enum daemon_stream which,
                                  const char *text, size_t len)
{
    struct daemon_send *s = arg;
    struct pack p = {0};
    pack_u32(&p, rank);
    pack_u8(&p, (uint8_t)which);
    pack_bytes(&p, text, len);
    daemon_send(s, WIRE_OUTPUT, &p);
    s->ahead[which] += len;
    if (s->held[which] || s->ahead[which] < s->window || s->d == NULL)
        return;
    s->held[which] = true;
    daemon_flow(s->d, which, false);
}

void daemon_say_taken(struct daemon_send *s, enum daemon_stream which, uint64_t bytes)
{
    s->ahead[which] -= bytes < s->ahead[which] ? bytes : s->ahead[which];
    if (!s->held[which] || s->ahead[which] >= s->window)
        return;
    s->held[which] = false;
    daemon_flow(s->d, which, true);
}

/* ---- events ----------------------------------------------------------------------- */

static void daemon_send_on_connected(void *arg, uint32_t rank)
{
    daemon_send_say_number(arg, WIRE_CONNECTED, rank);
}

static void daemon_send_on_finalized(void *arg, uint32_t rank)
{
    daemon_send_say_number(arg, WIRE_FINALIZED, rank);
}

static void daemon_send_on_started(void *arg, uint32_t rank, int32_t pid)
{
    struct pack p = {0};
    pack_u32(&p, rank);
    pack_u32(&p, (uint32_t)pid);
    daemon_send(arg, WIRE_STARTED, &p);
}

static void daemon_send_on_ended(void *arg, const struct daemon_end *end)
{
    struct pack p = {0};
    pack_u32(&p, end->rank);
    pack_u32(&p, (uint32_t)end->pid);
    pack_u8(&p, end->signalled);
    pack_u32(&p, (uint32_t)end->code);
    pack_u8(&p, end->connected);
    pack_u8(&p, end->finalized);
    for (int i = 0; i < NODE_STAGES; i++)
        pack_u64(&p, end->stage_ns[i]);
    daemon_send(arg, WIRE_ENDED, &p);
}

static void daemon_send_on_aborted(void *arg, uint32_t rank, int status, const char *text)
{
    struct pack p = {0};
    pack_u32(&p, rank);
    pack_u32(&p, (uint32_t)status);
    pack_string(&p, text);
    daemon_send(arg, WIRE_ABORTED, &p);
}

static void daemon_send_on_input(void *arg, bool open)
{
    daemon_send_say_byte(arg, WIRE_INPUT_WANTED, open);
}

static void daemon_send_on_report(void *arg, enum daemon_line line, const uint32_t *rank,
                                  uint32_t count, const char *text)
{
    struct daemon_send *s = arg;
    struct pack p = {0};
    pack_u32(&p, line == DAEMON_LINE_BINDING ? 0 : s->report);
    pack_u8(&p, (uint8_t)line);
    pack_numbers(&p, rank, count);
    pack_string(&p, text);
    daemon_send(s, WIRE_REPORT_LINE, &p);
}

static void daemon_send_on_reported(void *arg)
{
    struct daemon_send *s = arg;
    uint32_t number = s->report;
    s->report = 0;
    daemon_send_say_number(s, WIRE_REPORTED, number);
}

static void daemon_send_on_stage(void *arg, enum daemon_stage stage)
{
    daemon_send_say_byte(arg, WIRE_STAGE, (uint8_t)stage);
}

static void daemon_send_on_drained(void *arg)
{
    daemon_send_say_empty(arg, WIRE_DRAINED);
}

static void daemon_send_on_control(void *arg, int sig, const uint32_t *rank,
                                   uint32_t count)
{
    struct pack p = {0};
    pack_u32(&p, (uint32_t)sig);
    pack_numbers(&p, rank, count);
    daemon_send(arg, WIRE_CONTROL_ASK, &p);
}

static void daemon_send_on_say(void *arg, const char *error_text)
{
    daemon_say_text(arg, WIRE_SAY, error_text);
}

static void daemon_send_on_failed(void *arg, int status)
{
    daemon_say_failed(arg, status);
}

const struct daemon_events daemon_say_events = {
    .output = daemon_send_on_output,
    .connected = daemon_send_on_connected,
    .finalized = daemon_send_on_finalized,
    .ended = daemon_send_on_ended,
    .aborted = daemon_send_on_aborted,
    .input = daemon_send_on_input,
    .report = daemon_send_on_report,
    .reported = daemon_send_on_reported,
    .stage = daemon_send_on_stage,
    .drained = daemon_send_on_drained,
    .started = daemon_send_on_started,
    .control = daemon_send_on_control,
    .say = daemon_send_on_say,
    .failed = daemon_send_on_failed,
};
