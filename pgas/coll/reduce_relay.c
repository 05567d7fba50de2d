/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_relay.c - a large reduction to a root on one node: a chain in the order of
 * arrival, as in reduce_chain.c, whose PEs leave when they have handed on.
 * (Mohammadalizadehbakhtevari 2021, algorithm 5.1; there a PE waits until the next one
 * has taken what it hands on.)
 *
 * Each PE but the last adds its elements to what the one before it has, part by part,
 * into memory of the team's words, and leaves: its source and its time are its own again.
 * The last one puts the result into the root's dest.  What has more parts than there is
 * room for waits, part by part, for the next PE to have read the part that lay there.
 *
 * Invariants.  Parts are numbered from 1 through all rooted chains of the team; part q is
 * the same one on all PEs, and lies at q modulo TEAM_RELAYS.  `filled` of that place is
 * the part that is there, `freed` the last one that has been read there; a PE overwrites
 * a place when it finds the part that it put there in `freed`.  (Not each PE puts each
 * part: the last one of a call puts none.)  Of a PE's parts of one call one PE reads all,
 * so `freed` is stored to by one at a time: the next part comes to that place when it is
 * done. Up to TEAM_SLOTS calls may be under way; a call's `queue` word is used again when
 * all PEs have ended it (board.c).  The root's dest is written when all PEs have come,
 * among them the root; and from its source, which may be the same, a part has been read
 * then. Uses: arrival, board, reduce_int, core/check, datatype.
 */
#include "config.h"

#include "pgas/coll/arrival.h"
#include "pgas/coll/board.h"
#include "pgas/coll/reduce_int.h"
#include "pgas/core/check.h"
#include "pgas/core/stress.h"
#include "pgas/datatype/copy.h"

struct board reduce_open_ahead(const struct reduce_job *j, char **slot)
{
    struct board b = board_open(j->team, TEAM_SLOT_BYTES, j->fn);

    *slot = board_mine(&b);
    return b;
}

struct arrival reduce_arrive_ahead(const struct board *b)
{
    return arrival_at(&team_words(b->team, 0)->queue[b->call % TEAM_SLOTS].tail, b);
}

/* A part, and where it lies on each PE. */
struct part {
    uint64_t number;
    size_t at, n; /* bytes from the first element, elements */
};

static size_t place_of(const struct part *p)
{
    return p->number % TEAM_RELAYS;
}

static struct team_relay *relay_of(const struct board *b, int i, const struct part *p)
{
    return &team_words(b->team, i)->relay[place_of(p)];
}

static char *data_of(const struct board *b, int i, const struct part *p)
{
    return team_words(b->team, i)->relayed[place_of(p)];
}

static size_t offset_of(const struct part *p)
{
    return offsetof(struct team_words, relay) + place_of(p) * sizeof(struct team_relay);
}

/* ---- this PE hands on ------------------------------------------------------------ */

/* Who reads it is somebody that this PE need not know. */
static char *take_room(const struct board *b, const struct part *p)
{
    board_wait_own(b, offset_of(p) + offsetof(struct team_relay, freed),
                   b->team->relayed[place_of(p)]);
    return data_of(b, b->team->me, p);
}

static void hand_on(const struct board *b, const struct part *p)
{
    stress_point();
    store_release_u64(&relay_of(b, b->team->me, p)->filled, p->number);
    b->team->relayed[place_of(p)] = p->number;
    board_wake(b, offset_of(p));
}

/* ---- and takes over -------------------------------------------------------------- */

static const char *take_over(const struct board *b, const struct part *p, int before)
{
    board_wait(b, offset_of(p), before, p->number);
    return data_of(b, before, p);
}

static void give_back(const struct board *b, const struct part *p, int before)
{
    stress_point();
    store_release_u64(&relay_of(b, before, p)->freed, p->number);
    board_wake_owner(b, offset_of(p) + offsetof(struct team_relay, freed), before);
}

/* ---- the chain ------------------------------------------------------------------- */

/* This PE's elements of a part, and what those before it have, to `to`. */
static void add_part(const struct reduce_job *j, const struct board *b,
                     const struct part *p, int before, char *to)
{
    const char *mine = j->source + p->at;

    if (before < 0) {
        copy_bytes(to, mine, p->n * j->size);
        return;
    }
    j->op->three(to, take_over(b, p, before), mine, p->n);
    give_back(b, p, before);
}

/* dest is the root's, as mapped here; NULL: this PE is not the last one. */
static void run(const struct reduce_job *j, const struct board *b, int before, char *dest)
{
    size_t most = TEAM_RELAY_BYTES / j->size;
    struct part p = {.number = j->team->relays, .n = 0};

    for (size_t first = 0; first < j->n; first += p.n) {
        p.number++;
        p.at = first * j->size;
        p.n = j->n - first < most ? j->n - first : most;
        add_part(j, b, &p, before, dest != NULL ? dest + p.at : take_room(b, &p));
        if (dest == NULL)
            hand_on(b, &p);
    }
    j->team->relays = p.number;
}

/* The root shows where its dest is, on its board. */
char *reduce_root_dest(const struct reduce_job *j, const struct board *b)
{
    if (j->team->me == j->root)
        return j->dest;
    uint64_t place = *(const uint64_t *)board_of(b, j->root);
    return reduce_at(j, check_address(place), reduce_bytes(j), j->root);
}

void reduce_relay(const struct reduce_job *j)
{
    char *slot, *dest = NULL;
    struct board b = reduce_open_ahead(j, &slot);
    bool root = j->team->me == j->root;

    if (root) {
        *(uint64_t *)slot = check_place((uintptr_t)j->dest);
        board_post(&b);
    }
    struct arrival p = reduce_arrive_ahead(&b);
    bool last = p.position == j->team->npes - 1;
    if (last)
        dest = reduce_root_dest(j, &b);
    run(j, &b, p.before, dest);
    if (last && !root)
        board_lead(&b); /* it is done */
    else if (root && !last)
        (void)board_await_lead(&b);
    board_close(&b);
}
