/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node.h - layout of the shared segment of a node: identity, wait state and progress of
 * each of its PEs.
 *
 * The segment is a memfd.  oshrun's node daemon creates it before it starts the PEs and
 * passes its path in the environment (PGAS_NODE=/proc/PID/fd/N); under another launcher
 * the PE with local rank 0 creates it and publishes the path through PMIx.  This header
 * is the interface between launcher and library and includes no other header of the
 * project.
 */
#ifndef PGAS_CORE_NODE_H
#define PGAS_CORE_NODE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NODE_ENV         "PGAS_NODE"     /* "/proc/PID/fd/N", set by the node daemon */
#define NODE_JOB_ENV     "PGAS_NODE_JOB" /* the PMIx namespace that the segment is for */
#define NODE_MAGIC       0x70676173u     /* "pgas" */
#define NODE_VERSION     12u             /* changes with the layout below or ft_map.h */
#define NODE_LINE        64              /* bytes of a cache line */
#define NODE_SLEEP_SLOTS 7 /* with sleep_mask, sleep_key fills a cache line */
#define NODE_WATCH_BITS  16
#define NODE_WHAT        48 /* bytes of node_pe.what, including its NUL */
#define NODE_SETTINGS    32 /* maximum number of settings that must agree on all PEs */

/* node_pe.what_team of a predefined team; that of another team is its number of PEs plus
 * (1 + its first PE) << NODE_TEAM_FIRST; 0: none. */
#define NODE_TEAM_WORLD  1u
#define NODE_TEAM_SHARED 2u
#define NODE_TEAM_FIRST  32

/* Stages of a PE, in chronological order.  X(name, text) */
#define NODE_STAGE_TABLE(X)                                                              \
    X(FORK, "forked by the launcher")                                                    \
    X(ENTER, "entered shmem_init")                                                       \
    X(ENV, "environment read")                                                           \
    X(DATA, "globals made symmetric")                                                    \
    X(BOOT, "PMIx client connected")                                                     \
    X(NODE, "node segment mapped")                                                       \
    X(HEAP, "symmetric heap mapped")                                                     \
    X(NET, "network ready")                                                              \
    X(JOIN, "joined the PEs of the node")                                                \
    X(EXCHANGE, "endpoint addresses exchanged")                                          \
    X(TEAMS, "teams created")                                                            \
    X(READY, "left shmem_init")                                                          \
    X(FINALIZE, "entered shmem_finalize")                                                \
    X(COMPLETE, "operations completed")                                                  \
    X(TEAMS_DOWN, "teams freed")                                                         \
    X(FT_DOWN, "left the watch of failures")                                             \
    X(NET_DOWN, "network closed")                                                        \
    X(HEAP_DOWN, "symmetric heap released")                                              \
    X(LEAVE, "left shmem_finalize")

#define X(name, text) NODE_STAGE_##name,
enum node_stage { NODE_STAGE_TABLE(X) NODE_STAGES };
#undef X

/*
 * Record of one PE, indexed by local rank.  Only the owner writes it, except `wake` and
 * `watch` (any PE of the node) and stage_ns[NODE_STAGE_FORK] (the daemon).
 */
struct node_pe {
    /* One bit per cache line of a page: set while a thread of the PE sleeps, or is about
     * to sleep, on a word in that line; 0: no sleeper.  Read by every put and atomic to
     * the PE; its cache line is read-mostly, so that it stays in the callers' caches. */
    _Alignas(NODE_LINE) _Atomic uint64_t sleep_mask;
    /* Word on which each sleeper waits (block_sleep.c); 0: free slot. */
    _Atomic uint64_t sleep_key[NODE_SLEEP_SLOTS];
    /* Futex word of the sleepers; each wake-up increments it. */
    _Alignas(NODE_LINE) _Atomic uint32_t wake;

    /* A PE of the node that sleeps until the network changes a word of this PE's heap:
     * 1 + its local rank, and the 8-byte unit of the word << NODE_WATCH_BITS; 0: none.
     * Stored by the watching PE, cleared by the one of both that ends the watch. */
    _Alignas(NODE_LINE) _Atomic uint64_t watch;
    _Atomic uint64_t watch_seen; /* value of the unit before; stored before `watch` */
    _Atomic uint32_t nap;        /* 1: the progress thread backs off; a futex */

    _Alignas(NODE_LINE) _Atomic int32_t pid; /* 0 before nodeseg_open */
    int32_t heap_fd; /* descriptor of the heap memfd in process pid */
    int32_t data_fd; /* likewise of the data segment; -1 if there is none */
    /* 1 + the number of barriers of the world team that the PE had begun when it entered
     * shmem_finalize; 0 before.  A later barrier cannot complete. */
    _Atomic uint64_t last_barrier;
    uint64_t heap_len;
    uint64_t data_len;
    uint64_t data_tag; /* equal on two PEs iff their data segments have the same layout */
    /* Last-level cache and NUMA node (core/boot/locality.h); 0: unknown. */
    int32_t cache, numa;
    /* Digests of the settings that must be the same on all PEs (core/boot/agree.h). */
    uint32_t setting[NODE_SETTINGS];

    /* CLOCK_MONOTONIC nanoseconds at each stage, 0 = not reached. */
    _Atomic uint64_t stage_ns[NODE_STAGES];
    /* Description of what the PE waits for, NUL-terminated; empty: it does not wait.
     * Stored word by word with relaxed order: read it with node_what(). */
    _Atomic uint64_t what[NODE_WHAT / sizeof(uint64_t)];
    /* CLOCK_MONOTONIC nanoseconds at the start of that wait. */
    _Atomic uint64_t what_ns;
    _Atomic uint64_t what_team; /* the team of the collective that waits */
};

struct node {
    uint32_t magic;
    uint32_t version;
    uint64_t bytes;          /* length of the whole segment */
    uint64_t ft_at;          /* offset of the alive map (ft/ft_map.h); 0: none */
    uint32_t npes;           /* PEs on this node */
    uint32_t cpus;           /* processors that the PEs may use together */
    uint32_t oversubscribed; /* 1: more PEs than processors, with other virtual nodes */
    /* PEs that have reached a point, summed over all generations, modulo 2^32. */
    _Alignas(NODE_LINE) _Atomic uint32_t joined;   /* record filled in shmem_init */
    _Alignas(NODE_LINE) _Atomic uint32_t departed; /* entered shmem_finalize */
    _Atomic uint32_t detached;                     /* disconnected from the launcher */
    struct node_pe pe[];
};

/* Copies the description; a copy during an update may be torn. */
static inline void node_what(const struct node_pe *pe, char text[NODE_WHAT])
{
    uint64_t words[NODE_WHAT / sizeof(uint64_t)];

    for (size_t i = 0; i < NODE_WHAT / sizeof(uint64_t); i++)
        words[i] = atomic_load_explicit(&pe->what[i], memory_order_relaxed);
    memcpy(text, words, NODE_WHAT);
    text[NODE_WHAT - 1] = '\0';
}

/* Size in bytes of the records of npes PEs, a multiple of a cache line.  The alive map
 * follows them. */
static inline size_t node_bytes(uint32_t npes)
{
    size_t len = sizeof(struct node) + (size_t)npes * sizeof(struct node_pe);
    return (len + NODE_LINE - 1) / NODE_LINE * NODE_LINE;
}

struct ft_map;

static inline struct ft_map *node_ft(const struct node *node)
{
    return (struct ft_map *)((char *)(uintptr_t)node + node->ft_at);
}

#endif
