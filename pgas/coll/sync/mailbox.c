/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mailbox.c - see mailbox.h.  Uses: core/team, core/block, rma, barrier.
 *
 * Each PE has MAILBOX_SLOTS full slots and MAILBOX_LINES inline slots (data and call
 * number in one cache line) in its sync area.  Call k uses slot k modulo their number;
 * the writer stores the data and then k with release.
 *
 * Invariant: a PE writes to a slot for call k + MAILBOX_SLOTS (inline: k + MAILBOX_LINES)
 * only when it knows that all PEs have ended call k, the last user of the slot.  It knows
 * this of all calls <= calls.acked (credit.h), which advances by
 *  - a call j in which this PE has read data of all others: all had begun j, so they have
 *    ended j - 1, and their reads precede the release store that this PE has acquired;
 *  - a barrier: all calls before it are ended;
 *  - otherwise the `done` words, which each PE stores at the end of every other call. If
 *    all calls after k are of this last kind, each PE reaches a sufficient `done` without
 *    waiting for this PE, which has published its data in all of them: no deadlock.
 * So a PE may run that many calls ahead in calls where only some PEs wait (a broadcast).
 * Model: tests/models/eager.pml.
 */
#include "config.h"

#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/base/stress.h"
#include "pgas/rma/rma.h"

struct goal {
    const uint64_t *word;
    uint64_t value;
    const struct mailbox *mailbox;
    int from; /* the PE of the team that stores it, or -1 for any */
};

static bool mailbox_reached(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u64(g->word) >= g->value;
}

/* A departed PE stores no more words. */
static void mailbox_check_departed(const struct goal *g)
{
    const struct team_words *words = team_words(g->mailbox->team, g->from);

    if (load_acquire_u64(&words->departure.epoch) != 0 && !mailbox_reached(g))
        barrier_report_departed(team_world_pe(g->mailbox->team, g->from), g->mailbox->fn);
}

/* For a word that any PE may store: end the job if a PE departed without beginning this
 * call. */
static void mailbox_check_all_departed(const struct goal *g)
{
    const struct shmem_team *team = g->mailbox->team;

    for (int i = 0; i < team->npes; i++) {
        const struct departure_words *words = &team_words(team, i)->departure;
        if (load_acquire_u64(&words->epoch) != 0 &&
            load_relaxed_u64(&words->mailbox_calls) - 1 < g->mailbox->call)
            barrier_report_departed(team_world_pe(team, i), g->mailbox->fn);
    }
}

static void mailbox_on_stall(const void *arg)
{
    const struct goal *g = arg;

    if (atomic_load_explicit(&pgas_self.node->departed, memory_order_acquire) == 0)
        return;
    if (g->from >= 0)
        mailbox_check_departed(g);
    else
        mailbox_check_all_departed(g);
}

/* Wake-up address of a word of PE i: in the word's cache line, but different by PE, so
 * that stores of other PEs to their words at the same offset do not wake all waiters. */
static const void *mailbox_key_of(const struct mailbox *b, size_t offset, int i)
{
    return team_here(b->team, offset + (size_t)i % (NODE_LINE / sizeof(uint64_t)) *
                                           sizeof(uint64_t));
}

static void mailbox_await_value(const struct goal *g, size_t offset, int holder)
{
    stress_point();
    if (unlikely(!mailbox_reached(g)))
        block_until(
            &(struct block_wait){.ready = mailbox_reached,
                                 .arg = g,
                                 .word = mailbox_key_of(g->mailbox, offset, holder),
                                 .what = g->mailbox->fn,
                                 .team = g->mailbox->team,
                                 .on_stall = mailbox_on_stall});
    stress_point();
}

static const uint64_t *mailbox_word_of(const struct mailbox *b, size_t offset, int i)
{
    return (const uint64_t *)((const char *)team_words(b->team, i) + offset);
}

void mailbox_wait(const struct mailbox *b, size_t offset, int i, uint64_t value)
{
    mailbox_await_value(&(struct goal){mailbox_word_of(b, offset, i), value, b, i},
                        offset, i);
}

void mailbox_wait_own(const struct mailbox *b, size_t offset, uint64_t value)
{
    int me = b->team->me;

    mailbox_await_value(&(struct goal){mailbox_word_of(b, offset, me), value, b, -1},
                        offset, me);
}

static void mailbox_wake_one(const struct mailbox *b, size_t offset, int holder, int i)
{
    rma_changed(mailbox_key_of(b, offset, holder), sizeof(uint64_t),
                team_world_pe(b->team, i));
}

static void mailbox_wake_all(const struct mailbox *b, size_t offset, int holder)
{
    for (int i = 0; i < b->team->npes; i++)
        if (i != b->team->me)
            mailbox_wake_one(b, offset, holder, i);
}

void mailbox_wake(const struct mailbox *b, size_t offset)
{
    mailbox_wake_all(b, offset, b->team->me);
}

void mailbox_wake_owner(const struct mailbox *b, size_t offset, int i)
{
    mailbox_wake_one(b, offset, i, i);
}

/* ---- pipelining ------------------------------------------------------------------- */

static uint64_t mailbox_parts_value(const struct mailbox *b, uint64_t n)
{
    return b->call * MAILBOX_PARTS + n;
}

void mailbox_publish_parts(const struct mailbox *b, uint64_t n)
{
    stress_point();
    store_release_u64(&node_words(b->team, b->team->me)->mailbox.parts,
                      mailbox_parts_value(b, n));
    mailbox_wake(b, offsetof(struct node_words, mailbox.parts));
}

void mailbox_await_parts(const struct mailbox *b, int i, uint64_t n)
{
    mailbox_wait(b, offsetof(struct node_words, mailbox.parts), i,
                 mailbox_parts_value(b, n));
}

/* ---- announcement of the combiner -------------------------------------------------- */

enum { COMBINER_PE_BITS = 16 }; /* width of the PE in `combiner` */

uint64_t mailbox_wait_first(const struct mailbox *b, size_t offset, uint64_t value)
{
    const uint64_t *word = mailbox_word_of(b, offset, 0);

    mailbox_await_value(&(struct goal){word, value, b, -1}, offset, 0);
    return load_relaxed_u64(word);
}

void mailbox_store_first(const struct mailbox *b, size_t offset, uint64_t value)
{
    stress_point();
    store_release_u64((uint64_t *)((char *)team_words(b->team, 0) + offset), value);
    mailbox_wake_all(b, offset, 0);
}

static uint64_t mailbox_release_of(const struct mailbox *b, int combiner)
{
    return b->call << COMBINER_PE_BITS | (uint64_t)combiner;
}

static int mailbox_combiner_in(uint64_t combiner)
{
    return (int)(combiner & (((uint64_t)1 << COMBINER_PE_BITS) - 1));
}

void mailbox_release(const struct mailbox *b)
{
    mailbox_store_first(b, offsetof(struct node_words, mailbox.combiner),
                        mailbox_release_of(b, b->team->me));
}

int mailbox_await_release(const struct mailbox *b)
{
    return mailbox_combiner_in(mailbox_wait_first(
        b, offsetof(struct node_words, mailbox.combiner), mailbox_release_of(b, 0)));
}

static void mailbox_release_one(const struct mailbox *b, int i)
{
    stress_point();
    store_release_u64(&node_words(b->team, i)->mailbox.combiner,
                      mailbox_release_of(b, b->team->me));
    mailbox_wake_owner(b, offsetof(struct node_words, mailbox.combiner), i);
}

void mailbox_release_each(const struct mailbox *b, int to)
{
    for (int i = 0; i < b->team->npes; i++)
        if (to >= 0 ? i == to : i != b->team->me)
            mailbox_release_one(b, i);
}

int mailbox_await_release_own(const struct mailbox *b)
{
    mailbox_wait_own(b, offsetof(struct node_words, mailbox.combiner),
                     mailbox_release_of(b, 0));
    return mailbox_combiner_in(
        load_relaxed_u64(&node_words(b->team, b->team->me)->mailbox.combiner));
}

/* ---- the slots ------------------------------------------------------------------- */

_Static_assert(offsetof(struct mailbox_slot, data) == offsetof(struct mailbox_line, data),
               "a line is the beginning of a slot");

static size_t mailbox_slot_offset(const struct mailbox *b)
{
    if (b->line)
        return offsetof(struct node_words, line) +
               b->call % MAILBOX_LINES * sizeof(struct mailbox_line);
    return b->team->coll->extent + offsetof(struct team_extent, slot) +
           b->call % MAILBOX_SLOTS * sizeof(struct mailbox_slot);
}

static struct mailbox_slot *mailbox_slot_of(const struct mailbox *b, int i)
{
    return (struct mailbox_slot *)((char *)team_words(b->team, i) +
                                   mailbox_slot_offset(b));
}

struct mailbox mailbox_open(struct shmem_team *team, size_t bytes, const char *fn)
{
    return (struct mailbox){team, credit_begin(&team->coll->mailbox.calls),
                            bytes <= MAILBOX_LINE_BYTES, fn};
}

static void mailbox_await_done(const struct mailbox *b, int i, uint64_t call)
{
    mailbox_wait(b, offsetof(struct node_words, mailbox.done), i, call);
}

/* Number of calls after which a slot is reused. */
static uint64_t mailbox_depth(const struct mailbox *b)
{
    return b->line ? MAILBOX_LINES : MAILBOX_SLOTS;
}

bool mailbox_barrier_covers(const struct shmem_team *team, size_t bytes, unsigned calls)
{
    const struct mailbox_state *state = &team->coll->mailbox;
    uint64_t depth = bytes <= MAILBOX_LINE_BYTES ? MAILBOX_LINES : MAILBOX_SLOTS;

    return state->calls.seq + calls <= state->before_barrier + depth;
}

void mailbox_note_barrier(struct shmem_team *team)
{
    struct mailbox_state *state = &team->coll->mailbox;

    credit_return_all(&state->calls);
    state->before_barrier = state->calls.seq;
}

void mailbox_note_ended(const struct mailbox *b)
{
    PGAS_ASSERT(b->call <= b->team->coll->mailbox.calls.acked);
    b->team->coll->mailbox.before_barrier = b->call;
}

/* Out of line, because it runs once per mailbox_depth calls if the other PEs keep up. */
static __attribute__((noinline)) void mailbox_await_free(struct mailbox *b)
{
    uint64_t known = b->call - 1;

    for (int i = 0; i < b->team->npes; i++) {
        if (i == b->team->me)
            continue;
        mailbox_await_done(b, i, b->call - mailbox_depth(b));
        uint64_t done = load_acquire_u64(&node_words(b->team, i)->mailbox.done);
        known = done < known ? done : known;
    }
    credit_return(&b->team->coll->mailbox.calls, known);
}

char *mailbox_own(struct mailbox *b)
{
    if (unlikely(
            !credit_covers(&b->team->coll->mailbox.calls, b->call, mailbox_depth(b))))
        mailbox_await_free(b);
    stress_point();
    return mailbox_slot_of(b, b->team->me)->data;
}

void mailbox_publish(struct mailbox *b)
{
    stress_point();
    store_release_u64(&mailbox_slot_of(b, b->team->me)->call, b->call);
}

void mailbox_post(struct mailbox *b)
{
    mailbox_publish(b);
    mailbox_wake(b, mailbox_slot_offset(b));
}

void mailbox_wake_reader(const struct mailbox *b, int i)
{
    mailbox_wake_one(b, mailbox_slot_offset(b), b->team->me, i);
}

void mailbox_post_to(struct mailbox *b, int i)
{
    mailbox_publish(b);
    mailbox_wake_reader(b, i);
}

const char *mailbox_of(const struct mailbox *b, int i)
{
    mailbox_wait(b, mailbox_slot_offset(b), i, b->call);
    return mailbox_slot_of(b, i)->data;
}

bool mailbox_published(const struct mailbox *b, int i)
{
    return load_acquire_u64(&mailbox_slot_of(b, i)->call) >= b->call;
}

struct any {
    struct goal goal; /* first member: the argument of mailbox_on_stall */
    block_ready ready;
    const void *arg;
};

static bool mailbox_any_ready(const void *arg)
{
    const struct any *any = arg;

    return any->ready(any->arg);
}

void mailbox_wait_for(const struct mailbox *b, block_ready ready, const void *arg)
{
    struct any any = {{.mailbox = b, .from = -1}, ready, arg};

    stress_point();
    block_until(&(struct block_wait){.ready = mailbox_any_ready,
                                     .arg = &any,
                                     .what = b->fn,
                                     .team = b->team,
                                     .on_stall = mailbox_on_stall});
}

/* ---- the end of a call ------------------------------------------------------------- */

void mailbox_close_all(struct mailbox *b)
{
    stress_point();
    credit_return(&b->team->coll->mailbox.calls, b->call - 1);
}

void mailbox_close(struct mailbox *b)
{
    stress_point();
    store_release_u64(&node_words(b->team, b->team->me)->mailbox.done, b->call);
    mailbox_wake(b, offsetof(struct node_words, mailbox.done));
}

void mailbox_await_all_closed(const struct mailbox *b)
{
    for (int i = 0; i < b->team->npes; i++)
        if (i != b->team->me)
            mailbox_await_done(b, i, b->call);
    credit_return(&b->team->coll->mailbox.calls, b->call);
}
