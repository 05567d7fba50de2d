/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * board.c - see board.h.  Uses: core/team, core/block, rma, barrier.
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

#include "pgas/coll/barrier.h"
#include "pgas/coll/board.h"
#include "pgas/core/block.h"
#include "pgas/core/stress.h"
#include "pgas/rma/rma.h"

struct goal {
    const uint64_t *word;
    uint64_t value;
    const struct board *board;
    int from; /* the PE of the team that will store it, or -1 for any */
};

static bool reached(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u64(g->word) >= g->value;
}

/* A PE that is in shmem_finalize stores nothing any more. */
static void check_left(const struct goal *g)
{
    const struct team_words *words = team_words(g->board->team, g->from);

    if (load_acquire_u32(&words->left) != 0 && !reached(g))
        barrier_in_vain(team_world_pe(g->board->team, g->from), g->board->fn);
}

/* Nor does it begin calls. */
static void check_all_left(const struct goal *g)
{
    const struct shmem_team *team = g->board->team;

    for (int i = 0; i < team->npes; i++) {
        const struct team_words *words = team_words(team, i);
        if (load_acquire_u32(&words->left) != 0 &&
            load_relaxed_u64(&words->left_call) - 1 < g->board->call)
            barrier_in_vain(team_world_pe(team, i), g->board->fn);
    }
}

static void in_vain(const void *arg)
{
    const struct goal *g = arg;

    if (atomic_load_explicit(&pgas_self.node->left, memory_order_acquire) == 0)
        return;
    if (g->from >= 0)
        check_left(g);
    else
        check_all_left(g);
}

/* For what a PE sleeps that waits for a word of that PE: an address in the word's line,
 * by PE, so that the others who store to their own words do not all wake it. */
static const void *key_of(const struct board *b, size_t offset, int i)
{
    return team_here(b->team, offset + (size_t)i % (NODE_LINE / sizeof(uint64_t)) *
                                           sizeof(uint64_t));
}

static void wait_for(const struct goal *g, size_t offset, int holder)
{
    stress_point();
    if (unlikely(!reached(g)))
        block_until(&(struct block_wait){.ready = reached,
                                         .arg = g,
                                         .word = key_of(g->board, offset, holder),
                                         .what = g->board->fn,
                                         .in_vain = in_vain});
    stress_point();
}

static const uint64_t *word_of(const struct board *b, size_t offset, int i)
{
    return (const uint64_t *)((const char *)team_words(b->team, i) + offset);
}

void board_wait(const struct board *b, size_t offset, int i, uint64_t value)
{
    wait_for(&(struct goal){word_of(b, offset, i), value, b, i}, offset, i);
}

void board_wait_own(const struct board *b, size_t offset, uint64_t value)
{
    int me = b->team->me;

    wait_for(&(struct goal){word_of(b, offset, me), value, b, -1}, offset, me);
}

static void wake(const struct board *b, size_t offset, int holder, int i)
{
    rma_changed(key_of(b, offset, holder), sizeof(uint64_t), team_world_pe(b->team, i));
}

static void wake_all(const struct board *b, size_t offset, int holder)
{
    for (int i = 0; i < b->team->npes; i++)
        if (i != b->team->me)
            wake(b, offset, holder, i);
}

void board_wake(const struct board *b, size_t offset)
{
    wake_all(b, offset, b->team->me);
}

void board_wake_owner(const struct board *b, size_t offset, int i)
{
    wake(b, offset, i, i);
}

/* ---- part by part ---------------------------------------------------------------- */

static uint64_t handed(const struct board *b, uint64_t n)
{
    return b->call * BOARD_PARTS + n;
}

void board_hand_on(const struct board *b, uint64_t n)
{
    stress_point();
    store_release_u64(&team_words(b->team, b->team->me)->handed, handed(b, n));
    board_wake(b, offsetof(struct team_words, handed));
}

void board_await_handed(const struct board *b, int i, uint64_t n)
{
    board_wait(b, offsetof(struct team_words, handed), i, handed(b, n));
}

/* ---- one PE does it for all ----------------------------------------------------- */

enum { LEAD_PE_BITS = 16 }; /* of `lead`: for a PE of the node */

uint64_t board_wait_first(const struct board *b, size_t offset, uint64_t value)
{
    const uint64_t *word = word_of(b, offset, 0);

    wait_for(&(struct goal){word, value, b, -1}, offset, 0);
    return load_relaxed_u64(word);
}

void board_store_first(const struct board *b, size_t offset, uint64_t value)
{
    stress_point();
    store_release_u64((uint64_t *)((char *)team_words(b->team, 0) + offset), value);
    wake_all(b, offset, 0);
}

static uint64_t lead_of(const struct board *b, int leader)
{
    return b->call << LEAD_PE_BITS | (uint64_t)leader;
}

static int leader_in(uint64_t lead)
{
    return (int)(lead & (((uint64_t)1 << LEAD_PE_BITS) - 1));
}

void board_lead(const struct board *b)
{
    board_store_first(b, offsetof(struct team_words, lead), lead_of(b, b->team->me));
}

int board_await_lead(const struct board *b)
{
    return leader_in(
        board_wait_first(b, offsetof(struct team_words, lead), lead_of(b, 0)));
}

static void lead_one(const struct board *b, int i)
{
    stress_point();
    store_release_u64(&team_words(b->team, i)->lead, lead_of(b, b->team->me));
    board_wake_owner(b, offsetof(struct team_words, lead), i);
}

void board_lead_each(const struct board *b, int to)
{
    for (int i = 0; i < b->team->npes; i++)
        if (to >= 0 ? i == to : i != b->team->me)
            lead_one(b, i);
}

int board_await_lead_own(const struct board *b)
{
    board_wait_own(b, offsetof(struct team_words, lead), lead_of(b, 0));
    return leader_in(load_relaxed_u64(&team_words(b->team, b->team->me)->lead));
}

/* ---- the slots ------------------------------------------------------------------- */

_Static_assert(offsetof(struct team_slot, data) == offsetof(struct team_line, data),
               "a line is the beginning of a slot");

static size_t slot_offset(const struct board *b)
{
    if (b->line)
        return offsetof(struct team_words, line) +
               b->call % TEAM_LINES * sizeof(struct team_line);
    return offsetof(struct team_words, slot) +
           b->call % TEAM_SLOTS * sizeof(struct team_slot);
}

/* The slot or line of PE i. */
static struct team_slot *slot_of(const struct board *b, int i)
{
    return (struct team_slot *)((char *)team_words(b->team, i) + slot_offset(b));
}

struct board board_open(struct shmem_team *team, size_t bytes, const char *fn)
{
    return (struct board){team, ++team->calls, bytes <= TEAM_LINE_BYTES, fn};
}

static void await_done(const struct board *b, int i, uint64_t call)
{
    board_wait(b, offsetof(struct team_words, done), i, call);
}

/* Calls after which a slot or line is used again. */
static uint64_t depth(const struct board *b)
{
    return b->line ? TEAM_LINES : TEAM_SLOTS;
}

/* Out of line: once in so many calls where the others keep up. */
static __attribute__((noinline)) void await_free(struct board *b)
{
    uint64_t known = b->call - 1;

    for (int i = 0; i < b->team->npes; i++) {
        if (i == b->team->me)
            continue;
        await_done(b, i, b->call - depth(b));
        uint64_t done = load_acquire_u64(&team_words(b->team, i)->done);
        known = done < known ? done : known;
    }
    b->team->known = known;
}

char *board_mine(struct board *b)
{
    if (unlikely(b->call > b->team->known + depth(b)))
        await_free(b);
    stress_point();
    return slot_of(b, b->team->me)->data;
}

void board_show(struct board *b)
{
    stress_point();
    store_release_u64(&slot_of(b, b->team->me)->call, b->call);
}

void board_post(struct board *b)
{
    board_show(b);
    board_wake(b, slot_offset(b));
}

void board_post_to(struct board *b, int i)
{
    board_show(b);
    wake(b, slot_offset(b), b->team->me, i);
}

const char *board_of(const struct board *b, int i)
{
    board_wait(b, slot_offset(b), i, b->call);
    return slot_of(b, i)->data;
}

bool board_shown(const struct board *b, int i)
{
    return load_acquire_u64(&slot_of(b, i)->call) >= b->call;
}

struct any {
    struct goal goal; /* first: in_vain looks at it */
    block_ready ready;
    const void *arg;
};

static bool any_ready(const void *arg)
{
    const struct any *any = arg;

    return any->ready(any->arg);
}

void board_wait_for(const struct board *b, block_ready ready, const void *arg)
{
    struct any any = {{.board = b, .from = -1}, ready, arg};

    stress_point();
    block_until(&(struct block_wait){
        .ready = any_ready, .arg = &any, .what = b->fn, .in_vain = in_vain});
}

/* ---- the end of a call ------------------------------------------------------------- */

void board_close_all(struct board *b)
{
    stress_point();
    b->team->known = b->call - 1;
}

void board_close(struct board *b)
{
    stress_point();
    store_release_u64(&team_words(b->team, b->team->me)->done, b->call);
    board_wake(b, offsetof(struct team_words, done));
}

void board_await_all_closed(const struct board *b)
{
    for (int i = 0; i < b->team->npes; i++)
        if (i != b->team->me)
            await_done(b, i, b->call);
    b->team->known = b->call;
}
