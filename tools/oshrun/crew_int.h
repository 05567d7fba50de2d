/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * crew_int.h - the inside of crew.h, for the files it is made of.
 *
 * Used by crew.c (start, end), crew_take.c (what daemons say) and crew_tell.c (what they
 * are told); nobody else.
 */
#ifndef OSHRUN_CREW_INT_H
#define OSHRUN_CREW_INT_H

#include "tools/oshrun/crew.h"
#include "tools/oshrun/net/door.h"
#include "tools/oshrun/net/gather.h"
#include "tools/oshrun/net/pack.h"
#include "tools/oshrun/net/route.h"
#include "tools/oshrun/start/starter.h"

enum member_state {
    MEMBER_AWAITED, /* started, has not called */
    MEMBER_CALLED,  /* waits for its place: its parent has not called yet */
    MEMBER_PLACED,  /* has been told its parent */
    MEMBER_THERE,   /* has the job */
    MEMBER_DRAINED, /* all its PEs have ended, and all their output is here */
    MEMBER_LOST,
};

/* The daemon of one node. */
struct member {
    enum member_state state;
    uint32_t node;
    struct link *call; /* on which it called; NULL when it has hung up, or is attached */
    char *addresses;   /* where its children reach it */
    char *said;        /* its last line before it called */
    int64_t clock_ns;  /* our clock minus its */
    uint32_t live;     /* PEs that have not ended */
    uint32_t limit_ms; /* for what it does now, in its start */
    int64_t left_ms;   /* of that; 0: nothing is due */
    uint64_t owed[DAEMON_STREAMS]; /* bytes taken, and not yet confirmed */
    bool reports;                  /* its part of a report is awaited */
};

struct member_pe {
    uint32_t node;
    uint32_t pid;
    enum wire_pe state;
    uint32_t how;
};

struct report_line {
    uint32_t rank, node;
    size_t order; /* of arrival */
    char *text;
};

struct crew {
    const struct job *job;
    const struct plan *plan;
    const struct options *o;
    const struct nodes_events *ev;
    void *front;
    struct loop *loop;
    const struct janitor *janitor;

    struct nonce nonce;
    struct door *door;
    struct starter *starter;
    char *line; /* what the starter tells every daemon */
    const char **host;

    struct route route;
    struct gather *gather;
    struct pack job_bytes;
    struct member *member; /* one per node */
    struct member_pe *pe;
    struct link **caller; /* proven connections that have not said HELLO */
    uint32_t ncallers;

    uint32_t staged[DAEMON_STAGES]; /* nodes that have reached it */
    uint32_t drained;               /* nodes that are DRAINED or LOST */
    uint64_t window;                /* of unconfirmed output, per node and stream */
    bool paused[DAEMON_STREAMS];
    bool failed, ending, stopping;
    struct loop_timer start, report_limit;

    struct report_line *report;
    size_t report_len, report_room;
    bool reporting;
    uint32_t reports; /* nodes whose part is awaited */
    uint32_t report_number;
    uint32_t next_report[2]; /* that wait for their turn: tables, stacks */
};

#define CREW_EXIT_ERROR 1

/* "n2" */
const char *crew_host(const struct crew *c, uint32_t node);

/* Says the sentence and ends the start of the job; only the first counts. */
__attribute__((format(printf, 3, 4))) void crew_fail(struct crew *c, int status,
                                                     const char *format, ...);

/* crew_take.c: what a link brings. */
extern const struct link_events crew_link_events;

/* Node (and what is below it in the tree) is gone, because its daemon `why`. */
void crew_lost(struct crew *c, uint32_t node, const char *why);

/* While the crew stops: the daemon behind this link has left. */
void crew_left(struct crew *c, struct link *l);

/* From now on the member has so much time for its next step.  0: as long as it takes. */
void crew_give_time(struct crew *c, struct member *m, uint32_t ms);

/* The node of a daemon that tells its number, or (srun) the name of its host. */
uint32_t crew_find_node(const struct crew *c, uint32_t node, const char *host);

/* One more node is DRAINED or LOST. */
void crew_member_over(struct crew *c);

/* crew_tell.c */
void crew_send(struct crew *c, enum wire_type type, uint32_t to, const void *data,
               size_t len);
void crew_send_pack(struct crew *c, enum wire_type type, uint32_t to, struct pack *p);
/* len bytes of output have been taken over. */
void crew_output_taken(struct crew *c, struct member *m, enum daemon_stream s,
                       size_t len);
void crew_report_line(struct crew *c, uint32_t number, uint32_t node, uint32_t rank,
                      const char *text);
void crew_report_part(struct crew *c, struct member *m);
void crew_on_report_limit(void *arg);
void crew_report_free(struct crew *c);

#endif
