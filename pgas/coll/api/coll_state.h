/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_state.h - the private state of the modules of coll, one struct for each, as
 * core_state.h is for core: only the module reads and writes it.
 */
#ifndef PGAS_COLL_COLL_STATE_H
#define PGAS_COLL_COLL_STATE_H

#include <pthread.h>

#include "pgas/coll/select/select.h"
#include "pgas/coll/select/select_table.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/base/pool.h"
#include "pgas/core/boot/boot.h"
#include "pgas/core/team/team.h"
#include "pgas/datatype/isa.h"

struct life_state {
    struct boot boot;
    enum isa isa;       /* instruction set of the copy and reduction kernels */
    bool finalize_hook; /* life_on_exit is registered */
};

struct symheap_state {
    uint32_t no_memory_warned, hints_warned; /* 1: the warning has been printed */
};

/*
 * Cache entry of an active set: its team, or, if some member has no free team slot, a
 * team without a synchronisation area (`team->psync` != NULL), whose collectives run
 * between barriers over the pSync array.  The members decide this in the first call of
 * the set, by a vote through its pSync, and keep the decision.  So all members take the
 * same path in all later calls without further communication.
 *
 * Invariant: if some member runs with SHMEM_THREAD_MULTIPLE, all members distinguish the
 * calls of the set by pSync (`by_psync`), because two threads may be in two such calls at
 * the same time.  Otherwise there is one record for the set, independent of pSync.
 */
struct active_record {
    int start, log_stride, size;
    const long *psync; /* NULL: any */
    bool by_psync;     /* no team here: look up the record of (set, pSync) */
    struct shmem_team *team;
    struct active_record *next; /* in the same bucket */
};

enum { ACTIVE_BUCKETS = 256 };

struct active_state {
    pthread_mutex_t lock; /* protects the buckets and teams_made */
    struct active_record *bucket[ACTIVE_BUCKETS];
    struct active_record *last_used; /* used only without SHMEM_THREAD_MULTIPLE */
    uint32_t teams_made;
};

/* Nonblocking collectives. */
struct nb_requests {
    pthread_rwlock_t lock;    /* of the list of teams */
    struct shmem_team *teams; /* those with incomplete requests, maybe others; also read
                                 without the lock */
    uint64_t open;            /* requests not freed yet; atomic */
    const char *last;         /* public routine that started the last one; atomic */
};

struct select_settings {
    enum select_algorithm wanted[SELECT_ALL]; /* SELECT_ALGORITHMS_ALL: none requested */
    bool first_leader;                        /* SHMEM_INTERNODE_LEADER */
    int radix;                                /* SHMEM_INTERNODE_RADIX */
    struct select_table table;
};

struct coll_state {
    struct life_state life;
    struct symheap_state symheap;
    struct active_state active;
    struct nb_requests nb;
    struct select_settings select;
    int groups_size;      /* SHMEM_COLL_GROUPS: 0: auto; -1: none (groups/groups.h) */
    struct pool shared;   /* of node-shared results */
    size_t allgather_max; /* bytes of all descriptors per barrier; smaller in tests */
};

#ifdef PGAS_INSTANCES
#define coll_self (*pgas_self.coll)
struct coll_state *coll_state_new(void);
#else
extern __attribute__((visibility("hidden"))) struct coll_state coll_self;
#endif

#endif
