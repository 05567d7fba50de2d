/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon_int.h - internals of the node daemon.
 *
 * Used by daemon.c, daemon_ft.c, daemon_wire.c, pe_io.c, pe_report.c, stack_place.c and
 * stacks.c only.
 */
#ifndef OSHRUN_DAEMON_DAEMON_INT_H
#define OSHRUN_DAEMON_DAEMON_INT_H

#include "tools/oshrun/daemon/bind.h"
#include "tools/oshrun/daemon/daemon.h"
#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/iobuf.h"
#include "tools/oshrun/daemon/launch.h"
#include "tools/oshrun/pmix/pmix_net.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/types.h>

#define DAEMON_ENV_MAX    64
#define DAEMON_JOB_ENV    (JOB_NSPACE_MAX + sizeof NODE_JOB_ENV)
#define DAEMON_INPUT_SIZE 65536

struct pe;

/* One output stream of a PE. */
struct pe_stream {
    struct pe *pe;
    enum daemon_stream which;
    struct loop_watch watch; /* fd < 0: closed */
    struct evbuffer *half;   /* a partial line; NULL: none */
};

struct pe {
    struct daemon *d;
    uint32_t rank;
    uint32_t local;              /* index in the node segment */
    pid_t pid;                   /* 0: never started */
    struct loop_watch end_watch; /* its pidfd: readable when it has ended */
    struct pe_stream out[DAEMON_STREAMS];
    bool connected;
    bool finalized;
    bool ended;     /* exited; not reaped, so that its group ID stays reserved */
    pid_t stand_in; /* process that connected to PMIx in its place; 0: none, -1: over */
};

/* Input of PE job->stdin_pe. */
struct pe_input {
    struct loop_watch watch;  /* fd < 0: closed */
    struct evbuffer *pending; /* not written yet; NULL: none */
};

struct stacks;

/* daemon_ft.c: with SHMEM_FT=continue. */
struct daemon_ft {
    struct ft_agent *agent;
    uint8_t *secret;  /* of the agents, in seal_memory */
    pthread_t thread; /* waits for changes of the alive map */
    bool runs;        /* the thread */
    _Atomic bool stop;
    _Atomic bool self_failed;     /* the agent says so */
    struct loop_watch watch;      /* its eventfd */
    uint64_t *seen;               /* failed PEs that were announced to PMIx */
    uint64_t *told;               /* failed PEs that the front end knows */
    struct loop_timer check_pmix; /* after the failure of a PE that was not connected */
    bool ending;                  /* the whole job ends: what ends now is no failure */
};

struct daemon {
    const struct job *job;
    uint64_t oom_kills; /* counted when the job started */
    struct net_out out;
    struct loop *loop;
    const struct reaper *reaper;
    struct rlimit files; /* as oshrun was given them */

    struct launch *launch; /* of each program; empty if no PE here runs it */
    struct bind_plan bind;
    struct node *node;
    int node_fd;
    char node_env[DAEMON_ENV_MAX];
    char job_env[DAEMON_JOB_ENV];
    struct pmix_host *pmix;
    struct pmix_net *pmix_net;
    struct loop_watch pmix_watch;

    struct pe *pe;
    uint32_t npes;
    uint32_t spawned; /* PEs started, in order; the timer starts the next */
    struct loop_timer spawn;
    uint32_t live;
    uint32_t connected;
    uint32_t finalized;

    struct pe_input input;
    uint32_t open_streams;
    uint64_t window;
    uint64_t ahead[DAEMON_STREAMS]; /* bytes sent and not confirmed */
    bool paused[DAEMON_STREAMS];    /* not read: a window is not confirmed */
    bool closed[DAEMON_STREAMS];    /* the front end does not read it any more */
    uint64_t bytes_read;            /* of output; shows whether a process still writes */
    uint64_t bytes_seen;            /* bytes_read when the drain timer fired last */
    struct loop_timer drain;
    bool all_ended; /* all PEs have, and no other will be started */

    uint32_t report;       /* number of the last report */
    struct stacks *stacks; /* while they are being collected */
    struct daemon_ft ft;
};

/* daemon_ft.c: the failure of PEs with SHMEM_FT=continue; without, these do nothing. */

/* Starts the agent of the node.  nonce: as in daemon_start.  0, or the exit status after
 * an error message. */
int daemon_ft_start(struct daemon *d, const struct nonce *nonce);
void daemon_ft_stop(struct daemon *d);
/* Kills and reaps the processes that have connected to PMIx in the place of PEs.  steps
 * and result: as child_reap. */
bool daemon_ft_end_stand_ins(struct daemon *d, int *steps);
/* The job is being ended as a whole. */
void daemon_ft_end_job(struct daemon *d);
/* A PE of this node has ended.  True: it has failed, and is marked in the alive map. */
bool daemon_ft_ended(struct daemon *d, const struct pe *pe, const siginfo_t *how);
/* A PE of this node has connected to PMIx. */
void daemon_ft_connected(struct daemon *d);
/* Message PE_FAILED: 0, or -1: malformed. */
int daemon_ft_recv(struct daemon *d, struct unpack *u);

/* pe_io.c: pipes between the daemon and its PEs. */

/* Creates the pipes of a PE; child[0..2] are its ends.  0, or -1 with errno. */
int pe_io_open(struct pe *pe, int child[3]);
/* Closes the PE's ends after it was started, and watches ours. */
void pe_io_started(struct pe *pe, const int child[3]);
void pe_io_close_stream(struct pe_stream *s);
/* Reads available output without blocking, then closes. */
void pe_io_finish(struct pe *pe);
void pe_io_close_input(struct daemon *d);
/* Commands INPUT and OUTPUT_CLOSE. */
void pe_io_input(struct daemon *d, const char *text, size_t len);
void pe_io_close_output(struct daemon *d, enum daemon_stream s);
/* Pauses or resumes reading the output of the PEs. */
void pe_io_flow(struct daemon *d, enum daemon_stream s, bool go);

/* daemon.c: called by pe_io.c at the end of a stream. */
void daemon_stream_ended(struct daemon *d);
/* Sends sig to the process groups of the PEs in rank[0, count); count = 0: of all PEs. */
void daemon_kill(struct daemon *d, int sig, const uint32_t *rank, uint32_t count);
/* Cancels the start of the remaining PEs and reports them as killed by sig. */
void daemon_cancel_spawn(struct daemon *d, int sig);

/* daemon_wire.c: sends events.  They may cause commands before the call returns. */
void daemon_send(struct daemon *d, enum wire_type type, struct pack *p); /* frees p */
void daemon_send_u32(struct daemon *d, enum wire_type type, uint32_t number);
/* The job cannot run; error_last() tells why. */
void daemon_fail(struct daemon *d, int status);
void daemon_send_line(struct daemon *d, enum daemon_line line, const uint32_t *rank,
                      uint32_t count, const char *text);
void daemon_send_output(struct pe_stream *s, const char *text, size_t len);

/* stack_place.c: where the program is.  Each text is "function (file:line)". */
#define STACK_PLACE_MAX 192
struct stack_place {
    char routine[STACK_PLACE_MAX]; /* of the library, called by `user`; or "" */
    char user[STACK_PLACE_MAX];   /* the innermost function of the program; "": unknown */
    char caller[STACK_PLACE_MAX]; /* the function that called `user`, or "" */
};
/* From the output of a debugger for process pid. */
void stack_place_find(const char *text, pid_t pid, struct stack_place *place);

/* pe_report.c: the state of each PE, by REPORT_LINE. */
void report_states(struct daemon *d);
/* "in shmem_barrier_all (team WORLD), called by main (bad.c:29)".  stack: the output of a
 * debugger, or NULL. */
void report_place(const struct pe *pe, const char *stack, char *buf, size_t len);
/* The process that runs the PE's program (not its debugger), 0 if there is none. */
pid_t report_pid(const struct pe *pe);

/* stacks.c: collects stacks, reports where the PEs are and, if `verbose`, the stacks;
 * ends with REPORTED. */
void stacks_start(struct daemon *d, bool verbose);
void stacks_free(struct daemon *d);

#endif
