/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix-client.c - a PMIx client that checks what the server of its node answers.
 *
 * Uses libpmix.  Used by oshrun-pmix.sh, to test the launcher without the library.
 *
 *   pmix-client MODE [ARGUMENT]: see the table at the end.  A PE that finds something
 *   wrong says so and ends with status 1; one that does not, prints "PE N: good".
 */
#include "config.h"

#include "tools/oshrun/node/pmix_api.h"

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS          1000000ull
#define WAIT_MS     20000u /* for what must happen */
#define QUIET_MS    400u   /* for what must not */
#define SETS        3
#define TABLE_TEXT  4096
#define EVENT_CODE  (PMIX_EXTERNAL_ERR_BASE - 10)
#define AT_ONCE_MS  1000u
#define PMIX_TEST_S 1

static pmix_proc_t me;
static uint32_t npes;
static const char *argument;

/* ---- small tools ----------------------------------------------------------------------
 */

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
    va_list args;
    char text[512];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "PE %u: WRONG: %s\n", me.rank, text);
    exit(1);
}

static void want(pmix_status_t got, pmix_status_t expected, const char *what)
{
    if (got != expected)
        fail("%s: %s (%d), expected %s", what, PMIx_Error_string(got), got,
             PMIx_Error_string(expected));
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / MS;
}

static void sleep_ms(uint32_t ms)
{
    const struct timespec t = {ms / 1000, (long)((ms % 1000) * MS)};
    nanosleep(&t, NULL);
}

static void until(atomic_int *flag, int value, const char *what)
{
    for (uint64_t end = now_ms() + WAIT_MS; atomic_load(flag) < value; sleep_ms(2))
        if (now_ms() > end)
            fail("%s did not happen (%d of %d)", what, atomic_load(flag), value);
}

static pmix_proc_t proc(uint32_t rank)
{
    pmix_proc_t p;
    PMIX_PROC_LOAD(&p, me.nspace, rank);
    return p;
}

/* What is waited for. */
struct lock {
    atomic_int done;
    pmix_status_t status;
};

static void on_op(pmix_status_t status, void *arg)
{
    struct lock *l = arg;
    l->status = status;
    atomic_store(&l->done, 1);
}

static void barrier(void)
{
    want(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS, "a fence");
}

static void put(const char *key, const void *data, size_t len)
{
    pmix_value_t v;
    PMIX_VALUE_CONSTRUCT(&v);
    v.type = PMIX_BYTE_OBJECT;
    v.data.bo = (pmix_byte_object_t){(char *)(uintptr_t)data, len};
    want(PMIx_Put(PMIX_GLOBAL, key, &v), PMIX_SUCCESS, "put");
    want(PMIx_Commit(), PMIX_SUCCESS, "commit");
}

static pmix_status_t get_within(uint32_t rank, const char *key, int timeout_s,
                                pmix_value_t **v)
{
    pmix_info_t info;
    const pmix_proc_t p = proc(rank);
    *v = NULL;
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &timeout_s, PMIX_INT);
    pmix_status_t rc = PMIx_Get(&p, key, &info, timeout_s > 0, v);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

static pmix_value_t *get(uint32_t rank, const char *key)
{
    pmix_value_t *v;
    pmix_status_t rc = get_within(rank, key, 0, &v);
    if (rc != PMIX_SUCCESS)
        fail("get '%s' of PE %d: %s", key, (int)rank, PMIx_Error_string(rc));
    return v;
}

static uint32_t get_number(uint32_t rank, const char *key)
{
    pmix_value_t *v = get(rank, key);
    uint32_t number = v->type == PMIX_UINT16 ? v->data.uint16 : v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    return number;
}

static void want_text(uint32_t rank, const char *key, const char *text)
{
    pmix_value_t *v = get(rank, key);
    if (v->type != PMIX_STRING || strcmp(v->data.string, text) != 0)
        fail("'%s' of PE %d is '%s', not '%s'", key, (int)rank,
             v->type == PMIX_STRING ? v->data.string : "no string", text);
    PMIX_VALUE_RELEASE(v);
}

/* ---- fences ---------------------------------------------------------------------------
 */

static void fill(unsigned char *data, size_t len, uint32_t rank, uint32_t round)
{
    for (size_t i = 0; i < len; i++)
        data[i] = (unsigned char)(i * 31 + (i >> 8) + rank * 7 + round * 101);
}

static pmix_status_t fence(const pmix_proc_t *procs, size_t n, bool collect)
{
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    return PMIx_Fence(procs, n, &info, 1);
}

static void check_data(const char *key, uint32_t rank, size_t len, uint32_t round)
{
    unsigned char *expected = malloc(len + 1);
    pmix_value_t *v = get(rank, key);
    fill(expected, len, rank, round);
    if (v->type != PMIX_BYTE_OBJECT || v->data.bo.size != len ||
        (len > 0 && memcmp(v->data.bo.bytes, expected, len) != 0))
        fail("data '%s' of PE %u is not what it has put", key, rank);
    PMIX_VALUE_RELEASE(v);
    free(expected);
}

/* All data of all PEs after a fence that collects it; ARGUMENT bytes each.  Then once
 * more without collecting, where each is fetched when it is wanted. */
static void mode_fence(void)
{
    size_t len = strtoul(argument, NULL, 10);
    unsigned char *data = malloc(len + 1);
    const pmix_proc_t all = proc(PMIX_RANK_WILDCARD);
    for (uint32_t round = 0; round < 2; round++) {
        char key[32];
        snprintf(key, sizeof key, "data.%u", round);
        fill(data, len, me.rank, round);
        put(key, data, len);
        want(fence(&all, 1, round == 0), PMIX_SUCCESS, "fence");
        for (uint32_t r = 0; r < npes; r++)
            check_data(key, (r + me.rank) % npes, len, round);
    }
    free(data);
    barrier();
}

/* Nobody leaves before the last has come. */
static void mode_barrier(void)
{
    for (uint32_t late = 0; late < npes; late++) {
        char key[32];
        uint64_t came, last = 0;
        if (late == me.rank)
            sleep_ms(60);
        snprintf(key, sizeof key, "came.%u", late);
        came = now_ms();
        put(key, &came, sizeof came);
        want(fence(NULL, 0, late % 2 == 0), PMIX_SUCCESS, "fence");
        uint64_t left = now_ms();
        pmix_value_t *v = get(late, key);
        memcpy(&last, v->data.bo.bytes, sizeof last);
        PMIX_VALUE_RELEASE(v);
        if (left < last)
            fail("left the fence %u ms before PE %u came", (unsigned)(last - left), late);
    }
}

/* Set s of PE rank: pairs, every second one, all but PE 0. */
static size_t make_set(unsigned s, uint32_t rank, pmix_proc_t *procs)
{
    size_t n = 0;
    for (uint32_t r = 0; r < npes; r++) {
        bool in = s == 0 ? r / 2 == rank / 2 : s == 1 ? r % 2 == rank % 2 : r > 0;
        if (in)
            procs[n++] = proc(r);
    }
    return s == 2 && rank == 0 ? 0 : n;
}

/* Overlapping sets at once, the same ones again and again. */
static void mode_subsets(void)
{
    pmix_proc_t *procs[SETS];
    for (unsigned s = 0; s < SETS; s++)
        procs[s] = calloc(npes, sizeof *procs[s]);
    for (uint32_t round = 0; round < 40; round++) {
        struct lock lock[SETS] = {{0}};
        for (unsigned i = 0; i < SETS; i++) {
            unsigned s = (i + round + me.rank) % SETS; /* each in another order */
            size_t n = make_set(s, me.rank, procs[s]);
            bool collect = round % 3 == 0;
            pmix_info_t info;
            PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
            pmix_status_t rc = PMIX_OPERATION_SUCCEEDED;
            if (n > 0)
                rc = PMIx_Fence_nb(procs[s], n, &info, 1, on_op, &lock[s]);
            if (rc == PMIX_OPERATION_SUCCEEDED)
                on_op(PMIX_SUCCESS, &lock[s]);
            else
                want(rc, PMIX_SUCCESS, "Fence_nb");
        }
        for (unsigned s = 0; s < SETS; s++) {
            until(&lock[s].done, 1, "a fence of some PEs");
            want(lock[s].status, PMIX_SUCCESS, "a fence of some PEs");
        }
    }
    barrier();
}

/* A fence that the last PE does not join in time. */
static void mode_fence_timeout(void)
{
    int s = PMIX_TEST_S;
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &s, PMIX_INT);
    if (me.rank == npes - 1) {
        sleep_ms(2500);
        return;
    }
    uint64_t begin = now_ms();
    want(PMIx_Fence(NULL, 0, &info, 1), PMIX_ERR_TIMEOUT, "a fence with a timeout");
    if (now_ms() - begin > PMIX_TEST_S * 1000 + AT_ONCE_MS)
        fail("the timeout took %u ms", (unsigned)(now_ms() - begin));
}

/* ---- data of one PE
 * --------------------------------------------------------------------- */

/* Without a fence: PE 0 puts late, and all wait for it. */
static void mode_late(void)
{
    unsigned char data[1000];
    pmix_value_t *v;
    fill(data, sizeof data, me.rank, 5);
    if (me.rank == 0)
        sleep_ms(500);
    put("late", data, sizeof data);
    for (uint32_t r = 0; r < npes; r++)
        check_data("late", r, sizeof data, 5);
    barrier();
    uint64_t begin = now_ms();
    pmix_status_t rc = get_within((me.rank + 1) % npes, "never", PMIX_TEST_S, &v);
    if (rc == PMIX_SUCCESS)
        fail("data that nobody has put was there");
    if (now_ms() - begin > PMIX_TEST_S * 1000 + AT_ONCE_MS)
        fail("the timeout took %u ms", (unsigned)(now_ms() - begin));
    begin = now_ms();
    if (get_within(npes + 5, "late", 0, &v) == PMIX_SUCCESS)
        fail("there was data of a PE that does not exist");
    if (now_ms() - begin > AT_ONCE_MS)
        fail("that took %u ms", (unsigned)(now_ms() - begin));
    barrier();
}

/* PE 0 leaves with nothing put, the last PE with something put. */
static void mode_ended(void)
{
    unsigned char data[100];
    pmix_value_t *v;
    uint32_t last = npes - 1;
    fill(data, sizeof data, me.rank, 6);
    if (me.rank == last)
        put("will", data, sizeof data);
    barrier();
    if (me.rank == 0 || me.rank == last) {
        if (me.rank == 0)
            sleep_ms(300); /* it is asked while it lives */
        return;
    }
    uint64_t begin = now_ms();
    if (me.rank % 2 == 0)
        sleep_ms(1000);
    if (get_within(0, "will", 0, &v) == PMIX_SUCCESS)
        fail("PE 0 had put nothing");
    if (now_ms() - begin > 1000 + 2 * AT_ONCE_MS)
        fail("it took %u ms to see that PE 0 has ended", (unsigned)(now_ms() - begin));
    check_data("will", last, sizeof data, 6);
}

/* ---- who is where
 * ----------------------------------------------------------------------- */

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

/* "0,3" and the like, and how many. */
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

static void mode_map(void)
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
        if (get_number(r, PMIX_NODEID) != node)
            fail("PE %u is on node %u, not %u", r, get_number(r, PMIX_NODEID), node);
        if (get_number(r, PMIX_LOCAL_RANK) != local[node]++)
            fail("PE %u is number %u there", r, get_number(r, PMIX_LOCAL_RANK));
    }
    for (uint32_t i = 0; i < m.nodes; i++)
        check_node(&m, i);
    barrier();
}

/* ---- events
 * ----------------------------------------------------------------------------- */

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

/* PE 0 tells: all three times, its own node, the last PE, nobody else. */
static void mode_event(void)
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
            fail("event of range %u came %d times", range[i], atomic_load(&got[i]));
    if (atomic_load(&bad_events) != 0)
        fail("an event had the wrong source or contents");
    barrier();
}

/* ---- queries
 * ---------------------------------------------------------------------------- */

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

static void mode_query(void)
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

/* ---- job control
 * ------------------------------------------------------------------------ */

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

/* True when the process of a PE is stopped. */
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
static void mode_control(void)
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
        fail("a signal for PE %u came", last);
    barrier();
    if (me.rank == 0)
        want(control(PMIX_RANK_WILDCARD, PMIX_JOB_CTRL_SIGNAL, SIGUSR2), PMIX_SUCCESS,
             "signal");
    until(&signals, me.rank == last ? 2 : 1, "a signal for all");
    barrier();
    want(control(npes, PMIX_JOB_CTRL_PAUSE, 0), PMIX_ERR_NOT_FOUND, "nobody paused");
    want(control(0, PMIX_JOB_CTRL_SIGNAL, 1000), PMIX_ERR_BAD_PARAM, "signal 1000");
    want(control(0, PMIX_JOB_CTRL_PREEMPTIBLE, 0), PMIX_ERR_NOT_SUPPORTED, "preempt");
    barrier();
}

/* PE 0 ends the job: ARGUMENT is kill or terminate. */
static void mode_end(void)
{
    bool hard = strcmp(argument, "kill") == 0;
    barrier();
    if (me.rank == 0)
        control(PMIX_RANK_WILDCARD, hard ? PMIX_JOB_CTRL_KILL : PMIX_JOB_CTRL_TERMINATE,
                0);
    sleep_ms(WAIT_MS);
    fail("still there");
}

static void mode_spawn(void)
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

/* Some PEs cannot be aborted alone. */
static void mode_abort_some(void)
{
    pmix_proc_t other = proc(npes - 1);
    if (me.rank == 0)
        want(PMIx_Abort(3, "one only", &other, 1), PMIX_ERR_NOT_SUPPORTED, "abort");
    barrier();
}

/* ---- groups and connections
 * ------------------------------------------------------------- */

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

/* All members of a set have the same number, and each set another. */
static void mode_group(void)
{
    pmix_proc_t *procs = calloc(npes, sizeof *procs);
    size_t id[4];
    for (uint32_t r = 0; r < npes; r++)
        procs[r] = proc(r);
    id[0] = construct("all", procs, npes);
    id[1] = construct("again", procs, npes);
    char name[32];
    snprintf(name, sizeof name, "set.%u", me.rank % 2);
    size_t n = make_set(1, me.rank, procs);
    id[2] = construct(name, procs, n);
    want(PMIx_Group_destruct(name, NULL, 0), PMIX_SUCCESS, "destruct");
    id[3] = construct(name, procs, n);
    put("ids", id, sizeof id);
    barrier();
    for (uint32_t r = 0; r < npes; r++) {
        size_t other[4];
        pmix_value_t *v = get(r, "ids");
        memcpy(other, v->data.bo.bytes, sizeof other);
        PMIX_VALUE_RELEASE(v);
        for (unsigned a = 0; a < 4; a++)
            for (unsigned b = 0; b < 4; b++) {
                bool same = a == b && (a < 2 || r % 2 == me.rank % 2);
                if ((id[a] == other[b]) != same)
                    fail("group %u of PE %u has number %zu, %u of PE %u %zu", a, me.rank,
                         id[a], b, r, other[b]);
            }
    }
    want(PMIx_Group_destruct("again", NULL, 0), PMIX_SUCCESS, "destruct");
    want(PMIx_Group_destruct("all", NULL, 0), PMIX_SUCCESS, "destruct");
    free(procs);
    barrier();
}

static void mode_connect(void)
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

/* ---- main
 * ------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } mode[] = {{"fence", mode_fence},
                {"barrier", mode_barrier},
                {"subsets", mode_subsets},
                {"fence-timeout", mode_fence_timeout},
                {"late", mode_late},
                {"ended", mode_ended},
                {"map", mode_map},
                {"event", mode_event},
                {"query", mode_query},
                {"control", mode_control},
                {"end", mode_end},
                {"spawn", mode_spawn},
                {"abort-some", mode_abort_some},
                {"group", mode_group},
                {"connect", mode_connect}};
    const char *name = argc > 1 ? argv[1] : "";
    argument = argc > 2 ? argv[2] : "0";
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);
    if (rc != PMIX_SUCCESS)
        fail("PMIx_Init: %s", PMIx_Error_string(rc));
    npes = get_number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    for (size_t i = 0; i < sizeof mode / sizeof mode[0]; i++)
        if (strcmp(name, mode[i].name) == 0) {
            mode[i].run();
            want(PMIx_Finalize(NULL, 0), PMIX_SUCCESS, "finalize");
            printf("PE %u: good\n", me.rank);
            return 0;
        }
    fail("there is no mode '%s'", name);
}
