/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_queue.h - a queue of entries in order of age, with a choice of engines:
 *
 *   list    a linked list, which the entries themselves form
 *   array   a linked array of exact keys, compared one by one
 *   vector  a linked array of exact keys, compared by vectors
 *   fuzzy   a linked array of hashed keys of 8, 16 or 32 bits, compared by vectors; a
 *           candidate is then compared exactly
 *   auto    a list as long as it is short, fuzzy beyond
 *
 * All engines give the same results.  An entry needs no memory of its own; linked arrays
 * allocate a node for MATCH_SLOTS entries.  If that fails, the queue becomes a list until
 * it is empty: appending cannot fail.
 *
 * With bins by source (match_bins.h), a search for a source reads only a part of the
 * entries; this helps where there are many sources, and costs where the search is for
 * any.
 *
 * One thread at a time uses a queue.  Uses: isa, match_kernels, match_list, match_split.
 * Used by: match, match_tail, tests, bench.
 */
#ifndef COMPAT_MPI_MATCH_QUEUE_H
#define COMPAT_MPI_MATCH_QUEUE_H

#include "compat/mpi/match/match_kernels.h"
#include "compat/mpi/match/match_list.h"
#include "compat/mpi/match/match_split.h"

#define MATCH_ENGINE_TABLE(E)                                                            \
    E(LIST, list)                                                                        \
    E(ARRAY, array)                                                                      \
    E(VECTOR, vector)                                                                    \
    E(FUZZY, fuzzy)                                                                      \
    E(AUTO, auto)

#define MATCH_ENUM(NAME, name) MATCH_##NAME,
enum match_engine { MATCH_ENGINE_TABLE(MATCH_ENUM) MATCH_ENGINES };
#undef MATCH_ENUM

enum { MATCH_BINS_MAX = 64 };

struct match_options {
    enum match_engine engine;
    enum isa isa;       /* of the kernels: at most isa_best() */
    unsigned lane_bits; /* of fuzzy keys: 8, 16 or 32 */
    bool fixed_split;   /* of fuzzy keys: always half and half */
    bool timed; /* measure the time of searches, which costs two clock reads each */
    struct match_regions *regions; /* nodes are heated (match_heater.h); NULL: not */
    unsigned bins; /* by source: 0 (none) or a power of two, 2 to MATCH_BINS_MAX */
};

/* auto, 16 bits, the best instruction set */
struct match_options match_options_default(void);

/* MATCH_ENGINES if there is none of this name */
enum match_engine match_engine_of(const char *name);
const char *match_engine_name(enum match_engine engine);

enum { MATCH_DEPTHS = 20 };

struct match_stats {
    uint64_t searches, hits;
    uint64_t candidates, false_positives; /* of nodes; hits are candidates, too */
    uint64_t search_ns;                   /* if timed */
    uint64_t depth[MATCH_DEPTHS];         /* searches at length 0, 1, 2..3, 4..7, ... */
    uint64_t compactions, merges, conversions, failed_allocations;
    uint32_t longest, nodes, most_nodes;
};

struct match_queue {
    bool posted;   /* the entries are receives: they have the wildcards */
    bool exact;    /* the keys of nodes */
    bool in_nodes; /* else in `list` */
    bool no_nodes; /* an allocation failed: a list until it is empty */
    bool fixed_split, timed;
    uint8_t lane_bits;
    uint8_t list_max;        /* entries of a list, beyond which nodes are used */
    uint8_t nodes_min;       /* entries of nodes, below which they become a list */
    uint32_t count;          /* entries */
    match_scan_fn scan;      /* NULL: engine `list` */
    struct match_bins *bins; /* not NULL: they have the entries */
    struct match_list list;
    struct match_node *first, *last; /* no node is empty, except one that is alone */
    struct match_node *spare;
    uint32_t spares;
    struct match_regions *regions;
    struct match_split split;
    struct match_stats stats;
};

/* Returns 0, EINVAL for options that this build or processor does not have, or ENOMEM for
 * the bins. */
int match_queue_init(struct match_queue *q, const struct match_options *options,
                     bool posted);

/* Frees nodes and bins.  Entries that are still queued must not be used with it any more.
 */
void match_queue_free(struct match_queue *q);

void match_queue_append(struct match_queue *q, struct match_entry *e);

/* The oldest entry that fits, or NULL.  It stays in the queue. */
struct match_entry *match_queue_search(struct match_queue *q,
                                       const struct match_key *key);

void match_queue_remove(struct match_queue *q, struct match_entry *e);

/* Those of q->stats are without the nodes of bins. */
struct match_stats match_queue_stats(const struct match_queue *q);

/* Number of bits that varied in sources and in tags of all entries so far */
unsigned match_queue_source_bits(const struct match_queue *q);
unsigned match_queue_tag_bits(const struct match_queue *q);

/* Bytes that the queue has allocated */
size_t match_queue_memory(const struct match_queue *q);

#endif
