/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tail.c - threads post receives, deliver messages, probe and cancel at random on one
 * matcher with tail queues, with bins by source in every other round; afterwards the
 * pairs are checked:
 *   - a receive and its message fit, and each has one mate;
 *   - no receive fits a message if both are left over;
 *   - of two receives of a thread that fit a message, the later one did not get it if the
 *     earlier one got a later message of that source, or none;
 *   - of two messages of a source that fit a receive, the later one did not go to it if
 *     the earlier one went to a later receive of that thread, or to none.
 *
 *   tail [rounds [seed]]
 *
 * Exit status 1 if a check fails.  Run by tail.sh.
 */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/mpi/match/match_tail.h"
#include "pgas/core/base/pgas_assert.h"
#include "tests/match/delay.h"
#include "tests/match/tail_point.h"

enum { POSTERS = 3, ARRIVERS = 3, OPERATIONS = 150, SOURCES = 6, TAGS = 3 };

struct item {
    struct match_entry entry;
    struct item *mate;
    bool cancelled, cancel_failed;
    bool probe; /* a matched probe: in the order of receives, but never queued */
};

struct worker {
    pthread_t thread;
    struct match_tail *t;
    pthread_barrier_t *start;
    uint64_t random;
    struct item items[OPERATIONS]; /* receives of a poster, messages of an arriver */
    int number;
    bool wrong_probe;
};

static _Thread_local uint64_t point_random;

_Noreturn void pgas_assert_failed(const char *condition, const char *file, int line,
                                  const char *function)
{
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, function, condition);
    abort();
}

void tail_test_point(void)
{
    delay_at_point(&point_random, 500);
}

/* ---- the threads ---------------------------------------------------------------- */

static struct match_key poster_key(struct worker *w)
{
    struct match_key k = {0, (int32_t)delay_random(&w->random, SOURCES),
                          (int32_t)delay_random(&w->random, TAGS)};

    if (delay_random(&w->random, 4) == 0)
        k.source = MATCH_ANY_SOURCE;
    if (delay_random(&w->random, 4) == 0)
        k.tag = MATCH_ANY_TAG;
    return k;
}

static void poster_visit(const struct match_entry *message, void *arg)
{
    *(struct match_key *)arg = message->key;
}

static void poster_probe(struct worker *w)
{
    struct match_key key = poster_key(w), found = {0, 0, 0};

    if (match_tail_probe(w->t, &key, poster_visit, &found))
        w->wrong_probe |= !match_key_fits(&key, &found);
}

static void poster_cancel(struct worker *w, int before)
{
    struct item *r = &w->items[delay_random(&w->random, (uint32_t)before)];

    if (r->probe || r->cancelled)
        return;
    if (match_tail_cancel(w->t, &r->entry))
        r->cancelled = true;
    else
        r->cancel_failed = true;
}

static void *poster_run(void *arg)
{
    struct worker *w = arg;

    point_random = w->random;
    pthread_barrier_wait(w->start);
    for (int i = 0; i < OPERATIONS; i++) {
        struct item *r = &w->items[i];
        struct match_entry *mate;
        r->entry = (struct match_entry){.key = poster_key(w)};
        r->probe = delay_random(&w->random, 16) == 0;
        mate = r->probe ? match_tail_mprobe(w->t, &r->entry.key)
                        : match_tail_post(w->t, &r->entry);
        if (mate != NULL) {
            r->mate = (struct item *)(void *)mate;
            r->mate->mate = r;
        }
        if (delay_random(&w->random, 16) == 0)
            poster_probe(w);
        if (delay_random(&w->random, 16) == 0)
            poster_cancel(w, i + 1);
    }
    return NULL;
}

/* Source s belongs to one arriver: the messages of a source arrive in order. */
static void *arriver_run(void *arg)
{
    struct worker *w = arg;

    point_random = w->random;
    pthread_barrier_wait(w->start);
    for (int i = 0; i < OPERATIONS; i++) {
        struct item *m = &w->items[i];
        uint32_t own = delay_random(&w->random, SOURCES / ARRIVERS);
        m->entry = (struct match_entry){.key = {0, (int32_t)(own * ARRIVERS) + w->number,
                                                (int32_t)delay_random(&w->random, TAGS)}};
        if (i % 16 == 0) /* at the same time as everything else */
            match_tail_stats_of(w->t, i % 32 == 0);
        struct match_entry *mate = match_tail_arrive(w->t, &m->entry);
        if (mate != NULL) {
            m->mate = (struct item *)(void *)mate;
            m->mate->mate = m;
        }
    }
    return NULL;
}

/* ---- the checks ----------------------------------------------------------------- */

static bool item_fits(const struct item *receive, const struct item *message)
{
    return match_key_fits(&receive->entry.key, &message->entry.key);
}

static int check_failed(const char *what)
{
    printf("FAIL: %s\n", what);
    return 1;
}

/* Of one poster: mates, and the order of its receives */
static int check_receives(const struct worker *w)
{
    for (int j = 0; j < OPERATIONS; j++) {
        const struct item *r = &w->items[j], *m = r->mate;
        if (r->cancelled ? m != NULL : r->cancel_failed && m == NULL)
            return check_failed("result of a cancel");
        if (m == NULL)
            continue;
        if (m->mate != r || !item_fits(r, m))
            return check_failed("a mate");
        for (int i = 0; i < j; i++) {
            const struct item *older = &w->items[i];
            if (older->probe || older->cancelled || !item_fits(older, m))
                continue;
            if (older->mate == NULL)
                return check_failed("an older receive got nothing");
            if (older->mate->entry.key.source == m->entry.key.source && older->mate > m)
                return check_failed("an older receive got a later message");
        }
    }
    return 0;
}

/* Of one arriver: the order of the messages of each source.  The receives of a thread are
 * compared by their addresses. */
static int check_messages(const struct worker *w, const struct worker *posters)
{
    for (int j = 0; j < OPERATIONS; j++) {
        const struct item *m = &w->items[j], *r = m->mate;
        for (int i = 0; r != NULL && i < j; i++) {
            const struct item *older = &w->items[i];
            if (older->entry.key.source != m->entry.key.source || !item_fits(r, older))
                continue;
            if (older->mate == NULL)
                return check_failed("an older message was skipped");
            for (int p = 0; p < POSTERS; p++) {
                const struct item *first = posters[p].items;
                if (r >= first && r < first + OPERATIONS && older->mate > r &&
                    older->mate < first + OPERATIONS)
                    return check_failed("an older message went to a later receive");
            }
        }
    }
    return 0;
}

static int check_left(const struct worker *p, const struct worker *a)
{
    for (int i = 0; i < OPERATIONS; i++)
        for (int j = 0; j < OPERATIONS; j++) {
            const struct item *r = &p->items[i], *m = &a->items[j];
            if (r->mate == NULL && m->mate == NULL && !r->cancelled && !r->probe &&
                item_fits(r, m))
                return check_failed("a receive and a message missed each other");
        }
    return 0;
}

static int check_round(const struct worker *posters, const struct worker *arrivers)
{
    int failed = 0;

    for (int p = 0; p < POSTERS; p++) {
        failed |= posters[p].wrong_probe ? check_failed("a probe") : 0;
        failed |= check_receives(&posters[p]);
        for (int a = 0; a < ARRIVERS; a++)
            failed |= check_left(&posters[p], &arrivers[a]);
    }
    for (int a = 0; a < ARRIVERS; a++)
        failed |= check_messages(&arrivers[a], posters);
    return failed;
}

/* ---- rounds --------------------------------------------------------------------- */

struct totals {
    uint64_t hits, inbox_hits, moved;
};

static void totals_add(struct totals *sum, const struct match_tail_stats *s)
{
    sum->hits += s->queue.hits;
    sum->inbox_hits += s->inbox_hits;
    sum->moved += s->from_inbox;
}

/* Entries of `workers` that are still queued */
static uint32_t round_queued(const struct worker *workers, int n)
{
    uint32_t queued = 0;

    for (int k = 0; k < n; k++)
        for (int i = 0; i < OPERATIONS; i++) {
            const struct item *e = &workers[k].items[i];
            queued += e->mate == NULL && !e->probe && !e->cancelled;
        }
    return queued;
}

static int round_check_stats(struct match_tail *t, const struct worker *posters,
                             const struct worker *arrivers, struct totals *sum)
{
    struct match_tail_stats receives = match_tail_stats_of(t, true),
                            messages = match_tail_stats_of(t, false);

    totals_add(sum, &receives);
    totals_add(sum, &messages);
    if (receives.length + receives.inbox != round_queued(posters, POSTERS) ||
        messages.length + messages.inbox != round_queued(arrivers, ARRIVERS))
        return check_failed("the statistics of the lengths");
    return 0;
}

static int round_run(enum match_engine engine, unsigned bins, uint64_t seed,
                     struct totals *sum)
{
    static struct worker posters[POSTERS], arrivers[ARRIVERS];
    static struct match_tail t;
    struct match_options options = match_options_default();
    pthread_barrier_t start;

    options.engine = engine;
    options.bins = bins;
    if (match_tail_init(&t, &options) != 0)
        return check_failed("match_tail_init");
    pthread_barrier_init(&start, NULL, POSTERS + ARRIVERS);
    for (int i = 0; i < POSTERS + ARRIVERS; i++) {
        bool poster = i < POSTERS;
        struct worker *w = poster ? &posters[i] : &arrivers[i - POSTERS];
        memset(w, 0, sizeof *w);
        w->t = &t;
        w->start = &start;
        w->random = seed * 1000 + (uint64_t)i;
        w->number = poster ? i : i - POSTERS;
        if (pthread_create(&w->thread, NULL, poster ? poster_run : arriver_run, w) != 0)
            abort();
    }
    for (int i = 0; i < POSTERS + ARRIVERS; i++)
        pthread_join(i < POSTERS ? posters[i].thread : arrivers[i - POSTERS].thread,
                     NULL);
    pthread_barrier_destroy(&start);
    int failed = round_check_stats(&t, posters, arrivers, sum);
    match_tail_free(&t);
    return failed | check_round(posters, arrivers);
}

int main(int argc, char **argv)
{
    static const enum match_engine engines[] = {MATCH_LIST, MATCH_FUZZY, MATCH_AUTO};
    int rounds = argc > 1 ? atoi(argv[1]) : 30;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    struct totals sum = {0, 0, 0};

    for (int r = 0; r < rounds; r++)
        if (round_run(engines[r % 3], r % 2 == 0 ? 0 : 4, seed + (uint64_t)r, &sum) !=
            0) {
            printf("FAIL: seed %llu\n", (unsigned long long)seed + (unsigned)r);
            return 1;
        }
    printf("%d rounds: %llu matches in main queues, %llu in inboxes, %llu moved\n",
           rounds, (unsigned long long)sum.hits, (unsigned long long)sum.inbox_hits,
           (unsigned long long)sum.moved);
    return sum.hits == 0 || sum.inbox_hits == 0 || sum.moved == 0;
}
