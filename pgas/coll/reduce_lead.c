/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_lead.c - small reductions in which one PE, the combiner, combines the eager
 * slots of all PEs: the last arriver or the first arriver. Uses: arrival, board,
 * reduce_int, datatype.
 *
 * Last arriver: all contributions are present when it arrives, so the combiner never
 * waits, and the other PEs wait only for it.  On an oversubscribed node each waiting PE
 * has to be scheduled only once.
 *
 * First arriver: the combiner combines contributions while they arrive, so little work
 * remains after the last arrival (Mohammadalizadehbakhtevari 2021, algorithm 4.1, with
 * epochs in place of flags).
 *
 * Rooted variant: a combiner other than the root accumulates in private memory, and only
 * the root reads the result.  The other PEs return as soon as they have published.
 *
 * Invariants.
 * - `claim` is the number of the last call that has a combiner.  Exactly one of the PEs
 *   that enter call k finds claim < k and sets it to k.  Every PE has seen the claim of
 *   call k - 1 in that call; so a compare-and-swap in call k fails only if another PE has
 *   already entered (or even left) call k.
 * - `gathered` counts the arrivals in all calls of reduce_last, of which `gathers` have
 *   begun; no PE enters the next call before all PEs have entered this one, so the last
 *   arriver of a call finds gathered == gathers * npes.  Rooted calls may overlap, so
 *   each has an arrival word of its own (reduce_arrive_ahead).
 * - `lead` is written once per call, by the combiner, after all PEs have arrived.  It is
 *   written again only after all PEs have entered the next call, so after all PEs have
 *   read it.  The same holds for the per-PE release lines.
 * - The result replaces the combiner's own contribution in its slot, which no other PE
 *   reads as a contribution.
 */
#include "config.h"

#include "pgas/coll/arrival.h"
#include "pgas/coll/board.h"
#include "pgas/coll/reduce_int.h"
#include "pgas/core/stress.h"
#include "pgas/datatype/copy.h"

/* How the combiner releases the other PEs: by one shared word, or by one cache line per
 * PE. */
enum release { ONE_WORD, EACH_LINE };

/* Combiner: publish the result, and release the other PEs or the root. */
static void lead_out(const struct reduce_job *j, struct board *b, char *slot,
                     const char *result, enum release release)
{
    if (j->root == j->team->me)
        return;
    copy_bytes(slot, result, reduce_bytes(j));
    board_show(b);
    if (release == ONE_WORD)
        board_lead(b);
    else
        board_lead_each(b, j->root);
}

/* Wait for the release and copy the result from the combiner's slot, if this PE receives
 * it. */
static void follow(const struct reduce_job *j, const struct board *b,
                   enum release release)
{
    if (!reduce_gets(j))
        return;
    int leader = release == ONE_WORD ? board_await_lead(b) : board_await_lead_own(b);
    copy_bytes(j->dest, board_of(b, leader), reduce_bytes(j));
}

/* ---- the last arriver combines --------------------------------------------------- */

static bool come_last(struct shmem_team *team)
{
    uint64_t all = ++team->gathers * (uint64_t)team->npes;

    stress_point();
    return fetch_add_acq_rel_u64(&team_words(team, 0)->gathered, 1) + 1 == all;
}

/* All PEs use board_close (not board_close_all), because a PE that returns early has not
 * observed the others. */
static void last_to_root(const struct reduce_job *j)
{
    _Alignas(NODE_LINE) char acc[TEAM_SLOT_BYTES];
    char *slot, *to = reduce_gets(j) ? j->dest : acc;
    struct board b = reduce_open_ahead(j, &slot);

    copy_bytes(slot, j->source, reduce_bytes(j));
    board_show(&b);
    if (reduce_arrive_ahead(&b).position == j->team->npes - 1) {
        reduce_shown(j, to, &b);
        lead_out(j, &b, slot, to, ONE_WORD);
    } else {
        follow(j, &b, ONE_WORD);
    }
    board_close(&b);
}

void reduce_last(const struct reduce_job *j)
{
    if (j->root >= 0) {
        last_to_root(j);
        return;
    }
    struct board b = board_open(j->team, reduce_bytes(j), j->fn);
    char *slot = board_mine(&b);

    copy_bytes(slot, j->source, reduce_bytes(j));
    board_show(&b);
    if (come_last(j->team)) {
        reduce_shown(j, j->dest, &b);
        lead_out(j, &b, slot, j->dest, ONE_WORD);
    } else {
        follow(j, &b, ONE_WORD);
    }
    board_close_all(&b);
}

/* ---- the first arriver combines -------------------------------------------------- */

static bool come_first(struct shmem_team *team, uint64_t call)
{
    uint64_t *claim = &team_words(team, 0)->claim, seen = load_relaxed_u64(claim);

    stress_point();
    return seen < call && cas_acq_rel_u64(claim, seen, call) == seen;
}

/* The PEs whose contributions have not been combined yet. */
struct pending {
    const struct board *board;
    int n;
    int pe[PICK_FIRST_PES];
};

static bool any_has_come(const void *arg)
{
    const struct pending *p = arg;

    for (int k = 0; k < p->n; k++)
        if (board_shown(p->board, p->pe[k]))
            return true;
    return false;
}

static void combine_as_they_come(const struct reduce_job *j, char *to,
                                 const struct board *b)
{
    struct pending p = {.board = b};

    for (int i = 0; i < j->team->npes; i++)
        if (i != j->team->me)
            p.pe[p.n++] = i;
    while (p.n > 0) {
        board_wait_for(b, any_has_come, &p);
        for (int k = p.n - 1; k >= 0; k--) {
            if (!board_shown(b, p.pe[k]))
                continue;
            j->op->two(to, board_of(b, p.pe[k]), j->n);
            p.pe[k] = p.pe[--p.n];
        }
    }
}

static void lead_first(const struct reduce_job *j, enum release release)
{
    _Alignas(NODE_LINE) char acc[TEAM_SLOT_BYTES];
    struct board b = board_open(j->team, reduce_bytes(j), j->fn);
    char *slot = board_mine(&b), *to = reduce_gets(j) ? j->dest : acc;

    if (!come_first(j->team, b.call)) {
        copy_bytes(slot, j->source, reduce_bytes(j));
        board_post(&b);
        follow(j, &b, release);
    } else {
        if (to != j->source)
            copy_bytes(to, j->source, reduce_bytes(j));
        combine_as_they_come(j, to, &b);
        lead_out(j, &b, slot, to, release);
    }
    if (j->root >= 0)
        board_close(&b);
    else
        board_close_all(&b);
}

void reduce_first(const struct reduce_job *j)
{
    lead_first(j, ONE_WORD);
}

void reduce_first_lines(const struct reduce_job *j)
{
    lead_first(j, EACH_LINE);
}
