/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_host.h - the PMIx server of a node.
 *
 * Uses job.h, wire.h and libpmix's server interface.  Used by daemon.c and pmix_net.c.
 */
#ifndef OSHRUN_PMIX_PMIX_HOST_H
#define OSHRUN_PMIX_PMIX_HOST_H

#include "tools/oshrun/net/wire.h"
#include "tools/oshrun/util/job.h"

#include <stdbool.h>
#include <stdint.h>

#define PMIX_HOST_TEXT 160 /* of an abort, or for the user */

struct pmix_net;
struct pmix_request;

/* What the PMIx thread queues for the loop of the daemon. */
struct pmix_host_post {
    /* A request, which this function of the loop handles and frees; or NULL: */
    void (*handle)(struct pmix_net *n, struct pmix_request *r);
    struct pmix_request *request;
    /* a frame of the daemon: CONNECTED or FINALIZED of PE rank, ABORTED, SAY, or SIGNAL,
     * which is for all. */
    enum wire_type type;
    uint32_t rank;
    struct pack p;
    struct pmix_host_post *next;
};

struct pmix_host;

/* Starts the server with its files in dir, which must outlive it.  NULL after an error
 * message. */
struct pmix_host *pmix_host_start(const struct job *job, const char *dir);

/* What hwloc knows of this machine as a whole, for example "DMIChassisSerial"; NULL:
 * nothing. */
const char *pmix_host_machine_info(const struct pmix_host *h, const char *name);

/* The PMIx variables of PE `rank`, NULL-terminated; free with string_list_free. */
char **pmix_host_env(struct pmix_host *h, uint32_t rank);

/* Readable when there are posts. */
int pmix_host_fd(const struct pmix_host *h);

/* The oldest post, which the caller frees, or NULL. */
struct pmix_host_post *pmix_host_take(struct pmix_host *h);

#endif
