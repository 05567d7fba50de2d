/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot.h - rank, size and node map of the job, and data exchange before PEs can reach
 * each other's memory: a plain PMIx client, or a singleton job of one PE.
 *
 * Only one thread at a time may call these functions, except boot_get_begin.  boot_get
 * has a timeout of one day and boot_barrier none: only the launcher can tell a late PE
 * from a dead one, and it ends the job if a PE dies.  boot_fence_* are for jobs that
 * survive failures. Uses: pgas.h, log.  Used by: coll/life, nodeseg, net_lookup.
 */
#ifndef PGAS_CORE_BOOT_H
#define PGAS_CORE_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A node is a set of PEs that share a host according to the launcher; hosts without PEs
 * do not count.  Nodes are numbered in the order of their lowest PEs, identically on all
 * PEs, so PE 0 is on node 0. */
struct boot {
    uint32_t rank, size;
    uint32_t local_rank, local_size;
    uint32_t *local_pes; /* this node's PEs, indexed by local rank */
    uint32_t node, nnodes;
    uint32_t *node_of; /* the node of each PE */
    /* The PEs of node n, in ascending order: node_pes[node_begin[n]] up to, but without,
     * node_pes[node_begin[n + 1]]. */
    uint32_t *node_begin, *node_pes;
    bool launched; /* there is a PMIx server */
};

/* The PEs of a node in ascending order, and their number. */
static inline uint32_t boot_node_size(const struct boot *b, uint32_t node)
{
    return b->node_begin[node + 1] - b->node_begin[node];
}

static inline const uint32_t *boot_node_pes(const struct boot *b, uint32_t node)
{
    return b->node_pes + b->node_begin[node];
}

/* The index of a PE among the PEs of its node: O(log of their number). */
static inline uint32_t boot_node_index(const struct boot *b, uint32_t pe)
{
    const uint32_t *pes = boot_node_pes(b, b->node_of[pe]);
    uint32_t low = 0, end = boot_node_size(b, b->node_of[pe]);

    while (end - low > 1) { /* the PE is in pes[low .. end - 1] */
        uint32_t middle = low + (end - low) / 2;
        if (pes[middle] <= pe)
            low = middle;
        else
            end = middle;
    }
    return low;
}

/* Computes node_begin and node_pes from the other members.  False: no memory. */
bool boot_nodes_index(struct boot *b);

/* Connects to the PMIx server.  Ends the process with an error message if there is a
 * launcher but its server does not answer. */
void boot_connect(struct boot *b);

/* The host name of a node according to the launcher; not necessarily unique.  Without
 * `ask` only if this process has it, so that the call does not block; otherwise the
 * number of the node. */
void boot_node_name(const struct boot *b, uint32_t node, bool ask, char *name,
                    size_t size);

/* Formats the nodes with their PE counts, "n0: 2, n1: 2", truncated to `size` bytes. */
void boot_nodes_text(const struct boot *b, char *text, size_t size);

/* Visibility of a boot_put: BOOT_NODE: to the PEs of the node, immediately; BOOT_ALL: to
 * all PEs, after boot_barrier. */
enum boot_scope { BOOT_NODE, BOOT_ALL };

/*
 * boot_put publishes len > 0 bytes under a key, once per generation.  boot_get copies the
 * value that PE `rank` put in this generation and returns its length, or -1 if it exceeds
 * `space` bytes.  A get from a PE of the same node waits for the put.  boot_put and
 * boot_barrier return 0 on success.  All three return -1 if PMIx fails (boot_error has
 * the reason).  boot_get fails in a singleton job.
 */
int boot_put(enum boot_scope scope, const char *key, const void *data, size_t len);
ssize_t boot_get(uint32_t rank, const char *key, void *data, size_t space);

/* As boot_get, but does not wait: calls done(arg, answer) once, from this thread or from
 * that of libpmix; never if the launcher does not answer.  It asks the launcher to answer
 * in these seconds.  The answer is valid during that call, which must not block.  Any
 * thread may call it until boot_disconnect. */
enum { BOOT_GET_S = 86400, BOOT_GET_SHORT_S = 5 };
struct boot_answer {
    const void *data;
    size_t len;
    const char *error; /* NULL: none */
    bool timed_out, no_memory;
};
typedef void (*boot_get_done)(void *arg, const struct boot_answer *answer);
void boot_get_begin(uint32_t rank, const char *key, int seconds, boot_get_done done,
                    void *arg);

/* A barrier over all PEs of the job.  Values put before it are available after it. */
int boot_barrier(void);

/* A barrier over n PEs, or over all if n = 0: begin, poll done, end.  0; or -1 if PMIx
 * fails, or if it is not done: then it is abandoned, and another barrier over fewer PEs
 * may follow.  When it is done, but not if that is so at once, libpmix's thread calls
 * wake(), unless that is NULL: perhaps after the end, and until boot_disconnect. */
struct boot_fence;
struct boot_fence *boot_fence_begin(const uint32_t *rank, size_t n, void (*wake)(void));
bool boot_fence_done(const struct boot_fence *f);
int boot_fence_end(struct boot_fence *f);

/* Error text of the last call that returned -1. */
const char *boot_error(void);

/* Calls on_failure for each PE that the launcher reports as failed by a PMIx event, from
 * the thread of libpmix; until boot_events_close.  Other handlers of the process that
 * name their codes get the same events; default handlers do not. */
void boot_events_open(void (*on_failure)(uint32_t pe));
void boot_events_close(void);
/* Removes the handler of a process in which others still use PMIx; boot_disconnect calls
 * it. */
void boot_events_forget(void);

/* Asks the launcher to end the job with this status. */
void boot_abort(int status, const char *why);

/* Disconnects from the launcher.  Frees the members of *b unless `keep`, which is for
 * threads that may still read them. */
void boot_disconnect(struct boot *b, bool keep);

#endif
