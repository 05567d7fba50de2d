/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pgas.h - the root structure of a PE.
 *
 * Terms: a PE is a process of the job.  A node is a set of PEs that can map each other's
 * memory.  The segments of a PE are its symmetric heap and its symmetric data (the
 * globals of the executable).  The root structure is pgas_self (self.c); the private
 * state of the modules is in core_state.h and coll_state.h.
 */
#ifndef PGAS_CORE_PGAS_H
#define PGAS_CORE_PGAS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pgas/core/base/env.h"
#include "pgas/core/boot/node.h"

struct alloc;
struct coll_state;
struct core_state;
struct ft_guard;
struct ft_map;
struct net;
struct profile_state;
struct sim;

/* One PE as seen by the calling PE.  peer.c sets heap and data once, from NULL to the
 * local mapping of the PE's segment (stored with release; read by any thread). */
struct peer {
    char *heap;
    char *data;
    struct node_pe *node; /* its record in the node segment; NULL: remote (net.h) */
    uint32_t program;     /* of a remote PE: enum peer_program */
};

/* FORKED: a child process of a PE, which is not a PE itself. */
enum life { LIFE_NEW, LIFE_UP, LIFE_DOWN, LIFE_FORKED };

struct pgas {
    /* Read on the fast path of every put, get and atomic: one or two cache lines. */
    uintptr_t heap_base;
    size_t heap_len;   /* 0 outside shmem_init .. shmem_finalize */
    struct peer *peer; /* npes entries */
    /* npes while the heap and the peer table exist (peer_init .. peer_fini), else 0: the
     * bound of PE numbers for address translation. */
    uint32_t peers;
    int me;
    uintptr_t data_base;
    size_t data_len;
    uint32_t npes; /* from the connection to the launcher on */
    int checks;    /* nonzero: routines check their arguments first (check.h) */
    /* Nonzero: routines use their checked entry points (rma/api.h); guarded: those of
     * several PEs do, because the points open a guard (ft/ft.h) or check. */
    int checked, guarded;

    /* The node */
    struct node *node;
    size_t node_len;
    int local_rank;
    uint32_t local_size;
    bool oversubscribed; /* more PEs than processors on this node, or SHMEM_OVERSUBSCRIBED
                          */
    int node_fd;
    uint32_t nnodes;
    const uint32_t *node_of;  /* the node of each PE; NULL: one node */
    struct net *net;          /* the transport; NULL: there are no remote PEs */
    struct ft_map *ft;        /* the alive map; NULL: a failure ends the job */
    uint32_t ft_acknowledged; /* number of failures that this PE has acknowledged */

    /* Memory */
    int heap_fd;
    size_t heap_user; /* offset of the user's part, which ends with the heap */
    int data_fd;
    uint64_t data_tag;
    struct alloc *alloc;
    struct alloc *results;     /* allocator of node-shared results */
    pthread_mutex_t heap_lock; /* protects alloc and results */
    pthread_mutex_t peer_lock; /* serialises the mapping of peer segments */

    /* The process */
    enum life life;
    int starts;          /* calls of shmem_init minus calls of shmem_finalize */
    uint32_t generation; /* number of initialisations of the library in this process */
    int thread_level;
    pthread_t main_thread;   /* the thread that called shmem_init */
    pid_t pid;               /* differs in a forked child, which is not a PE */
    _Atomic uint32_t *alive; /* the time of its last sign of life (progress/alive.h) */
    bool membarrier; /* sleepers execute the fence on behalf of wakers (block.h) */
    struct env env;

    /* Private state of the modules.  Only with PGAS_INSTANCES: core, coll (core_state.h,
     * coll_state.h). */
    struct core_state *core;
    struct coll_state *coll;
    struct profile_state *profile; /* NULL: the arrival profile has never been on */
};

/* State of a thread, in initial-exec thread-local storage for speed. */
struct pgas_thread {
    const void *call_site; /* of its collective; set by the public routine (check.h) */
    const char *routine;   /* public routine of its last team_of, for messages */
    /* The order is that of struct ft_guard, so that two fields are copied at once. */
    int waits;              /* nesting of block_until */
    int locks;              /* context locks that it holds (net_inside) */
    bool in_nb;             /* inside of nb_go_on, against recursion */
    bool owns_what;         /* it owns the text of node_pe.what (block.c) */
    uint32_t pool_index;    /* that of its context in the pool, encoded (net_pool.c) */
    uint64_t stress;        /* state of its random delays (stress.c) */
    struct ft_guard *guard; /* of the collective that it is in, with SHMEM_FT=continue */
    struct sim *sim;        /* the simulated job that it runs (transport/test/sim.h) */
    struct pgas *instance;  /* only with PGAS_INSTANCES: the PE that it belongs to */
};
extern __attribute__((
    visibility("hidden"),
    tls_model("initial-exec"))) _Thread_local struct pgas_thread pgas_thread;

/*
 * The runtime instance.  The production build has one per process.  With PGAS_INSTANCES a
 * process has several, for tests whose PEs are threads (tests/coll/threads.c); a thread
 * enters one by setting pgas_thread.instance.
 */
#ifdef PGAS_INSTANCES
#define pgas_self (*pgas_thread.instance)
struct pgas *pgas_instance_new(struct coll_state *coll);
void pgas_instance_free(struct pgas *g);
#else
extern __attribute__((visibility("hidden"))) struct pgas pgas_self;
#endif

#endif
