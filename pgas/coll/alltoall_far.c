/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall_far.c - see alltoall_far.h.
 * Uses: core/team, core/check, core/peer, board, bridge, hop, pick, room, datatype/copy.
 *
 * Very small blocks all PEs show to all with a meeting (bridge.h).
 *
 * Else the leader of each node takes the blocks of its PEs for each node, a bundle;
 * leaders exchange bundles in log2 N messages each (Bruck et al. 1997); and the PEs of a
 * node take their blocks from what has come to their leader.
 *
 * The bundle from node s to node s + j (all around) goes 2^k nodes far in step k if j has
 * that bit.  So before step k node x has of number j the one that comes from node
 * x - (j mod 2^k).  Bundles are as long as both nodes have PEs; both sides know that.
 *
 * Of its room a leader uses one part for each step, for what comes, and one for bundles
 * as its own node shall see them: block by block of the PEs in the order of the nodes.
 */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/alltoall_far.h"
#include "pgas/coll/board.h"
#include "pgas/coll/bridge.h"
#include "pgas/coll/hop.h"
#include "pgas/coll/pick.h"
#include "pgas/coll/room.h"
#include "pgas/core/check.h"
#include "pgas/core/log.h"
#include "pgas/core/peer.h"
#include "pgas/datatype/copy.h"

/* ---- with a meeting -------------------------------------------------------------- */

bool alltoall_gathers(struct shmem_team *team, size_t each)
{
    size_t npes = (size_t)team->npes;

    return pick(team, PICK_BRIDGE_ALLTOALL, each) == BRIDGE_ALLTOALL_GATHER &&
           each < TEAM_BOX && bridge_fits(team, npes, npes * each);
}

void alltoall_gather(struct shmem_team *team, char *dest, const void *source, size_t each,
                     const char *fn)
{
    size_t mine = (size_t)team->npes * each;
    const char *box = bridge_gather(team, source, mine, -1, fn);

    for (int i = 0; i < team->npes; i++)
        copy_bytes(dest + (size_t)i * each,
                   bridge_part(team, box, mine, i) + (size_t)team->me * each, each);
}

/* ---- in bundles ------------------------------------------------------------------ */

struct job {
    struct shmem_team *team;
    const struct team_nodes *nodes;
    size_t each;
    int *order;    /* PEs of the team node by node; NULL: that is their own order */
    char **bundle; /* by number: what this leader has of it now; the first one is ours */
    char *memory;  /* of the bundles */
    size_t most;   /* bytes of the longest bundle of all */
    struct hops hops;
    struct board board;
    const char *fn;
};

/* ---- who has how many PEs -------------------------------------------------------- */

static int pes_of(const struct team_nodes *n, int node)
{
    return n->begin[node + 1] - n->begin[node];
}

static int node_at(const struct team_nodes *n, int distance)
{
    return ((n->me + distance) % n->leaders + n->leaders) % n->leaders;
}

static int largest(const struct team_nodes *n)
{
    int most = 0;

    for (int node = 0; node < n->leaders; node++)
        most = pes_of(n, node) > most ? pes_of(n, node) : most;
    return most;
}

static size_t bundle_bytes(const struct job *j, int from, int to)
{
    return (size_t)pes_of(j->nodes, from) * (size_t)pes_of(j->nodes, to) * j->each;
}

/* Bytes of what may come in one step. */
static size_t step_bytes(const struct team_nodes *n, size_t most)
{
    return (size_t)(n->leaders / 2 + 1) * most;
}

static int steps_of(const struct team_nodes *n)
{
    int steps = 0;

    while (1 << steps < n->leaders)
        steps++;
    return steps;
}

bool alltoall_bruck_fits(struct shmem_team *team, size_t each, const char *fn)
{
    const struct team_nodes *n = team->nodes;
    size_t pes = (size_t)largest(n);
    size_t most = pes * pes * each, all = (size_t)team->npes * pes * each;

    if (each > ROOM_PIECE || most > ROOM_PIECE || all > ROOM_PIECE)
        return false;
    return (size_t)steps_of(n) * step_bytes(n, most) <= ROOM_BYTES && room_get(team, fn);
}

/* ---- on the node ------------------------------------------------------------------- */

static int pe_at(const struct job *j, int place)
{
    return j->order != NULL ? j->order[place] : place;
}

/* Each shows where its source is. */
static void show(struct job *j, const void *source)
{
    j->board = board_open(j->team->near, sizeof(uint64_t), j->fn);
    *(uint64_t *)board_mine(&j->board) = check_place((uintptr_t)source);
    board_post(&j->board);
}

/* The bundle for a node: for each PE there, the blocks of our PEs. */
static void pack(const struct job *j, char *to, int node)
{
    const struct team_nodes *n = j->nodes;

    for (int place = n->begin[node]; place < n->begin[node + 1]; place++)
        for (int k = 0; k < n->mates; k++, to += j->each) {
            const char *source = check_address(*(const uint64_t *)board_of(&j->board, k));
            copy_bytes(to,
                       peer_at(source + (size_t)pe_at(j, place) * j->each, j->each,
                               team_world_pe(j->team, n->mate[k]), j->fn),
                       j->each);
        }
}

/* Where in our leader's room the blocks from a node to PE k of ours are. */
static size_t shown_at(const struct job *j, int node, int k)
{
    const struct team_nodes *n = j->nodes;

    return ROOM_OWN + ((size_t)n->begin[node] * (size_t)n->mates +
                       (size_t)k * (size_t)pes_of(n, node)) *
                          j->each;
}

/* Bundle number i has come from the node so far before ours, and is for ours. */
static void lay_out(const struct job *j)
{
    const struct team_nodes *n = j->nodes;

    for (int i = 0; i < n->leaders; i++) {
        int from = node_at(n, -i);
        copy_bytes(room_at(j->team, n->me, shown_at(j, from, 0)), j->bundle[i],
                   bundle_bytes(j, from, n->me));
    }
}

static void take(const struct job *j, char *dest)
{
    const struct team_nodes *n = j->nodes;

    for (int node = 0; node < n->leaders; node++) {
        size_t pes = (size_t)pes_of(n, node);
        const char *from =
            peer_at(room_at(j->team, n->me, shown_at(j, node, j->team->near->me)),
                    pes * j->each, bridge_leader(j->team), j->fn);
        for (int place = n->begin[node]; place < n->begin[node + 1]; place++) {
            copy_bytes(dest + (size_t)pe_at(j, place) * j->each, from, j->each);
            from += j->each;
        }
    }
}

/* ---- between leaders --------------------------------------------------------------- */

/* What bundle number i is before step k on a node: from where to where. */
static size_t bytes_of(const struct job *j, int i, int k, int distance)
{
    int from = node_at(j->nodes, distance - (i & ((1 << k) - 1)));
    int to = (from + i) % j->nodes->leaders;

    return bundle_bytes(j, from, to);
}

static size_t room_of_step(const struct job *j, int k)
{
    return (size_t)k * step_bytes(j->nodes, j->most);
}

/* Bundles with that bit, one behind the other, to who is 2^k nodes farther on. */
static void send_step(const struct job *j, int k, char *buffer)
{
    int to = node_at(j->nodes, 1 << k);
    char *room = hop_room(&j->hops, to, room_of_step(j, k));
    size_t at = 0;

    for (int i = 1; i < j->nodes->leaders; i++) {
        size_t bytes = bytes_of(j, i, k, 0);
        if ((i >> k & 1) == 0)
            continue;
        copy_bytes(buffer + at, j->bundle[i], bytes);
        at += bytes;
    }
    hop_put_now(&j->hops, k, to, room, buffer, at);
}

static void receive_step(const struct job *j, int k)
{
    const char *from = hop_room(&j->hops, j->nodes->me, room_of_step(j, k));

    hop_await(&j->hops, k, node_at(j->nodes, -(1 << k)));
    for (int i = 1; i < j->nodes->leaders; i++) {
        size_t bytes = bytes_of(j, i, k, -(1 << k));
        if ((i >> k & 1) == 0)
            continue;
        copy_bytes(j->bundle[i], from, bytes);
        from += bytes;
    }
}

static void make_bundles(struct job *j)
{
    size_t n = (size_t)j->nodes->leaders, pes = (size_t)largest(j->nodes);

    j->most = pes * pes * j->each;
    j->bundle = malloc(n * sizeof *j->bundle);
    j->memory = malloc(n * j->most + step_bytes(j->nodes, j->most));
    if (j->bundle == NULL || j->memory == NULL)
        log_die("%s: no memory for the blocks of %zu nodes", j->fn, n);
    for (size_t i = 0; i < n; i++)
        j->bundle[i] = j->memory + i * j->most;
}

static void exchange(struct job *j)
{
    int steps = steps_of(j->nodes);

    make_bundles(j);
    for (int i = 0; i < j->nodes->leaders; i++)
        pack(j, j->bundle[i], node_at(j->nodes, i));
    j->hops = hops_begin(j->team, steps, j->fn);
    for (int k = 0; k < steps; k++) {
        send_step(j, k, j->memory + (size_t)j->nodes->leaders * j->most);
        receive_step(j, k);
    }
    hops_end(&j->hops, true);
    lay_out(j);
    free(j->memory);
    free(j->bundle);
}

/* ---- all together ------------------------------------------------------------------ */

void alltoall_bruck(struct shmem_team *team, void *dest, const void *source, size_t each,
                    const char *fn)
{
    struct job j = {.team = team,
                    .nodes = team->nodes,
                    .each = each,
                    .order = bridge_order(team, fn),
                    .fn = fn};
    bool leads = bridge_leads(team);

    bridge_begin(team);
    show(&j, source);
    if (leads) {
        exchange(&j);
        board_hand_on(&j.board, 1);
    } else {
        board_await_handed(&j.board, 0, 1);
    }
    take(&j, dest);
    if (leads)
        board_await_all_closed(&j.board);
    board_close(&j.board);
    free(j.order);
}
