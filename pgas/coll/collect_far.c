/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collect_far.c - see collect_far.h.
 * Uses: core/team, core/check, core/peer, board, bridge, hop, pick, datatype/copy.
 *
 * Each leader copies the blocks of its node to its own dest, and puts them to that of the
 * other leaders; its node takes from its dest what has come, node by node.  So data cross
 * the network once for each node.  Between leaders:
 *
 * - direct: each puts its node's blocks to all others.
 * - ring: each hands on to the next one what it got last.
 *
 * In both the blocks come in the order of the nodes, backwards from our own one.
 */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/board.h"
#include "pgas/coll/bridge.h"
#include "pgas/coll/collect_far.h"
#include "pgas/coll/hop.h"
#include "pgas/coll/pick.h"
#include "pgas/core/check.h"
#include "pgas/core/peer.h"
#include "pgas/datatype/copy.h"

_Static_assert((int)COLLECT_NODES_MAX <= (int)BOARD_PARTS, "a node's number is a part's");

struct job {
    struct shmem_team *team;
    char *dest;
    const void *source;
    const struct collect_layout *layout;
    int *order; /* PEs of the team node by node; NULL: that is their own order */
    struct hops hops;
    struct board board;
    const char *fn;
};

static size_t at(const struct job *j, int i)
{
    return j->layout->at(j->layout, i);
}

/* ---- the blocks of a node -------------------------------------------------------- */

/* Blocks of PEs that follow each other at once. */
struct run {
    size_t first, bytes;
};

static int pe_at(const struct job *j, int place)
{
    return j->order != NULL ? j->order[place] : place;
}

/* The run that begins at *place, which moves on to the next one. */
static struct run next_run(const struct job *j, int *place, int end)
{
    int first = pe_at(j, *place), n = 1;

    while (*place + n < end && pe_at(j, *place + n) == first + n)
        n++;
    *place += n;
    return (struct run){at(j, first), at(j, first + n) - at(j, first)};
}

static void put_node(const struct job *j, int step, int to, int node)
{
    const int *begin = j->team->nodes->begin;
    int place = begin[node], end = begin[node + 1];
    struct run r = next_run(j, &place, end);

    if (place == end) {
        hop_put(&j->hops, step, to, j->dest + r.first, j->dest + r.first, r.bytes);
        return;
    }
    for (;; r = next_run(j, &place, end)) {
        if (r.bytes > 0)
            hop_add(&j->hops, to, j->dest + r.first, j->dest + r.first, r.bytes);
        if (place == end)
            break;
    }
    hop_signal(&j->hops, step, to);
}

/* ---- on the node ------------------------------------------------------------------- */

/* Each shows where its source is. */
static void show(struct job *j)
{
    j->board = board_open(j->team->near, sizeof(uint64_t), j->fn);
    *(uint64_t *)board_mine(&j->board) = check_place((uintptr_t)j->source);
    board_post(&j->board);
}

/* The leader copies the blocks of its node. */
static void fill(const struct job *j)
{
    const struct team_nodes *n = j->team->nodes;

    for (int k = 0; k < n->mates; k++) {
        int i = n->mate[k];
        size_t bytes = at(j, i + 1) - at(j, i);
        const char *place = board_of(&j->board, k);
        if (bytes > 0)
            copy_bytes(j->dest + at(j, i),
                       peer_at(check_address(*(const uint64_t *)place), bytes,
                               team_world_pe(j->team, i), j->fn),
                       bytes);
    }
}

static void take_node(const struct job *j, int node)
{
    const int *begin = j->team->nodes->begin;

    for (int place = begin[node]; place < begin[node + 1];) {
        struct run r = next_run(j, &place, begin[node + 1]);
        if (r.bytes > 0)
            copy_bytes(j->dest + r.first,
                       peer_at(j->dest + r.first, r.bytes, bridge_leader(j->team), j->fn),
                       r.bytes);
    }
}

static int node_before(const struct job *j, int distance)
{
    const struct team_nodes *n = j->team->nodes;

    return (n->me - distance + n->leaders) % n->leaders;
}

static void take_all(const struct job *j)
{
    for (int k = 0; k < j->team->nodes->leaders; k++) {
        board_await_handed(&j->board, 0, (uint64_t)k + 1); /* a part for each node */
        take_node(j, node_before(j, k));
    }
}

/* ---- between leaders --------------------------------------------------------------- */

static void put_direct(const struct job *j)
{
    const struct team_nodes *n = j->team->nodes;

    for (int k = 1; k < n->leaders; k++)
        put_node(j, k, (n->me + k) % n->leaders, n->me);
}

static void exchange(struct job *j)
{
    const struct team_nodes *n = j->team->nodes;
    bool direct =
        pick(j->team, PICK_BRIDGE_COLLECT,
             at(j, j->team->npes) / (size_t)j->team->npes) == BRIDGE_COLLECT_DIRECT;

    j->hops = hops_begin(j->team, n->leaders, j->fn);
    if (direct)
        put_direct(j);
    for (int k = 1; k < n->leaders; k++) {
        if (!direct)
            put_node(j, k, (n->me + 1) % n->leaders, node_before(j, k - 1));
        hop_await(&j->hops, k, node_before(j, direct ? k : 1));
        board_hand_on(&j->board, (uint64_t)k + 1);
    }
    hops_end(&j->hops, true);
}

/* ---- all together ------------------------------------------------------------------ */

void collect_far(struct shmem_team *team, void *dest, const void *source,
                 const struct collect_layout *layout, bool met, const char *fn)
{
    struct job j = {.team = team,
                    .dest = dest,
                    .source = source,
                    .layout = layout,
                    .order = bridge_order(team, fn),
                    .fn = fn};

    bridge_begin(team);
    show(&j);
    if (bridge_leads(team)) {
        if (!met)
            bridge_meet(team, fn);
        fill(&j);
        board_hand_on(&j.board, 1);
        exchange(&j);
        board_await_all_closed(&j.board);
    } else {
        take_all(&j);
    }
    board_close(&j.board);
    free(j.order);
}
