/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemons_ft.c - see daemons_int.h: SHMEM_FT=continue, where the job survives the failure
 * of PEs and the loss of nodes.
 *
 * Uses front_ft.c, gather.c, pmix_net.h, route.c.
 *
 * A daemon whose link is closed ends its PEs and exits: what the front end considers
 * lost is gone, or cut off from all other nodes.
 */
#include "config.h"

#include "tools/oshrun/start/daemons_int.h"
#include "tools/oshrun/util/mem.h"

#include "tools/oshrun/front/front_ft.h"
#include "tools/oshrun/pmix/pmix_net.h"
#include "tools/oshrun/util/error.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define BAD (-1) /* malformed message */

struct tree daemons_ft_tree(const struct daemons *ds)
{
    uint32_t nnodes = ds->job->nnodes;
    return (struct tree){.nnodes = nnodes,
                         .fanout = ds->job->ft.on ? nnodes : ds->o->fanout};
}

static bool daemons_ft_is_absent(void *arg, const void *key, size_t len, uint32_t node)
{
    const struct daemons *ds = arg;
    return pmix_net_is_absent(key, len, &ds->job->node[node], ds->pe_failed);
}

void daemons_ft_open(struct daemons *ds)
{
    ds->pe_failed = mem_calloc(ds->job->npes, sizeof *ds->pe_failed);
    if (ds->job->ft.on)
        gather_set_absent(ds->gather, daemons_ft_is_absent, ds);
}

void daemons_ft_lost(struct daemons *ds, uint32_t node, const char *why)
{
    struct daemon_conn *dc = &ds->conn[node];
    const struct job_node *jn = &ds->job->node[node];
    enum conn_state was = dc->state;
    uint32_t live = dc->live;
    if (was == CONN_LOST)
        return;
    dc->state = CONN_LOST;
    dc->live = 0;
    for (uint32_t i = 0; i < jn->npes; i++)
        if (ds->pe[jn->rank[i]].state != WIRE_PE_ENDED) {
            ds->pe[jn->rank[i]].state = WIRE_PE_ENDED;
            ds->pe[jn->rank[i]].how = SIGKILL;
        }
    front_ft_lost(ds->front, node, live, why);
    if (was == CONN_DRAINED)
        return;
    daemons_report_part(ds, dc);
    daemons_conn_finished(ds);
}

/* ---- commands --------------------------------------------------------------------- */

void daemons_tell_failed(struct daemons *ds, uint32_t lost, const uint32_t *rank,
                         uint32_t count)
{
    struct pack p = {0};
    for (uint32_t i = 0; ds->pe_failed != NULL && i < count; i++)
        ds->pe_failed[rank[i]] = true;
    pack_u32(&p, lost);
    pack_numbers(&p, rank, count);
    daemons_send(ds, WIRE_PE_FAILED, WIRE_ALL, &p);
    if (ds->gather != NULL)
        gather_update(ds->gather);
}

void daemons_kill(struct daemons *ds, const uint32_t *rank, uint32_t count)
{
    struct pack p = {0};
    if (count == 0) /* would be all PEs */
        return;
    pack_u32(&p, SIGKILL);
    pack_numbers(&p, rank, count);
    daemons_send(ds, WIRE_SIGNAL, WIRE_ALL, &p);
}

void daemons_drop(struct daemons *ds, uint32_t node, const char *why)
{
    route_detach(&ds->route, node);
    daemons_lost(ds, node, why);
}

/* ---- events ----------------------------------------------------------------------- */

void daemons_ft_recv_failed(struct daemons *ds, struct daemon_conn *dc, const char *text)
{
    char why[ERROR_BYTES];
    snprintf(why, sizeof why, "has failed (%s)", text);
    daemons_drop(ds, dc->node, why);
}

int daemons_ft_recv(struct daemons *ds, struct daemon_conn *dc, struct unpack *u)
{
    uint32_t lost = unpack_u32(u), count;
    uint32_t *rank = unpack_numbers(u, &count);
    bool good = unpack_done(u) && ds->job->ft.on && lost == WIRE_NONE;
    for (uint32_t i = 0; good && i < count; i++)
        good = rank[i] < ds->job->npes;
    if (good)
        front_ft_reported(ds->front, dc->node, rank, count);
    free(rank);
    return good ? 0 : BAD;
}
