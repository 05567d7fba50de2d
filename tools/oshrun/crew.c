/* SPDX-License-Identifier: BSD-3-Clause */
/* crew.c - see crew.h: the start and the end of the daemons.  Uses starter.c, door.c,
 * route.c, gather.c, pack.c. */
#include "config.h"

#include "tools/oshrun/complain.h"
#include "tools/oshrun/crew_int.h"

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
#define STEP_MS     250    /* of the time of a start */
#define UP_MIN_MS   2000u  /* for a running daemon to connect, at least */
#define UP_MAX_MS   10000u /* and at most: a busy host may delay it */
#define UP_EXTRA_MS 1000u  /* ... beyond the time of silence: it may try several ways */
#define MS_PER_S    1e3
#define ANY_ADDRESS "-"
#define LOOPBACK    "lo"

const char *crew_host(const struct crew *c, uint32_t node)
{
    return c->job->node[node].name;
}

void crew_fail(struct crew *c, int status, const char *format, ...)
{
    char text[COMPLAINT_BYTES];
    va_list ap;
    if (c->failed || c->ending || c->stopping)
        return;
    c->failed = true;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    complain("%s", text);
    c->ev->pe.failed(c->front, status);
}

/* ---- the end of nodes ------------------------------------------------------------- */

void crew_member_over(struct crew *c)
{
    if (++c->drained == c->job->nnodes && !c->stopping)
        c->ev->pe.drained(c->front);
}

/* Returns the PEs that had not ended; -1: there is nothing more to lose. */
static int64_t lose(struct crew *c, struct member *m)
{
    enum member_state was = m->state;
    m->state = MEMBER_LOST;
    if (was >= MEMBER_DRAINED)
        return -1;
    crew_report_part(c, m);
    gather_lost(c->gather, m->node);
    return m->live;
}

void crew_lost(struct crew *c, uint32_t node, const char *why)
{
    char sentence[COMPLAINT_BYTES];
    uint32_t nodes = 0, own = c->member[node].live, pes = 0;
    if (c->stopping)
        return;
    for (uint32_t i = node; i < c->job->nnodes; i++) {
        if (!tree_below(&c->route.tree, node, i))
            continue;
        int64_t lost = lose(c, &c->member[i]);
        nodes += lost >= 0;
        pes += lost > 0 ? (uint32_t)lost : 0;
    }
    if (nodes == 0)
        return;
    bool silent = strstr(why, "has not answered") != NULL;
    snprintf(sentence, sizeof sentence, "the node daemon on %s %s%s", crew_host(c, node),
             why, silent ? " (SHMEM_LAUNCH_TIMEOUT sets the time)" : "");
    c->ev->lost(c->front, own, pes, sentence);
    while (nodes-- > 0)
        crew_member_over(c);
}

/* ---- start ------------------------------------------------------------------------ */

/* What is said before the call may be noise of the way there: it is told only if no call
 * comes (by the starter, or at the start limit). */
static void on_said(void *arg, uint32_t node, const char *line)
{
    struct crew *c = arg;
    struct member *m = node == STARTER_ALL ? &c->member[0] : &c->member[node];
    if (m->state == MEMBER_AWAITED) {
        free(m->said);
        m->said = strdup(line);
        return;
    }
    char text[COMPLAINT_BYTES];
    const char *who = node == STARTER_ALL ? "srun" : crew_host(c, node);
    snprintf(text, sizeof text, "%s: %s", who, line);
    if (!c->failed && !c->ending && !c->stopping)
        c->ev->pe.say(c->front, text);
}

static void on_agent_ended(void *arg, uint32_t node, bool failed, const char *why)
{
    struct crew *c = arg;
    const char *reason = failed
                             ? why
                             : "it ended with status 0 and has started nothing; does it "
                               "pass its command on?";
    for (uint32_t i = 0; i < c->job->nnodes; i++) {
        if (c->member[i].state != MEMBER_AWAITED)
            continue;
        if (node == STARTER_ALL)
            crew_fail(c, CREW_EXIT_ERROR, "srun cannot start all node daemons: %s",
                      reason);
        else if (node == i)
            crew_fail(c, CREW_EXIT_ERROR, "%s: cannot start the node daemon: %s",
                      crew_host(c, i), reason);
    }
}

/* What a daemon has not done in time. */
static void what_is_due(const struct crew *c, const struct member *m, char *text,
                        size_t size)
{
    uint32_t parent = tree_parent(&c->route.tree, m->node);

    if (m->state == MEMBER_AWAITED)
        snprintf(text, size, "called");
    else
        snprintf(text, size, "found its parent (%s)",
                 parent == WIRE_FRONT ? "this process" : crew_host(c, parent));
}

static void fail_start(struct crew *c, const struct member *m)
{
    char due[COMPLAINT_BYTES];

    what_is_due(c, m, due, sizeof due);
    crew_fail(
        c, CREW_EXIT_ERROR,
        "%s: its node daemon has not %s within %.1f s%s%s; is the way from there to "
        "this host open (--if, firewall)? SHMEM_LAUNCH_START_TIMEOUT sets the time",
        crew_host(c, m->node), due, m->limit_ms / MS_PER_S,
        m->said != NULL ? "; last words: " : "", m->said != NULL ? m->said : "");
}

static bool is_due(const struct member *m)
{
    return m->state < MEMBER_THERE && m->left_ms > 0;
}

/* In steps, so that time in which we are stopped counts for one step only. */
static void on_start_step(void *arg)
{
    struct crew *c = arg;
    bool more = false;
    for (uint32_t i = 0; i < c->job->nnodes; i++) {
        struct member *m = &c->member[i];
        if (!is_due(m))
            continue;
        m->left_ms -= STEP_MS;
        more = more || m->left_ms > 0;
        if (m->left_ms <= 0)
            fail_start(c, m);
    }
    if (more && !c->failed)
        loop_after(c->loop, &c->start, STEP_MS);
}

void crew_give_time(struct crew *c, struct member *m, uint32_t ms)
{
    m->limit_ms = ms;
    m->left_ms = ms;
    if (ms > 0 && c->start.due_ns == 0)
        loop_after(c->loop, &c->start, STEP_MS);
}

uint32_t crew_find_node(const struct crew *c, uint32_t node, const char *host)
{
    for (uint32_t i = 0; node == WIRE_NONE && host != NULL && i < c->job->nnodes; i++)
        if (strcmp(c->host[i], host) == 0)
            return i;
    return node;
}

static void on_agent_started(void *arg, uint32_t node)
{
    struct crew *c = arg;
    for (uint32_t i = 0; i < c->job->nnodes; i++)
        if (node == i || node == STARTER_ALL)
            crew_give_time(c, &c->member[i], c->o->start_timeout_ms);
}

/* The way there is over: the daemon itself is quick, or stopped, or cut off. */
static void on_up(void *arg, uint32_t node, const char *host)
{
    struct crew *c = arg;
    uint32_t ms = c->o->timeout_ms < UP_MIN_MS ? UP_MIN_MS : c->o->timeout_ms;
    ms = ms < UP_MAX_MS ? ms : UP_MAX_MS;
    node = crew_find_node(c, node, host);
    if (node >= c->job->nnodes || c->member[node].state != MEMBER_AWAITED ||
        c->member[node].left_ms <= ms + UP_EXTRA_MS)
        return;
    crew_give_time(c, &c->member[node], ms + UP_EXTRA_MS);
}

static void on_came(void *arg, int fd)
{
    struct crew *c = arg;
    struct link **more =
        realloc(c->caller, ((size_t)c->ncallers + 1) * sizeof(struct link *));
    if (more != NULL)
        c->caller = more;
    struct link *l = more == NULL ? NULL
                                  : link_open(c->loop, fd, c->o->timeout_ms, LINK_AWAKE,
                                              &crew_link_events, c);
    if (more == NULL)
        close(fd);
    if (l != NULL)
        c->caller[c->ncallers++] = l;
}

static void on_refused(void *arg, const char *sentence)
{
    struct crew *c = arg;
    c->ev->pe.say(c->front, sentence);
}

static void on_gathered(void *arg, void *mine, int status, uint64_t number,
                        const void *data, size_t len)
{
    (void)arg, (void)mine, (void)status, (void)number, (void)data, (void)len;
}

static void on_gather_send(void *arg, const struct frame *f)
{
    struct crew *c = arg;
    route_send(&c->route, f);
}

static int make_members(struct crew *c)
{
    const struct job *job = c->job;
    c->member = calloc(job->nnodes, sizeof *c->member);
    c->pe = calloc(job->npes, sizeof *c->pe);
    c->host = calloc(job->nnodes, sizeof *c->host);
    if (c->member == NULL || c->pe == NULL || c->host == NULL)
        return -1;
    for (uint32_t i = 0; i < job->nnodes; i++) {
        c->host[i] = job->node[i].name;
        c->member[i].node = i;
        c->member[i].live = job->node[i].npes;
        for (uint32_t k = 0; k < job->node[i].npes; k++)
            c->pe[job->node[i].rank[k]].node = i;
    }
    job_pack(&c->job_bytes, job);
    return c->job_bytes.failed ? -1 : 0;
}

static int make_tree(struct crew *c)
{
    static const struct gather_events events = {.send = on_gather_send,
                                                .done = on_gathered};
    struct tree t = {.nnodes = c->job->nnodes, .fanout = c->o->fanout};
    c->window = WINDOW_ALL / t.nnodes;
    if (c->window < WINDOW_MIN)
        c->window = WINDOW_MIN;
    if (c->window > WINDOW_MAX)
        c->window = WINDOW_MAX;
    c->gather = gather_new(&t, WIRE_FRONT, &events, c);
    return c->gather == NULL ? -1 : route_open(&c->route, &t, WIRE_FRONT);
}

/* On virtual nodes nobody outside has anything to say. */
static const char *interface_of(const struct crew *c)
{
    return c->plan->kind == PLAN_VNODES ? LOOPBACK : c->o->interface;
}

static int open_door(struct crew *c)
{
    static const struct door_events events = {.came = on_came, .refused = on_refused};
    char addresses[ADDRESSES_MAX], why[COMPLAINT_BYTES], hex[NONCE_HEX_BYTES];
    const char *which = interface_of(c);
    if (nonce_make(&c->nonce) != 0) {
        complain("cannot get random bytes: %s", strerror(errno));
        return -1;
    }
    c->door =
        door_open(c->loop, &c->nonce, which, addresses, &events, c, why, sizeof why);
    if (c->door == NULL) {
        if (c->plan->kind == PLAN_VNODES)
            complain(
                "cannot listen for the node daemons: virtual nodes need the loopback "
                "interface, which has no address or is down; `ip link set lo up` "
                "enables it");
        else
            complain("cannot listen for the node daemons: %s", why);
        return -1;
    }
    nonce_to_hex(&c->nonce, hex);
    int n =
        asprintf(&c->line,
                 "oshrun %u " PACKAGE_VERSION " nonce=%s at=%s if=%s timeout=%u "
                 "start=%u window=%llu",
                 WIRE_VERSION, hex, addresses, which != NULL ? which : ANY_ADDRESS,
                 c->o->timeout_ms, c->o->start_timeout_ms, (unsigned long long)c->window);
    if (n >= 0)
        return 0;
    c->line = NULL;
    complain("no memory for the node daemons");
    return -1;
}

static int begin(struct crew *c, struct rlimit files)
{
    static const struct starter_events events = {.started = on_agent_started,
                                                 .up = on_up,
                                                 .said = on_said,
                                                 .ended = on_agent_ended};
    static const enum starter_kind kind[] = {[PLAN_HERE] = STARTER_LOCAL,
                                             [PLAN_VNODES] = STARTER_LOCAL,
                                             [PLAN_HOSTS] = STARTER_AGENT,
                                             [PLAN_SLURM] = STARTER_SRUN};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    if (n <= 0 && c->o->daemon_path == NULL) {
        complain(
            "cannot read the path of oshrun from /proc/self/exe (%s); mount /proc, or "
            "set SHMEM_LAUNCH_DAEMON",
            strerror(errno));
        return -1;
    }
    struct starter_config config = {
        .kind = kind[c->plan->kind],
        .nnodes = c->job->nnodes,
        .host = c->host,
        .local = c->plan->local,
        .agent = c->o->agent,
        .daemon_path = c->o->daemon_path != NULL ? c->o->daemon_path : self,
        .line = c->line,
        .janitor_fd = c->janitor->fd,
        .files = files};
    c->starter = starter_begin(c->loop, &config, &events, c);
    return c->starter != NULL ? 0 : -1;
}

int crew_start(struct crew **out, const struct job *job, const struct plan *plan,
               const struct options *o, const struct nodes_events *events, void *front,
               struct loop *loop, const struct janitor *janitor, struct rlimit files)
{
    struct crew *c = calloc(1, sizeof *c);
    *out = c;
    if (c == NULL) {
        complain("no memory for the nodes of the job");
        return CREW_EXIT_ERROR;
    }
    c->job = job;
    c->plan = plan;
    c->o = o;
    c->ev = events;
    c->front = front;
    c->loop = loop;
    c->janitor = janitor;
    c->start = (struct loop_timer){.fn = on_start_step, .arg = c};
    c->report_limit = (struct loop_timer){.fn = crew_on_report_limit, .arg = c};
    if (make_members(c) != 0 || make_tree(c) != 0) {
        complain("no memory for %u nodes", job->nnodes);
        return CREW_EXIT_ERROR;
    }
    return open_door(c) == 0 && begin(c, files) == 0 ? 0 : CREW_EXIT_ERROR;
}

/* ---- end -------------------------------------------------------------------------- */

void crew_left(struct crew *c, struct link *l)
{
    struct member *m = link_user(l);
    if (m != NULL && m->call != l)
        route_detach(&c->route, m->node);
    if (!route_has_children(&c->route))
        c->loop->stop = true;
}

static void on_stop_limit(void *arg)
{
    struct crew *c = arg;
    c->loop->stop = true;
}

/* Tells all to leave, and sees them hang up. */
static void dismiss(struct crew *c, bool good)
{
    struct loop_timer limit = {.fn = on_stop_limit, .arg = c};
    c->stopping = true;
    if (c->route.child == NULL)
        return;
    struct pack p = {0};
    pack_u8(&p, good);
    crew_send_pack(c, WIRE_STOP, WIRE_ALL, &p);
    if (!route_has_children(&c->route))
        return;
    loop_after(c->loop, &limit, STOP_MS);
    c->loop->stop = false;
    loop_run(c->loop);
    loop_cancel(c->loop, &limit);
}

static void free_members(struct crew *c)
{
    for (uint32_t i = 0; c->member != NULL && i < c->job->nnodes; i++) {
        if (c->member[i].call != NULL)
            link_free(c->member[i].call);
        free(c->member[i].addresses);
        free(c->member[i].said);
    }
    for (uint32_t i = 0; i < c->ncallers; i++)
        link_free(c->caller[i]);
    free(c->caller);
    free(c->member);
    free(c->pe);
    free(c->host);
}

void crew_stop(struct crew *c, bool good)
{
    if (c == NULL)
        return;
    loop_cancel(c->loop, &c->start);
    loop_cancel(c->loop, &c->report_limit);
    dismiss(c, good);
    if (c->starter != NULL)
        starter_stop(c->starter);
    if (c->door != NULL)
        door_close(c->door);
    route_close(&c->route);
    free_members(c);
    if (c->gather != NULL)
        gather_free(c->gather);
    crew_report_free(c);
    pack_free(&c->job_bytes);
    free(c->line);
    free(c);
}
