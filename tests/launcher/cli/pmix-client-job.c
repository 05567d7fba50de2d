/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix-client-job.c - modes of pmix-client about the job: node map, events, queries, job
 * control, groups.
 *
 * Uses libpmix.
 */
#include "config.h"

#include "tests/launcher/cli/pmix-client.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUIET_MS   400u /* time in which nothing must happen */
#define TABLE_TEXT 4096
#define GROUPS     6
#define EVENT_CODE (PMIX_EXTERNAL_ERR_BASE - 10)

/* ---- node map -------------------------------------------------------------------- */

/* The node of a PE by ARGUMENT: "NODES:NAME:rr" or "NODES:NAME:block", where NAME has a
 * %u for the number. */
struct map {
    uint32_t nodes;
    char name[64];
    bool block;
};

static struct map read_map(void)
{
    struct map m = {.nodes = (uint32_t)strtoul(argument, NULL, 10)};
    const char *name = strchr(argument, ':'), *how = strrchr(argument, ':');
    if (name == NULL || how == name || (size_t)(how - name) > sizeof m.name)
        fail("bad argument '%s'", argument);
    memcpy(m.name, name + 1, (size_t)(how - name) - 1);
    m.block = strcmp(how, ":block") == 0;
    return m;
}

static uint32_t node_of(const struct map *m, uint32_t rank)
{
    uint32_t each = npes / m->nodes, more = npes % m->nodes;
    if (!m->block)
        return rank % m->nodes;
    return rank < more * (each + 1) ? rank / (each + 1) : (rank - more) / each;
}

static const char *name_of(const struct map *m, uint32_t node)
{
    static char text[4][128];
    static unsigned turn;
    const char *mark = strstr(m->name, "%u");
    char *out = text[turn++ % 4];
    if (mark == NULL)
        snprintf(out, sizeof text[0], "%s", m->name);
    else
        snprintf(out, sizeof text[0], "%.*s%u%s", (int)(mark - m->name), m->name, node,
                 mark + 2);
    return out;
}

/* The list of PEs as text, such as "0,3"; returns their number. */
static uint32_t peers_of(const struct map *m, uint32_t node, char *text)
{
    uint32_t n = 0;
    *text = '\0';
    for (uint32_t r = 0; r < npes; r++)
        if (node_of(m, r) == node)
            text += sprintf(text, "%s%u", n++ > 0 ? "," : "", r);
    return n;
}

static void check_node(const struct map *m, uint32_t node)
{
    char text[TABLE_TEXT];
    pmix_proc_t *procs = NULL;
    size_t n = 0;
    uint32_t expected = peers_of(m, node, text), rank = 0;
    want(PMIx_Resolve_peers(name_of(m, node), me.nspace, &procs, &n), PMIX_SUCCESS,
         "Resolve_peers");
    if (n != expected)
        fail("%u PEs on %s, not %u", (unsigned)n, name_of(m, node), expected);
    for (size_t i = 0; i < n; i++, rank++) {
        while (node_of(m, rank) != node)
            rank++;
        if (procs[i].rank != rank)
            fail("PE %u on %s, not %u", procs[i].rank, name_of(m, node), rank);
    }
    PMIX_PROC_FREE(procs, n);
}

void mode_map(void)
{
    const struct map m = read_map();
    char text[TABLE_TEXT];
    uint32_t here = node_of(&m, me.rank);
    uint32_t n = peers_of(&m, here, text);
    want_text(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, text);
    if (get_number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE) != n ||
        get_number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES) != m.nodes)
        fail("%u PEs here, %u nodes", get_number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE),
             get_number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES));
    if (get_number(me.rank, PMIX_NODEID) != here) /* own node only */
        fail("on node %u, not %u", get_number(me.rank, PMIX_NODEID), here);
    char *end = text;
    for (uint32_t i = 0; i < m.nodes; i++)
        end += sprintf(end, "%s%s", i > 0 ? "," : "", name_of(&m, i));
    want_text(PMIX_RANK_WILDCARD, PMIX_NODE_LIST, text);
    char *nodes = NULL;
    want(PMIx_Resolve_nodes(me.nspace, &nodes), PMIX_SUCCESS, "Resolve_nodes");
    if (strcmp(nodes, text) != 0)
        fail("the nodes are '%s', not '%s'", nodes, text);
    free(nodes);
    uint32_t local[TABLE_TEXT] = {0};
    for (uint32_t r = 0; r < npes; r++) {
        uint32_t node = node_of(&m, r);
        want_text(r, PMIX_HOSTNAME, name_of(&m, node));
        if (get_number(r, PMIX_LOCAL_RANK) != local[node]++)
            fail("PE %u is number %u there", r, get_number(r, PMIX_LOCAL_RANK));
    }
    for (uint32_t i = 0; i < m.nodes; i++)
        check_node(&m, i);
    barrier();
}

/* ---- programs -------------------------------------------------------------------- */

static uint32_t app_number(uint32_t app, const char *key)
{
    pmix_proc_t whole = proc(PMIX_RANK_WILDCARD);
    pmix_info_t info[2];
    pmix_value_t *v = NULL;
    bool yes = true;
    PMIX_INFO_LOAD(&info[0], PMIX_APP_INFO, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_APPNUM, &app, PMIX_UINT32);
    want(PMIx_Get(&whole, key, info, 2, &v), PMIX_SUCCESS, key);
    uint32_t number = v->type == PMIX_PROC_RANK ? v->data.rank : v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    return number;
}

/* The argument has the number of PEs of each program: "2,1". */
void mode_apps(void)
{
    uint32_t app = 0, first = 0;
    for (const char *at = argument; at != NULL && *at != '\0'; app++) {
        char *end;
        uint32_t n = (uint32_t)strtoul(at, &end, 10);
        for (uint32_t i = 0; i < n; i++)
            if (get_number(first + i, PMIX_APPNUM) != app ||
                get_number(first + i, PMIX_APP_RANK) != i)
                fail("PE %u is number %u of program %u", first + i,
                     get_number(first + i, PMIX_APP_RANK),
                     get_number(first + i, PMIX_APPNUM));
        if (app_number(app, PMIX_APP_SIZE) != n || app_number(app, PMIX_APPLDR) != first)
            fail("program %u has %u PEs from PE %u", app, app_number(app, PMIX_APP_SIZE),
                 app_number(app, PMIX_APPLDR));
        first += n;
        at = *end == ',' ? end + 1 : NULL;
    }
    if (get_number(PMIX_RANK_WILDCARD, PMIX_JOB_NUM_APPS) != app)
        fail("%u programs", get_number(PMIX_RANK_WILDCARD, PMIX_JOB_NUM_APPS));
    barrier();
}

/* ---- events ---------------------------------------------------------------------- */

static atomic_int got[8], bad_events;

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t *info, size_t n, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id, (void)results, (void)nresults;
    bool right = false;
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&info[i], "test.text"))
            right = info[i].value.type == PMIX_STRING &&
                    strcmp(info[i].value.data.string, "from afar") == 0;
    if (source->rank != 0 || !right)
        atomic_fetch_add(&bad_events, 1);
    atomic_fetch_add(&got[EVENT_CODE - status], 1);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_registered(pmix_status_t status, size_t id, void *arg)
{
    (void)id;
    on_op(status, arg);
}

static void notify(int i, pmix_data_range_t range, uint32_t target)
{
    pmix_info_t info[2];
    const pmix_proc_t p = proc(target);
    struct lock l = {0};
    PMIX_INFO_LOAD(&info[0], "test.text", "from afar", PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_CUSTOM_RANGE, &p, PMIX_PROC);
    pmix_status_t rc = PMIx_Notify_event(EVENT_CODE - i, &me, range, info,
                                         range == PMIX_RANGE_CUSTOM ? 2 : 1, on_op, &l);
    if (rc != PMIX_OPERATION_SUCCEEDED) {
        want(rc, PMIX_SUCCESS, "notify");
        until(&l.done, 1, "a notification");
        want(l.status, PMIX_SUCCESS, "a notification");
    }
}

/* PE 0 notifies all PEs three times, its own node, and the last PE. */
void mode_event(void)
{
    static const pmix_data_range_t range[] = {
        PMIX_RANGE_NAMESPACE, PMIX_RANGE_SESSION, PMIX_RANGE_GLOBAL,
        PMIX_RANGE_LOCAL,     PMIX_RANGE_CUSTOM,  PMIX_RANGE_PROC_LOCAL};
    enum { RANGES = sizeof range / sizeof range[0] };
    pmix_status_t code[RANGES];
    struct lock l = {0};
    const struct map m = read_map();
    for (int i = 0; i < RANGES; i++)
        code[i] = EVENT_CODE - i;
    PMIx_Register_event_handler(code, RANGES, NULL, 0, on_event, on_registered, &l);
    until(&l.done, 1, "the registration");
    want(l.status, PMIX_SUCCESS, "the registration");
    barrier();
    if (me.rank == 0)
        for (int i = 0; i < RANGES; i++)
            notify(i, range[i], npes - 1);
    const bool gets[RANGES] = {
        true, true, true, node_of(&m, me.rank) == 0, me.rank == npes - 1, me.rank == 0};
    for (int i = 0; i < RANGES; i++)
        if (gets[i])
            until(&got[i], 1, "an event");
    barrier();
    sleep_ms(QUIET_MS);
    for (int i = 0; i < RANGES; i++)
        if (atomic_load(&got[i]) != (gets[i] ? 1 : 0))
            fail("event of range %u arrived %d times", range[i], atomic_load(&got[i]));
    if (atomic_load(&bad_events) != 0)
        fail("an event had the wrong source or contents");
    barrier();
}

/* ---- queries --------------------------------------------------------------------- */

static pmix_status_t query(const char *key, pmix_info_t **info, size_t *n)
{
    pmix_query_t q;
    pmix_status_t rc;
    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, key);
    rc = PMIx_Query_info(&q, 1, info, n);
    PMIX_QUERY_DESTRUCT(&q);
    return rc;
}

static void check_table(const struct map *m, const char *key, bool local)
{
    pmix_info_t *info = NULL;
    size_t n = 0;
    want(query(key, &info, &n), PMIX_SUCCESS, key);
    if (n != 1 || info[0].value.type != PMIX_DATA_ARRAY ||
        info[0].value.data.darray->type != PMIX_PROC_INFO)
        fail("'%s' is no table", key);
    const pmix_data_array_t *a = info[0].value.data.darray;
    const pmix_proc_info_t *row = a->array;
    uint32_t here = node_of(m, me.rank), expected = 0, seen_me = 0;
    for (uint32_t r = 0; r < npes; r++)
        expected += !local || node_of(m, r) == here;
    if (a->size != expected)
        fail("'%s' has %u rows, not %u", key, (unsigned)a->size, expected);
    for (size_t i = 0; i < a->size; i++) {
        uint32_t node = node_of(m, row[i].proc.rank);
        if (strcmp(row[i].hostname, name_of(m, node)) != 0 || (local && node != here))
            fail("'%s' has PE %u on '%s'", key, row[i].proc.rank, row[i].hostname);
        if (row[i].pid <= 0 || row[i].state != PMIX_PROC_STATE_RUNNING ||
            strstr(row[i].executable_name, "pmix-client") == NULL)
            fail("'%s': PE %u: pid %d, state %d, '%s'", key, row[i].proc.rank,
                 (int)row[i].pid, row[i].state, row[i].executable_name);
        seen_me += row[i].proc.rank == me.rank && row[i].pid == getpid();
    }
    if (seen_me != 1)
        fail("'%s' has PE %u %u times", key, me.rank, seen_me);
    PMIX_INFO_FREE(info, n);
}

void mode_query(void)
{
    const struct map m = read_map();
    pmix_info_t *info = NULL;
    size_t n = 0;
    barrier();
    check_table(&m, PMIX_QUERY_PROC_TABLE, false);
    check_table(&m, PMIX_QUERY_LOCAL_PROC_TABLE, true);
    want(query(PMIX_QUERY_NAMESPACES, &info, &n), PMIX_SUCCESS, "namespaces");
    if (n != 1 || info[0].value.type != PMIX_STRING ||
        strcmp(info[0].value.data.string, me.nspace) != 0)
        fail("the namespaces are not only ours");
    PMIX_INFO_FREE(info, n);
    info = NULL;
    n = 0;
    want(query(PMIX_QUERY_QUEUE_LIST, &info, &n), PMIX_ERR_NOT_SUPPORTED, "queues");
    barrier();
}

/* ---- job control ----------------------------------------------------------------- */

static atomic_int signals;

static void on_signal(int sig)
{
    (void)sig;
    atomic_fetch_add(&signals, 1);
}

static pmix_status_t control(uint32_t rank, const char *what, int value)
{
    pmix_info_t info;
    const pmix_proc_t p = proc(rank);
    bool yes = true;
    if (value != 0)
        PMIX_INFO_LOAD(&info, what, &value, PMIX_INT);
    else
        PMIX_INFO_LOAD(&info, what, &yes, PMIX_BOOL);
    return PMIx_Job_control(&p, 1, &info, 1, NULL, NULL);
}

/* True if the process of a PE is stopped. */
static bool is_stopped(pid_t pid)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f == NULL || fgets(line, sizeof line, f) == NULL)
        fail("cannot read %s", path);
    fclose(f);
    const char *state = strrchr(line, ')');
    return state != NULL && state[2] == 'T';
}

static void until_stopped(pid_t pid, bool stopped)
{
    for (uint64_t end = now_ms() + WAIT_MS; is_stopped(pid) != stopped; sleep_ms(5))
        if (now_ms() > end)
            fail("process %d is %sstopped", (int)pid, stopped ? "not " : "");
}

/* PE 0 pauses and resumes the last one, then sends SIGUSR2 to it and to all. */
void mode_control(void)
{
    pid_t pid = getpid();
    uint32_t last = npes - 1;
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR2, &act, NULL);
    put("pid", &pid, sizeof pid);
    barrier();
    if (me.rank == 0) {
        pmix_value_t *v = get(last, "pid");
        memcpy(&pid, v->data.bo.bytes, sizeof pid);
        PMIX_VALUE_RELEASE(v);
        want(control(last, PMIX_JOB_CTRL_PAUSE, 0), PMIX_SUCCESS, "pause");
        until_stopped(pid, true);
        want(control(last, PMIX_JOB_CTRL_RESUME, 0), PMIX_SUCCESS, "resume");
        until_stopped(pid, false);
        want(control(last, PMIX_JOB_CTRL_SIGNAL, SIGUSR2), PMIX_SUCCESS, "signal");
    }
    if (me.rank == last)
        until(&signals, 1, "a signal for the last PE");
    barrier();
    if (me.rank != last && atomic_load(&signals) != 0)
        fail("received a signal for PE %u", last);
    barrier();
    if (me.rank == 0)
        want(control(PMIX_RANK_WILDCARD, PMIX_JOB_CTRL_SIGNAL, SIGUSR2), PMIX_SUCCESS,
             "signal");
    until(&signals, me.rank == last ? 2 : 1, "a signal for all");
    barrier();
    want(control(npes, PMIX_JOB_CTRL_PAUSE, 0), PMIX_ERR_NOT_FOUND, "no PE paused");
    want(control(0, PMIX_JOB_CTRL_SIGNAL, 1000), PMIX_ERR_BAD_PARAM, "signal 1000");
    want(control(0, PMIX_JOB_CTRL_PREEMPTIBLE, 0), PMIX_ERR_NOT_SUPPORTED, "preempt");
    barrier();
}

/* PE 0 ends the job: ARGUMENT is kill or terminate. */
void mode_end(void)
{
    bool hard = strcmp(argument, "kill") == 0;
    barrier();
    if (me.rank == 0)
        control(PMIX_RANK_WILDCARD, hard ? PMIX_JOB_CTRL_KILL : PMIX_JOB_CTRL_TERMINATE,
                0);
    sleep_ms(WAIT_MS);
    fail("still there");
}

void mode_spawn(void)
{
    pmix_app_t app;
    char *argv[] = {(char[]){"./other"}, NULL};
    pmix_nspace_t nspace;
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = argv[0];
    app.argv = argv;
    app.maxprocs = 1;
    if (me.rank == npes - 1)
        want(PMIx_Spawn(NULL, 0, &app, 1, nspace), PMIX_ERR_NOT_SUPPORTED, "spawn");
    barrier();
}

/* A subset of PEs cannot be aborted; libpmix does not report that to the caller. */
void mode_abort_some(void)
{
    pmix_proc_t other = proc(npes - 1);
    if (me.rank == 0)
        PMIx_Abort(3, "one only", &other, 1);
    barrier();
}

/* Members that do not exist cause an error at once. */
void mode_unknown(void)
{
    pmix_proc_t procs[2] = {me, proc(npes + 100)};
    pmix_info_t *results = NULL;
    pmix_value_t *v;
    size_t n = 0;
    for (unsigned i = 0; i < 2; i++) {
        want(PMIx_Fence(procs, 2, NULL, 0), PMIX_ERR_NOT_FOUND, "fence");
        want(PMIx_Connect(procs, 2, NULL, 0), PMIX_ERR_NOT_FOUND, "connect");
        want(PMIx_Group_construct(i > 0 ? "b" : "a", procs, 2, NULL, 0, &results, &n),
             PMIX_ERR_NOT_FOUND, "group");
        PMIX_PROC_LOAD(&procs[1], "another-job", 0);
    }
    want(PMIx_Get(&procs[1], "key", NULL, 0, &v), PMIX_ERR_NOT_FOUND, "get");
    barrier();
}

/* ---- groups and connections ------------------------------------------------------ */

static size_t construct(const char *name, const pmix_proc_t *procs, size_t n)
{
    pmix_info_t info, *results = NULL;
    size_t nresults = 0, id = 0;
    bool yes = true;
    PMIX_INFO_LOAD(&info, PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    want(PMIx_Group_construct(name, procs, n, &info, 1, &results, &nresults),
         PMIX_SUCCESS, name);
    for (size_t i = 0; i < nresults; i++)
        if (PMIX_CHECK_KEY(&results[i], PMIX_GROUP_CONTEXT_ID))
            id = results[i].value.data.size;
    if (id == 0)
        fail("group '%s' got no number", name);
    PMIX_INFO_FREE(results, nresults);
    return id;
}

/* Callback data of a group: receives its context number. */
struct numbered {
    struct lock lock;
    size_t id;
};

static void on_group(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                     pmix_release_cbfunc_t release, void *release_arg)
{
    struct numbered *g = arg;
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_GROUP_CONTEXT_ID))
            g->id = info[i].value.data.size;
    if (release != NULL)
        release(release_arg);
    on_op(status, &g->lock);
}

/* Two groups of all PEs at once; every third node constructs them in another order. */
static void construct_two(const pmix_proc_t *procs, size_t *id)
{
    struct numbered g[2] = {{.id = 0}};
    pmix_info_t info;
    bool yes = true;
    PMIX_INFO_LOAD(&info, PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    for (unsigned i = 0; i < 2; i++) {
        unsigned k = (i + (me.rank % 3 == 0)) % 2;
        want(PMIx_Group_construct_nb(k == 0 ? "one" : "two", procs, npes, &info, 1,
                                     on_group, &g[k]),
             PMIX_SUCCESS, "construct_nb");
        sleep_ms(50);
    }
    for (unsigned i = 0; i < 2; i++) {
        until(&g[i].lock.done, 1, "a group");
        want(g[i].lock.status, PMIX_SUCCESS, "a group");
        id[i] = g[i].id;
    }
}

/* All members of a set get the same number, which differs between sets. */
void mode_group(void)
{
    pmix_proc_t *procs = calloc(npes, sizeof *procs);
    size_t id[GROUPS];
    pmix_proc_t *all = calloc(npes, sizeof *all);
    for (uint32_t r = 0; r < npes; r++)
        all[r] = proc(r);
    id[0] = construct("all", all, npes);
    id[1] = construct("again", all, npes);
    char name[32];
    snprintf(name, sizeof name, "set.%u", me.rank % 2);
    size_t n = make_set(1, me.rank, procs);
    id[2] = construct(name, procs, n);
    want(PMIx_Group_destruct(name, NULL, 0), PMIX_SUCCESS, "destruct");
    id[3] = construct(name, procs, n);
    construct_two(all, &id[4]);
    put("ids", id, sizeof id);
    barrier();
    for (uint32_t r = 0; r < npes; r++) {
        size_t other[GROUPS];
        pmix_value_t *v = get(r, "ids");
        memcpy(other, v->data.bo.bytes, sizeof other);
        PMIX_VALUE_RELEASE(v);
        for (unsigned a = 0; a < GROUPS; a++)
            for (unsigned b = 0; b < GROUPS; b++) {
                bool same = a == b && (a < 2 || a > 3 || r % 2 == me.rank % 2);
                if ((id[a] == other[b]) != same)
                    fail("group %u of PE %u has number %zu, %u of PE %u %zu", a, me.rank,
                         id[a], b, r, other[b]);
            }
    }
    want(PMIx_Group_destruct("again", NULL, 0), PMIX_SUCCESS, "destruct");
    want(PMIx_Group_destruct("all", NULL, 0), PMIX_SUCCESS, "destruct");
    free(procs);
    free(all);
    barrier();
}

void mode_connect(void)
{
    pmix_proc_t *procs = calloc(npes, sizeof *procs);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned s = 0; s < SETS; s++) {
            size_t n = make_set(s, me.rank, procs);
            if (n == 0)
                continue;
            want(PMIx_Connect(procs, n, NULL, 0), PMIX_SUCCESS, "connect");
            want(PMIx_Disconnect(procs, n, NULL, 0), PMIX_SUCCESS, "disconnect");
        }
    free(procs);
    barrier();
}
