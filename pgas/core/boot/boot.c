/* SPDX-License-Identifier: BSD-3-Clause */
/* boot.c - see boot.h.  Uses: boot_pmix, log. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/core_state.h"
#include "pgas/core/boot/boot_pmix.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"
#include "pgas/threads/atomic.h"

#define STATE core_self.boot

const char *boot_nspace(void)
{
    return STATE.myself.nspace;
}

static pmix_value_t *boot_get_value(uint32_t rank, const char *key, pmix_info_t *how,
                                    size_t n)
{
    pmix_proc_t proc;
    pmix_value_t *value = NULL;

    PMIX_LOAD_PROCID(&proc, STATE.myself.nspace, rank);
    STATE.failure = PMIx_Get(&proc, key, how, n, &value);
    return STATE.failure == PMIX_SUCCESS ? value : NULL;
}

pmix_value_t *boot_value(uint32_t rank, const char *key)
{
    return boot_get_value(rank, key, NULL, 0);
}

pmix_value_t *boot_value_here(uint32_t rank, const char *key)
{
    pmix_info_t optional;

    PMIX_INFO_CONSTRUCT(&optional);
    PMIX_INFO_LOAD(&optional, PMIX_OPTIONAL, NULL, PMIX_BOOL);
    return boot_get_value(rank, key, &optional, 1);
}

/* Launchers use different types for numbers (PMIX_INT, UINT16, UINT32, PROC_RANK). */
bool boot_number(uint32_t rank, const char *key, uint32_t *out)
{
    pmix_value_t *value = boot_value(rank, key);

    if (value == NULL)
        return false;
    PMIX_VALUE_GET_NUMBER(STATE.failure, value, *out, uint32_t);
    PMIX_VALUE_RELEASE(value);
    return STATE.failure == PMIX_SUCCESS;
}

/* Warns if variables of another launcher show that it started several processes. */
static void boot_warn_foreign_launcher(void)
{
    static const struct {
        const char *size, *inside; /* `inside`: set only in processes of the launcher */
    } launcher[] = {{"PMI_SIZE", "PMI_RANK"},
                    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

    for (size_t i = 0; i < sizeof launcher / sizeof launcher[0]; i++) {
        const char *size = getenv(launcher[i].size);
        if (size == NULL || atoi(size) <= 1 || getenv(launcher[i].inside) == NULL)
            continue;
        log_warn("%s=%s indicates more processes, but there is no PMIx server: "
                 "this process runs alone as PE 0 of 1; start it with oshrun, or with a "
                 "launcher that has PMIx (srun --mpi=pmix, mpirun of Open MPI)",
                 launcher[i].size, size);
        return;
    }
}

static void boot_singleton(struct boot *b)
{
    boot_warn_foreign_launcher();
    *b = (struct boot){.size = 1,
                       .local_size = 1,
                       .local_pes = &STATE.only_pe,
                       .nnodes = 1,
                       .node_of = &STATE.only_node,
                       .node_begin = STATE.only_begin,
                       .node_pes = &STATE.only_pe};
    STATE.only_begin[1] = 1;
}

static char *boot_joined_value(void)
{
    return STATE.joined + sizeof BOOT_JOINED_ENV;
}

static __attribute__((constructor)) void boot_enter_joined(void)
{
    const char *inherited = getenv(BOOT_JOINED_ENV);

    if (getenv("PMIX_NAMESPACE") == NULL)
        return;
    if (inherited != NULL && strlen(inherited) <= PMIX_MAX_NSLEN)
        strcpy(boot_joined_value(), inherited);
    putenv(STATE.joined);
}

/* A child of a PE inherits its environment variables; without this check, a child that
 * calls shmem_init would connect as the same PE. */
static void boot_refuse_to_join_twice(void)
{
    const char *nspace = getenv("PMIX_NAMESPACE");

    if (pgas_self.generation > 1)
        return;
    if (strcmp(boot_joined_value(), nspace) == 0)
        log_die(
            "this PE has joined already: a program that a PE starts with fork or exec "
            "cannot join the job as the same PE; start it without PMIX_* and PGAS_* "
            "variables");
    if (strlen(nspace) <= PMIX_MAX_NSLEN)
        strcpy(boot_joined_value(), nspace);
}

/* LeakSanitizer's interface; NULL unless it is linked in. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* PMIx_Init leaks some bytes, because of which a program with -fsanitize=address would
 * exit with an error. */
static void boot_set_leak_check(bool on)
{
    void (*set)(void) = on ? __lsan_enable : __lsan_disable;

    if (set != NULL)
        set();
}

void boot_connect(struct boot *b)
{
    *b = (struct boot){0};
    if (getenv("PMIX_NAMESPACE") == NULL) {
        boot_singleton(b);
        return;
    }
    boot_refuse_to_join_twice();
    boot_set_leak_check(false);
    pmix_status_t rc = PMIx_Init(&STATE.myself, NULL, 0);
    boot_set_leak_check(true);
    if (rc != PMIX_SUCCESS)
        log_die("the PMIx server that PMIX_NAMESPACE=%s names does not answer: %s; start "
                "the program with oshrun, or alone without PMIX_* variables",
                getenv("PMIX_NAMESPACE"), PMIx_Error_string(rc));
    STATE.connected = true;
    b->launched = true;
    b->rank = STATE.myself.rank;
    boot_find_nodes(b);
}

static int boot_done(pmix_status_t rc)
{
    STATE.failure = rc;
    return rc == PMIX_SUCCESS ? 0 : -1;
}

const char *boot_error(void)
{
    return PMIx_Error_string(STATE.failure);
}

/* PMIx keeps the values of earlier generations, so the key contains the generation. */
static const char *boot_key_now(const char *key, pmix_key_t now)
{
    snprintf(now, sizeof(pmix_key_t), "%s.%u", key, pgas_self.generation);
    return now;
}

int boot_put(enum boot_scope scope, const char *key, const void *data, size_t len)
{
    pmix_key_t now;
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT,
                          .data.bo = {.bytes = (char *)data, .size = len}};

    if (!STATE.connected)
        return 0;
    int rc = boot_done(PMIx_Put(scope == BOOT_NODE ? PMIX_LOCAL : PMIX_GLOBAL,
                                boot_key_now(key, now), &value));
    return rc == 0 ? boot_done(PMIx_Commit()) : rc;
}

/* Without a timeout attribute a PMIx server fails the request after 2 seconds. */
static pmix_value_t *boot_wait_for(uint32_t rank, const char *key)
{
    pmix_key_t now;
    pmix_info_t limit;
    int seconds = BOOT_GET_S;

    if (!STATE.connected)
        return NULL;
    PMIX_INFO_LOAD(&limit, PMIX_TIMEOUT, &seconds, PMIX_INT);
    return boot_get_value(rank, boot_key_now(key, now), &limit, 1);
}

ssize_t boot_get(uint32_t rank, const char *key, void *data, size_t space)
{
    pmix_value_t *value = boot_wait_for(rank, key);
    ssize_t len = -1;

    if (value == NULL)
        return -1;
    if (value->type != PMIX_BYTE_OBJECT)
        STATE.failure = PMIX_ERR_TYPE_MISMATCH;
    else if (value->data.bo.size > space)
        STATE.failure = PMIX_ERR_OUT_OF_RESOURCE;
    else {
        len = (ssize_t)value->data.bo.size;
        memcpy(data, value->data.bo.bytes, value->data.bo.size);
    }
    PMIX_VALUE_RELEASE(value);
    return len;
}

/* A request of boot_get_begin: libpmix may use key and limit until it answers. */
struct boot_request {
    boot_get_done done;
    void *arg;
    pmix_key_t key;
    pmix_info_t limit;
};

/* Ends a request: pmix_value_cbfunc_t; libpmix frees the value. */
static void boot_request_end(pmix_status_t status, pmix_value_t *value, void *arg)
{
    struct boot_request *r = arg;
    struct boot_answer answer = {0};

    if (status == PMIX_SUCCESS &&
        (value == NULL || value->type != PMIX_BYTE_OBJECT || value->data.bo.size == 0))
        status = PMIX_ERR_TYPE_MISMATCH;
    if (status == PMIX_SUCCESS) {
        answer.data = value->data.bo.bytes;
        answer.len = value->data.bo.size;
    } else {
        answer.error = PMIx_Error_string(status);
        answer.timed_out = status == PMIX_ERR_TIMEOUT;
        answer.no_memory = status == PMIX_ERR_NOMEM;
    }
    r->done(r->arg, &answer);
    free(r);
}

void boot_get_begin(uint32_t rank, const char *key, int seconds, boot_get_done done,
                    void *arg)
{
    struct boot_request *r = malloc(sizeof *r);
    pmix_proc_t proc;

    if (r == NULL) {
        done(arg, &(struct boot_answer){.error = "no memory", .no_memory = true});
        return;
    }
    *r = (struct boot_request){.done = done, .arg = arg};
    boot_key_now(key, r->key);
    PMIX_INFO_LOAD(&r->limit, PMIX_TIMEOUT, &seconds, PMIX_INT);
    PMIX_LOAD_PROCID(&proc, STATE.myself.nspace, rank);
    pmix_status_t rc = STATE.connected
                           ? PMIx_Get_nb(&proc, r->key, &r->limit, 1, boot_request_end, r)
                           : PMIX_ERR_INIT;
    if (rc != PMIX_SUCCESS) /* no callback follows */
        boot_request_end(rc, NULL, r);
}

/* PMIX_COLLECT_DATA is required: under srun a fence without it returns immediately and is
 * not a barrier. */
int boot_barrier(void)
{
    pmix_info_t collect;
    bool yes = true;

    if (!STATE.connected)
        return 0;
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    return boot_done(PMIx_Fence(NULL, 0, &collect, 1));
}

/* The state of a fence; it outlives a wait that has ended. */
struct boot_fence {
    uint32_t done;       /* stored with release after status */
    uint32_t references; /* of the waiter and the callback */
    pmix_status_t status;
    void (*wake)(void);
    pmix_proc_t *proc; /* libpmix may use these until it is done */
    pmix_info_t collect;
};

static void boot_fence_release(struct boot_fence *f)
{
    if (fetch_add_acq_rel_u32(&f->references, UINT32_MAX) != 1)
        return;
    free(f->proc);
    free(f);
}

/* pmix_op_cbfunc_t */
static void boot_fence_callback(pmix_status_t status, void *arg)
{
    struct boot_fence *f = arg;

    f->status = status;
    store_release_u32(&f->done, 1);
    if (f->wake != NULL)
        f->wake();
    boot_fence_release(f);
}

struct boot_fence *boot_fence_begin(const uint32_t *rank, size_t n, void (*wake)(void))
{
    bool yes = true;
    struct boot_fence *f = malloc(sizeof *f);
    pmix_proc_t *proc = n > 0 ? malloc(n * sizeof *proc) : NULL;
    pmix_status_t rc = PMIX_OPERATION_SUCCEEDED;

    if (f == NULL || (n > 0 && proc == NULL))
        log_die("no memory for a barrier of the launcher");
    *f = (struct boot_fence){.references = 2, .wake = wake, .proc = proc};
    for (size_t i = 0; i < n; i++)
        PMIX_LOAD_PROCID(&proc[i], STATE.myself.nspace, rank[i]);
    PMIX_INFO_LOAD(&f->collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    if (STATE.connected)
        rc = PMIx_Fence_nb(proc, n, &f->collect, 1, boot_fence_callback, f);
    if (rc == PMIX_SUCCESS)
        return f;
    /* Completed at once, or an error: no callback follows. */
    f->references = 1;
    f->status = rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
    f->done = 1;
    return f;
}

bool boot_fence_done(const struct boot_fence *f)
{
    return load_acquire_u32(&f->done) != 0;
}

int boot_fence_end(struct boot_fence *f)
{
    int rc = boot_done(boot_fence_done(f) ? f->status : PMIX_ERR_TIMEOUT);

    boot_fence_release(f);
    return rc;
}

void boot_abort(int status, const char *why)
{
    if (STATE.connected)
        PMIx_Abort(status, why, NULL, 0);
}

void boot_disconnect(struct boot *b, bool keep)
{
    bool was = STATE.connected;

    if (STATE.connected) {
        PMIx_Finalize(NULL, 0);
        boot_events_forget();
    }
    STATE.connected = false;
    if (keep)
        return;
    if (was) {
        free(b->local_pes);
        free(b->node_of);
        free(b->node_begin);
        free(b->node_pes);
    }
    b->local_pes = b->node_of = b->node_begin = b->node_pes = NULL;
}
