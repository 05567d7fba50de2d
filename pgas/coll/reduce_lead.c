/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_lead.c - a small reduction in which one PE of the team combines the elements of
 * all: the one that comes last, or the one that comes first.
 * Uses: arrival, board, reduce_int, datatype.
 *
 * Who comes last finds everything there and waits for nobody; the others wait for it
 * alone.  With more PEs than processors each of them has to be scheduled just once.
 *
 * Who comes first combines what the others bring as they come, so that little is left to
 * do when the last one comes (Mohammadalizadehbakhtevari 2021, algorithm 4.1, with epochs
 * in place of its flags).
 *
 * To a root: the leader combines in memory of its own, if it is not the root, who alone
 * takes the result; the others leave when they have shown theirs.
 *
 * Invariants.  `claim` is the last call for which somebody leads: of the PEs that come to
 * call k one alone finds it below k and makes it k.  (What it was before all of them have
 * seen, in the call before; so if it changes while one of them looks somebody has come to
 * k, or even left it.)  `gathered` counts the
 * PEs that have come to calls with reduce_last, which are `gathers` so far: nobody comes
 * to the next one before all have come to this.  (To a root they may: then each call has
 * a word of its own, reduce_arrive_ahead.)  `lead` is written once for each call, by its
 * leader, when all have come; the next one cannot be written before all have begun the
 * next call, so have read this one.  (So with a line for each PE.)  The result is in the
 * leader's slot, where it replaces what the leader has brought, which nobody else reads.
 */
#include "config.h"

#include "pgas/coll/arrival.h"
#include "pgas/coll/board.h"
#include "pgas/coll/reduce_int.h"
#include "pgas/core/stress.h"
#include "pgas/datatype/copy.h"

/* How the others learn that the result is there: one word, for which all wait, or a line
 * for each. */
enum release { ONE_WORD, EACH_LINE };

/* The result is here: have the others take it, or the root. */
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

/* Take the result from the leader's slot, if it is for this PE. */
static void follow(const struct reduce_job *j, const struct board *b,
                   enum release release)
{
    if (!reduce_gets(j))
        return;
    int leader = release == ONE_WORD ? board_await_lead(b) : board_await_lead_own(b);
    copy_bytes(j->dest, board_of(b, leader), reduce_bytes(j));
}

/* ---- who comes last -------------------------------------------------------------- */

static bool come_last(struct shmem_team *team)
{
    uint64_t all = ++team->gathers * (uint64_t)team->npes;

    stress_point();
    return fetch_add_acq_rel_u64(&team_words(team, 0)->gathered, 1) + 1 == all;
}

/* All end it with board_close, as those who leave early learn nothing of the others. */
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

/* ---- who comes first ------------------------------------------------------------- */

static bool come_first(struct shmem_team *team, uint64_t call)
{
    uint64_t *claim = &team_words(team, 0)->claim, seen = load_relaxed_u64(claim);

    stress_point();
    return seen < call && cas_acq_rel_u64(claim, seen, call) == seen;
}

/* PEs whose elements have not been combined yet; and the first of them that have come. */
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
