/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_int.h - internals of the PMIx server.
 *
 * Used only by pmix_host.c, pmix_job.c and pmix_upcalls.c (interface to libpmix), and by
 * pmix_net.c, pmix_collective.c, pmix_modex.c, pmix_event.c and pmix_query.c (interface
 * to the other nodes).
 *
 * Upcalls run in libpmix's thread; functions marked "loop" here run in the thread of the
 * daemon's loop.  They communicate only by the queue of posts.  After the start of the
 * server the loop never blocks in libpmix: it uses calls with a callback, which posts.
 */
#ifndef OSHRUN_PMIX_PMIX_INT_H
#define OSHRUN_PMIX_PMIX_INT_H

#include "tools/oshrun/net/gather.h"
#include "tools/oshrun/pmix/pmix_api.h"
#include "tools/oshrun/pmix/pmix_host.h"
#include "tools/oshrun/pmix/pmix_net.h"

#include <hwloc.h>
#include <pthread.h>

/* Of the job and the PEs of this node.  A part of the server, since libpmix may complete
 * the calls after the daemon has stopped. */
struct pmix_registration {
    pmix_info_t *info; /* libpmix reads it until it has completed all calls */
    size_t ninfo;
    uint32_t pending; /* calls that it has not completed; under the lock of the server */
    pmix_status_t worst;
    struct pmix_host_post *post; /* queued when all are complete */
    /* loop */
    struct loop_timer late;
    bool complete;
    void (*done)(void *arg, int rc);
    void *arg;
};

struct pmix_host {
    const struct job *job;
    const char *dir; /* for files of the server and of libraries in the PEs */
    pmix_nspace_t nspace;
    int event_fd;
    hwloc_topology_t topo;
    pthread_mutex_t lock;
    struct pmix_host_post *first, **last;
    struct pmix_registration registration;
};

enum pmix_query_key {
    PMIX_ASKED_NAMESPACES,
    PMIX_ASKED_TABLE,
    PMIX_ASKED_LOCAL_TABLE,
    PMIX_ASKED_JOB_SIZE,
    PMIX_ASKED_NUM_NODES,
    PMIX_ASKED_KEYS,
};

/* A request of libpmix.  Owns what it points to. */
struct pmix_request {
    pmix_modex_cbfunc_t modex; /* one of these three is set, to answer the request */
    pmix_info_cbfunc_t info;
    pmix_op_cbfunc_t op;
    void *arg;
    int timeout_s; /* 0: none */

    struct pack key; /* of a collective: equal on all its nodes */
    uint32_t *rank;  /* members, ascending */
    uint32_t nranks; /* 0: all PEs of the job */
    bool wants_context_id;
    void *data; /* piece of a collective; answer to a modex; an event, packed */
    size_t len;

    uint32_t modex_rank;
    pmix_status_t status; /* error of a collective; status of a modex answer */
    struct pmix_served *served;

    enum pmix_query_key *asked;
    uint32_t nasked;
    bool unknown; /* unknown keys were requested */

    /* loop */
    struct pmix_net *net;
    struct loop_timer timer;
    bool answered;
    uint64_t number; /* of a modex or query, unique on this node */
    uint32_t node;   /* to which a modex was sent */
    struct pmix_request *next;
};

/* Released by libpmix when it has read the answer. */
struct pmix_answer {
    pmix_info_t *info;
    size_t n;
};

struct pmix_net {
    struct pmix_host *host;
    const struct job *job;
    struct loop *loop;
    struct net_out out;
    uint32_t *node_of; /* per PE of the job */
    bool *ended;       /* the same; true only for PEs of this node */
    bool *connected;   /* the same; it is a PMIx client now */
    bool *failed;      /* per PE of the job, with SHMEM_FT=continue */
    bool *lost;        /* per node */
    struct gather *gather;
    struct pmix_request *collectives; /* pending */
    struct pmix_request *modexes;
    struct pmix_request *queries;
    struct pmix_served *served; /* modex requests of other nodes */
    uint64_t number;            /* last number of a modex or query */
    struct loop_timer probe;    /* runs until libpmix answers (pmix_net_probe) */
};

/* pmix_host.c and pmix_job.c */

/* Queues p and takes ownership of it. */
void pmix_host_put(struct pmix_host *h, struct pmix_host_post *p);
/* n > 0 empty elements, for PMIX_INFO_FREE. */
pmix_info_t *pmix_infos_new(size_t n);
void pmix_load_u32(pmix_info_t *info, const char *key, uint32_t value);
/* Reports that the call `what` has failed; returns -1. */
int pmix_host_failed(const char *what, pmix_status_t rc);

/* pmix_upcalls.c */
pmix_server_module_t *pmix_upcalls(struct pmix_host *h);

/* pmix_net.c, loop. */
void pmix_request_free(struct pmix_request *r);
/* Answers with an error, or with success without data. */
void pmix_request_answer(struct pmix_request *r, pmix_status_t status);
/* The same with data.  copy comes from pmix_copy. */
void pmix_request_answer_data(struct pmix_request *r, pmix_status_t status, void *copy,
                              size_t len);
/* The same with the filled array of pmix_answer_new. */
void pmix_request_answer_info(struct pmix_request *r, pmix_status_t status,
                              struct pmix_answer *a);
struct pmix_answer *pmix_answer_new(size_t n);
/* A copy for free. */
void *pmix_copy(const void *data, size_t len);
/* Adds r to a list.  At its timeout r is answered with PMIX_ERR_TIMEOUT, but stays in
 * the list. */
void pmix_request_wait(struct pmix_net *n, struct pmix_request **list,
                       struct pmix_request *r);
/* Answers r unless it is answered, removes it from the list and frees it. */
void pmix_request_finish(struct pmix_request **list, struct pmix_request *r,
                         pmix_status_t status);
struct pmix_request *pmix_request_find(struct pmix_request *list, uint64_t number);
void pmix_net_send(struct pmix_net *n, enum wire_type type, uint32_t to,
                   const struct pack *p);

/* pmix_collective.c, loop. */
void pmix_collective_open(struct pmix_net *n, const struct tree *tree);
void pmix_collective_post(struct pmix_net *n, struct pmix_request *r);

/* pmix_modex.c, loop.  Each recv: 0, or -1: malformed. */
void pmix_modex_post(struct pmix_net *n, struct pmix_request *r);
int pmix_modex_recv_ask(struct pmix_net *n, const struct frame *f);
int pmix_modex_recv_answer(struct pmix_net *n, const struct frame *f);
/* The registration is complete: libpmix gets the requests that arrived before. */
void pmix_modex_registered(struct pmix_net *n);
void pmix_modex_ended(struct pmix_net *n, uint32_t rank);
void pmix_modex_lost(struct pmix_net *n, uint32_t node);
void pmix_modex_free(struct pmix_net *n);

/* pmix_event.c.  pack: in libpmix's thread; -1: it cannot be packed. */
int pmix_event_pack(struct pack *p, pmix_status_t code, const pmix_proc_t *source,
                    pmix_data_range_t range, pmix_info_t *info, size_t n);
void pmix_event_post(struct pmix_net *n, struct pmix_request *r);
int pmix_event_recv(struct pmix_net *n, const struct frame *f);
void pmix_event_failed(struct pmix_net *n, uint32_t rank);
void pmix_event_connected(struct pmix_net *n, uint32_t client);

/* pmix_query.c.  key_of: -1 if it is not one of ours. */
int pmix_query_key_of(const char *key);
void pmix_query_post(struct pmix_net *n, struct pmix_request *r);
int pmix_query_recv(struct pmix_net *n, const struct frame *f);

#endif
