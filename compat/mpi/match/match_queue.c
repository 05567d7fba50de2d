/* SPDX-License-Identifier: BSD-3-Clause */
/* match_queue.c - see match_queue.h. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "compat/mpi/match/match_bins.h"
#include "compat/mpi/match/match_nodes.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/pgas_assert.h"

/* auto: a longer list is slower than fuzzy keys (bench/match).  The difference limits the
 * conversions of a queue whose length varies: one of at most 25 entries for 8 removals.
 */
enum { AUTO_LIST_MAX = 24, AUTO_NODES_MIN = 17 };

static const char *const engine_names[] = {
#define E(NAME, name) #name,
    MATCH_ENGINE_TABLE(E)
#undef E
};

enum match_engine match_engine_of(const char *name)
{
    enum match_engine e = 0;

    while (e < MATCH_ENGINES && strcmp(name, engine_names[e]) != 0)
        e++;
    return e;
}

const char *match_engine_name(enum match_engine engine)
{
    return engine_names[engine];
}

struct match_options match_options_default(void)
{
    return (struct match_options){
        .engine = MATCH_AUTO, .isa = isa_best(), .lane_bits = 16};
}

static match_scan_fn match_queue_scan(const struct match_options *o)
{
    const struct match_kernels *k = isa_here(o->isa) ? match_kernels_of(o->isa) : NULL;

    if (k == NULL)
        return NULL;
    if (o->engine == MATCH_ARRAY)
        return match_scan_array;
    if (o->engine == MATCH_VECTOR)
        return k->vector;
    return o->lane_bits == 8    ? k->fuzzy8
           : o->lane_bits == 16 ? k->fuzzy16
           : o->lane_bits == 32 ? k->fuzzy32
                                : NULL;
}

static bool match_queue_bins_valid(unsigned bins)
{
    return bins == 0 || (bins >= 2 && bins <= MATCH_BINS_MAX && (bins & (bins - 1)) == 0);
}

int match_queue_init(struct match_queue *q, const struct match_options *options,
                     bool posted)
{
    *q = (struct match_queue){
        .posted = posted,
        .exact = options->engine == MATCH_ARRAY || options->engine == MATCH_VECTOR,
        .fixed_split = options->fixed_split,
        .timed = options->timed,
        .lane_bits = (uint8_t)options->lane_bits,
        .regions = options->regions,
    };
    if ((unsigned)options->engine >= MATCH_ENGINES ||
        !match_queue_bins_valid(options->bins))
        return EINVAL;
    match_split_init(&q->split, options->lane_bits);
    if (options->engine != MATCH_LIST) {
        q->scan = match_queue_scan(options);
        if (q->scan == NULL)
            return EINVAL;
    }
    if (options->bins != 0) {
        q->bins = match_bins_make(options, posted);
        return q->bins != NULL ? 0 : ENOMEM;
    }
    if (options->engine == MATCH_LIST)
        return 0;
    q->list_max = options->engine == MATCH_AUTO ? AUTO_LIST_MAX : 0;
    q->nodes_min = options->engine == MATCH_AUTO ? AUTO_NODES_MIN : 0;
    q->in_nodes = q->list_max == 0;
    return 0;
}

void match_queue_free(struct match_queue *q)
{
    match_nodes_free(q);
    match_bins_free(q->bins);
    q->bins = NULL;
}

/* ---- change of representation --------------------------------------------------- */

/* A list is short when this is called: its entries fit in one node. */
static void match_queue_to_nodes(struct match_queue *q)
{
    struct match_list list = q->list;

    for (struct match_entry *e = list.head, *next; e != NULL; e = next) {
        next = e->next;
        if (!match_nodes_append(q, e)) {
            PGAS_ASSERT(e == list.head); /* the first append allocates the node */
            q->no_nodes = true;
            q->stats.failed_allocations++;
            return;
        }
    }
    q->list = (struct match_list){NULL, NULL};
    q->in_nodes = true;
    q->stats.conversions++;
}

static void match_queue_to_list(struct match_queue *q)
{
    match_nodes_to_list(q);
    q->in_nodes = false;
    q->stats.conversions++;
}

/* ---- operations ----------------------------------------------------------------- */

void match_queue_append(struct match_queue *q, struct match_entry *e)
{
    PGAS_ASSERT(e->where == MATCH_NOWHERE);
    match_split_sample(&q->split, &e->key);
    if (!q->fixed_split && q->split.samples >= MATCH_PERIOD)
        match_split_choose(&q->split, q->lane_bits);
    if (++q->count > q->stats.longest)
        q->stats.longest = q->count;
    if (q->bins != NULL) {
        match_bins_append(q->bins, e);
        return;
    }
    if (!q->in_nodes && q->count > q->list_max && q->scan != NULL && !q->no_nodes)
        match_queue_to_nodes(q);
    if (q->in_nodes) {
        if (match_nodes_append(q, e))
            return;
        q->no_nodes = true;
        q->stats.failed_allocations++;
        match_queue_to_list(q);
    }
    match_list_append(&q->list, e, MATCH_IN_LIST);
}

void match_queue_remove(struct match_queue *q, struct match_entry *e)
{
    PGAS_ASSERT(q->count > 0);
    q->count--;
    if (q->bins != NULL) {
        match_bins_remove(q->bins, e);
        return;
    }
    if (q->in_nodes) {
        match_nodes_remove(q, e);
        if (q->count < q->nodes_min)
            match_queue_to_list(q);
        return;
    }
    match_list_remove(&q->list, e);
    if (q->count == 0)
        q->no_nodes = false;
}

static struct match_entry *match_queue_find(struct match_queue *q,
                                            const struct match_key *key)
{
    if (q->in_nodes)
        return match_nodes_search(q, key);
    if (q->bins != NULL)
        return match_bins_search(q->bins, key);
    return q->posted ? match_list_find_receive(&q->list, key)
                     : match_list_find_message(&q->list, key);
}

struct match_entry *match_queue_search(struct match_queue *q, const struct match_key *key)
{
    const unsigned depth = q->count == 0 ? 0 : 32u - (unsigned)__builtin_clz(q->count);
    struct match_entry *e;

    q->stats.searches++;
    q->stats.depth[depth < MATCH_DEPTHS ? depth : MATCH_DEPTHS - 1]++;
    if (q->count == 0)
        return NULL;
    if (q->timed) {
        uint64_t began = clock_ns();
        e = match_queue_find(q, key);
        q->stats.search_ns += clock_ns() - began;
    } else {
        e = match_queue_find(q, key);
    }
    q->stats.hits += e != NULL;
    return e;
}

struct match_stats match_queue_stats(const struct match_queue *q)
{
    struct match_stats stats = q->stats;

    if (q->bins != NULL)
        match_bins_add_stats(q->bins, &stats);
    return stats;
}

unsigned match_queue_source_bits(const struct match_queue *q)
{
    return (unsigned)__builtin_popcount(q->split.source_ever | q->split.source_varies);
}

unsigned match_queue_tag_bits(const struct match_queue *q)
{
    return (unsigned)__builtin_popcount(q->split.tag_ever | q->split.tag_varies);
}

size_t match_queue_memory(const struct match_queue *q)
{
    return (q->stats.nodes + q->spares) * match_nodes_bytes(q) +
           (q->bins == NULL ? 0 : match_bins_memory(q->bins));
}
