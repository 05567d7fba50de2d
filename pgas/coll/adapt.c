/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adapt.c - see adapt.h.  Uses: core/team, core/clock, board.
 *
 * Invariants.  A PE notes the times of its timed call t in `seen[t % 2]`, when it ends
 * that call, and reads those of all PEs at the end of the next call to all that adapts:
 * in which it has waited for all of them, that come with their notes written.  It writes
 * `seen[t % 2]` again at the end of a call that all begin after that reading.
 */
#include "config.h"

#include "pgas/coll/adapt.h"
#include "pgas/coll/board.h"
#include "pgas/core/clock.h"
#include "pgas/threads/atomic.h"

enum {
    FEW = 3,         /* calls in which each way is tried at first */
    MEMORY = 8,      /* calls over which a mean goes, about */
    CLIP = 2,        /* a call counts for at most so many times the mean: processors */
    MUCH = 4,        /* get lost.  So many times the imbalance is another one */
    BETTER_NUM = 15, /* less than 15/16 of the other's work is better */
    BETTER_DEN = 16,
    PERCENT = 100,
    TRY_NUM =
        2, /* a way that takes so many percent more is tried once in twice as many */
    TRY_LEAST = 32, /* calls, but not more often than this nor less often than that */
    TRY_MOST = 2048,
    TIMED_SMALL = 32, /* one of so many calls is timed, where a call is short, */
    TIMED_LARGE = 4,  /* or is not, */
    TIMED_ROOT = 16,  /* or where it takes an exchange */
    UNIT_SHIFT = 10,  /* times are those of a KiB */
};

static const size_t class_most[TEAM_CLASSES - 1] = {256, TEAM_SLOT_BYTES, 64 << 10,
                                                    1 << 20};
enum { SMALL_CLASSES = 2 };

static int class_of(size_t bytes)
{
    int c = 0;

    while (c < TEAM_CLASSES - 1 && bytes > class_most[c])
        c++;
    return c;
}

struct team_adapt *adapt_state(struct shmem_team *team, enum adapt_kind kind,
                               size_t bytes)
{
    return &team->adapt[kind][class_of(bytes)];
}

/* ---- which way ------------------------------------------------------------------- */

static bool has(const struct team_adapt *s, unsigned way)
{
    return (s->ways >> way & 1) != 0;
}

/* The way that has been tried least, of those that have been tried too little; or -1. */
static int least_tried(const struct team_adapt *s)
{
    int least = -1;

    for (unsigned w = 0; w < TEAM_WAYS; w++)
        if (has(s, w) && s->tries[w] < FEW &&
            (least < 0 || s->tries[w] < s->tries[least]))
            least = (int)w;
    return least;
}

/* Another way whose turn it is to be tried once more; or -1. */
static int due(const struct team_adapt *s)
{
    for (unsigned w = 0; w < TEAM_WAYS; w++)
        if (has(s, w) && w != s->way && (int32_t)(s->calls - s->due[w]) >= 0)
            return (int)w;
    return -1;
}

unsigned adapt_next(struct team_adapt *s, unsigned timed_every, bool *timed)
{
    int other = least_tried(s);

    if (other >= 0) {
        s->tries[other]++;
    } else if ((other = due(s)) >= 0) {
        s->due[other] = s->calls + TRY_LEAST; /* until we know how it went */
    }
    *timed = other >= 0 || s->calls % timed_every == 0;
    s->calls++;
    return other >= 0 ? (unsigned)other : s->way;
}

/* ---- what it knows --------------------------------------------------------------- */

static uint64_t mean(uint64_t before, uint64_t now)
{
    return before - before / MEMORY + now / MEMORY;
}

/* The first calls count by the shortest of them: the others were disturbed. */
static void take_work(struct team_adapt *s, unsigned way, uint64_t work)
{
    uint64_t *known = &s->work[way];

    if (s->seen[way] == 0 || (s->seen[way] < FEW && work < *known))
        *known = work;
    else if (s->seen[way] >= FEW)
        *known = mean(*known, work < CLIP * *known ? work : CLIP * *known);
    if (s->seen[way] < FEW)
        s->seen[way]++;
}

static void set_due(struct team_adapt *s, unsigned way)
{
    uint64_t best = s->work[s->way] + 1, more = s->work[way];
    uint64_t wait = more > best ? (more - best) * PERCENT * TRY_NUM / best : 0;

    wait = wait < TRY_LEAST ? TRY_LEAST : wait > TRY_MOST ? TRY_MOST : wait;
    s->due[way] = s->calls + (uint32_t)wait;
}

static unsigned best_of(const struct team_adapt *s)
{
    unsigned best = s->way;

    for (unsigned w = 0; w < TEAM_WAYS; w++)
        if (has(s, w) && s->seen[w] != 0 &&
            s->work[w] / BETTER_NUM * BETTER_DEN < s->work[best])
            best = w;
    return best;
}

/* All ways have been tried: take the best one.  Nothing has changed since: look at which
 * is best now that one is better known. */
static void choose(struct team_adapt *s, unsigned way)
{
    const unsigned before = s->way;

    s->way = (uint8_t)best_of(s);
    if (s->way != before)
        set_due(s, before);
    if (s->way != way)
        set_due(s, way);
}

static void try_all_anew(struct team_adapt *s)
{
    for (unsigned w = 0; w < TEAM_WAYS; w++)
        s->tries[w] = s->seen[w] = 0;
    s->settled = 0;
}

/* Is one imbalance much more than the other one, and than the work? */
static bool much_more(uint64_t a, uint64_t b, uint64_t work)
{
    return a > MUCH * b && a > MUCH * work;
}

void adapt_learn(struct team_adapt *s, unsigned way, uint64_t imbalance, uint64_t work)
{
    take_work(s, way, work);
    s->imbalance = s->imbalance == 0 ? imbalance : mean(s->imbalance, imbalance);
    if (least_tried(s) >= 0)
        return;
    if (s->settled == 0)
        s->settled = s->imbalance + 1;
    choose(s, way);
    if (much_more(s->imbalance, s->settled, s->work[s->way]) ||
        much_more(s->settled, s->imbalance, s->work[s->way]))
        try_all_anew(s);
}

/* ---- the times of a call --------------------------------------------------------- */

/* Calls of a class have unlike sizes: what is compared is the time of a KiB, of calls
 * that cost as much as a KiB without any data. */
static uint64_t per_kib(uint64_t ns, size_t bytes)
{
    return (ns << UNIT_SHIFT) / (bytes + ((size_t)1 << UNIT_SHIFT));
}

/* Of all PEs. */
struct span {
    uint64_t first, last, end;
};

static void span_add(struct span *s, uint64_t came, uint64_t left)
{
    s->first = came < s->first ? came : s->first;
    s->last = came > s->last ? came : s->last;
    s->end = left > s->end ? left : s->end;
}

static void learn_span(const struct team_timed *t, const struct span *s)
{
    adapt_learn(t->state, t->way, per_kib(s->last - s->first, t->bytes),
                per_kib(s->end > s->last ? s->end - s->last : 0, t->bytes));
}

/* The team's last timed call to all, once every PE has come to another one. */
static void take_in(struct shmem_team *team)
{
    struct span s = {.first = UINT64_MAX};

    for (int i = 0; i < team->npes; i++) {
        struct team_times *t = &team_words(team, i)->seen[team->timings % 2];
        span_add(&s, load_relaxed_u64(&t->came), load_relaxed_u64(&t->left));
    }
    learn_span(&team->timed, &s);
    team->timed.state = NULL;
}

static void note(const struct adapt *a)
{
    struct shmem_team *team = a->team;
    struct team_times *mine = &team_words(team, team->me)->seen[++team->timings % 2];

    store_relaxed_u64(&mine->came, a->came_ns);
    store_relaxed_u64(&mine->left, clock_ns());
    team->timed =
        (struct team_timed){.state = a->state, .bytes = a->bytes, .way = a->way};
}

/* The same of a call to a root. */
static void exchange(struct shmem_team *team, struct team_timed *t, const char *fn)
{
    struct board b = board_open(team, sizeof(struct team_times), fn);
    struct span s = {.first = UINT64_MAX};

    *(struct team_times *)board_mine(&b) = t->own;
    board_post(&b);
    for (int i = 0; i < team->npes; i++) {
        const struct team_times *own = (const struct team_times *)board_of(&b, i);
        span_add(&s, own->came, own->left);
    }
    board_close_all(&b);
    learn_span(t, &s);
    t->state = NULL;
}
_Static_assert(sizeof(struct team_times) <= TEAM_LINE_BYTES, "the times fit a line");

static unsigned timed_every(const struct adapt *a)
{
    if (a->kind == ADAPT_TO_ROOT)
        return TIMED_ROOT;
    return class_of(a->bytes) < SMALL_CLASSES ? TIMED_SMALL : TIMED_LARGE;
}

struct adapt adapt_begin(struct shmem_team *team, enum adapt_kind kind, size_t bytes,
                         struct team_adapt *state, const char *fn)
{
    struct adapt a = {.team = team, .state = state, .kind = kind, .bytes = bytes};

    if (kind == ADAPT_TO_ROOT && team->timed_to_root.state != NULL)
        exchange(team, &team->timed_to_root, fn);
    a.way = adapt_next(state, timed_every(&a), &a.timed);
    if (a.timed)
        a.came_ns = clock_ns();
    return a;
}

void adapt_end(struct adapt *a)
{
    struct shmem_team *team = a->team;

    if (a->kind == ADAPT_TO_ALL && team->timed.state != NULL)
        take_in(team);
    if (!a->timed)
        return;
    if (a->kind == ADAPT_TO_ALL)
        note(a);
    else
        team->timed_to_root =
            (struct team_timed){a->state, a->bytes, a->way, {a->came_ns, clock_ns()}};
}
