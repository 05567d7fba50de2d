/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adapt.c - see adapt.h.  Uses: core/team, core/clock, mailbox.
 *
 * Invariants.  At the end of its timed call t a PE writes its sample to `seen[t % 2]`.
 * It reads the samples of all PEs at the end of the next non-rooted adaptive call c > t:
 * in c it waited for all PEs, and each of them wrote its sample of t before it entered c.
 * `seen[t % 2]` is overwritten at the end of timed call t + 2, which every PE enters
 * only after it has read the samples of t.
 */
#include "config.h"

#include <string.h>

#include "pgas/coll/select/adapt.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/counter.h"
#include "pgas/threads/atomic.h"

enum {
    /* Measured calls per trial, for large and small data. The first call of a trial is
     * not measured, because the previous candidate determined its arrival order.
     */
    FEW_LARGE = 3,
    FEW_SMALL = ADAPT_TRIES,
    /* Warm-up before the first trial, in trials: first touch of memory. */
    WARM = 2,
    /* Window of the running mean, in calls. */
    MEMORY = 8,
    /* A sample is clipped at this multiple of the mean: a PE may have been preempted. */
    CLIP = 2,
    /* Factor by which the imbalance must change to restart the trials. */
    MUCH = 4,
    /* A candidate is better if it costs less than 15/16 of the other. */
    BETTER_NUM = 15,
    BETTER_DEN = 16,
    /* A candidate that costs p percent more is retried after 3 p times the calls of a
     * trial, so that retrials cost a third of a percent.  The interval is limited to
     * TRY_LEAST..TRY_MOST calls. */
    PERCENT = 100,
    TRY_NUM = 3,
    TRY_LEAST = 256,
    TRY_MOST = 1 << 18,
    /* One of this many calls is timed: small, large, rooted. */
    TIMED_SMALL = 32,
    TIMED_LARGE = 8,
    TIMED_ROOT = 16,
    /* Times are normalised to one KiB. */
    UNIT_SHIFT = 10,
};

static const size_t class_most[ADAPT_CLASSES - 1] = {256, MAILBOX_SLOT_BYTES, 64 << 10,
                                                     1 << 20};
enum { SMALL_CLASSES = 2 };

static int adapt_class_of(size_t bytes)
{
    int c = 0;

    while (c < ADAPT_CLASSES - 1 && bytes > class_most[c])
        c++;
    return c;
}

struct adapt_class *adapt_class(struct shmem_team *team, enum adapt_kind kind,
                                size_t bytes)
{
    return &team->coll->adapt.class[kind][adapt_class_of(bytes)];
}

void adapt_plan(struct adapt_class *state, unsigned candidates, size_t bytes)
{
    bool several = (candidates & (candidates - 1)) != 0;

    *state = (struct adapt_class){
        .calls = counter_start(),
        .candidates = (uint8_t)(several ? candidates : ADAPT_NONE),
        .few = adapt_class_of(bytes) < SMALL_CLASSES ? FEW_SMALL : FEW_LARGE};
}

void adapt_reset(struct shmem_team *team)
{
    struct adapt_state *a = &team->coll->adapt;

    memset(a->class, 0, sizeof a->class);
    a->timed.state = a->timed_to_root.state = NULL;
}

/* ---- candidates ------------------------------------------------------------------ */

static bool adapt_has(const struct adapt_class *s, unsigned candidate)
{
    return (s->candidates >> candidate & 1) != 0;
}

/* Calls per trial, including the first one, which is not measured. */
static unsigned adapt_trial_of(const struct adapt_class *s)
{
    return 1u + s->few;
}

/* The candidate whose trial is in progress or next; -1 = all trials are complete. */
static int adapt_being_tried(const struct adapt_class *s)
{
    for (unsigned w = 0; w < ADAPT_CANDIDATES; w++)
        if (adapt_has(s, w) && s->tries[w] < adapt_trial_of(s))
            return (int)w;
    return -1;
}

/* A candidate other than the current one whose retrial is due; -1 = none. */
static int adapt_due(const struct adapt_class *s, uint64_t call)
{
    for (unsigned w = 0; s->settled != 0 && w < ADAPT_CANDIDATES; w++)
        if (adapt_has(s, w) && w != s->candidate && call >= s->due[w])
            return (int)w;
    return -1;
}

/* The candidate that this call tries; -1 = none. */
static int adapt_to_try(struct adapt_class *s, uint64_t call)
{
    int candidate = adapt_being_tried(s);

    if (candidate < 0 && (candidate = adapt_due(s, call)) >= 0) {
        s->tries[candidate] = s->seen[candidate] = 0;
        s->due[candidate] = call + TRY_LEAST; /* until the sample is read */
    }
    return candidate;
}

unsigned adapt_next(struct adapt_class *s, unsigned timed_every, bool *timed)
{
    const uint64_t call = s->calls++;
    const bool warm = call >= WARM * adapt_trial_of(s);
    const int candidate = warm ? adapt_to_try(s, call) : -1;

    *timed = warm && (candidate >= 0 || call % timed_every == 0);
    if (candidate < 0)
        return s->candidate;
    s->tries[candidate]++;
    return (unsigned)candidate;
}

/* ---- samples --------------------------------------------------------------------- */

static uint64_t adapt_mean(uint64_t before, uint64_t now)
{
    return before + now / MEMORY - before / MEMORY;
}

/* Median; sorts the array. */
static uint64_t adapt_median(uint64_t *value, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        for (unsigned j = i; j > 0 && value[j] < value[j - 1]; j--) {
            uint64_t less = value[j];
            value[j] = value[j - 1];
            value[j - 1] = less;
        }
    return value[n / 2];
}

/* The cost of a candidate is the median of its trial, then a running mean. */
static void adapt_add_work(struct adapt_class *s, unsigned candidate, uint64_t work)
{
    uint64_t *known = &s->work[candidate];

    if (s->seen[candidate] == adapt_trial_of(s)) {
        *known = adapt_mean(*known, work < CLIP * *known ? work : CLIP * *known);
        return;
    }
    if (s->seen[candidate] > 0)
        s->trial[s->seen[candidate] - 1] = work;
    if (++s->seen[candidate] == adapt_trial_of(s))
        *known = adapt_median(s->trial, s->few);
}

/* True if the trials of all candidates are complete and their samples have been read. */
static bool adapt_is_known(const struct adapt_class *s)
{
    for (unsigned w = 0; w < ADAPT_CANDIDATES; w++)
        if (adapt_has(s, w) && s->seen[w] < adapt_trial_of(s))
            return false;
    return true;
}

static void adapt_set_due(struct adapt_class *s, unsigned candidate)
{
    uint64_t best = s->work[s->candidate] + 1, more = s->work[candidate];
    uint64_t wait =
        more > best ? (more - best) * PERCENT * TRY_NUM * adapt_trial_of(s) / best : 0;

    wait = wait < TRY_LEAST ? TRY_LEAST : wait > TRY_MOST ? TRY_MOST : wait;
    s->due[candidate] = s->calls + wait;
}

static unsigned adapt_best_of(const struct adapt_class *s)
{
    unsigned best = s->candidate;

    for (unsigned w = 0; w < ADAPT_CANDIDATES; w++)
        if (adapt_has(s, w) && s->work[w] * BETTER_DEN < s->work[best] * BETTER_NUM)
            best = w;
    return best;
}

/* Select the best candidate after the cost of `candidate` was updated, and set the times
 * of the retrials. */
static void adapt_choose(struct adapt_class *s, unsigned candidate)
{
    const unsigned before = s->candidate;

    s->candidate = (uint8_t)adapt_best_of(s);
    for (unsigned w = 0; w < ADAPT_CANDIDATES; w++)
        if (s->settled == 0 || w == candidate || (w == before && w != s->candidate))
            adapt_set_due(s, w);
}

static void adapt_restart_trials(struct adapt_class *s)
{
    for (unsigned w = 0; w < ADAPT_CANDIDATES; w++)
        s->tries[w] = s->seen[w] = 0;
    s->settled = 0;
}

/* True if imbalance a exceeds both imbalance b and the work by the factor MUCH. */
static bool adapt_much_more(uint64_t a, uint64_t b, uint64_t work)
{
    return a > MUCH * b && a > MUCH * work;
}

void adapt_learn(struct adapt_class *s, unsigned candidate, uint64_t imbalance,
                 uint64_t work)
{
    adapt_add_work(s, candidate, work + 1);
    s->imbalance = s->imbalance == 0 ? imbalance : adapt_mean(s->imbalance, imbalance);
    if (!adapt_is_known(s))
        return;
    adapt_choose(s, candidate);
    if (s->settled == 0)
        s->settled = s->imbalance + 1;
    if (adapt_much_more(s->imbalance, s->settled, s->work[s->candidate]) ||
        adapt_much_more(s->settled, s->imbalance, s->work[s->candidate]))
        adapt_restart_trials(s);
}

/* ---- times of a call -------------------------------------------------------------- */

/* Calls of one size class differ in size, so times are compared per KiB; the fixed cost
 * of a call is taken to be that of one KiB. */
static uint64_t adapt_per_kib(uint64_t ns, size_t bytes)
{
    return (ns << UNIT_SHIFT) / (bytes + ((size_t)1 << UNIT_SHIFT));
}

/* The samples of all PEs: in a mailbox, or in the sync areas. */
struct samples {
    struct shmem_team *team;
    const struct mailbox *mailbox;
};

static struct adapt_times adapt_times_of(const struct samples *n, int i)
{
    if (n->mailbox != NULL)
        return *(const struct adapt_times *)mailbox_of(n->mailbox, i);
    struct adapt_times *t =
        &node_words(n->team, i)->adapt.seen[n->team->coll->adapt.timings % 2];
    return (struct adapt_times){load_relaxed_u64(&t->t_enter),
                                load_relaxed_u64(&t->t_exit)};
}

struct span {
    uint64_t first, last, end; /* first t_enter, last t_enter, last t_exit */
};

static struct span adapt_span_of(const struct samples *n)
{
    struct span s = {.first = UINT64_MAX};

    for (int i = 0; i < n->team->npes; i++) {
        struct adapt_times t = adapt_times_of(n, i);
        s.first = t.t_enter < s.first ? t.t_enter : s.first;
        s.last = t.t_enter > s.last ? t.t_enter : s.last;
        s.end = t.t_exit > s.end ? t.t_exit : s.end;
    }
    s.end = s.end > s.last ? s.end : s.last;
    return s;
}

/* The cost of a call: the mean over the PEs of t_exit - max(t_enter, last - (end -
 * last)). Waiting for the last arriver counts at most as much as the time that the call
 * took after its arrival. So the delay of a PE has little weight, but an algorithm that
 * itself causes skew is charged for it. */
static uint64_t adapt_cost_of(const struct samples *n, const struct span *s)
{
    const uint64_t since = s->last - (s->end - s->last);
    uint64_t sum = 0;

    for (int i = 0; i < n->team->npes; i++) {
        struct adapt_times t = adapt_times_of(n, i);
        uint64_t t_enter = t.t_enter > since ? t.t_enter : since;
        sum += t.t_exit > t_enter ? t.t_exit - t_enter : 0;
    }
    return sum / (uint64_t)n->team->npes;
}

static void adapt_learn_samples(const struct samples *n, struct adapt_sample *t)
{
    struct span s = adapt_span_of(n);

    adapt_learn(t->state, t->candidate, adapt_per_kib(s.last - s.first, t->bytes),
                adapt_per_kib(adapt_cost_of(n, &s), t->bytes));
    t->state = NULL;
}

static void adapt_record(const struct adapt *a, uint64_t exit_ns)
{
    struct shmem_team *team = a->team;
    struct adapt_times *mine =
        &node_words(team, team->me)->adapt.seen[++team->coll->adapt.timings % 2];

    store_relaxed_u64(&mine->t_enter, a->enter_ns);
    store_relaxed_u64(&mine->t_exit, exit_ns);
    team->coll->adapt.timed = (struct adapt_sample){
        .state = a->state, .bytes = a->bytes, .candidate = a->candidate};
}

/* Exchange the samples of a rooted call. */
static void adapt_exchange(struct shmem_team *team, const char *fn)
{
    struct mailbox b = mailbox_open(team, sizeof(struct adapt_times), fn);

    *(struct adapt_times *)mailbox_own(&b) = team->coll->adapt.timed_to_root.own;
    mailbox_post(&b);
    adapt_learn_samples(&(struct samples){team, &b}, &team->coll->adapt.timed_to_root);
    mailbox_close_all(&b);
}
_Static_assert(sizeof(struct adapt_times) <= MAILBOX_LINE_BYTES, "the times fit a line");

static unsigned adapt_timed_every(const struct adapt *a)
{
    if (a->kind == ADAPT_TO_ROOT)
        return TIMED_ROOT;
    return adapt_class_of(a->bytes) < SMALL_CLASSES ? TIMED_SMALL : TIMED_LARGE;
}

struct adapt adapt_begin(struct shmem_team *team, enum adapt_kind kind, size_t bytes,
                         struct adapt_class *state, const char *fn)
{
    struct adapt a = {.team = team, .state = state, .kind = kind, .bytes = bytes};

    if (kind == ADAPT_TO_ROOT && team->coll->adapt.timed_to_root.state != NULL)
        adapt_exchange(team, fn);
    a.candidate = adapt_next(state, adapt_timed_every(&a), &a.timed);
    if (a.timed)
        a.enter_ns = clock_ns();
    return a;
}

void adapt_end(struct adapt *a)
{
    struct shmem_team *team = a->team;
    const uint64_t exit_ns = a->timed ? clock_ns() : 0; /* excludes the work below */

    if (a->kind != ADAPT_TO_ROOT && team->coll->adapt.timed.state != NULL)
        adapt_learn_samples(&(struct samples){.team = team},
                            &team->coll->adapt.timed); /* sample of an earlier call */
    if (!a->timed)
        return;
    if (a->kind != ADAPT_TO_ROOT)
        adapt_record(a, exit_ns);
    else
        team->coll->adapt.timed_to_root = (struct adapt_sample){
            a->state, a->bytes, a->candidate, {a->enter_ns, exit_ns}};
}
