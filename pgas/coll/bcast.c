/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast.c - see bcast.h.  Uses: core/team, barrier, bcast_far, board, bridge, pick,
 * stage, rma, datatype/copy. */
#include "config.h"

#include "pgas/coll/barrier.h"
#include "pgas/coll/bcast.h"
#include "pgas/coll/bcast_far.h"
#include "pgas/coll/board.h"
#include "pgas/coll/bridge.h"
#include "pgas/coll/pick.h"
#include "pgas/coll/stage.h"
#include "pgas/core/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

struct job {
    struct shmem_team *team;
    char *dest;
    const char *source;
    size_t bytes;
    int root;
    bool copies; /* the root has a copy of its own: not in place, and no active set */
    const char *fn;
};

/* ---- on one node ------------------------------------------------------------------ */

/* In its slot, from which the others take it when they come. */
static void bcast_board(const struct job *j)
{
    struct board b = board_open(j->team, j->bytes, j->fn);

    if (j->team->me == j->root) {
        copy_bytes(board_mine(&b), j->source, j->bytes);
        board_post(&b);
        if (j->copies)
            memmove(j->dest, j->source, j->bytes);
    } else {
        copy_bytes(j->dest, board_of(&b, j->root), j->bytes);
    }
    board_close(&b);
}

static void take_from_root(const struct job *j, struct board *b)
{
    (void)board_of(b, j->root);
    rma_get(SHMEM_CTX_DEFAULT, j->dest, j->source, j->bytes,
            team_world_pe(j->team, j->root), j->fn);
    board_close(b);
}

/* The root says that its source is there, and waits until all have taken it. */
static void bcast_direct(const struct job *j)
{
    struct board b = board_open(j->team, 0, j->fn);
    bool late = stage_overlap(j->dest, j->bytes, j->source, j->bytes);

    if (j->team->me != j->root) {
        take_from_root(j, &b);
        return;
    }
    (void)board_mine(&b);
    board_post(&b);
    if (j->copies && !late)
        copy_bytes(j->dest, j->source, j->bytes);
    board_await_all_closed(&b);
    board_close(&b);
    if (j->copies && late)
        memmove(j->dest, j->source, j->bytes);
}

/* ---- between two barriers: active sets, and where it is asked for -------------------
 */

static void bcast_barrier(const struct job *j)
{
    struct shmem_team *team = j->team;
    bool late = stage_overlap(j->dest, j->bytes, j->source, j->bytes);
    bool mine = team->me == j->root && j->copies;
    int from = team_world_pe(team, j->root);

    barrier_sync(team, j->fn); /* the source is ready, and dest may be written */
    if (team->me != j->root)
        rma_get(SHMEM_CTX_DEFAULT, j->dest, j->source, j->bytes, from, j->fn);
    else if (mine && !late)
        copy_bytes(j->dest, j->source, j->bytes);
    barrier_sync(team, j->fn); /* the source may be changed */
    if (mine && late)
        memmove(j->dest, j->source, j->bytes);
}

static void bcast_near(const struct job *j)
{
    barrier_guard(j->team, j->fn);
    switch (pick(j->team, PICK_BROADCAST, j->bytes)) {
    case BROADCAST_BOARD:
        bcast_board(j);
        break;
    case BROADCAST_DIRECT:
        bcast_direct(j);
        break;
    default:
        bcast_barrier(j);
    }
    barrier_unguard(j->team, j->fn);
}

/* ---- over nodes ------------------------------------------------------------------ */

/* With a meeting. */
static void bcast_small(const struct job *j)
{
    const char *box = bridge_gather(j->team, j->source, j->bytes, j->root, j->fn);

    if (j->team->me != j->root || j->copies)
        copy_bytes(j->dest, box, j->bytes);
}

static void bcast_over_nodes(const struct job *j)
{
    enum pick_algorithm a = pick(j->team, PICK_BRIDGE_BROADCAST, j->bytes);

    barrier_guard(j->team, j->fn);
    if (a == BRIDGE_BROADCAST_PUSH)
        bcast_push(j->team, j->dest, j->source, j->bytes, j->root, j->copies, j->fn);
    else if (a == BRIDGE_BROADCAST_GATHER)
        bcast_small(j);
    else if (a == BRIDGE_BROADCAST_BARRIER)
        bcast_barrier(j);
    else
        bcast_far(j->team, j->dest, j->source, j->bytes, j->root, j->copies, j->fn);
    barrier_unguard(j->team, j->fn);
}

static int bcast_job(struct job *j)
{
    struct shmem_team *team = j->team;

    if (j->root < 0 || j->root >= team->npes)
        log_die("%s: argument 'PE_root' = %d, but the team has PEs 0..%d", j->fn, j->root,
                team->npes - 1);
    if (j->bytes == 0)
        return 0;
    if (team->me == j->root) /* else the others would be blamed for it */
        (void)peer_at(j->source, j->bytes, pgas_self.me, j->fn);
    if (board_has(team))
        bcast_near(j);
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
