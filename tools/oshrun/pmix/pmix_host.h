/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_host.h - the PMIx server of a node.
 *
 * Uses job.h and libpmix's server interface.  Used by daemon.c and pmix_net.c.
 */
#ifndef OSHRUN_PMIX_PMIX_HOST_H
#define OSHRUN_PMIX_PMIX_HOST_H

#include "tools/oshrun/util/job.h"

#include <stdbool.h>
#include <stdint.h>

#define PMIX_HOST_TEXT 160

/* Kind of a post, which the PMIx thread queues and the loop of the daemon handles. */
enum pmix_host_kind {
    PMIX_HOST_CONNECTED,
    PMIX_HOST_FINALIZED,
    PMIX_HOST_ABORT,
    PMIX_HOST_SAY,        /* text: a message for the user */
    PMIX_HOST_CONTROL,    /* send the signal to PEs */
    PMIX_HOST_COLLECTIVE, /* this and the following are for pmix_net_post */
    PMIX_HOST_MODEX,
    PMIX_HOST_MODEX_DATA,
    PMIX_HOST_EVENT,
    PMIX_HOST_QUERY,
};

struct pmix_request;

/* One allocation. */
struct pmix_host_post {
    enum pmix_host_kind kind;
    uint32_t rank; /* the PE; JOB_NO_PE if PMIx does not give it */
    int status;    /* of an abort */
    char text[PMIX_HOST_TEXT];
    int signal;
    uint32_t nranks; /* 0: all PEs of the job */
    uint32_t *ranks;
    struct pmix_request *request; /* private to pmix_*.c */
    struct pmix_host_post *next;
};

struct pmix_host;

/* Starts the server with its files in dir.  NULL after an error message. */
struct pmix_host *pmix_host_start(const struct job *job, const char *dir);

/* Registers the job and its local PEs.  0, or -1 after an error message. */
int pmix_host_register(struct pmix_host *h, const struct job *job);

/* The PMIx variables of PE `rank`, NULL-terminated; free with pmix_host_env_free. */
char **pmix_host_env(struct pmix_host *h, uint32_t rank);
void pmix_host_env_free(char **env);

/* Readable when there are posts. */
int pmix_host_fd(const struct pmix_host *h);

/* The oldest post (the caller frees it, or gives it to pmix_net_post), or NULL. */
struct pmix_host_post *pmix_host_take(struct pmix_host *h);

/* Call when no PE is left. */
void pmix_host_stop(struct pmix_host *h);

#endif
