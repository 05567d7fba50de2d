/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_gather.c - communication of the arrival profile.  Uses: core/team, core/heap,
 * core/clock, core/block, rma, rma/order, coll/barrier.
 *
 * The profile has a team of its own, whose synchronisation area is in the reserved part
 * of the heap, so that it does not interfere with collectives of the program.  After it
 * each PE has a window from which PE 0 gets its rows, because the user's heap may be
 * full.
 *
 * Clocks.  The PEs of a node share a clock.  PE 0 requests the time of the first PE of
 * each other node ROUND_TRIPS times and keeps the reply with the shortest round trip: the
 * remote clock was read between request and reply, so the error is at most half of it.
 * Clocks are sampled at the beginning and at the end of the job; oshprof assumes constant
 * drift.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/coll/sync/team_coll.h"
#include "pgas/profile/profile_int.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/base/os.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

enum {
    ROUND_TRIPS = 64,   /* per clock sample */
    WORDS = 160 * 1024, /* bytes for the words of the profile's team */
    WINDOW = HEAP_PROFILED - HEAP_PROFILE - WORDS,
};

/* Exposed memory of a PE. A word that other PEs write has a cache line of its own. */
struct window {
    uint64_t rows, more; /* rows in data; 1 = more rows follow */
    uint64_t again;      /* of PE 0: a further round is needed */
    uint64_t buffer;     /* symmetric address of the buffer for timed messages */
    bool wanted[PROFILE_BUCKETS];
    _Alignas(NODE_LINE) uint64_t word; /* the last word from the other PE */
    _Alignas(NODE_LINE) char data[];
};
enum { DATA = WINDOW - offsetof(struct window, data) };
_Static_assert((int)DATA >= (int)PROFILE_SURE,
               "there is space for a window behind the words");

static struct window *profile_gather_window(void)
{
    return (struct window *)(pgas_self.heap_base + HEAP_PROFILE + WORDS);
}

static void profile_gather_barrier(void)
{
    barrier_sync(&PROFILE->team, PROFILE_FN);
}

static void profile_gather_fetch(void *to, const void *from, size_t bytes, int pe)
{
    rma_get(CTX_LIBRARY, to, from, bytes, pe, PROFILE_FN);
}

/* ---- messages of one word ------------------------------------------------------- */

struct goal {
    const uint64_t *word;
    uint64_t old;
};

static bool profile_gather_changed(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u64(g->word) != g->old;
}

/* Wait until the word differs from `last`. */
static uint64_t profile_gather_recv_word(uint64_t last)
{
    const uint64_t *word = &profile_gather_window()->word;
    struct goal g = {word, last};

    block_until(&(struct block_wait){.ready = profile_gather_changed,
                                     .arg = &g,
                                     .word = word,
                                     .remote = PROFILE->team.remote,
                                     .team = &PROFILE->team,
                                     .what = PROFILE_FN});
    return load_acquire_u64(word);
}

static void profile_gather_send_word(int pe, uint64_t word)
{
    order_fence(CTX_LIBRARY, PROFILE_FN);
    rma_put(CTX_LIBRARY, &profile_gather_window()->word, &word, sizeof word, pe,
            PROFILE_FN);
}

/* Collective: on return the words of all PEs are 0. */
static void profile_gather_reset_words(void)
{
    profile_gather_barrier();
    profile_gather_window()->word = 0;
    profile_gather_barrier();
}

/* ---- clocks ---------------------------------------------------------------------- */

static uint32_t profile_gather_node_of(int pe)
{
    return pgas_self.node_of != NULL ? pgas_self.node_of[pe] : 0;
}

static bool profile_gather_first_of_node(int pe)
{
    for (int i = 0; i < pe; i++)
        if (profile_gather_node_of(i) == profile_gather_node_of(pe))
            return false;
    return true;
}

static struct profile_clock_sample profile_gather_sample_clock(int pe)
{
    struct profile_clock_sample best = {.error = UINT64_MAX};
    uint64_t last = profile_gather_window()->word;

    for (uint64_t i = 1; i <= ROUND_TRIPS; i++) {
        uint64_t before = clock_ns();
        profile_gather_send_word(pe, i);
        last = profile_gather_recv_word(last);
        uint64_t after = clock_ns(), error = (after - before + 1) / 2;
        int64_t offset = (int64_t)(last - before - (after - before) / 2);
        if (error < best.error)
            best = (struct profile_clock_sample){last, offset, error};
    }
    return best;
}

static void profile_gather_serve_clock(void)
{
    uint64_t last = 0;

    for (int i = 0; i < ROUND_TRIPS; i++) {
        last = profile_gather_recv_word(last);
        profile_gather_send_word(0, clock_ns());
    }
}

/* `time` is 0 at the beginning and 1 at the end. */
static void profile_gather_sample_clocks(int time)
{
    if (pgas_self.node_of == NULL)
        return;
    profile_gather_reset_words();
    if (pgas_self.me != 0) {
        if (profile_gather_node_of(pgas_self.me) != profile_gather_node_of(0) &&
            profile_gather_first_of_node(pgas_self.me))
            profile_gather_serve_clock();
    } else {
        for (int pe = 1; pe < PROFILE->team.npes; pe++)
            if (profile_gather_node_of(pe) != profile_gather_node_of(0) &&
                profile_gather_first_of_node(pe))
                PROFILE->samples[2 * profile_gather_node_of(pe) + (uint32_t)time] =
                    profile_gather_sample_clock(pe);
    }
    profile_gather_barrier();
}

/* ---- life ------------------------------------------------------------------------ */

/* A PE without the variable would not enter the barriers of the profile.  PE 0 reads the
 * mark of all PEs, the others that of PE 0. */
static void profile_gather_check_all_profile(void)
{
    const uint64_t *mark = (const uint64_t *)(pgas_self.heap_base + HEAP_PROFILED);
    int last = PROFILE->team.me == 0 ? PROFILE->team.npes - 1 : 0;

    for (int pe = 0; pe <= last; pe++) {
        uint64_t marked;
        profile_gather_fetch(&marked, mark, sizeof marked, pe);
        if (marked == 0)
            log_die("SHMEM_PROFILE_ARRIVAL is set here, but not on PE %d; set it for all "
                    "PEs or for none",
                    pe);
    }
}

void profile_gather_init(void)
{
    const struct shmem_team *world = team_of(SHMEM_TEAM_WORLD, PROFILE_FN);

    PROFILE->team = (struct shmem_team){.npes = world->npes,
                                        .me = world->me,
                                        .stride = 1,
                                        .words_offset = HEAP_PROFILE,
                                        .remote = world->remote,
                                        .nodes = world->nodes,
                                        .name = "PROFILE"};
    PGAS_ASSERT(team_coll_words_bytes(PROFILE->team.remote) <= WORDS);
    if (!team_coll_attach(&PROFILE->team))
        log_die("no memory for the team of the arrival profile");
    PROFILE->samples = calloc(2 * (size_t)pgas_self.nnodes, sizeof *PROFILE->samples);
    if (PROFILE->samples == NULL)
        log_die("no memory for the clocks of %u nodes", pgas_self.nnodes);
    profile_gather_check_all_profile();
    profile_gather_sample_clocks(0);
}

const struct profile_clock_sample *profile_gather_clocks(void)
{
    profile_gather_sample_clocks(1);
    return PROFILE->samples;
}

void profile_gather_fini(void)
{
    barrier_last(&PROFILE->team, PROFILE_FN);
    team_coll_detach(&PROFILE->team);
    free(PROFILE->samples);
    PROFILE->samples = NULL;
}

/* ---- rows ------------------------------------------------------------------------ */

/* Copy rows from index `next` on to the window while they fit; returns the index of the
 * next row. */
static size_t profile_gather_window_fill(const struct profile_rows *rows, size_t next)
{
    struct window *w = profile_gather_window();
    size_t n = DATA / rows->bytes;

    n = rows->n - next < n ? rows->n - next : n;
    for (size_t i = 0; i < n; i++)
        memcpy(w->data + i * rows->bytes, rows->row(next + i), rows->bytes);
    w->rows = n;
    w->more = next + n < rows->n;
    return next + n;
}

/* Pass the rows in the window of a PE to the sink; true if the PE has more. */
static bool profile_gather_window_fetch(int pe, const struct profile_rows *rows,
                                        char *copy)
{
    struct window seen;

    profile_gather_fetch(&seen, profile_gather_window(), sizeof seen, pe);
    if (seen.rows > 0) {
        profile_gather_fetch(copy, profile_gather_window()->data, seen.rows * rows->bytes,
                             pe);
        rows->sink(pe, copy, seen.rows);
    }
    return seen.more;
}

static bool profile_gather_window_fetch_all(const struct profile_rows *rows)
{
    static _Alignas(NODE_LINE) char copy[DATA];
    bool more = false;

    for (int pe = 0; pe < PROFILE->team.npes; pe++)
        more = profile_gather_window_fetch(pe, rows, copy) || more;
    return more;
}

void profile_gather(const struct profile_rows *rows)
{
    size_t next = 0;
    uint64_t again = 1;

    while (again != 0) {
        next = profile_gather_window_fill(rows, next);
        profile_gather_barrier();
        if (PROFILE->team.me == 0)
            profile_gather_window()->again = profile_gather_window_fetch_all(rows);
        profile_gather_barrier();
        profile_gather_fetch(&again, &profile_gather_window()->again, sizeof again, 0);
    }
}

/* ---- message times --------------------------------------------------------------- */

enum { ROUNDS_SMALL = 21, ROUNDS_LARGE = 3, SMALL = 1 << 16, SETTLE_NS = 4000000 };

/* One round trip between the PEs of a pair, with a signal word after each message;
 * returns half of its time in ns. Both PEs count the signals in *sent. */
static uint64_t profile_gather_ping_pong(const struct profile_alpha *pair, void *buffer,
                                         size_t bytes, uint64_t *sent)
{
    bool first = PROFILE->team.me == (int)pair->first;
    int other = (int)(first ? pair->last : pair->first);
    uint64_t before = clock_ns(), word = *sent;

    if (!first)
        profile_gather_recv_word(word);
    rma_put(CTX_LIBRARY, buffer, buffer, bytes, other, PROFILE_FN);
    profile_gather_send_word(other, ++*sent);
    if (first)
        profile_gather_recv_word(word);
    return (clock_ns() - before) / 2;
}

static int profile_gather_compare_u64(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

    return (first > second) - (first < second);
}

/* The median of several round trips, after a warm-up. */
static double profile_gather_time_message(const struct profile_alpha *pair, void *buffer,
                                          size_t bytes, uint64_t *sent)
{
    uint64_t ns[ROUNDS_SMALL];
    int rounds = bytes <= SMALL ? ROUNDS_SMALL : ROUNDS_LARGE;

    profile_gather_ping_pong(pair, buffer, bytes, sent);
    for (int i = 0; i < rounds; i++)
        ns[i] = profile_gather_ping_pong(pair, buffer, bytes, sent);
    qsort(ns, (size_t)rounds, sizeof *ns, profile_gather_compare_u64);
    return (double)ns[rounds / 2];
}

/* A buffer of *bytes at the same symmetric address on all PEs: from the heap if there is
 * space on all of them, else the window, which is smaller.  Collective. */
static void *profile_gather_alloc_buffer(size_t *bytes)
{
    void *mine = heap_alloc(*bytes, NODE_LINE);
    uint64_t symaddr = mine != NULL ? symaddr_encode(mine) : 0, other = 0;
    bool same = symaddr != 0;

    profile_gather_window()->buffer = symaddr;
    profile_gather_barrier();
    for (int pe = 0; pe < PROFILE->team.npes && PROFILE->team.me == 0; pe++) {
        profile_gather_fetch(&other, &profile_gather_window()->buffer, sizeof other, pe);
        same = same && other == symaddr;
    }
    if (PROFILE->team.me == 0)
        profile_gather_window()->again = same;
    profile_gather_barrier();
    profile_gather_fetch(&other, &profile_gather_window()->again, sizeof other, 0);
    if (other != 0)
        return mine;
    *bytes = DATA;
    return profile_gather_window()->data;
}

static void profile_gather_measure_pair(const bool *wanted, size_t space, void *buffer,
                                        struct profile_alpha *alpha)
{
    uint64_t sent = 0;

    memset(buffer, 0, space); /* page faults must not count */
    os_sleep(SETTLE_NS);      /* until the other PEs sleep in the barrier */
    for (int i = 0; i < PROFILE_BUCKETS; i++) {
        double bytes = profile_bucket_bytes(i);
        if (!wanted[i] || bytes > (double)space)
            continue;
        alpha->bytes_max = bytes < 1 ? 1 : (uint64_t)bytes;
        alpha->ns[i] =
            profile_gather_time_message(alpha, buffer, alpha->bytes_max, &sent);
    }
}

/* The largest wanted size, at most PROFILE_LARGEST. */
static size_t profile_gather_largest_wanted(const bool *wanted)
{
    int last = 0;

    for (int i = 0; i < PROFILE_BUCKETS; i++)
        last = wanted[i] ? i : last;
    double bytes = profile_bucket_bytes(last);
    return bytes < 1 ? 1 : bytes < PROFILE_LARGEST ? (size_t)bytes : PROFILE_LARGEST;
}

/* PE 0 and the last PE of another node; in a job of one node, the last PE. */
static struct profile_alpha profile_gather_job_pair(void)
{
    struct profile_alpha pair = {.last = (uint32_t)PROFILE->team.npes - 1,
                                 .same_node = true};

    for (uint32_t pe = pair.last; pe > 0 && pair.same_node; pe--)
        if (profile_gather_node_of((int)pe) != profile_gather_node_of(0)) {
            pair.last = pe;
            pair.same_node = false;
        }
    return pair;
}

/* The first two PEs that share a node, in a job over several nodes; first == last if
 * there are none. */
static struct profile_alpha profile_gather_node_pair(void)
{
    struct profile_alpha pair = {.same_node = true};
    uint32_t *first = calloc((size_t)pgas_self.nnodes, sizeof *first); /* PE + 1 */

    if (first == NULL)
        log_die("no memory for the first PEs of %u nodes", pgas_self.nnodes);
    for (int pe = 0; pe < PROFILE->team.npes && pgas_self.nnodes > 1; pe++) {
        uint32_t *f = &first[profile_gather_node_of(pe)];
        if (*f != 0) {
            pair.first = *f - 1;
            pair.last = (uint32_t)pe;
            break;
        }
        *f = (uint32_t)pe + 1;
    }
    free(first);
    return pair;
}

void profile_measure(const bool *wanted, struct profile_alpha alpha[PROFILE_ALPHAS])
{
    bool all[PROFILE_BUCKETS];
    int any = 0;

    if (PROFILE->team.me == 0)
        memcpy(profile_gather_window()->wanted, wanted, sizeof all);
    profile_gather_barrier();
    profile_gather_fetch(all, profile_gather_window()->wanted, sizeof all, 0);
    for (int i = 0; i < PROFILE_BUCKETS; i++)
        any += all[i];
    alpha[0] = profile_gather_job_pair();
    alpha[1] = profile_gather_node_pair();
    if (any == 0)
        return;
    size_t space = profile_gather_largest_wanted(all);
    void *buffer = profile_gather_alloc_buffer(&space);
    for (int i = 0; i < PROFILE_ALPHAS; i++) {
        bool takes_part = PROFILE->team.me == (int)alpha[i].first ||
                          PROFILE->team.me == (int)alpha[i].last;
        if (alpha[i].first == alpha[i].last)
            continue;
        profile_gather_reset_words();
        if (takes_part)
            profile_gather_measure_pair(all, space, buffer, &alpha[i]);
        profile_gather_barrier();
    }
}
