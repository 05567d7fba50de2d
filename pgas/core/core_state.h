/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * core_state.h - the private state of the modules of core, one struct for each: only the
 * module reads and writes it.  What several modules share is in struct pgas (pgas.h).
 *
 * A process has one instance, core_self.  In a build with PGAS_INSTANCES, for tests whose
 * PEs are threads of one process, each PE has its own (pgas_instance_new).
 */
#ifndef PGAS_CORE_CORE_STATE_H
#define PGAS_CORE_CORE_STATE_H

#include <linux/futex.h>
#include <pmix.h>
#include <pthread.h>
#include <signal.h>

#include "pgas/core/base/pool.h"
#include "pgas/core/boot/binding.h"
#include "pgas/core/boot/boot_pmix.h"
#include "pgas/core/boot/node.h"
#include "pgas/core/check/check.h"
#include "pgas/core/progress/net_int.h"
#include "pgas/core/team/ctx.h"
#include "pgas/core/team/team.h"
#include "pgas/ft/ft_map.h"

struct log_state {
    uint32_t ending; /* 1: a thread ends the process */
};

/* ---- boot ------------------------------------------------------------------------ */

/* Environment variable of a PE, inherited by its children: its PMIx namespace. */
#define BOOT_JOINED_ENV "PGAS_JOINED"

struct boot_state {
    pmix_proc_t myself;
    bool connected;
    pmix_status_t failure; /* reason of the last call that returned -1 */
    bool events;           /* the handler of boot_events.c is registered */
    size_t events_id;
    bool events_last;                /* no handler of the same codes runs after ours */
    void (*on_failure)(uint32_t pe); /* NULL: closed */
    pthread_mutex_t events_lock;     /* protects on_failure, held while it runs */
    uint32_t only_pe, only_node, only_begin[2]; /* the node map of a singleton job */
    /* "PGAS_JOINED=" and the PMIx namespace in which this process or one of its ancestors
     * joined the job as a PE.  Added to the environment before main() and modified in
     * place later, because setenv() is unsafe while the program may have threads
     * (environ.h). */
    char joined[sizeof BOOT_JOINED_ENV + 1 + PMIX_MAX_NSLEN];
};

struct binding_state {
    /* Affinity mask read by binding_spread; no set if it has fewer than 2 processors. */
    struct place_cpus mask;
};

struct nodeseg_state {
    /* Time stamps of the stages reached before the segment is mapped. */
    uint64_t early_ns[NODE_STAGES];
    /* Of nodeseg_join_on_stall. */
    struct {
        uint64_t next_ns; /* time of the next probe */
        int ended;        /* a PE that had exited at the previous probe, or -1 */
    } seen;
};

/* ---- memory ---------------------------------------------------------------------- */

enum coredump_mode { COREDUMP_SMALL, COREDUMP_HEAP, COREDUMP_FULL };

struct coredump_state {
    enum coredump_mode mode;
    /* Heap offset up to which the user's part is included in core files; 0: nothing yet.
     * Protected by heap_lock.  It grows in steps of HEAP_ALIGN and never shrinks, so that
     * the kernel splits the heap into at most three mappings and few allocations need a
     * system call. */
    size_t included_end;
};

/* One writable PT_LOAD segment of the executable without its RELRO part.  Usually there
 * is one; with -mcmodel=medium (large arrays) or an unusual linker there are more. */
struct data_span {
    uintptr_t begin;    /* page-aligned */
    uintptr_t file_end; /* end of the part that is loaded from the file (.data) */
    uintptr_t end;      /* end of .bss, page-aligned */
};

struct data_layout {
    struct data_span *span; /* one per program header at most; kept once shared */
    int spans;
    uintptr_t relro_end;
    uint64_t tag; /* hash of the program headers and notes (build ID) */
};

struct data_state {
    struct data_layout layout; /* the shared spans */
};

struct fork_state {
    pthread_mutex_t lock; /* one fork at a time */
    int done_pipe[2];
    bool guarding; /* the globals were shared at this fork; under lock */
};

/* The guarded pages; len is 0 if there are none and is stored (release) after `pages`.
 * Written by one thread, read by the handler in other threads. */
struct guard_state {
    uintptr_t pages;
    size_t len;
    struct sigaction before;
    bool active;
};

/* ---- progress -------------------------------------------------------------------- */

/* A sleeping thread with a slot: the words of 8 bytes that contain the word it waits for,
 * and their values before its last check of the condition. */
struct block_sleeper {
    const uint64_t *unit; /* the 8 bytes that contain its word; under list_lock */
    uint64_t seen;
};

struct block_state {
    pthread_mutex_t list_lock;
    struct block_sleeper sleeper[NODE_SLEEP_SLOTS];
    int unlisted; /* sleeping threads of this PE without a slot; under list_lock */
    struct block_private *privates; /* those that sleep on a word of this process, and */
    uint64_t round;                 /* the number of wake-ups of all of them; likewise */
    uint32_t pollers; /* threads that spin or yield; with remote PEs only; atomic */
    void (*work)(void);
    uint32_t what_taken; /* 1: a thread owns the text of node_pe.what (block.c) */
    uint64_t watch, watch_since_ns; /* block_serve_watch: node_pe.watch, since when */
};

struct net_state {
    struct net net;
    struct net_watch watch;
    struct net_lookups lookups; /* not in `net`: answers may arrive when it is closed */
};

/* ---- teams and contexts ---------------------------------------------------------- */

/* Under lock: bitmaps with one bit per slot: `used` is set while the slot is allocated,
 * `dirty` from its first use on. */
struct slot_state {
    pthread_mutex_t lock;
    uint64_t *used, *dirty;
    uint32_t words; /* length of each bitmap; slots beyond are free and clean */
    uint32_t end;   /* number of slots */
};

struct team_state {
    struct shmem_team world, shared;
    struct shmem_team *live; /* survivors of the world; NULL: all PEs */
    struct pool pool;        /* of user teams */
    size_t slot_bytes;       /* size of a team's sync area */
};

struct ctx_state {
    struct pool pool;         /* of user contexts */
    pthread_mutex_t net_lock; /* serializes the opening of transport contexts */
};

/* ---- failures --------------------------------------------------------------------- */

struct ft_state {
    pthread_mutex_t lock;   /* protects what follows */
    uint64_t *net_notified; /* failed PEs that the network knows of: a set of PEs */
    uint64_t *handled;      /* those for which the handler was called; its thread only */
    uint64_t *acknowledged;
    bool slot_used[FT_SLOTS]; /* mailboxes in use */
    uint32_t processed;       /* failures when ft_process ended last */
    struct ft_temp *kept;     /* until the network is closed (ft_temp.h) */
    void (*handler)(const int *pes, int n, void *arg);
    void *handler_arg;
    pthread_t handler_thread; /* ft_handler.c */
    bool handler_runs;
    uint32_t handler_stop; /* 1: that thread ends; release, acquire */
    pthread_t watch;       /* ft_watch.c */
    bool watching;
    uint32_t stop; /* 1: the watch thread ends; release, acquire */
    struct ft_robust {
        struct robust_list_head head;
        struct robust_list entry;
    } robust; /* of the watch thread; the kernel reads it when the thread has ended */
};

struct check_state {
    void (*verify)(const struct check_call *call); /* see check_set_verify */
    const struct check_watcher *watcher;
};

struct core_state {
    struct log_state log;
    struct boot_state boot;
    struct binding_state binding;
    struct nodeseg_state nodeseg;
    struct coredump_state coredump;
    struct data_state data;
    struct fork_state fork;
    struct guard_state guard;
    struct block_state block;
    struct net_state net;
    struct slot_state slot;
    struct team_state team;
    struct ctx_state ctx;
    struct ft_state ft;
    struct check_state check;
};

#ifdef PGAS_INSTANCES
#define core_self (*pgas_self.core)
#else
extern __attribute__((visibility("hidden"))) struct core_state core_self;
#endif

#endif
