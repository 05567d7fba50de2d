/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast.c - see bcast.h.  Uses: core/team, barrier, bcast_internode, mailbox, internode,
 * scratch, select, bounce, rma, datatype/copy.
 *
 * On a node, m bytes:
 * - mailbox: the root writes its eager slot, the others read it.  The root does not wait
 *   for the readers, so it may run ahead by the number of slots.
 * - groups: the same down the tree of the groups (groups.h), for many PEs: each
 *   representative copies the data to its own slot, which its group reads.
 * - direct: the root announces its source, each PE copies from it, and the root waits for
 *   all.
 * - barrier: each PE gets the source between two barriers; also for active sets.
 *
 * Over several nodes: bcast_internode.c; very small data are piggybacked on a barrier.
 */
#include "config.h"

#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/algorithms/bcast.h"
#include "pgas/coll/algorithms/bcast_internode.h"
#include "pgas/coll/groups/groups.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/coll/sync/bounce.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

struct job {
    struct shmem_team *team;
    char *dest;
    const char *source;
    size_t bytes;
    int root;
    bool copies; /* the root writes its own dest: not in place, no active set */
    const char *fn;
};

/* ---- on a node -------------------------------------------------------------------- */

static void bcast_mailbox(const struct job *j)
{
    struct mailbox b = mailbox_open(j->team, j->bytes, j->fn);

    if (j->team->me == j->root) {
        copy_bytes(mailbox_own(&b), j->source, j->bytes);
        mailbox_post(&b);
        if (j->copies)
            memmove(j->dest, j->source, j->bytes);
    } else {
        copy_bytes(j->dest, mailbox_of(&b, j->root), j->bytes);
    }
    mailbox_close(&b);
}

/* A representative reads the slot of the representative of the next higher level.  Many
 * PEs write to slots here; a barrier per ring of slots is cheaper than that each of them
 * waits for all PEs to have read it (mailbox_own). */
static void bcast_groups(const struct job *j)
{
    struct shmem_team *team = j->team;
    const struct groups *g = groups_of(team);
    const int level = groups_own_level(g, team->me, j->root);
    if (unlikely(!mailbox_barrier_covers(team, j->bytes, 1)))
        barrier_sync(team, j->fn);
    struct mailbox b = mailbox_open(team, j->bytes, j->fn);
    const char *from = j->source;

    if (team->me != j->root)
        from = mailbox_of(&b, groups_head(g, level, j->root));
    if (level > 0) {
        copy_bytes(mailbox_own(&b), from, j->bytes);
        groups_post(g, level, j->root, &b);
    }
    if (team->me != j->root || j->copies)
        memmove(j->dest, from, j->bytes);
    mailbox_close(&b);
}

static void bcast_get_from_root(const struct job *j, struct mailbox *b)
{
    (void)mailbox_of(b, j->root);
    rma_get(CTX_LIBRARY, j->dest, j->source, j->bytes, team_world_pe(j->team, j->root),
            j->fn);
    mailbox_close(b);
}

static void bcast_direct(const struct job *j)
{
    struct mailbox b = mailbox_open(j->team, 0, j->fn);
    bool late = bounce_overlap(j->dest, j->bytes, j->source, j->bytes);

    if (j->team->me != j->root) {
        bcast_get_from_root(j, &b);
        return;
    }
    (void)mailbox_own(&b);
    mailbox_post(&b);
    if (j->copies && !late)
        copy_bytes(j->dest, j->source, j->bytes);
    mailbox_await_all_closed(&b);
    mailbox_close(&b);
    if (j->copies && late)
        memmove(j->dest, j->source, j->bytes);
}

static void bcast_barrier(const struct job *j)
{
    struct shmem_team *team = j->team;
    bool late = bounce_overlap(j->dest, j->bytes, j->source, j->bytes);
    bool mine = team->me == j->root && j->copies;
    int from = team_world_pe(team, j->root);

    barrier_sync(team, j->fn); /* the source is ready, and dest may be written */
    if (team->me != j->root)
        rma_get(CTX_LIBRARY, j->dest, j->source, j->bytes, from, j->fn);
    else if (mine && !late)
        copy_bytes(j->dest, j->source, j->bytes);
    barrier_sync(team, j->fn); /* the source may be changed */
    if (mine && late)
        memmove(j->dest, j->source, j->bytes);
}

static void bcast_on_node(const struct job *j)
{
    enum select_algorithm a = select_algorithm(j->team, SELECT_BROADCAST, j->bytes);

    /* In a node phase in which a late leader must not stall the other PEs, the root is
     * the only PE that they may wait for. */
    if (a == BROADCAST_GROUPS && j->team->whole != NULL && select_first_leader())
        a = BROADCAST_MAILBOX;
    barrier_guard(j->team, j->fn);
    switch (a) {
    case BROADCAST_MAILBOX:
        bcast_mailbox(j);
        break;
    case BROADCAST_GROUPS:
        bcast_groups(j);
        break;
    case BROADCAST_DIRECT:
        bcast_direct(j);
        break;
    default:
        bcast_barrier(j);
    }
    barrier_unguard(j->team, j->fn);
}

void bcast_node(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                int root, bool copies, const char *fn)
{
    bcast_on_node(&(struct job){team, dest, source, bytes, root, copies, fn});
}

/* ---- over nodes ------------------------------------------------------------------ */

static void bcast_small(const struct job *j)
{
    const char *buffer = internode_gather(j->team, j->source, j->bytes, j->root, j->fn);

    if (j->team->me != j->root || j->copies)
        copy_bytes(j->dest, buffer, j->bytes);
}

static void bcast_over_nodes(const struct job *j)
{
    enum select_algorithm a =
        select_algorithm(j->team, SELECT_INTERNODE_BROADCAST, j->bytes);

    barrier_guard(j->team, j->fn);
    if (a == INTERNODE_BROADCAST_EAGER && internode_has_eager(j->team, j->fn))
        bcast_eager(j->team, j->dest, j->source, j->bytes, j->root, j->copies, j->fn);
    else if (a == INTERNODE_BROADCAST_GATHER &&
             internode_fits(j->team, 1, j->bytes, j->fn))
        bcast_small(j);
    else if (a == INTERNODE_BROADCAST_BARRIER)
        bcast_barrier(j);
    else if (a == INTERNODE_BROADCAST_STREAM && scratch_get(j->team, j->fn))
        bcast_stream(j->team, j->dest, j->source, j->bytes, j->root, j->copies, j->fn);
    else
        bcast_internode(j->team, j->dest, j->source, j->bytes, j->root, j->copies, j->fn);
    barrier_unguard(j->team, j->fn);
}

static int bcast_job(struct job *j)
{
    struct shmem_team *team = j->team;

    if (j->root < 0 || j->root >= team->npes)
        log_misuse("%s: argument 'PE_root' = %d, but the team has PEs 0..%d", j->fn,
                   j->root, team->npes - 1);
    if (j->bytes == 0)
        return 0;
    if (team->me == j->root) /* report an invalid source on its own PE, not on a reader */
        (void)peer_at(j->source, j->bytes, pgas_self.me, j->fn);
    if (mailbox_has(team))
        bcast_on_node(j);
    else if (team->nodes != NULL)
        bcast_over_nodes(j);
    else
        bcast_barrier(j);
    return 0;
}

int bcast(struct shmem_team *team, void *dest, const void *source, size_t n, size_t size,
          int root, const char *fn)
{
    return bcast_job(&(struct job){team, dest, source, rma_bytes(n, size, fn), root,
                                   dest != source, fn});
}

int bcast_set(struct shmem_team *team, void *dest, const void *source, size_t n,
              size_t size, int root, const char *fn)
{
    return bcast_job(
        &(struct job){team, dest, source, rma_bytes(n, size, fn), root, false, fn});
}
