/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node.h - the segment that all PEs of one node share: who they are, who sleeps, what
 * each of them is doing.
 *
 * A memfd without a name.  oshrun's node daemon makes it before it starts the PEs and
 * passes its place in the environment (PGAS_NODE=/proc/PID/fd/N); under a foreign
 * launcher the PE with local rank 0 makes it and publishes the place through PMIx.
 * This header is the whole contract between the launcher and the library: it has data
 * and no functions, and includes nothing of ours.
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
#define NODE_VERSION     3u              /* changes with any change of the layout below */
#define NODE_LINE        64              /* bytes that travel together between caches */
#define NODE_SLEEP_SLOTS 7  /* sleepers whose word is known: they fill up a line */
#define NODE_WHAT        48 /* bytes of the "doing what" text, with its zero */
#define NODE_SETTINGS    32 /* that must be the same on all PEs, at most */

/* Moments in the life of a PE, in order of time.  X(name, text) */
#define NODE_STAGE_TABLE(X)                                                              \
    X(FORK, "forked by the launcher")                                                    \
    X(ENTER, "entered shmem_init")                                                       \
    X(DATA, "globals made symmetric")                                                    \
    X(BOOT, "PMIx client connected")                                                     \
    X(HEAP, "symmetric heap mapped")                                                     \
    X(READY, "left shmem_init")                                                          \
    X(FINALIZE, "entered shmem_finalize")                                                \
    X(LEAVE, "left shmem_finalize")

#define X(name, text) NODE_STAGE_##name,
enum node_stage { NODE_STAGE_TABLE(X) NODE_STAGES };
#undef X

/*
 * One PE, indexed by local rank.  Only the owner writes, but for `wake` (any PE of the
 * node) and stage_ns[NODE_STAGE_FORK] (the daemon).
 */
struct node_pe {
    /* One bit per line-in-a-page for which a thread of the PE sleeps or is about to; 0 =
     * nobody sleeps.  Every put and atomic to the PE reads it (a line of its own that is
     * read-mostly, so it stays in the callers' caches). */
    _Alignas(NODE_LINE) _Atomic uint64_t sleep_mask;
    /* What word each sleeper waits for (see block.c); 0 = a free slot. */
    _Atomic uint64_t sleep_key[NODE_SLEEP_SLOTS];
    /* The futex word they sleep on; goes up by one with each wake. */
    _Alignas(NODE_LINE) _Atomic uint32_t wake;

    _Alignas(NODE_LINE) _Atomic int32_t pid; /* 0 until the PE has joined */
    int32_t heap_fd; /* descriptor of the heap memfd in process pid */
    int32_t data_fd; /* the same of the data segment, -1 if there is none */
    /* Barriers of the world team that the PE had begun when it entered shmem_finalize,
     * plus 1; 0 before that.  Whoever waits in a later one waits in vain. */
    _Atomic uint32_t last_barrier;
    uint64_t heap_len;
    uint64_t data_len;
    uint64_t data_tag; /* equal on two PEs iff their data segments have one layout */
    /* Digests of the settings that must be the same on all PEs (core/boot/agree.h). */
    uint32_t setting[NODE_SETTINGS];

    /* CLOCK_MONOTONIC nanoseconds at each stage, 0 = not reached. */
    _Atomic uint64_t stage_ns[NODE_STAGES];
    /* What the PE waits for: a NUL-terminated text, empty when it does not wait.  It is
     * stored in words, without order: see node_what(). */
    _Atomic uint64_t what[NODE_WHAT / sizeof(uint64_t)];
    /* CLOCK_MONOTONIC nanoseconds when that wait began. */
    _Atomic uint64_t what_ns;
};

struct node {
    uint32_t magic;
    uint32_t version;
    uint32_t bytes; /* length of the whole segment */
    uint32_t npes;  /* PEs on this node */
    uint32_t cpus;  /* processors that the PEs may use together */
    _Alignas(NODE_LINE) _Atomic uint32_t joined; /* PEs whose record is filled */
    _Alignas(NODE_LINE) _Atomic uint32_t left;   /* PEs that entered shmem_finalize */
    _Atomic uint32_t detached;                   /* PEs that left the launcher after it */
    struct node_pe pe[];
};

/* A copy of what the PE waits for, which may be half of two texts. */
static inline void node_what(const struct node_pe *pe, char text[NODE_WHAT])
{
    uint64_t words[NODE_WHAT / sizeof(uint64_t)];

    for (size_t i = 0; i < NODE_WHAT / sizeof(uint64_t); i++)
        words[i] = atomic_load_explicit(&pe->what[i], memory_order_relaxed);
    memcpy(text, words, NODE_WHAT);
    text[NODE_WHAT - 1] = '\0';
}

/* Length in bytes of a segment for npes PEs; 0 if it does not fit the field `bytes`. */
static inline size_t node_bytes(uint32_t npes)
{
    size_t len = sizeof(struct node) + (size_t)npes * sizeof(struct node_pe);
    return len <= UINT32_MAX ? len : 0;
}

#endif
