/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon_wire.c - see daemon_int.h: the frames that a daemon sends and receives.
 *
 * Uses wire.h, pack.h, pe_io.c, stacks.c, pmix_net.c.  Used by daemon.c, pe_io.c,
 * pe_report.c, stacks.c.
 *
 * Flow control: when a stream has a window of unconfirmed output, the daemon stops
 * reading it from its PEs, which then block in write.  So the front end buffers at most
 * the windows of all nodes, and a slow or stopped reader delays the PEs only.
 */
#include "config.h"

#include "tools/oshrun/daemon/daemon_int.h"

#include <stdlib.h>

#define BAD (-1) /* malformed message */

/* ---- events ----------------------------------------------------------------------- */

void daemon_send(struct daemon *d, enum wire_type type, struct pack *p)
{
    net_out_send(&d->out, type, d->job->here, WIRE_FRONT, p);
}

void daemon_send_u32(struct daemon *d, enum wire_type type, uint32_t number)
{
    struct pack p = {0};
    pack_u32(&p, number);
    daemon_send(d, type, &p);
}

void daemon_send_line(struct daemon *d, enum daemon_line line, const uint32_t *rank,
                      uint32_t count, const char *text)
{
    struct pack p = {0};
    pack_u32(&p, d->report);
    pack_u8(&p, (uint8_t)line);
    pack_numbers(&p, rank, count);
    pack_string(&p, text);
    daemon_send(d, WIRE_REPORT_LINE, &p);
}

/* In memory the confirmation may arrive during the call. */
void daemon_send_output(struct pe_stream *s, const char *text, size_t len)
{
    struct daemon *d = s->pe->d;
    struct pack p = {0};
    pack_u32(&p, s->pe->rank);
    pack_u8(&p, (uint8_t)s->which);
    d->ahead[s->which] += len;
    d->out.send(d->out.arg, &(struct frame){.type = WIRE_OUTPUT,
                                            .from = d->job->here,
                                            .to = WIRE_FRONT,
                                            .data = p.data,
                                            .len = p.len,
                                            .rest = text,
                                            .rest_len = len});
    pack_free(&p);
    if (!d->paused[s->which] && d->ahead[s->which] >= d->window)
        pe_io_flow(d, s->which, false);
}

/* ---- commands --------------------------------------------------------------------- */

static int daemon_recv_signal(struct daemon *d, struct unpack *u)
{
    int sig = (int)unpack_u32(u);
    uint32_t count, *rank = unpack_numbers(u, &count);
    bool good = unpack_done(u);
    if (good && count == 0 && daemon_is_fatal(sig)) {
        daemon_ft_end_job(d);
        daemon_cancel_spawn(d, sig);
    }
    if (good)
        daemon_kill(d, sig, rank, count);
    free(rank);
    return good ? 0 : BAD;
}

static int daemon_recv_output_taken(struct daemon *d, struct unpack *u)
{
    uint8_t s = unpack_u8(u);
    uint64_t bytes = unpack_u64(u);
    if (!unpack_done(u) || s >= DAEMON_STREAMS)
        return BAD;
    d->ahead[s] -= bytes < d->ahead[s] ? bytes : d->ahead[s];
    if (d->paused[s] && d->ahead[s] < d->window)
        pe_io_flow(d, (enum daemon_stream)s, true);
    return 0;
}

static int daemon_recv_output_close(struct daemon *d, struct unpack *u)
{
    uint8_t s = unpack_u8(u);
    if (!unpack_done(u) || s >= DAEMON_STREAMS)
        return BAD;
    pe_io_close_output(d, (enum daemon_stream)s);
    return 0;
}

static int daemon_recv_input(struct daemon *d, struct unpack *u)
{
    size_t len;
    const char *text = unpack_rest(u, &len);
    pe_io_input(d, text, len);
    return 0;
}

static int daemon_recv_report(struct daemon *d, struct unpack *u)
{
    bool verbose = unpack_u8(u) != 0;
    uint32_t number = unpack_u32(u);
    if (!unpack_done(u))
        return BAD;
    d->report = number;
    if (verbose)
        report_states(d);
    stacks_start(d, verbose);
    return 0;
}

static int daemon_recv_lost(struct daemon *d, struct unpack *u)
{
    pmix_net_lost(d->pmix_net, unpack_u32(u));
    return 0;
}

typedef int recv_fn(struct daemon *d, struct unpack *u);

static recv_fn *const recv_table[WIRE_TYPES] = {
    [WIRE_SIGNAL] = daemon_recv_signal,
    [WIRE_OUTPUT_TAKEN] = daemon_recv_output_taken,
    [WIRE_OUTPUT_CLOSE] = daemon_recv_output_close,
    [WIRE_INPUT] = daemon_recv_input,
    [WIRE_REPORT] = daemon_recv_report,
    [WIRE_LOST] = daemon_recv_lost,
    [WIRE_PE_FAILED] = daemon_ft_recv,
};

int daemon_recv(struct daemon *d, const struct frame *f)
{
    struct unpack u = frame_unpack(f);
    return recv_table[f->type] != NULL ? recv_table[f->type](d, &u)
                                       : pmix_net_recv(d->pmix_net, f);
}
