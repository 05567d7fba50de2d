/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_meet.c - how the PEs of a profile meet.  Uses: core/team, core/heap,
 * core/clock, core/block, rma, rma/order, barrier.
 *
 * They have a team of their own with words of its own, in the reserved part of the heap:
 * so it makes no difference to them what teams of the program are doing, or to those.
 * Behind the words each PE has a window, through which what it has to say goes to PE 0,
 * piece by piece: the user's heap may be full.
 *
 * Clocks.  The PEs of a node have one clock.  PE 0 asks the first PE of each other node
 * for its time, many times, and believes the answer that came soonest: the other clock
 * was read somewhere between question and answer.  That is done at the beginning and at
 * the end, and between the two clocks drift apart evenly.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/coll/barrier.h"
#include "pgas/coll/profile_int.h"
#include "pgas/core/block.h"
#include "pgas/core/clock.h"
#include "pgas/core/heap.h"
#include "pgas/core/log.h"
#include "pgas/core/pgas.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

enum {
    QUESTIONS = 64, /* about the time, to a node */
    PAGE = 4096,
    WORDS = (sizeof(struct team_words) + PAGE - 1) / PAGE * PAGE,
    WINDOW = HEAP_PROFILED - HEAP_PROFILE - WORDS,
};

/* What a PE shows.  Words that others write to have a line of their own. */
struct window {
    uint64_t rows, more; /* here; more will follow */
    uint64_t again;      /* of PE 0: a further round is needed */
    uint64_t buffer;     /* where messages to be timed go: check_place */
    bool wanted[PROFILE_BUCKETS];
    _Alignas(NODE_LINE) uint64_t word; /* the other one's last word */
    _Alignas(NODE_LINE) char data[];
};
enum { DATA = WINDOW - offsetof(struct window, data) };
_Static_assert((int)DATA >= (int)PROFILE_SURE,
               "there is room for a window behind the words");

static struct shmem_team team;
static struct team_nodes nodes;

static struct window *window(void)
{
    return (struct window *)(pgas_self.heap_base + HEAP_PROFILE + WORDS);
}

static void meet(void)
{
    barrier_sync(&team, PROFILE_FN);
}

static void fetch(void *to, const void *from, size_t bytes, int pe)
{
    rma_get(SHMEM_CTX_DEFAULT, to, from, bytes, pe, PROFILE_FN);
}

/* ---- talking, word by word ------------------------------------------------------- */

struct goal {
    const uint64_t *word;
    uint64_t not ;
};

static bool changed(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u64(g->word) != g->not ;
}

/* The next word that somebody tells us. */
static uint64_t listen(uint64_t last)
{
    const uint64_t *word = &window()->word;
    struct goal g = {word, last};

    block_until(&(struct block_wait){
        .ready = changed, .arg = &g, .word = word, .far = team.far, .what = PROFILE_FN});
    return load_acquire_u64(word);
}

static void tell(int pe, uint64_t word)
{
    order_fence(SHMEM_CTX_DEFAULT, PROFILE_FN);
    rma_put(SHMEM_CTX_DEFAULT, &window()->word, &word, sizeof word, pe, PROFILE_FN);
}

/* All are here, and nobody has said a word. */
static void begin_talk(void)
{
    meet();
    window()->word = 0;
    meet();
}

/* ---- clocks ---------------------------------------------------------------------- */

/* What a clock showed, how far ahead of that of PE 0, wrong by so much at most. */
struct look {
    uint64_t at;
    int64_t ahead;
    uint64_t error;
};

static struct look *looks; /* of PE 0: by node, at the beginning and at the end */

static uint32_t node_of(int pe)
{
    return pgas_self.node_of != NULL ? pgas_self.node_of[pe] : 0;
}

static bool first_of_node(int pe)
{
    for (int i = 0; i < pe; i++)
        if (node_of(i) == node_of(pe))
            return false;
    return true;
}

static struct look ask(int pe)
{
    struct look best = {.error = UINT64_MAX};
    uint64_t last = window()->word;

    for (uint64_t i = 1; i <= QUESTIONS; i++) {
        uint64_t before = clock_ns();
        tell(pe, i);
        last = listen(last);
        uint64_t after = clock_ns(), error = (after - before + 1) / 2;
        int64_t ahead = (int64_t)(last - before - (after - before) / 2);
        if (error < best.error)
            best = (struct look){last, ahead, error};
    }
    return best;
}

static void answer(void)
{
    uint64_t last = 0;

    for (int i = 0; i < QUESTIONS; i++) {
        last = listen(last);
        tell(0, clock_ns());
    }
}

/* Look at all clocks, for the first or the second time. */
static void look_at_clocks(int time)
{
    if (pgas_self.node_of == NULL)
        return;
    begin_talk();
    if (pgas_self.me != 0) {
        if (node_of(pgas_self.me) != node_of(0) && first_of_node(pgas_self.me))
            answer();
    } else {
        for (int pe = 1; pe < team.npes; pe++)
            if (node_of(pe) != node_of(0) && first_of_node(pe))
                looks[2 * node_of(pe) + (uint32_t)time] = ask(pe);
    }
    meet();
}

uint64_t profile_clock(int pe, uint64_t ns)
{
    const struct look *look = looks + 2 * (size_t)node_of(pe);
    double span = (double)(look[1].at - look[0].at), part = 0.0;

    if (ns > look[0].at && look[1].at > look[0].at)
        part = ns < look[1].at ? (double)(ns - look[0].at) / span : 1.0;
    double drift = part * (double)(look[1].ahead - look[0].ahead);
    return ns - (uint64_t)(look[0].ahead + (int64_t)drift);
}

uint64_t profile_clock_error(void)
{
    uint64_t error = 0;

    for (size_t i = 0; i < 2 * (size_t)pgas_self.nnodes; i++)
        error = looks[i].error > error ? looks[i].error : error;
    return error;
}

/* ---- life ------------------------------------------------------------------------ */

/* Nobody waits for a PE that does not come: PE 0 asks all, the others ask PE 0. */
static void check_all_profile(void)
{
    const uint64_t *mark = (const uint64_t *)(pgas_self.heap_base + HEAP_PROFILED);
    int last = team.me == 0 ? team.npes - 1 : 0;

    for (int pe = 0; pe <= last; pe++) {
        uint64_t marked;
        fetch(&marked, mark, sizeof marked, pe);
        if (marked == 0)
            log_die("SHMEM_PROFILE_ARRIVAL is set here, but not on PE %d; set it for all "
                    "PEs or for none",
                    pe);
    }
}

void profile_meet_init(void)
{
    const struct shmem_team *world = team_of(SHMEM_TEAM_WORLD, PROFILE_FN);

    team = (struct shmem_team){.npes = world->npes,
                               .me = world->me,
                               .stride = 1,
                               .cpu = -1,
                               .words_offset = HEAP_PROFILE,
                               .far = world->far,
                               .name = "PROFILE"};
    if (world->nodes != NULL) {
        nodes = *world->nodes;
        nodes.counts = nodes.crossings = nodes.boxes = 0;
        team.nodes = &nodes;
    }
    looks = calloc(2 * (size_t)pgas_self.nnodes, sizeof *looks);
    if (looks == NULL)
        log_die("no memory for the clocks of %u nodes", pgas_self.nnodes);
    check_all_profile();
    look_at_clocks(0);
}

void profile_meet_clocks(void)
{
    look_at_clocks(1);
}

void profile_meet_fini(void)
{
    barrier_last(&team, PROFILE_FN);
    free(looks);
    looks = NULL;
}

/* ---- rows ------------------------------------------------------------------------ */

/* Show the rows from `next` on for which there is room. */
static size_t show(const struct profile_rows *rows, size_t next)
{
    struct window *w = window();
    size_t n = DATA / rows->bytes;

    n = rows->n - next < n ? rows->n - next : n;
    for (size_t i = 0; i < n; i++)
        memcpy(w->data + i * rows->bytes, rows->row(next + i), rows->bytes);
    w->rows = n;
    w->more = next + n < rows->n;
    return next + n;
}

/* What a PE shows.  Has it more? */
static bool take_from(int pe, const struct profile_rows *rows, char *copy)
{
    struct window seen;

    fetch(&seen, window(), sizeof seen, pe);
    if (seen.rows > 0) {
        fetch(copy, window()->data, seen.rows * rows->bytes, pe);
        rows->sink(pe, copy, seen.rows);
    }
    return seen.more;
}

static bool take_all(const struct profile_rows *rows)
{
    static _Alignas(NODE_LINE) char copy[DATA];
    bool more = false;

    for (int pe = 0; pe < team.npes; pe++)
        more = take_from(pe, rows, copy) || more;
    return more;
}

void profile_gather(const struct profile_rows *rows)
{
    size_t next = 0;
    uint64_t again = 1;

    while (again != 0) {
        next = show(rows, next);
        meet();
        if (team.me == 0)
            window()->again = take_all(rows);
        meet();
        fetch(&again, &window()->again, sizeof again, 0);
    }
}

/* ---- messages -------------------------------------------------------------------- */

enum { ROUNDS_SMALL = 21, ROUNDS_LARGE = 3, SMALL = 1 << 16, SETTLE_NS = 4000000 };

/* From PE 0 to the other one and back, with a word after the message; ns one way.  Words
 * count up from *said, on both sides. */
static uint64_t bounce(void *buffer, size_t bytes, int other, uint64_t *said)
{
    uint64_t before = clock_ns(), word = *said;

    if (team.me != 0)
        listen(word);
    rma_put(SHMEM_CTX_DEFAULT, buffer, buffer, bytes, other, PROFILE_FN);
    tell(other, ++*said);
    if (team.me == 0)
        listen(word);
    return (clock_ns() - before) / 2;
}

static int by_value(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

    return (first > second) - (first < second);
}

/* The median. */
static double time_message(void *buffer, size_t bytes, int other, uint64_t *said)
{
    uint64_t ns[ROUNDS_SMALL];
    int rounds = bytes <= SMALL ? ROUNDS_SMALL : ROUNDS_LARGE;

    bounce(buffer, bytes, other, said);
    for (int i = 0; i < rounds; i++)
        ns[i] = bounce(buffer, bytes, other, said);
    qsort(ns, (size_t)rounds, sizeof *ns, by_value);
    return (double)ns[rounds / 2];
}

/* Room for messages at one place of both PEs: of the heap, or else of the window. */
static void *buffer_for(size_t *bytes, int other)
{
    void *mine = heap_take(*bytes, NODE_LINE);
    uint64_t theirs, place = mine != NULL ? check_place((uintptr_t)mine) : 0;

    window()->buffer = place;
    meet();
    fetch(&theirs, &window()->buffer, sizeof theirs, other);
    meet();
    if (place != 0 && place == theirs)
        return mine;
    *bytes = DATA;
    return window()->data;
}

static void measure(const bool *wanted, size_t room, void *buffer, int other,
                    struct profile_alpha *alpha)
{
    uint64_t said = 0;

    memset(buffer, 0, room); /* its pages are there */
    block_sleep(SETTLE_NS);  /* the other PEs have gone to sleep */
    for (int i = 0; i < PROFILE_BUCKETS; i++) {
        double bytes = profile_bucket_bytes(i);
        if (!wanted[i] || bytes > (double)room)
            continue;
        alpha->most = bytes < 1 ? 1 : (size_t)bytes;
        alpha->ns[i] = time_message(buffer, alpha->most, other, &said);
    }
}

/* Of PE 0: the largest size that is wanted, as far as it is measured. */
static size_t largest(const bool *wanted)
{
    int last = 0;

    for (int i = 0; i < PROFILE_BUCKETS; i++)
        last = wanted[i] ? i : last;
    double bytes = profile_bucket_bytes(last);
    return bytes < 1 ? 1 : bytes < PROFILE_LARGEST ? (size_t)bytes : PROFILE_LARGEST;
}

void profile_measure(const bool *wanted, struct profile_alpha *alpha)
{
    int last = team.npes - 1, other = team.me == 0 ? last : 0;
    bool all[PROFILE_BUCKETS];

    *alpha = (struct profile_alpha){.most = 0};
    if (last == 0)
        return;
    if (team.me == 0)
        memcpy(window()->wanted, wanted, sizeof all);
    meet();
    fetch(all, window()->wanted, sizeof all, 0);
    size_t room = largest(all);
    void *buffer = buffer_for(&room, other);
    begin_talk();
    if (team.me == 0 || team.me == last)
        measure(all, room, buffer, other, alpha);
    meet();
}
