/* SPDX-License-Identifier: BSD-3-Clause */
/* boot.c - see boot.h.  Uses: log.  The only file that calls PMIx in the library. */
#include "config.h"

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/boot.h"
#include "pgas/core/log.h"
#include "pgas/core/pgas.h"

/* Set in the environment of a PE, and so of its children, to its PMIx namespace. */
#define JOINED_ENV "PGAS_JOINED"

static pmix_proc_t myself;
static bool connected;

/* Any integer type: launchers differ (PMIX_INT, UINT16, UINT32, PROC_RANK). */
static bool integer_of(const pmix_value_t *v, uint32_t *out)
{
    switch (v->type) {
    case PMIX_UINT16:
        *out = v->data.uint16;
        return true;
    case PMIX_UINT32:
        *out = v->data.uint32;
        return true;
    case PMIX_PROC_RANK:
        *out = v->data.rank;
        return true;
    case PMIX_INT:
        *out = (uint32_t)v->data.integer;
        return true;
    case PMIX_INT32:
        *out = (uint32_t)v->data.int32;
        return true;
    case PMIX_UINT64:
        *out = (uint32_t)v->data.uint64;
        return true;
    case PMIX_SIZE:
        *out = (uint32_t)v->data.size;
        return true;
    default:
        return false;
    }
}

static pmix_value_t *get(uint32_t rank, const char *key)
{
    pmix_proc_t proc;
    pmix_value_t *value = NULL;

    PMIX_LOAD_PROCID(&proc, myself.nspace, rank);
    return PMIx_Get(&proc, key, NULL, 0, &value) == PMIX_SUCCESS ? value : NULL;
}

static uint32_t get_integer(uint32_t rank, const char *key)
{
    uint32_t number = 0;
    pmix_value_t *value = get(rank, key);

    if (value == NULL || !integer_of(value, &number))
        log_die(
            "the launcher's PMIx server does not say '%s' for PE %u; is it older than "
            "PMIx 3?",
            key, myself.rank);
    PMIX_VALUE_RELEASE(value);
    return number;
}

/* "0,1,5" or "0-3,7" to numbers. */
static void parse_ranks(const char *text, uint32_t *out, uint32_t n)
{
    uint32_t k = 0;

    while (*text != '\0' && k < n) {
        char *end;
        unsigned long first = strtoul(text, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        for (unsigned long r = first; r <= last && k < n; r++)
            out[k++] = (uint32_t)r;
        text = *end == ',' ? end + 1 : end;
        if (*end != ',' && *end != '\0')
            break;
    }
    if (k != n)
        log_die("the launcher says %u PEs are on this node but names %u", n, k);
}

static void find_local(struct boot *b)
{
    pmix_value_t *peers = get(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);

    b->local_size = get_integer(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE);
    b->local_pes = calloc(b->local_size, sizeof *b->local_pes);
    if (b->local_pes == NULL)
        log_die("no memory for a list of %u PEs", b->local_size);
    if (peers == NULL || peers->type != PMIX_STRING)
        log_die("the launcher's PMIx server does not say which PEs share this node");
    parse_ranks(peers->data.string, b->local_pes, b->local_size);
    PMIX_VALUE_RELEASE(peers);
    for (b->local_rank = 0; b->local_rank < b->local_size; b->local_rank++)
        if (b->local_pes[b->local_rank] == b->rank)
            return;
    log_die(
        "the launcher's PMIx server does not name PE %u among the PEs of its own node",
        b->rank);
}

/* Other launchers' variables that say how many processes there are. */
static void warn_if_alone_by_mistake(void)
{
    static const struct {
        const char *size, *inside; /* `inside` is set in a process the launcher started */
    } launcher[] = {{"PMI_SIZE", "PMI_RANK"},
                    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

    for (size_t i = 0; i < sizeof launcher / sizeof launcher[0]; i++) {
        const char *size = getenv(launcher[i].size);
        if (size == NULL || atoi(size) <= 1 || getenv(launcher[i].inside) == NULL)
            continue;
        log_warn("%s=%s says that there are more processes, but no PMIx server answers: "
                 "this process runs alone as PE 0 of 1; start it with oshrun, or with a "
                 "launcher that has PMIx (srun --mpi=pmix, mpirun of Open MPI)",
                 launcher[i].size, size);
        return;
    }
}

static void be_alone(struct boot *b)
{
    static uint32_t only_me;

    warn_if_alone_by_mistake();
    only_me = 0;
    *b = (struct boot){.size = 1, .local_size = 1, .local_pes = &only_me};
}

/* A PE's children inherit its variables: one that uses SHMEM too would take its place. */
static void refuse_to_join_twice(void)
{
    const char *nspace = getenv("PMIX_NAMESPACE"), *joined = getenv(JOINED_ENV);

    if (pgas_self.generation > 1)
        return;
    if (joined != NULL && strcmp(joined, nspace) == 0)
        log_die(
            "this PE has joined already: a program that a PE starts with fork or exec "
            "can't be the same PE; run it without PMIX_* and PGAS_* variables");
    setenv(JOINED_ENV, nspace, 1);
}

void boot_connect(struct boot *b)
{
    *b = (struct boot){0};
    if (getenv("PMIX_NAMESPACE") == NULL) {
        be_alone(b);
        return;
    }
    refuse_to_join_twice();
    pmix_status_t rc = PMIx_Init(&myself, NULL, 0);
    if (rc != PMIX_SUCCESS)
        log_die("the PMIx server that PMIX_NAMESPACE=%s names does not answer: %s; start "
                "the program with oshrun, or alone without PMIX_* variables",
                getenv("PMIX_NAMESPACE"), PMIx_Error_string(rc));
    connected = true;
    b->launched = true;
    b->rank = myself.rank;
    b->size = get_integer(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    find_local(b);
}

int boot_put(const char *key, const char *text)
{
    pmix_value_t value;
    char *copy = strdup(text);

    if (copy == NULL)
        return -1;
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_STRING;
    value.data.string = copy;
    pmix_status_t rc = PMIx_Put(PMIX_LOCAL, key, &value);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_Commit();
    free(copy);
    return rc == PMIX_SUCCESS ? 0 : -1;
}

int boot_get(uint32_t rank, const char *key, char *text, size_t len)
{
    pmix_value_t *value = get(rank, key);
    int rc = -1;

    if (value == NULL)
        return -1;
    if (value->type == PMIX_STRING && strlen(value->data.string) < len) {
        memcpy(text, value->data.string, strlen(value->data.string) + 1);
        rc = 0;
    }
    PMIX_VALUE_RELEASE(value);
    return rc;
}

void boot_abort(int status, const char *why)
{
    if (connected)
        PMIx_Abort(status, why, NULL, 0);
}

void boot_disconnect(struct boot *b)
{
    if (connected) {
        PMIx_Finalize(NULL, 0);
        connected = false;
        free(b->local_pes);
    }
    b->local_pes = NULL;
}
