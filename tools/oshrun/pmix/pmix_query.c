/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_query.c - PMIx queries about the job that libpmix does not answer itself.
 *
 * Uses libpmix.  Part of pmix_net.h; runs in the daemon's loop.
 *
 * The front end knows the processes of all nodes: QUERY_ASK and QUERY_ANSWER, see
 * wire.def.
 */
#include "config.h"

#include "tools/oshrun/pmix/pmix_int.h"
#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/mem.h"

#include <string.h>
#include <sys/wait.h>

#define PE_BYTES 17 /* of a PE in the answer */

/* X(name, PMIx key).  In the order of enum pmix_query_key. */
#define KEY_TABLE(X)                                                                     \
    X(NAMESPACES, PMIX_QUERY_NAMESPACES)                                                 \
    X(TABLE, PMIX_QUERY_PROC_TABLE)                                                      \
    X(LOCAL_TABLE, PMIX_QUERY_LOCAL_PROC_TABLE)                                          \
    X(JOB_SIZE, PMIX_JOB_SIZE)                                                           \
    X(NUM_NODES, PMIX_NUM_NODES)                                                         \
    X(KEYS, PMIX_QUERY_SUPPORTED_KEYS)

#define X(name, key) [PMIX_ASKED_##name] = key,
static const char *const keys[] = {KEY_TABLE(X)};
#undef X
#define X(name, key) "," key
static const char all_keys[] = KEY_TABLE(X); /* with a comma before each */
#undef X

int pmix_query_key_of(const char *key)
{
    for (int i = 0; i < (int)(sizeof keys / sizeof keys[0]); i++)
        if (strcmp(key, keys[i]) == 0)
            return i;
    return -1;
}

/* ---- the table -------------------------------------------------------------------- */

struct row {
    uint32_t rank, node, pid;
    uint8_t state;
    uint32_t how;
};

static struct row pmix_query_read_row(struct unpack *u)
{
    struct row row;
    row.rank = unpack_u32(u);
    row.node = unpack_u32(u);
    row.pid = unpack_u32(u);
    row.state = unpack_u8(u);
    row.how = unpack_u32(u);
    return row;
}

static pmix_proc_state_t pmix_query_state_of(const struct row *row)
{
    if (row->state == WIRE_PE_NOT_STARTED)
        return PMIX_PROC_STATE_PREPPED;
    if (row->state == WIRE_PE_RUNS)
        return PMIX_PROC_STATE_RUNNING;
    if (WIFSIGNALED((int)row->how))
        return PMIX_PROC_STATE_ABORTED_BY_SIG;
    return row->how == 0 ? PMIX_PROC_STATE_TERMINATED : PMIX_PROC_STATE_TERM_NON_ZERO;
}

static int pmix_query_exit_code_of(const struct row *row)
{
    if (row->state != WIRE_PE_ENDED)
        return 0;
    return WIFSIGNALED((int)row->how) ? WTERMSIG((int)row->how)
                                      : WEXITSTATUS((int)row->how);
}

/* The rows of all nodes, or of this one. */
static void pmix_query_load_table(const struct pmix_net *n, pmix_info_t *info,
                                  const char *key, struct unpack u, bool local)
{
    uint32_t count = unpack_count(&u, PE_BYTES);
    pmix_proc_info_t *table;
    size_t used = 0;
    PMIX_PROC_INFO_CREATE(table, count > 0 ? count : 1);
    if (table == NULL)
        error_no_memory();
    for (uint32_t i = 0; i < count; i++) {
        const struct row row = pmix_query_read_row(&u);
        if (local && row.node != n->job->here)
            continue;
        pmix_proc_info_t *pe = &table[used++];
        PMIX_PROC_LOAD(&pe->proc, n->host->nspace, row.rank);
        pe->hostname = mem_strdup(n->job->node[row.node].name);
        pe->executable_name =
            mem_strdup(n->job->app[job_app_of(n->job, row.rank)].argv[0]);
        pe->pid = (pid_t)row.pid;
        pe->exit_code = pmix_query_exit_code_of(&row);
        pe->state = pmix_query_state_of(&row);
    }
    pmix_data_array_t array = {.type = PMIX_PROC_INFO, .size = used, .array = table};
    PMIX_INFO_LOAD(info, key, &array, PMIX_DATA_ARRAY);
    PMIX_PROC_INFO_FREE(table, count > 0 ? count : 1);
}

/* ---- answers ---------------------------------------------------------------------- */

static void pmix_query_load_one(const struct pmix_net *n, pmix_info_t *info,
                                enum pmix_query_key key, struct unpack rows)
{
    switch (key) {
    case PMIX_ASKED_NAMESPACES:
        PMIX_INFO_LOAD(info, keys[key], n->host->nspace, PMIX_STRING);
        break;
    case PMIX_ASKED_TABLE:
    case PMIX_ASKED_LOCAL_TABLE:
        pmix_query_load_table(n, info, keys[key], rows, key == PMIX_ASKED_LOCAL_TABLE);
        break;
    case PMIX_ASKED_JOB_SIZE:
        pmix_load_u32(info, keys[key], n->job->npes);
        break;
    case PMIX_ASKED_NUM_NODES:
        pmix_load_u32(info, keys[key], n->job->nnodes);
        break;
    case PMIX_ASKED_KEYS:
        PMIX_INFO_LOAD(info, keys[key], all_keys + 1, PMIX_STRING);
        break;
    }
}

static void pmix_query_answer(struct pmix_net *n, struct pmix_request *r,
                              struct unpack rows)
{
    struct pmix_answer *a = pmix_answer_new(r->nasked);
    for (uint32_t i = 0; a != NULL && i < r->nasked; i++)
        pmix_query_load_one(n, &a->info[i], r->asked[i], rows);
    pmix_request_answer_info(r, r->unknown ? PMIX_QUERY_PARTIAL_SUCCESS : PMIX_SUCCESS,
                             a);
    pmix_request_finish(&n->queries, r, PMIX_SUCCESS);
}

static bool pmix_query_wants_table(const struct pmix_request *r)
{
    for (uint32_t i = 0; i < r->nasked; i++)
        if (r->asked[i] == PMIX_ASKED_TABLE || r->asked[i] == PMIX_ASKED_LOCAL_TABLE)
            return true;
    return false;
}

void pmix_query_post(struct pmix_net *n, struct pmix_request *r)
{
    struct pack p = {0};
    pmix_request_wait(n, &n->queries, r);
    if (pmix_query_wants_table(r)) {
        r->number = ++n->number;
        pack_u64(&p, r->number);
        pmix_net_send(n, WIRE_QUERY_ASK, WIRE_FRONT, &p); /* may free r */
    } else {
        pmix_query_answer(n, r, unpack_of(NULL, 0));
    }
    pack_free(&p);
}

/* True if all rows are valid. */
static bool pmix_query_is_table(const struct pmix_net *n, struct unpack u)
{
    uint32_t count = unpack_count(&u, PE_BYTES);
    for (uint32_t i = 0; i < count; i++) {
        const struct row row = pmix_query_read_row(&u);
        if (row.rank >= n->job->npes || row.node >= n->job->nnodes ||
            row.state > WIRE_PE_ENDED)
            return false;
    }
    return unpack_done(&u);
}

int pmix_query_recv(struct pmix_net *n, const struct frame *f)
{
    struct unpack u = unpack_of(f->data, f->len);
    struct pmix_request *r = pmix_request_find(n->queries, unpack_u64(&u));
    if (u.failed || r == NULL || !pmix_query_is_table(n, u))
        return -1;
    pmix_query_answer(n, r, u);
    return 0;
}
