/* SPDX-License-Identifier: BSD-3-Clause */
/* daemons.c - see daemons.h: starts and stops the daemons.  Uses daemon.c, starter.c,
 * listener.c, route.c, gather.c, pack.c. */
#include "config.h"

#include "pgas/core/base/pgas_assert.h"
#include "tools/oshrun/util/error.h"
#include "tools/oshrun/daemon/bootstrap.h"
#include "tools/oshrun/start/daemons_int.h"
#include "tools/oshrun/util/mem.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WINDOW_ALL  ((uint64_t)16 << 20) /* unconfirmed output of all nodes together */
#define WINDOW_MIN  ((uint64_t)16 << 10) /* ... of one node */
#define WINDOW_MAX  ((uint64_t)256 << 10)
#define STOP_MS     1500   /* for the daemons to end when they are told to */
#define STEP_MS     250    /* period of the start timer */
#define UP_MIN_MS   2000u  /* for a running daemon to connect, at least */
#define UP_MAX_MS   10000u /* and at most: a busy host may delay it */
#define UP_EXTRA_MS 1000u  /* added to timeout_ms: it may try several addresses */
#define MS_PER_S    1e3
#define ANY_ADDRESS "-"
#define LOOPBACK    "lo"

const char *daemons_host(const struct daemons *ds, uint32_t node)
{
    return ds->job->node[node].name;
}

void daemons_fail(struct daemons *ds, int status, const char *format, ...)
{
    char text[ERROR_BYTES];
    va_list ap;
    if (ds->failed || ds->ending || ds->stopping)
        return;
    ds->failed = true;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    error_report("%s", text);
    front_on_failed(ds->front, status);
}

/* ---- loss of nodes ---------------------------------------------------------------- */

void daemons_conn_finished(struct daemons *ds)
{
    if (++ds->drained == ds->job->nnodes && !ds->stopping)
        ds->loop->stop = true;
}

void daemons_lost(struct daemons *ds, uint32_t node, const char *why)
{
    char error_text[ERROR_BYTES];
    uint32_t nodes = 0, own, pes = 0;
    if (ds->stopping)
        return;
    if (ds->starter != NULL)
        starter_read(ds->starter, node);
    own = ds->conn[node].live;
    if (ds->job->ft.on && ds->conn[node].state >= CONN_READY) {
        daemons_ft_lost(ds, node, why);
        return;
    }
    for (uint32_t i = node; i < ds->job->nnodes; i++) {
        struct daemon_conn *dc = &ds->conn[i];
        if (!tree_below(&ds->route.tree, node, i))
            continue;
        enum conn_state was = dc->state;
        dc->state = CONN_LOST;
        if (was >= CONN_DRAINED)
            continue;
        nodes++;
        pes += dc->live;
        daemons_report_part(ds, dc);
        gather_lost(ds->gather, i);
    }
    if (nodes == 0)
        return;
    snprintf(error_text, sizeof error_text, "the node daemon on %s %s",
             daemons_host(ds, node), why);
    front_on_lost(ds->front, own, pes, error_text);
    while (nodes-- > 0)
        daemons_conn_finished(ds);
}

/* ---- start ------------------------------------------------------------------------ */

/* Output before the connection may be noise, as of a login shell: the last line is kept
 * and reported only if the daemon does not connect. */
static void daemons_on_agent_line(void *arg, uint32_t node, const char *line)
{
    struct daemons *ds = arg;
    struct daemon_conn *dc = node == STARTER_ALL ? &ds->conn[0] : &ds->conn[node];
    if (dc->state == CONN_STARTED) {
        free(dc->said);
        dc->said = mem_strdup(line);
        return;
    }
    if (!ds->failed && !ds->ending && !ds->stopping)
        front_say(ds->front, "%s: %s",
                  node == STARTER_ALL ? "srun" : daemons_host(ds, node), line);
}

static void daemons_on_agent_ended(void *arg, uint32_t node, bool failed, const char *why)
{
    struct daemons *ds = arg;
    const char *reason = failed
                             ? why
                             : "it ended with status 0 and has started nothing; does it "
                               "run its command?";
    for (uint32_t i = 0; i < ds->job->nnodes; i++) {
        if (ds->conn[i].state != CONN_STARTED)
            continue;
        if (node == STARTER_ALL)
            daemons_fail(ds, DAEMONS_EXIT_ERROR, "srun cannot start all node daemons: %s",
                         reason);
        else if (node == i)
            daemons_fail(ds, DAEMONS_EXIT_ERROR, "%s: cannot start the node daemon: %s",
                         daemons_host(ds, i), reason);
    }
}

static void daemons_fail_start(struct daemons *ds, const struct daemon_conn *dc)
{
    char parent[ERROR_BYTES] = "";
    uint32_t node = tree_parent(&ds->route.tree, dc->node);
    if (dc->state != CONN_STARTED)
        snprintf(parent, sizeof parent, " to its parent (%s)",
                 node == WIRE_FRONT ? "this process" : daemons_host(ds, node));
    daemons_fail(ds, DAEMONS_EXIT_ERROR,
                 "%s: its node daemon has not connected%s within %.1f s%s%s; can that "
                 "host connect to this one (--if, firewall)? SHMEM_LAUNCH_START_TIMEOUT "
                 "sets the time",
                 daemons_host(ds, dc->node), parent, dc->limit_ms / MS_PER_S,
                 dc->said != NULL ? "; last output: " : "",
                 dc->said != NULL ? dc->said : "");
}

/* Counts timer periods, so that a SIGSTOP of this process costs one period at most. */
static void daemons_on_start_step(void *arg)
{
    struct daemons *ds = arg;
    bool more = false;
    for (uint32_t i = 0; i < ds->job->nnodes; i++) {
        struct daemon_conn *dc = &ds->conn[i];
        if (dc->state >= CONN_READY || dc->left_ms <= 0)
            continue;
        dc->left_ms -= STEP_MS;
        more = more || dc->left_ms > 0;
        if (dc->left_ms <= 0)
            daemons_fail_start(ds, dc);
    }
    if (more && !ds->failed)
        loop_after(ds->loop, &ds->start, STEP_MS);
}

void daemons_set_deadline(struct daemons *ds, struct daemon_conn *dc, uint32_t ms)
{
    dc->limit_ms = ms;
    dc->left_ms = ms;
    if (ms > 0 && !ds->start.running)
        loop_after(ds->loop, &ds->start, STEP_MS);
}

uint32_t daemons_find_node(const struct daemons *ds, uint32_t node, const char *host)
{
    for (uint32_t i = 0; node == WIRE_NONE && host != NULL && i < ds->job->nnodes; i++)
        if (strcmp(ds->host[i], host) == 0)
            return i;
    return node;
}

static void daemons_on_agent_started(void *arg, uint32_t node)
{
    struct daemons *ds = arg;
    for (uint32_t i = 0; i < ds->job->nnodes; i++)
        if (node == i || node == STARTER_ALL)
            daemons_set_deadline(ds, &ds->conn[i], ds->o->start_timeout_ms);
}

/* The daemon runs: it connects soon, or is stopped or cut off.  Shortens its deadline. */
static void daemons_on_up(void *arg, uint32_t node, const char *host)
{
    struct daemons *ds = arg;
    uint32_t ms = ds->o->timeout_ms < UP_MIN_MS ? UP_MIN_MS : ds->o->timeout_ms;
    ms = ms < UP_MAX_MS ? ms : UP_MAX_MS;
    node = daemons_find_node(ds, node, host);
    if (node >= ds->job->nnodes || ds->conn[node].state != CONN_STARTED ||
        ds->conn[node].left_ms <= ms + UP_EXTRA_MS)
        return;
    daemons_set_deadline(ds, &ds->conn[node], ms + UP_EXTRA_MS);
}

static void daemons_on_accepted(void *arg, int fd, struct seal *seal)
{
    struct daemons *ds = arg;
    ds->unidentified = mem_resize(ds->unidentified, (size_t)ds->nunidentified + 1,
                                  sizeof(struct link *));
    struct link *l = link_open(ds->loop, fd, seal, ds->o->timeout_ms, LINK_AWAKE,
                               &daemons_link_events, ds);
    if (l != NULL)
        ds->unidentified[ds->nunidentified++] = l;
    else
        daemons_fail(
            ds, DAEMONS_EXIT_ERROR,
            "cannot create the heartbeat thread (%s); is `ulimit -u` or `-v` too "
            "low?",
            strerror(errno));
}

static void daemons_on_refused(void *arg, const char *error_text)
{
    struct daemons *ds = arg;
    front_say(ds->front, "%s", error_text);
}

static void daemons_on_route(void *arg, const struct frame *f)
{
    struct daemons *ds = arg;
    route_send(&ds->route, f);
}

/* Commands to the daemon in this process. */
static void daemons_on_here(void *arg, const struct frame *f)
{
    struct daemons *ds = arg;
    daemon_recv(ds->here, f);
}

static void daemons_alloc_conns(struct daemons *ds)
{
    const struct job *job = ds->job;
    ds->conn = mem_calloc(job->nnodes, sizeof *ds->conn);
    ds->pe = mem_calloc(job->npes, sizeof *ds->pe);
    ds->host = mem_calloc(job->nnodes, sizeof *ds->host);
    for (uint32_t i = 0; i < job->nnodes; i++) {
        ds->host[i] = job->node[i].name;
        ds->conn[i].node = i;
        ds->conn[i].live = job->node[i].npes;
        for (uint32_t k = 0; k < job->node[i].npes; k++)
            ds->pe[job->node[i].rank[k]].node = i;
    }
}

static void daemons_make_tree(struct daemons *ds)
{
    struct tree t = daemons_ft_tree(ds);
    job_pack(&ds->job_bytes, ds->job);
    ds->gather = gather_new(&t, WIRE_FRONT, &ds->out, NULL, NULL);
    daemons_ft_open(ds);
    route_open(&ds->route, &t, WIRE_FRONT);
}

/* The bootstrap line of every daemon. */
static void daemons_write_line(struct daemons *ds, const char *addresses,
                               const char *which)
{
    char hex[NONCE_HEX_BYTES];
    nonce_to_hex(ds->nonce, hex);
    int n = snprintf(ds->line, BOOTSTRAP_LINE,
                     "oshrun %u " PACKAGE_VERSION " nonce=%s at=%s if=%s timeout=%u "
                     "start=%u window=%llu",
                     WIRE_VERSION, hex, addresses, which != NULL ? which : ANY_ADDRESS,
                     ds->o->timeout_ms, ds->o->start_timeout_ms,
                     (unsigned long long)ds->window);
    seal_erase(hex, sizeof hex);
    _Static_assert(BOOTSTRAP_LINE >= 3 * ADDRESSES_MAX, "two lists and some numbers");
    PGAS_ASSERT(n > 0 && n < BOOTSTRAP_LINE);
}

static int daemons_open_listener(struct daemons *ds)
{
    static const struct listener_events events = {.came = daemons_on_accepted,
                                                  .refused = daemons_on_refused};
    char addresses[ADDRESSES_MAX], why[ERROR_BYTES];
    bool virtual = ds->front->plan.kind == PLAN_VNODES;
    const char *which = virtual ? LOOPBACK : ds->o->interface;
    ds->nonce = mem_secret(sizeof *ds->nonce);
    ds->line = mem_secret(BOOTSTRAP_LINE);
    if (which != NULL && strlen(which) >= ADDRESSES_MAX) {
        error_report("--if has a list of %zu characters, but at most %d are possible: "
                     "name fewer interfaces",
                     strlen(which), ADDRESSES_MAX - 1);
        return -1;
    }
    if (nonce_make(ds->nonce) != 0) {
        error_report("cannot get random bytes: %s", strerror(errno));
        return -1;
    }
    ds->listener = listener_open(ds->loop, ds->nonce, which, addresses, &events, ds, why,
                                 sizeof why);
    if (ds->listener == NULL) {
        if (virtual)
            error_report(
                "cannot listen for the node daemons: virtual nodes need the loopback "
                "interface, which has no address or is down; `ip link set lo up` "
                "enables it");
        else
            error_report("cannot listen for the node daemons: %s", why);
        return -1;
    }
    daemons_write_line(ds, addresses, which);
    return 0;
}

static int daemons_begin(struct daemons *ds, struct rlimit files)
{
    static const struct starter_events events = {.started = daemons_on_agent_started,
                                                 .up = daemons_on_up,
                                                 .said = daemons_on_agent_line,
                                                 .ended = daemons_on_agent_ended};
    static const enum starter_kind kind[] = {[PLAN_VNODES] = STARTER_LOCAL,
                                             [PLAN_HOSTS] = STARTER_AGENT,
                                             [PLAN_SLURM] = STARTER_SRUN};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    if (n <= 0 && ds->o->daemon_path == NULL) {
        error_report(
            "cannot read the path of oshrun from /proc/self/exe (%s); mount /proc, or "
            "set SHMEM_LAUNCH_DAEMON",
            strerror(errno));
        return -1;
    }
    struct starter_config config = {
        .kind = kind[ds->front->plan.kind],
        .nnodes = ds->job->nnodes,
        .host = ds->host,
        .local = ds->front->plan.local,
        .agent = ds->o->agent,
        .daemon_path = ds->o->daemon_path != NULL ? ds->o->daemon_path : self,
        .line = ds->line,
        .reaper_fd = ds->reaper->fd,
        .files = files};
    ds->starter = starter_begin(ds->loop, &config, &events, ds);
    return ds->starter != NULL ? 0 : -1;
}

/* The one node is this machine: no listener, no links. */
static int daemons_start_here(struct daemons *ds, struct rlimit files)
{
    const struct tree t = {.nnodes = 1, .fanout = 1};
    const struct net_out up = {.send = daemons_recv_here, .arg = ds};
    ds->out = (struct net_out){.send = daemons_on_here, .arg = ds};
    ds->conn[0].state = CONN_READY;
    return daemon_start(&ds->here, ds->job, &t, &up, ds->window, NULL, ds->loop,
                        ds->reaper, files);
}

int daemons_start(struct daemons **out, struct front *f, const struct reaper *reaper,
                  struct rlimit files)
{
    struct daemons *ds = *out = mem_calloc(1, sizeof *ds);
    ds->front = f;
    ds->job = &f->job;
    ds->o = f->o;
    ds->loop = &f->loop;
    ds->reaper = reaper;
    ds->out = (struct net_out){.send = daemons_on_route, .arg = ds};
    ds->start = (struct loop_timer){.fn = daemons_on_start_step, .arg = ds};
    ds->report_limit = (struct loop_timer){.fn = daemons_on_report_limit, .arg = ds};
    ds->window = WINDOW_ALL / ds->job->nnodes;
    if (ds->window < WINDOW_MIN)
        ds->window = WINDOW_MIN;
    if (ds->window > WINDOW_MAX)
        ds->window = WINDOW_MAX;
    daemons_alloc_conns(ds);
    if (f->plan.kind == PLAN_HERE)
        return daemons_start_here(ds, files);
    daemons_make_tree(ds);
    return daemons_open_listener(ds) == 0 && daemons_begin(ds, files) == 0
               ? 0
               : DAEMONS_EXIT_ERROR;
}

/* ---- end -------------------------------------------------------------------------- */

void daemons_departed(struct daemons *ds, struct link *l)
{
    struct daemon_conn *dc = link_user(l);
    if (dc != NULL && dc->direct != l)
        route_detach(&ds->route, dc->node);
    if (!route_has_children(&ds->route))
        ds->loop->stop = true;
}

static void daemons_on_stop_limit(void *arg)
{
    struct daemons *ds = arg;
    ds->loop->stop = true;
}

/* Sends STOP to all daemons and waits until they have closed their links. */
static void daemons_conn_dismiss(struct daemons *ds, bool good)
{
    struct loop_timer limit = {.fn = daemons_on_stop_limit, .arg = ds};
    ds->stopping = true;
    if (ds->route.child == NULL)
        return;
    struct pack p = {0};
    pack_u8(&p, good);
    daemons_send(ds, WIRE_STOP, WIRE_ALL, &p);
    if (!route_has_children(&ds->route))
        return;
    loop_after(ds->loop, &limit, STOP_MS);
    ds->loop->stop = false;
    loop_run(ds->loop);
    loop_cancel(ds->loop, &limit);
}

static void daemons_free_conns(struct daemons *ds)
{
    for (uint32_t i = 0; ds->conn != NULL && i < ds->job->nnodes; i++) {
        if (ds->conn[i].direct != NULL)
            link_free(ds->conn[i].direct);
        free(ds->conn[i].addresses);
        free(ds->conn[i].said);
    }
    for (uint32_t i = 0; i < ds->nunidentified; i++)
        link_free(ds->unidentified[i]);
    free(ds->unidentified);
    free(ds->conn);
    free(ds->pe);
    free(ds->pe_failed);
    free(ds->host);
}

void daemons_stop(struct daemons *ds, bool good)
{
    if (ds == NULL)
        return;
    loop_cancel(ds->loop, &ds->start);
    loop_cancel(ds->loop, &ds->report_limit);
    daemons_conn_dismiss(ds, good);
    daemon_stop(ds->here);
    if (ds->starter != NULL)
        starter_stop(ds->starter);
    if (ds->listener != NULL)
        listener_close(ds->listener);
    route_close(&ds->route);
    daemons_free_conns(ds);
    if (ds->gather != NULL)
        gather_free(ds->gather);
    pack_free(&ds->job_bytes);
    seal_memory_free(ds->line, BOOTSTRAP_LINE);
    seal_memory_free(ds->nonce, sizeof *ds->nonce);
    free(ds);
}
