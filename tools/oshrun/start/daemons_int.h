/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemons_int.h - internals of daemons.h.
 *
 * Used by daemons.c (start, stop), daemons_recv.c (frames from daemons), daemons_send.c
 * (frames to daemons) and daemons_ft.c (failures that the job survives) only.
 */
#ifndef OSHRUN_START_DAEMONS_INT_H
#define OSHRUN_START_DAEMONS_INT_H

#include "tools/oshrun/front/front_int.h"
#include "tools/oshrun/net/listener.h"
#include "tools/oshrun/net/gather.h"
#include "tools/oshrun/net/route.h"
#include "tools/oshrun/start/starter.h"

enum conn_state {
    CONN_STARTED,  /* started, not connected */
    CONN_UNPLACED, /* connected; its parent is not placed yet */
    CONN_PLACED,   /* PLACE sent */
    CONN_READY,    /* has the job */
    CONN_DRAINED,  /* all its PEs have ended, and we have all their output */
    CONN_LOST,
};

/* The daemon of one node. */
struct daemon_conn {
    enum conn_state state;
    uint32_t node;
    struct link
        *direct;     /* link to the front end; NULL when closed or attached to the tree */
    char *addresses; /* its listen addresses */
    char *said;      /* last line of its agent */
    int64_t clock_ns;                     /* our clock minus its */
    uint32_t live;                        /* PEs that have not ended */
    uint32_t limit_ms;                    /* time limit of the current start step */
    int64_t left_ms;                      /* remaining time; 0: no limit */
    uint64_t unconfirmed[DAEMON_STREAMS]; /* bytes written, not yet confirmed */
    bool reports;                         /* its part of the report is pending */
    bool spawned;                         /* all its PEs have been started */
};

struct conn_pe {
    uint32_t node;
    uint32_t pid;
    enum wire_pe state;
    uint32_t how;
};

struct daemons {
    struct front *front;
    const struct job *job;
    const struct options *o;
    struct loop *loop;
    const struct reaper *reaper;

    struct net_out out;  /* to the daemons */
    struct daemon *here; /* one node: in this process; NULL: they are reached by route */

    struct nonce *nonce; /* this and the line: in seal_memory */
    struct listener *listener;
    struct starter *starter;
    char *line; /* bootstrap line of every daemon, in BOOTSTRAP_LINE bytes */
    const char **host;

    struct route route;
    struct gather *gather;
    struct pack job_bytes;
    struct daemon_conn *conn; /* one per node */
    struct conn_pe *pe;
    bool *pe_failed;            /* per PE: it has failed, with SHMEM_FT=continue */
    struct link **unidentified; /* authenticated, without HELLO so far */
    uint32_t nunidentified;

    uint32_t staged[DAEMON_STAGES]; /* nodes that have reached it */
    uint32_t drained;               /* nodes that are DRAINED or LOST */
    uint64_t window;                /* of unconfirmed output, per node and stream */
    bool paused[DAEMON_STREAMS];
    bool failed, ending, stopping;
    struct loop_timer start, report_limit;

    uint32_t reports; /* nodes whose part is pending */
    uint32_t report_number;
};

#define DAEMONS_EXIT_ERROR 1

/* "n2" */
const char *daemons_host(const struct daemons *ds, uint32_t node);

/* Reports the error and ends the start of the job; later calls have no effect. */
__attribute__((format(printf, 3, 4))) void daemons_fail(struct daemons *ds, int status,
                                                        const char *format, ...);

/* daemons_recv.c: handlers of received frames. */
extern const struct link_events daemons_link_events;
/* From the daemon in this process. */
void daemons_recv_here(void *arg, const struct frame *f);

/* The node and those below it in the tree are lost.  why: a phrase about its daemon,
 * such as "closed the connection". */
void daemons_lost(struct daemons *ds, uint32_t node, const char *why);

/* While the daemons stop: the daemon behind this link has left. */
void daemons_departed(struct daemons *ds, struct link *l);

/* Sets the time limit of the daemon's next start step.  0: no limit. */
void daemons_set_deadline(struct daemons *ds, struct daemon_conn *dc, uint32_t ms);

/* Returns node or, if it is WIRE_NONE (srun), the node with this host name. */
uint32_t daemons_find_node(const struct daemons *ds, uint32_t node, const char *host);

/* One more node is DRAINED or LOST. */
void daemons_conn_finished(struct daemons *ds);

/* daemons_send.c.  daemons_send frees p. */
void daemons_send(struct daemons *ds, enum wire_type type, uint32_t to, struct pack *p);
/* len bytes of output were received and passed on. */
void daemons_output_taken(struct daemons *ds, struct daemon_conn *dc,
                          enum daemon_stream s, size_t len);
void daemons_report_part(struct daemons *ds, struct daemon_conn *dc);
void daemons_on_report_limit(void *arg);

/* daemons_ft.c: SHMEM_FT=continue. */
/* All nodes are children of the front end, so that none depends on another. */
struct tree daemons_ft_tree(const struct daemons *ds);
void daemons_ft_open(struct daemons *ds);
/* As daemons_lost, for a node that had the job. */
void daemons_ft_lost(struct daemons *ds, uint32_t node, const char *why);
/* Event FAILED of a daemon that had started its PEs. */
void daemons_ft_recv_failed(struct daemons *ds, struct daemon_conn *dc, const char *text);
/* Event PE_FAILED. */
int daemons_ft_recv(struct daemons *ds, struct daemon_conn *dc, struct unpack *u);

#endif
