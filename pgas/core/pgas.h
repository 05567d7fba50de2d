/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pgas.h - the root structure of a process that is a PE, and the words used everywhere.
 *
 * Words: a PE is a process of the job; a node is the PEs that can map each other; the
 * segment of a PE is its symmetric heap or its symmetric data (the globals of the
 * executable).  There is one global, pgas_self (self.c); everything else hangs on it.
 */
#ifndef PGAS_CORE_PGAS_H
#define PGAS_CORE_PGAS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pgas/core/env.h"
#include "pgas/core/node.h"

struct alloc;
struct net;

/* What the calling PE knows of one PE.  heap and data are set once, by peer.c, from NULL
 * to where the PE's segment is mapped here (release; read by any thread). */
struct peer {
    char *heap;
    char *data;
    struct node_pe *node; /* its record in the node segment; NULL: it is far (net.h) */
    uint32_t program;     /* of a far PE: enum peer_program */
};

/* FORKED: a child of a PE, which is none. */
enum life { LIFE_NEW, LIFE_UP, LIFE_DOWN, LIFE_FORKED };

struct pgas {
    /* The fast path of every put, get and atomic reads these: one or two lines. */
    uintptr_t heap_base;
    size_t heap_len;   /* 0 outside shmem_init .. shmem_finalize */
    struct peer *peer; /* npes of them */
    uint32_t npes;
    int me;
    uintptr_t data_base;
    size_t data_len;
    int checks; /* not 0: routines check their arguments first (check.h) */
    int twins;  /* not 0: routines go through their twins, for that or to be watched */

    /* The node */
    struct node *node;
    size_t node_len;
    int local_rank;
    uint32_t local_size;
    bool oversubscribed; /* more PEs here than processors, or so we are told */
    int node_fd;
    uint32_t nnodes;
    const uint32_t *node_of; /* the node of each PE; NULL: all are on one */
    struct net *net;         /* to reach far PEs; NULL: there are none */

    /* Memory */
    int heap_fd;
    size_t heap_user; /* offset of the user's part, which goes to the end */
    int data_fd;
    uint64_t data_tag;
    struct alloc *alloc;
    struct alloc *results;     /* for node-shared results */
    pthread_mutex_t heap_lock; /* alloc, results */
    pthread_mutex_t peer_lock; /* mapping of peers */

    /* The process */
    enum life life;
    int starts;          /* shmem_init minus shmem_finalize */
    uint32_t generation; /* how often the library has been initialized from nothing */
    int thread_level;
    pthread_t main_thread; /* that called shmem_init */
    pid_t pid;             /* a forked child is not a PE */
    bool membarrier;       /* sleepers pay for the fence that wakers leave out */
    struct env env;
};

/* Tests in which PEs are threads (tests/coll/threads.c) make it _Thread_local. */
#ifndef PGAS_PE_LOCAL
#define PGAS_PE_LOCAL
#endif
extern __attribute__((visibility("hidden"))) PGAS_PE_LOCAL struct pgas pgas_self;

#endif
