/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collect.c - see collect.h.  Uses: core/team, core/check, active, arrival, barrier,
 * internode, allgather, bounce, rma, rma/order, datatype/copy.
 *
 * On a node, n PEs, m bytes in total:
 * - mailbox (small): each PE reads the eager slots of all others.
 * - arrival (fcollect): pairwise exchange in arrival order, by the later PE of each pair.
 * - barrier: direct; each PE copies all sources to its dest between two barriers,
 *   starting with its own so that the PEs do not all read one source at the same time.
 *
 * Over several nodes: collect_internode.c; very small blocks are piggybacked on a
 * barrier.
 */
#include "config.h"

#include "pgas/coll/api/active.h"
#include "pgas/coll/sync/arrival.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/algorithms/collect.h"
#include "pgas/coll/algorithms/collect_internode.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/allgather.h"
#include "pgas/coll/sync/bounce.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/check/check.h"
#include "pgas/core/base/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/ft/ft_temp.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

enum { REMOTE_BYTES = 1024 }; /* minimum bytes of all PEs for the two-level algorithm */

/* Copy from PE i; `all`: bytes that this PE copies in total. */
static void collect_get(const struct shmem_team *team, int i, char *to,
                        const void *source, size_t bytes, size_t all, const char *fn)
{
    int pe = team_world_pe(team, i);

    if (bytes > 0 && unlikely(net_remote(pe)))
        rma_get_nbi(CTX_LIBRARY, to, source, bytes, pe, fn);
    else if (bytes > 0)
        copy_part(to, peer_at(source, bytes, pe, fn), bytes, all * (size_t)team->npes);
}

/* Complete all gets. */
static void collect_complete_gets(const struct shmem_team *team, const char *fn)
{
    if (unlikely(team->remote))
        order_quiet(CTX_LIBRARY, fn);
}

/* Blocks are piggybacked on a barrier. */
static void collect_fcollect_small(struct shmem_team *team, void *dest,
                                   const void *source, size_t each, const char *fn)
{
    size_t all = (size_t)team->npes * each;
    const char *buffer = internode_gather(team, source, each, -1, fn);

    if (team->nodes->pos == NULL)
        copy_bytes(dest, buffer, all);
    for (int i = 0; team->nodes->pos != NULL && i < team->npes; i++)
        copy_bytes((char *)dest + (size_t)i * each, internode_part(team, buffer, each, i),
                   each);
}

static void collect_fcollect_mailbox(struct shmem_team *team, char *dest,
                                     const void *source, size_t each, const char *fn)
{
    struct mailbox b = mailbox_open(team, each, fn);

    copy_bytes(mailbox_own(&b), source, each);
    mailbox_post(&b);
    for (int i = 0; i < team->npes; i++)
        copy_bytes(dest + (size_t)i * each, mailbox_of(&b, i), each);
    mailbox_close_all(&b);
}

static void collect_fcollect_barrier(struct shmem_team *team, void *dest,
                                     const void *source, size_t each, const char *fn)
{
    size_t all = (size_t)team->npes * each;
    char *to = bounce_open(dest, all, source, each, all, fn);

    barrier_sync(team, fn); /* all sources are ready */
    for (int k = 0; k < team->npes; k++) {
        int i = (team->me + k) % team->npes;
        collect_get(team, i, to + (size_t)i * each, source, each, all, fn);
    }
    collect_complete_gets(team, fn);
    barrier_sync(team, fn); /* all sources have been read */
    bounce_close(to, dest, all);
}

static void collect_fcollect_on_node(struct shmem_team *team, void *dest,
                                     const void *source, size_t each, const char *fn)
{
    size_t all = (size_t)team->npes * each;

    barrier_guard(team, fn);
    enum select_algorithm a = select_algorithm(team, SELECT_FCOLLECT, each);
    if (a == FCOLLECT_MAILBOX)
        collect_fcollect_mailbox(team, dest, source, each, fn);
    else if (a == FCOLLECT_ARRIVAL && !bounce_overlap(dest, all, source, each))
        arrival_blocks(team, dest, source, each, 0, fn);
    else
        collect_fcollect_barrier(team, dest, source, each, fn);
    barrier_unguard(team, fn);
}

/* True if the two-level algorithm applies: it is not deselected, and dest overlaps no
 * source. */
static bool collect_is_by_nodes(struct shmem_team *team, size_t all, bool overlap)
{
    return team->nodes != NULL && !overlap && team->nodes->leaders < COLLECT_NODES_MAX &&
           select_algorithm(team, SELECT_INTERNODE_COLLECT, all / (size_t)team->npes) !=
               INTERNODE_COLLECT_BARRIER;
}

static void collect_fcollect_remote(struct shmem_team *team, void *dest,
                                    const void *source, size_t each, const char *fn)
{
    size_t all = (size_t)team->npes * each;
    struct collect_layout equal = {collect_at_equal, NULL, each};

    if (!collect_is_by_nodes(team, all, bounce_overlap(dest, all, source, each))) {
        collect_fcollect_barrier(team, dest, source, each, fn);
        return;
    }
    barrier_guard(team, fn);
    if (select_algorithm(team, SELECT_INTERNODE_COLLECT, each) ==
            INTERNODE_COLLECT_EAGER &&
        collect_eager_fits(team, all, fn))
        collect_eager(team, dest, source, each, fn);
    else
        collect_internode(team, dest, source, &equal, false, fn);
    barrier_unguard(team, fn);
}

int fcollect(struct shmem_team *team, void *dest, const void *source, size_t n,
             size_t size, const char *fn)
{
    size_t each = rma_bytes(n, size, fn);
    size_t all = rma_bytes((size_t)team->npes, each, fn);

    if (all == 0)
        return 0;
    (void)peer_at(source, each, pgas_self.me, fn);
    (void)peer_at(dest, all, pgas_self.me, fn);
    if (mailbox_has(team))
        collect_fcollect_on_node(team, dest, source, each, fn);
    else if (internode_fits(team, (size_t)team->npes, each, fn))
        collect_fcollect_small(team, dest, source, each, fn);
    else
        collect_fcollect_remote(team, dest, source, each, fn);
    return 0;
}

/*
 * The descriptor of PE i.  Invariant: it is written by PE i only, before the barrier at
 * the beginning of a collect, and read by others between that barrier and the one at the
 * end.  It contains the address of the source, because a PE without elements may pass any
 * pointer as its source.
 */
static struct descriptor *collect_part_of(const struct shmem_team *team, int i,
                                          const char *fn)
{
    return team->psync != NULL ? active_part(team, i, fn)
                               : &team_words(team, i)->descriptor;
}

/* Descriptors of all PEs: gathered if the team spans nodes, else in mailbox slots or in
 * the sync areas. */
struct contributions {
    const struct shmem_team *team;
    struct descriptors descriptors;
    const struct mailbox *mailbox;
    const char *fn;
};

/* Contents of a mailbox slot: descriptor, and the elements if they fit. */
struct collect_slot {
    struct descriptor part;
    char elements[MAILBOX_SLOT_BYTES - sizeof(struct descriptor)];
};

static const struct collect_slot *collect_slot_of(const struct mailbox *b, int i)
{
    return (const struct collect_slot *)mailbox_of(b, i);
}

static struct descriptor collect_part_at(const struct contributions *parts, int i)
{
    if (parts->descriptors.team != NULL)
        return *(const struct descriptor *)allgather_at(&parts->descriptors, i);
    if (parts->mailbox != NULL)
        return collect_slot_of(parts->mailbox, i)->part;
    const struct descriptor *part = collect_part_of(parts->team, i, parts->fn);
    return (struct descriptor){load_relaxed_u64(&part->count),
                               load_relaxed_u64(&part->symaddr)};
}

static void collect_publish(const struct shmem_team *team, struct descriptor part,
                            const char *fn)
{
    struct descriptor *mine = collect_part_of(team, team->me, fn);

    store_relaxed_u64(&mine->count, part.count);
    store_relaxed_u64(&mine->symaddr, part.symaddr);
}

static size_t collect_sum_before(const struct contributions *parts, int end)
{
    size_t sum = 0;

    for (int i = 0; i < end; i++)
        if (__builtin_add_overflow(sum, collect_part_at(parts, i).count, &sum))
            log_misuse(
                "%s: argument 'nelems': the sum over the PEs does not fit a size_t",
                parts->fn);
    return sum;
}

/* Bytes of all PEs; checks dest, whose length is known only after the exchange of
 * descriptors. */
static size_t collect_sum_bytes(const struct contributions *parts, const void *dest,
                                size_t size)
{
    const char *fn = parts->fn;
    size_t all = rma_bytes(collect_sum_before(parts, parts->team->npes), size, fn);

    if (all == 0)
        return 0;
    if (pgas_self.checks)
        check_inside(dest, all, fn,
                     "argument 'dest', for the sum over the PEs of 'nelems'");
    (void)peer_at(dest, all, pgas_self.me, fn);
    return all;
}

static void collect_get_all(const struct contributions *parts, char *to, size_t all,
                            size_t size)
{
    const struct shmem_team *team = parts->team;
    size_t at = collect_sum_before(parts, team->me) * size;

    for (int k = 0; k < team->npes; k++) {
        int i = (team->me + k) % team->npes;
        struct descriptor part = collect_part_at(parts, i);
        at = i == 0 ? 0 : at;
        collect_get(team, i, to + at, symaddr_decode(part.symaddr), part.count * size,
                    all, parts->fn);
        at += part.count * size;
    }
    collect_complete_gets(team, parts->fn);
}

/* Barrier, after which the descriptors of all PEs are readable. */
static struct descriptors collect_exchange_descriptors(struct shmem_team *team,
                                                       const char *fn)
{
    if (unlikely(team->remote))
        return allgather_open(team, collect_part_of(team, team->me, fn),
                              sizeof(struct descriptor), fn);
    barrier_sync(team, fn);
    return (struct descriptors){.team = NULL};
}

/* True if dest overlaps any source; the same result on all PEs. */
static bool collect_any_overlap(const struct contributions *parts, const void *dest,
                                size_t all, size_t size)
{
    for (int i = 0; i < parts->team->npes; i++) {
        struct descriptor part = collect_part_at(parts, i);
        if (part.count > 0 &&
            bounce_overlap(dest, all, symaddr_decode(part.symaddr), part.count * size))
            return true;
    }
    return false;
}

/* Offsets of the blocks in dest. */
static size_t *collect_sum_up(const struct contributions *parts, size_t size)
{
    int npes = parts->team->npes;
    size_t *at = ft_temp_alloc(((size_t)npes + 1) * sizeof *at);

    if (at == NULL)
        log_die("%s: no memory for a list of %d PEs", parts->fn, npes);
    at[0] = 0;
    for (int i = 0; i < npes; i++)
        at[i + 1] = at[i] + collect_part_at(parts, i).count * size;
    return at;
}

static size_t collect_at_listed(const struct collect_layout *layout, int i)
{
    return ((const size_t *)layout->arg)[i];
}

/* After collect_exchange_descriptors. */
static void collect_by_nodes(const struct contributions *parts, struct shmem_team *team,
                             void *dest, const void *source, size_t size)
{
    size_t *at = collect_sum_up(parts, size);
    struct collect_layout listed = {collect_at_listed, at, 0};

    barrier_guard(team, parts->fn);
    collect_internode(team, dest, source, &listed, true, parts->fn);
    barrier_unguard(team, parts->fn);
    ft_temp_free(at);
}

/* Descriptors in the sync areas; two barriers. */
static void collect_barrier(struct shmem_team *team, void *dest, const void *source,
                            size_t n, size_t size, const char *fn)
{
    collect_publish(team, (struct descriptor){n, symaddr_encode(source)}, fn);
    /* After the exchange all sources are ready. */
    struct contributions parts = {team, collect_exchange_descriptors(team, fn), NULL, fn};
    size_t all = collect_sum_bytes(&parts, dest, size);
    if (all >= REMOTE_BYTES &&
        collect_is_by_nodes(team, all, collect_any_overlap(&parts, dest, all, size))) {
        collect_by_nodes(&parts, team, dest, source, size);
        allgather_close(&parts.descriptors);
        return;
    }
    char *to = bounce_open(dest, all, source, n * size, all, fn);
    if (all > 0) /* else `to` may be NULL */
        collect_get_all(&parts, to, all, size);
    allgather_close(&parts.descriptors);
    barrier_sync(team, fn); /* all sources and descriptors have been read */
    bounce_close(to, dest, all);
    if (team->psync != NULL)
        collect_publish(team, (struct descriptor){SHMEM_SYNC_VALUE, SHMEM_SYNC_VALUE},
                        fn);
}

/* True if the elements of every PE fit its slot. */
static bool collect_all_fit_slots(const struct contributions *parts, size_t size)
{
    for (int i = 0; i < parts->team->npes; i++)
        if (collect_part_at(parts, i).count >
            sizeof((struct collect_slot *)0)->elements / size)
            return false;
    return true;
}

static void collect_copy_slots(const struct contributions *parts, char *dest, size_t size)
{
    for (int i = 0; i < parts->team->npes; i++) {
        const struct collect_slot *theirs = collect_slot_of(parts->mailbox, i);
        size_t bytes = theirs->part.count * size;
        if (bytes > 0)
            copy_bytes(dest, theirs->elements, bytes);
        dest += bytes;
    }
}

/* If the elements of some PE do not fit its slot, all PEs copy from the sources, which
 * stay valid until the barrier. */
static void collect_get_sources(const struct contributions *parts, void *dest,
                                const void *source, size_t mine, size_t all, size_t size)
{
    struct shmem_team *team = parts->mailbox->team;
    char *to = bounce_open(dest, all, source, mine, all, parts->fn);

    collect_get_all(parts, to, all, size);
    barrier_sync(team, parts->fn);
    bounce_close(to, dest, all);
}

static void collect_mailbox(struct shmem_team *team, void *dest, const void *source,
                            size_t n, size_t size, const char *fn)
{
    struct mailbox b = mailbox_open(team, sizeof(struct collect_slot), fn);
    struct contributions parts = {.team = team, .mailbox = &b, .fn = fn};
    struct collect_slot *slot = (struct collect_slot *)mailbox_own(&b);

    slot->part = (struct descriptor){n, symaddr_encode(source)};
    if (n > 0 && n <= sizeof slot->elements / size)
        copy_bytes(slot->elements, source, n * size);
    mailbox_post(&b);
    size_t all = collect_sum_bytes(&parts, dest, size);
    if (collect_all_fit_slots(&parts, size))
        collect_copy_slots(&parts, dest, size);
    else
        collect_get_sources(&parts, dest, source, n * size, all, size);
    mailbox_close_all(&b);
}

static void collect_on_node(struct shmem_team *team, void *dest, const void *source,
                            size_t n, size_t size, const char *fn)
{
    barrier_guard(team, fn);
    if (select_algorithm(team, SELECT_COLLECT, 0) == COLLECT_MAILBOX)
        collect_mailbox(team, dest, source, n, size, fn);
    else
        collect_barrier(team, dest, source, n, size, fn);
    barrier_unguard(team, fn);
}

int collect(struct shmem_team *team, void *dest, const void *source, size_t n,
            size_t size, const char *fn)
{
    size_t mine = rma_bytes(n, size, fn);

    if (mine > 0) /* report an invalid source on its own PE, not on a reader */
        (void)peer_at(source, mine, pgas_self.me, fn);
    if (mailbox_has(team))
        collect_on_node(team, dest, source, n, size, fn);
    else
        collect_barrier(team, dest, source, n, size, fn);
    return 0;
}
