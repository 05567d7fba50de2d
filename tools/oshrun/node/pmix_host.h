/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_host.h - the PMIx server of a node.
 *
 * Uses job.h and libpmix's server interface.  Used by daemon.c.
 */
#ifndef OSHRUN_PMIX_HOST_H
#define OSHRUN_PMIX_HOST_H

#include "tools/oshrun/job.h"

#include <stdbool.h>
#include <stdint.h>

#define PMIX_HOST_TEXT 160

/* What a PE asked for; posted by the PMIx thread, taken by the daemon. */
enum pmix_host_kind {
    PMIX_HOST_CONNECTED,
    PMIX_HOST_FINALIZED,
    PMIX_HOST_ABORT,
    PMIX_HOST_FENCE, /* these two want an answer: pmix_host_answer */
    PMIX_HOST_GROUP,
};

struct pmix_host_post {
    enum pmix_host_kind kind;
    uint32_t rank; /* who; JOB_NO_PE where PMIx does not say */
    int status;    /* of an abort */
    char text[PMIX_HOST_TEXT];
    void *reply; /* how to answer: private to pmix_host.c */
    struct pmix_host_post *next;
};

struct pmix_host;

/* Starts the server with its files in dir.  NULL after a sentence. */
struct pmix_host *pmix_host_start(const struct job *job, const char *dir);

/* Tells it about the job and its local PEs.  0, or -1 after a sentence. */
int pmix_host_register(struct pmix_host *h, const struct job *job);

/* The variables that PE `rank` needs, NULL-terminated; free with pmix_host_env_free. */
char **pmix_host_env(struct pmix_host *h, uint32_t rank);
void pmix_host_env_free(char **env);

/* Readable when there are posts. */
int pmix_host_fd(const struct pmix_host *h);

/* The oldest post (the caller frees it), or NULL. */
struct pmix_host_post *pmix_host_take(struct pmix_host *h);

/* Answers a fence or a group operation whose members are all on this node. */
void pmix_host_answer(struct pmix_host_post *post);

/* Call when no PE is left. */
void pmix_host_stop(struct pmix_host *h);

#endif
