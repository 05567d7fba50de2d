/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mailbox.c - see mailbox.h.  Uses: core/team, core/block, rma, barrier.
 *
 * Each PE has TEAM_SLOTS slots in its words of the team, and TEAM_LINES for data that fit
 * a line; call k uses the one with number k modulo how many there are, and the number k,
 * stored there with release after the data, says that they are there.
 *
 * Invariant: a PE writes to a slot for call k + TEAM_SLOTS (or to a line for call k +
 * TEAM_LINES), which it has not used since call k, only when it knows that all PEs have
 * ended call k, so have read what they wanted to.  Up to which call it knows that is
 * `known`, from one of these:
 *  - a call j in which it has seen data of all others: they all had begun j, so ended
 *    j - 1 (their reads came before the release store by which it saw that);
 *  - a barrier: they all have ended every call before;
 *  - else from `done`, which each PE stores at the end of each call of any other kind. If
 *    all calls after k are of that kind each PE will store a number that is high enough
 *    without waiting for this one, as it has shown its data in all of them: so nobody
 *    waits in a circle.
 * So calls in which only some wait for some (a broadcast) may run that many ahead.
 */
#include "config.h"

#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/base/stress.h"
#include "pgas/rma/rma.h"

struct goal {
    const uint64_t *word;
    uint64_t value;
    const struct mailbox *mailbox;
    int from; /* the PE of the team that will store it, or -1 for any */
};

static bool mailbox_reached(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u64(g->word) >= g->value;
}

/* A PE that is in shmem_finalize stores nothing any more. */
static void mailbox_check_departed(const struct goal *g)
{
    const struct team_words *words = team_words(g->mailbox->team, g->from);

    if (load_acquire_u32(&words->left) != 0 && !mailbox_reached(g))
        barrier_on_stall(team_world_pe(g->mailbox->team, g->from), g->mailbox->fn);
}

/* Nor does it begin calls. */
static void mailbox_check_all_departed(const struct goal *g)
{
    const struct shmem_team *team = g->mailbox->team;

    for (int i = 0; i < team->npes; i++) {
        const struct team_words *words = team_words(team, i);
        if (load_acquire_u32(&words->left) != 0 &&
            load_relaxed_u64(&words->left_call) - 1 < g->mailbox->call)
            barrier_on_stall(team_world_pe(team, i), g->mailbox->fn);
    }
}

static void mailbox_on_stall(const void *arg)
{
    const struct goal *g = arg;

    if (atomic_load_explicit(&pgas_self.node->left, memory_order_acquire) == 0)
        return;
    if (g->from >= 0)
        mailbox_check_departed(g);
    else
        mailbox_check_all_departed(g);
}

/* For what a PE sleeps that waits for a word of that PE: an address in the word's line,
 * by PE, so that the others who store to their own words do not all wake it. */
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

/* ---- part by part ---------------------------------------------------------------- */

static uint64_t handed(const struct mailbox *b, uint64_t n)
{
    return b->call * MAILBOX_PARTS + n;
}

void mailbox_hand_over(const struct mailbox *b, uint64_t n)
{
    stress_point();
    store_release_u64(&team_words(b->team, b->team->me)->handed, handed(b, n));
    mailbox_wake(b, offsetof(struct team_words, handed));
}

void mailbox_await_handed(const struct mailbox *b, int i, uint64_t n)
{
    mailbox_wait(b, offsetof(struct team_words, handed), i, handed(b, n));
}

/* ---- one PE does it for all ----------------------------------------------------- */

enum { LEAD_PE_BITS = 16 }; /* of `lead`: for a PE of the node */

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

static uint64_t mailbox_release_of(const struct mailbox *b, int leader)
{
    return b->call << LEAD_PE_BITS | (uint64_t)leader;
}

static int mailbox_leader_in(uint64_t lead)
{
    return (int)(lead & (((uint64_t)1 << LEAD_PE_BITS) - 1));
}

void mailbox_release(const struct mailbox *b)
{
    mailbox_store_first(b, offsetof(struct team_words, lead),
                        mailbox_release_of(b, b->team->me));
}

int mailbox_await_release(const struct mailbox *b)
{
    return mailbox_leader_in(mailbox_wait_first(b, offsetof(struct team_words, lead),
                                                mailbox_release_of(b, 0)));
}

static void mailbox_release_one(const struct mailbox *b, int i)
{
    stress_point();
    store_release_u64(&team_words(b->team, i)->lead, mailbox_release_of(b, b->team->me));
    mailbox_wake_owner(b, offsetof(struct team_words, lead), i);
}

void mailbox_release_each(const struct mailbox *b, int to)
{
    for (int i = 0; i < b->team->npes; i++)
        if (to >= 0 ? i == to : i != b->team->me)
            mailbox_release_one(b, i);
}

int mailbox_await_release_own(const struct mailbox *b)
{
    mailbox_wait_own(b, offsetof(struct team_words, lead), mailbox_release_of(b, 0));
    return mailbox_leader_in(load_relaxed_u64(&team_words(b->team, b->team->me)->lead));
}

/* ---- the slots ------------------------------------------------------------------- */

_Static_assert(offsetof(struct team_slot, data) == offsetof(struct team_line, data),
               "a line is the beginning of a slot");

static size_t mailbox_slot_offset(const struct mailbox *b)
{
    if (b->line)
        return offsetof(struct team_words, line) +
               b->call % TEAM_LINES * sizeof(struct team_line);
    return offsetof(struct team_words, slot) +
           b->call % TEAM_SLOTS * sizeof(struct team_slot);
}

/* The slot or line of PE i. */
static struct team_slot *mailbox_slot_of(const struct mailbox *b, int i)
{
    return (struct team_slot *)((char *)team_words(b->team, i) + mailbox_slot_offset(b));
}

struct mailbox mailbox_open(struct shmem_team *team, size_t bytes, const char *fn)
{
    return (struct mailbox){team, ++team->calls, bytes <= TEAM_LINE_BYTES, fn};
}

static void mailbox_await_done(const struct mailbox *b, int i, uint64_t call)
{
    mailbox_wait(b, offsetof(struct team_words, done), i, call);
}

/* Calls after which a slot or line is used again. */
static uint64_t mailbox_depth(const struct mailbox *b)
{
    return b->line ? TEAM_LINES : TEAM_SLOTS;
}

/* Out of line: once in so many calls where the others keep up. */
static __attribute__((noinline)) void mailbox_await_free(struct mailbox *b)
{
    uint64_t known = b->call - 1;

    for (int i = 0; i < b->team->npes; i++) {
        if (i == b->team->me)
            continue;
        mailbox_await_done(b, i, b->call - mailbox_depth(b));
        uint64_t done = load_acquire_u64(&team_words(b->team, i)->done);
        known = done < known ? done : known;
    }
    b->team->known = known;
}

char *mailbox_own(struct mailbox *b)
{
    if (unlikely(b->call > b->team->known + mailbox_depth(b)))
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

void mailbox_post_to(struct mailbox *b, int i)
{
    mailbox_publish(b);
    mailbox_wake_one(b, mailbox_slot_offset(b), b->team->me, i);
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
    struct goal goal; /* first: on_stall looks at it */
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
                                     .on_stall = mailbox_on_stall});
}

/* ---- the end of a call ------------------------------------------------------------- */

void mailbox_close_all(struct mailbox *b)
{
    stress_point();
    b->team->known = b->call - 1;
}

void mailbox_close(struct mailbox *b)
{
    stress_point();
    store_release_u64(&team_words(b->team, b->team->me)->done, b->call);
    mailbox_wake(b, offsetof(struct team_words, done));
}

void mailbox_await_all_closed(const struct mailbox *b)
{
    for (int i = 0; i < b->team->npes; i++)
        if (i != b->team->me)
            mailbox_await_done(b, i, b->call);
    b->team->known = b->call;
}
