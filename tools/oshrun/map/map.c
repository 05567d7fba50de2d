/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * map.c - see map.h.
 *
 * Uses rank_file.h, names.h.
 *
 * First each rank is assigned a host, then the nodes are made, in the order of the hosts.
 * No step scans all hosts for each PE.
 */
#include "config.h"

#include "tools/oshrun/map/map.h"
#include "tools/oshrun/map/names.h"
#include "tools/oshrun/map/rank_file.h"
#include "tools/oshrun/util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_LIMIT UINT32_MAX

/* A host while PEs are placed on it. */
struct target {
    uint32_t host;
    uint32_t cap; /* PEs in one round over all hosts; NO_LIMIT: any */
    uint32_t in_round;
    uint32_t remaining; /* PEs that may still be placed on it */
};

struct mapping {
    const struct hosts *h;
    const struct map_order *order;
    uint32_t npes;
    uint32_t placed;
    uint32_t *host_of;     /* by rank */
    struct target *target; /* hosts below their limit */
    uint32_t ntargets;
    uint32_t *turn; /* indices in target[] of hosts not full in this round */
    char *why;
};

/* ---- number of PEs ---------------------------------------------------------------- */

/* The option that sets the number of PEs per node. */
static const char *map_per_node_text(const struct map_order *o, char text[NAMES_SHOWN])
{
    snprintf(text, NAMES_SHOWN, o->by == MAP_BY_PPR ? "--map-by ppr:%u:node" : "-N %u",
             o->per_node);
    return text;
}

static int map_check_per_node(const struct hosts *h, const struct map_order *o,
                              uint64_t *npes, char why[HOSTS_WHY])
{
    char text[NAMES_SHOWN];
    uint64_t sum = (uint64_t)o->per_node * h->count;
    if (*npes == 0)
        *npes = sum;
    if (o->by == MAP_BY_PPR && *npes != sum)
        return names_error(why, "%s gives %llu PEs on %u nodes, but -n asks for %llu",
                           map_per_node_text(o, text), (unsigned long long)sum, h->count,
                           (unsigned long long)*npes);
    if (*npes > sum)
        return names_error(why,
                           "%s gives at most %llu PEs on %u nodes, but -n asks for %llu",
                           map_per_node_text(o, text), (unsigned long long)sum, h->count,
                           (unsigned long long)*npes);
    for (uint32_t i = 0; i < h->count; i++)
        if (h->host[i].max > 0 && h->host[i].max < o->per_node)
            return names_error(why, "host '%.*s' takes %u PEs at most, but %s was asked",
                               NAMES_SHOWN, h->host[i].name, h->host[i].max,
                               map_per_node_text(o, text));
    return 0;
}

static int map_count_pes(const struct hosts *h, const struct map_order *o, uint32_t *out,
                         char why[HOSTS_WHY])
{
    uint64_t npes = o->npes;
    if (h->count == 0)
        return names_error(why, "there are no hosts");
    if (o->per_node > 0 && map_check_per_node(h, o, &npes, why) != 0)
        return -1;
    for (uint32_t i = 0; o->npes == 0 && o->per_node == 0 && i < h->count; i++)
        npes += h->host[i].slots > 0 ? h->host[i].slots : 1;
    if (npes > MAP_NPES_MAX)
        return names_error(why,
                           "the hosts take %llu PEs, but a job has %d at most; use -n",
                           (unsigned long long)npes, MAP_NPES_MAX);
    *out = (uint32_t)npes;
    return 0;
}

/* ---- host of each PE -------------------------------------------------------------- */

/* PEs of hosts without slots: they share the PEs that exceed the given slots.  Each gets
 * *share, the first *more of them one more. */
static void map_find_share(const struct mapping *p, uint32_t *share, uint32_t *more)
{
    uint64_t slots = 0;
    uint32_t open = 0;
    for (uint32_t i = 0; i < p->h->count; i++) {
        slots += p->h->host[i].slots;
        open += p->h->host[i].slots == 0;
    }
    uint32_t rest = slots < p->npes ? p->npes - (uint32_t)slots : 0;
    *share = open > 0 ? rest / open : 0;
    *more = open > 0 ? rest % open : 0;
}

static void map_make_targets(struct mapping *p)
{
    uint32_t share, more;
    map_find_share(p, &share, &more);
    for (uint32_t i = 0; i < p->h->count; i++) {
        const struct host *host = &p->h->host[i];
        struct target s = {.host = i, .cap = host->slots};
        s.remaining = host->max > 0 ? host->max : NO_LIMIT;
        if (p->order->per_node > 0)
            s.cap = p->order->per_node;
        else if (host->slots == 0 && p->order->by == MAP_BY_NODE)
            s.cap = NO_LIMIT; /* never full, so that they get equal shares */
        else if (host->slots == 0) {
            s.cap = share + (more > 0);
            more -= more > 0;
        }
        if (s.cap > 0)
            p->target[p->ntargets++] = s;
    }
}

/* Until all hosts are full: places one PE on each host in turn, or fills each in turn. */
static void map_place_round(struct mapping *p)
{
    bool fill = p->order->by != MAP_BY_NODE;
    uint32_t turns = p->ntargets;
    for (uint32_t i = 0; i < turns; i++)
        p->turn[i] = i;
    while (turns > 0 && p->placed < p->npes) {
        uint32_t still = 0;
        for (uint32_t i = 0; i < turns && p->placed < p->npes; i++) {
            struct target *s = &p->target[p->turn[i]];
            bool full;
            do {
                p->host_of[p->placed++] = s->host;
                s->in_round++;
                s->remaining--;
                full = s->in_round == s->cap || s->remaining == 0;
            } while (fill && !full && p->placed < p->npes);
            if (!full)
                p->turn[still++] = p->turn[i];
        }
        turns = still;
    }
}

/* Starts a new round without the hosts that have reached their limit. */
static void map_next_round(struct mapping *p)
{
    uint32_t still = 0;
    for (uint32_t i = 0; i < p->ntargets; i++) {
        p->target[i].in_round = 0;
        if (p->target[i].remaining > 0)
            p->target[still++] = p->target[i];
    }
    p->ntargets = still;
}

static int map_place(struct mapping *p)
{
    p->target = mem_calloc(p->h->count, sizeof *p->target);
    p->turn = mem_calloc(p->h->count, sizeof *p->turn);
    p->host_of = mem_calloc(p->npes, sizeof *p->host_of);
    map_make_targets(p);
    while (p->placed < p->npes && p->ntargets > 0) {
        map_place_round(p);
        map_next_round(p);
    }
    free(p->target);
    free(p->turn);
    if (p->placed == p->npes)
        return 0;
    return names_error(p->why,
                       "the hosts take %u PEs at most (max-slots), but -n asks "
                       "for %u",
                       p->placed, p->npes);
}

/* ---- the nodes -------------------------------------------------------------------- */

static int map_make_node(struct job_node *node, const struct host *host, uint32_t npes,
                         char why[HOSTS_WHY])
{
    if (host->max > 0 && npes > host->max)
        return names_error(why, "host '%.*s' takes %u PEs at most (max-slots), not %u",
                           NAMES_SHOWN, host->name, host->max, npes);
    *node = (struct job_node){.name = host->name};
    node->rank = mem_calloc(npes, sizeof *node->rank);
    return 0;
}

/* node_of[host] becomes the host's index in job->node[]. */
static int map_fill_nodes(struct job *job, const struct hosts *h, const uint32_t *host_of,
                          uint32_t *node_of, char why[HOSTS_WHY])
{
    for (uint32_t i = 0; i < job->npes; i++)
        job->nnodes += node_of[host_of[i]]++ == 0; /* counts its PEs first */
    job->node = mem_calloc(job->nnodes, sizeof *job->node);
    for (uint32_t host = 0, node = 0; host < h->count; host++) {
        uint32_t npes = node_of[host];
        if (npes == 0)
            continue;
        if (map_make_node(&job->node[node], &h->host[host], npes, why) != 0)
            return -1;
        node_of[host] = node++;
    }
    for (uint32_t i = 0; i < job->npes; i++) {
        struct job_node *node = &job->node[node_of[host_of[i]]];
        node->rank[node->npes++] = i;
    }
    return 0;
}

static int map_make_nodes(struct job *job, const struct hosts *h, const uint32_t *host_of,
                          char why[HOSTS_WHY])
{
    uint32_t *node_of = mem_calloc(h->count, sizeof *node_of);
    int rc = map_fill_nodes(job, h, host_of, node_of, why);
    free(node_of);
    return rc;
}

/* ---- by a rank file --------------------------------------------------------------- */

static int map_find_host(struct hosts *h, bool add, const struct rank_entry *e,
                         const char *path, uint32_t *host, char why[HOSTS_WHY])
{
    char shown[NAMES_SHOWN];
    *host = hosts_find(h, e->host);
    if (*host != HOSTS_NONE)
        return 0;
    *host = h->count;
    if (add)
        return hosts_add(h, &(struct host){.name = e->host}, why);
    return names_error(why, "rank file %s, line %u: '%.*s' is not one of the job's hosts",
                       names_show(shown, path, strlen(path)), e->line, NAMES_SHOWN,
                       e->host);
}

/* Moves the lists of processors to their nodes. */
static void map_move_cpus(struct job_node *node, struct rank_file *r)
{
    for (uint32_t i = 0; i < node->npes; i++) {
        struct rank_entry *e = &r->entry[node->rank[i]];
        if (e->cpus == NULL)
            continue;
        if (node->cpus == NULL)
            node->cpus = mem_calloc(node->npes, sizeof *node->cpus);
        node->cpus[i] = e->cpus;
        e->cpus = NULL;
    }
}

static int map_by_file(struct job *job, struct hosts *h, const struct map_order *order,
                       char why[HOSTS_WHY])
{
    struct rank_file r;
    bool add = h->count == 0;
    if (rank_file_read(&r, order->rank_file, order->npes, why) != 0)
        return -1;
    job->npes = r.npes;
    uint32_t *host_of = mem_calloc(r.npes, sizeof *host_of);
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < r.npes; i++)
        rc = map_find_host(h, add, &r.entry[i], order->rank_file, &host_of[i], why);
    if (rc == 0)
        rc = map_make_nodes(job, h, host_of, why);
    for (uint32_t i = 0; rc == 0 && i < job->nnodes; i++)
        map_move_cpus(&job->node[i], &r);
    free(host_of);
    rank_file_free(&r);
    return rc;
}

int map_make(struct job *job, struct hosts *h, const struct map_order *order,
             char why[HOSTS_WHY])
{
    struct mapping p = {.h = h, .order = order, .why = why};
    job->nnodes = 0;
    job->node = NULL;
    if (order->rank_file != NULL)
        return map_by_file(job, h, order, why);
    if (map_count_pes(h, order, &p.npes, why) != 0)
        return -1;
    job->npes = p.npes;
    int rc = map_place(&p);
    if (rc == 0)
        rc = map_make_nodes(job, h, p.host_of, why);
    free(p.host_of);
    return rc;
}

void map_free(struct job *job)
{
    for (uint32_t i = 0; job->node != NULL && i < job->nnodes; i++) {
        struct job_node *node = &job->node[i];
        for (uint32_t k = 0; node->cpus != NULL && k < node->npes; k++)
            free(node->cpus[k]);
        free(node->cpus);
        free(node->rank);
    }
    free(job->node);
    job->node = NULL;
    job->nnodes = 0;
}

/* "0-3,8" */
static void map_print_ranks(const struct job_node *node)
{
    for (uint32_t i = 0; i < node->npes; i++) {
        uint32_t first = node->rank[i];
        while (i + 1 < node->npes && node->rank[i + 1] == node->rank[i] + 1)
            i++;
        printf("%s%u", first == node->rank[0] ? "" : ",", first);
        if (node->rank[i] > first)
            printf("-%u", node->rank[i]);
    }
}

void map_print(const struct job *job, const struct hosts *h)
{
    uint32_t host = 0;
    for (uint32_t i = 0; i < job->nnodes; i++) {
        const struct job_node *node = &job->node[i];
        while (host < h->count && h->host[host].name != node->name)
            host++; /* nodes are in the order of h and share its name pointers */
        uint32_t slots = host < h->count ? h->host[host].slots : 0;
        printf("%s: PE%s ", node->name, node->npes > 1 ? "s" : "");
        map_print_ranks(node);
        if (slots > 0)
            printf(" (%u slot%s)", slots, slots > 1 ? "s" : "");
        putchar('\n');
    }
}
