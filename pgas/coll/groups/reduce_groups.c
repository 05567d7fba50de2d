/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_groups.c - small reductions among many PEs of a node, by the groups of groups.h.
 * Gather: the representative of a group waits for the eager slots of its members and
 * combines them into its own, which the representative of the next level reads.
 * Release: the result returns the same way, in slots of a second call.  n PEs in groups
 * of k cost about 2 k log n / log k line transfers one after the other, most of them
 * within a cache, instead of n.
 *
 * Order of combination: that of the groups, after the root's own contribution.  It is
 * fixed for a team and a root: the same in all calls, but different with another
 * placement of the PEs. Uses: groups, mailbox, reduce_int, datatype.
 */
#include "config.h"

#include "pgas/coll/algorithms/reduce_int.h"
#include "pgas/coll/groups/groups.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/datatype/copy.h"

/* to = the source of this PE, combined with the slots of the other members of its groups
 * below `level`, each of which has the combination of a member. */
static void reduce_groups_gather(const struct reduce_job *j, const struct groups *g,
                                 int level, int root, const struct mailbox *b, char *to)
{
    bool first = to != j->source;

    for (int l = 0; l < level; l++)
        for (int i = 0; i < g->level[l].members; i++) {
            int pe = groups_member(g, l, i, root);
            if (pe == b->team->me)
                continue;
            const char *from = mailbox_of(b, pe);
            if (first)
                j->op->three(to, j->source, from, j->n);
            else
                j->op->two(to, from, j->n);
            first = false;
        }
    if (first)
        copy_bytes(to, j->source, reduce_bytes(j));
}

/*
 * A PE that has the result knows that all PEs have read what they read in the call `up`,
 * since the result depends on that.  So all calls before `down` have ended, and
 * mailbox_close_all is right for `down`.  It includes that of `up`.  All PEs know that
 * (mailbox_note_ended), so consecutive reductions need no barrier.
 */
void reduce_groups(const struct reduce_job *j)
{
    struct shmem_team *team = j->team;
    const struct groups *g = groups_of(team);
    const int root = g->order[0], level = groups_own_level(g, team->me, root);
    if (unlikely(!mailbox_barrier_covers(team, reduce_bytes(j), 2)))
        barrier_sync(team, j->fn);
    struct mailbox up = mailbox_open(team, reduce_bytes(j), j->fn);
    struct mailbox down = mailbox_open(team, reduce_bytes(j), j->fn);
    const char *result;

    if (team->me == root) {
        char *to = mailbox_own(&down);
        reduce_groups_gather(j, g, level, root, &up, to);
        result = to;
    } else {
        int head = groups_head(g, level, root);
        reduce_groups_gather(j, g, level, root, &up, mailbox_own(&up));
        mailbox_post_to(&up, head);
        result = mailbox_of(&down, head);
        if (level > 0)
            copy_bytes(mailbox_own(&down), result, reduce_bytes(j));
    }
    if (level > 0)
        groups_post(g, level, root, &down);
    copy_bytes(j->dest, result, reduce_bytes(j));
    mailbox_close_all(&down);
    mailbox_note_ended(&up);
}

/* Without release, so that PEs run ahead.  All write to slots: as in a broadcast by
 * groups, a barrier per ring of slots tells them that these are free. */
void reduce_groups_to(const struct reduce_job *j)
{
    struct shmem_team *team = j->team;
    const struct groups *g = groups_of(team);
    const int level = groups_own_level(g, team->me, j->root);
    if (unlikely(!mailbox_barrier_covers(team, reduce_bytes(j), 1)))
        barrier_sync(team, j->fn);
    struct mailbox b = mailbox_open(team, reduce_bytes(j), j->fn);

    if (team->me == j->root) {
        reduce_groups_gather(j, g, level, j->root, &b, j->dest);
    } else {
        reduce_groups_gather(j, g, level, j->root, &b, mailbox_own(&b));
        mailbox_post_to(&b, groups_head(g, level, j->root));
    }
    mailbox_close(&b);
}
