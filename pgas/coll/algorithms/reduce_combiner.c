/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_combiner.c - small reductions through eager slots: every PE combines the slots
 * of all PEs itself (flat), or one PE does, the combiner: the last arriver or the first
 * arriver.  Uses: arrival, mailbox, reduce_int, datatype.
 *
 * Flat: one cache-line transfer per PE and one synchronisation.  In the rooted variant
 * only the root combines, and the other PEs return as soon as they have published.
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
 *   already entered (or even left) call k.  A failed compare-and-swap has seen it, too.
 * - `gathered` counts the arrivals in all calls of reduce_last, of which `gathers` have
 *   begun; no PE enters the next call before all PEs have entered this one, so the last
 *   arriver of a call finds gathered == gathers * npes.  Rooted calls may overlap, so
 *   each has an arrival word of its own (reduce_arrive_ahead).
 * - `combiner` is written once per call, by the combiner, after all PEs have arrived.  It
 *   is written again only after all PEs have entered the next call, so after all PEs have
 *   read it.  The same holds for the per-PE release lines.
 * - The result replaces the combiner's own contribution in its slot, which no other PE
 *   reads as a contribution.
 * Model: tests/models/combiner.pml.
 */
#include "config.h"

#include "pgas/coll/sync/arrival.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/algorithms/reduce_int.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/stress.h"
#include "pgas/datatype/copy.h"

/* ---- flat ----------------------------------------------------------------------------
 */

void reduce_slots(const struct reduce_job *j, char *to, const struct mailbox *b)
{
    const char *first = mailbox_of(b, 0);

    j->op->three(to, first, mailbox_of(b, 1), j->n);
    for (int i = 2; i < j->team->npes; i++)
        j->op->two(to, mailbox_of(b, i), j->n);
}

/* All PEs use mailbox_close, because a PE that returns early has not read the data of the
 * others. */
static void reduce_flat_to(const struct reduce_job *j, struct mailbox *b)
{
    if (j->team->me == j->root) {
        mailbox_publish(b);
        reduce_slots(j, j->dest, b);
    } else {
        mailbox_post_to(b, j->root);
    }
    mailbox_close(b);
}

void reduce_flat(const struct reduce_job *j)
{
    struct mailbox b = mailbox_open(j->team, reduce_bytes(j), j->fn);

    copy_bytes(mailbox_own(&b), j->source, reduce_bytes(j));
    if (j->root >= 0) {
        reduce_flat_to(j, &b);
        return;
    }
    mailbox_post(&b);
    reduce_slots(j, j->dest, &b);
    mailbox_close_all(&b);
}

/* ---- a combiner
 * ------------------------------------------------------------------------ */

/* How the combiner releases the other PEs: by one shared word, or by one cache line per
 * PE. */
enum release { ONE_WORD, EACH_LINE };

/* Combiner: publish the result, and release the other PEs or the root. */
static void reduce_combiner_release_all(const struct reduce_job *j, struct mailbox *b,
                                        char *slot, const char *result,
                                        enum release release)
{
    if (j->root == j->team->me)
        return;
    copy_bytes(slot, result, reduce_bytes(j));
    mailbox_publish(b);
    if (release == ONE_WORD)
        mailbox_release(b);
    else
        mailbox_release_each(b, j->root);
}

/* Wait for the release and copy the result from the combiner's slot, if this PE receives
 * it. */
static void reduce_combiner_await_result(const struct reduce_job *j,
                                         const struct mailbox *b, enum release release)
{
    if (!reduce_is_receiver(j))
        return;
    int combiner =
        release == ONE_WORD ? mailbox_await_release(b) : mailbox_await_release_own(b);
    copy_bytes(j->dest, mailbox_of(b, combiner), reduce_bytes(j));
}

/* ---- the last arriver combines --------------------------------------------------- */

static bool reduce_combiner_arrive_last(struct shmem_team *team)
{
    uint64_t all = ++team->coll->reduce.gathers * (uint64_t)team->npes;

    stress_point();
    return fetch_add_acq_rel_u64(&node_words(team, 0)->reduce.gathered, 1) + 1 == all;
}

/* All PEs use mailbox_close, because a PE that returns early has not read the data of the
 * others. */
static void reduce_combiner_last_to_root(const struct reduce_job *j)
{
    _Alignas(NODE_LINE) char acc[MAILBOX_SLOT_BYTES];
    char *slot, *to = reduce_is_receiver(j) ? j->dest : acc;
    struct mailbox b = reduce_open_ahead(j, &slot);

    copy_bytes(slot, j->source, reduce_bytes(j));
    mailbox_publish(&b);
    if (reduce_arrive_ahead(&b).position == j->team->npes - 1) {
        reduce_slots(j, to, &b);
        reduce_combiner_release_all(j, &b, slot, to, ONE_WORD);
    } else {
        reduce_combiner_await_result(j, &b, ONE_WORD);
    }
    mailbox_close(&b);
}

void reduce_last(const struct reduce_job *j)
{
    if (j->root >= 0) {
        reduce_combiner_last_to_root(j);
        return;
    }
    struct mailbox b = mailbox_open(j->team, reduce_bytes(j), j->fn);
    char *slot = mailbox_own(&b);

    copy_bytes(slot, j->source, reduce_bytes(j));
    mailbox_publish(&b);
    if (reduce_combiner_arrive_last(j->team)) {
        reduce_slots(j, j->dest, &b);
        reduce_combiner_release_all(j, &b, slot, j->dest, ONE_WORD);
    } else {
        reduce_combiner_await_result(j, &b, ONE_WORD);
    }
    mailbox_close_all(&b);
}

/* ---- the first arriver combines -------------------------------------------------- */

static bool reduce_combiner_arrive_first(struct shmem_team *team, uint64_t call)
{
    uint64_t *claim = &node_words(team, 0)->reduce.claim, seen = load_relaxed_u64(claim);

    stress_point();
    return seen < call && cas_acq_rel_u64(claim, seen, call) == seen;
}

/* The PEs whose contributions have not been combined yet. */
struct pending {
    const struct mailbox *mailbox;
    int n;
    int pe[SELECT_FIRST_PES];
};

static bool reduce_combiner_any_arrived(const void *arg)
{
    const struct pending *p = arg;

    for (int k = 0; k < p->n; k++)
        if (mailbox_published(p->mailbox, p->pe[k]))
            return true;
    return false;
}

static void reduce_combiner_combine_by_arrival(const struct reduce_job *j, char *to,
                                               const struct mailbox *b)
{
    struct pending p = {.mailbox = b};

    for (int i = 0; i < j->team->npes; i++)
        if (i != j->team->me)
            p.pe[p.n++] = i;
    while (p.n > 0) {
        mailbox_wait_for(b, reduce_combiner_any_arrived, &p);
        for (int k = p.n - 1; k >= 0; k--) {
            if (!mailbox_published(b, p.pe[k]))
                continue;
            j->op->two(to, mailbox_of(b, p.pe[k]), j->n);
            p.pe[k] = p.pe[--p.n];
        }
    }
}

static void reduce_combiner_combine_first(const struct reduce_job *j,
                                          enum release release)
{
    _Alignas(NODE_LINE) char acc[MAILBOX_SLOT_BYTES];
    struct mailbox b = mailbox_open(j->team, reduce_bytes(j), j->fn);
    char *slot = mailbox_own(&b), *to = reduce_is_receiver(j) ? j->dest : acc;

    if (!reduce_combiner_arrive_first(j->team, b.call)) {
        copy_bytes(slot, j->source, reduce_bytes(j));
        mailbox_post(&b);
        reduce_combiner_await_result(j, &b, release);
    } else {
        if (to != j->source)
            copy_bytes(to, j->source, reduce_bytes(j));
        reduce_combiner_combine_by_arrival(j, to, &b);
        reduce_combiner_release_all(j, &b, slot, to, release);
    }
    if (j->root >= 0)
        mailbox_close(&b);
    else
        mailbox_close_all(&b);
}

void reduce_first(const struct reduce_job *j)
{
    reduce_combiner_combine_first(j, ONE_WORD);
}

void reduce_first_lines(const struct reduce_job *j)
{
    reduce_combiner_combine_first(j, EACH_LINE);
}
