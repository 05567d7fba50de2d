/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt.c - see adapt.h.  Uses: core/team, core/clock, board. */
#include "config.h"

#include "pgas/coll/adapt.h"
#include "pgas/coll/board.h"
#include "pgas/core/clock.h"

enum {
    TIMED_EVERY = 16, /* calls */
    TRIED_EVERY = 4,  /* timed calls, of an imbalanced team */
    IMBALANCED = 2,   /* times the work: so much imbalance is worth a try */
    MEMORY = 4,       /* calls over which a mean goes, about */
    BETTER_NUM = 9,   /* less than 9/10 of the other's work is better */
    BETTER_DEN = 10,
    SMALL = 64 << 10, /* bytes of the size classes */
    MEDIUM = 1 << 20,
};

/* What a PE shows of a timed call. */
struct times {
    uint64_t came, left;
};
_Static_assert(sizeof(struct times) <= TEAM_LINE_BYTES, "the times fit a line");

static int class_of(size_t bytes)
{
    return bytes > MEDIUM ? 2 : bytes > SMALL ? 1 : 0;
}

bool adapt_timed(uint32_t call)
{
    return call % TIMED_EVERY == 0;
}

bool adapt_tries(const struct team_adapt *state, uint32_t call)
{
    return adapt_timed(call) && state->imbalanced &&
           call / TIMED_EVERY % TRIED_EVERY == TRIED_EVERY - 1;
}

static uint64_t mean(uint64_t before, uint64_t now)
{
    return before == 0 ? now : before - before / MEMORY + now / MEMORY;
}

void adapt_learn(struct team_adapt *state, uint64_t imbalance_ns, uint64_t work_ns)
{
    uint64_t *work = state->work_ns;

    work[state->was_aware] = mean(work[state->was_aware], work_ns > 0 ? work_ns : 1);
    state->imbalance_ns = mean(state->imbalance_ns, imbalance_ns);
    state->imbalanced = state->imbalance_ns > IMBALANCED * work[state->aware];
    if (!state->imbalanced)
        state->aware = false;
    else if (work[!state->aware] != 0 &&
             work[!state->aware] / BETTER_NUM * BETTER_DEN < work[state->aware])
        state->aware = !state->aware;
}

/* Calls of a class have unlike sizes: what is compared is the time of a KiB. */
static uint64_t per_kib(const struct team_adapt *state, uint64_t ns)
{
    return (ns << 10) / state->bytes;
}

/* All PEs of the team see the times of all. */
static void exchange(struct shmem_team *team, struct team_adapt *state, const char *fn)
{
    struct board b = board_open(team, sizeof(struct times), fn);
    uint64_t first = UINT64_MAX, last = 0, end = 0;

    *(struct times *)board_mine(&b) = (struct times){state->came_ns, state->left_ns};
    board_post(&b);
    for (int i = 0; i < team->npes; i++) {
        const struct times *t = (const struct times *)board_of(&b, i);
        first = t->came < first ? t->came : first;
        last = t->came > last ? t->came : last;
        end = t->left > end ? t->left : end;
    }
    board_close_all(&b);
    adapt_learn(state, per_kib(state, last - first),
                per_kib(state, end > last ? end - last : 0));
}

struct adapt adapt_begin(struct shmem_team *team, enum adapt_kind kind, size_t bytes,
                         const char *fn)
{
    struct team_adapt *state = &team->adapt[kind][class_of(bytes)];
    uint32_t call = state->calls++;
    struct adapt a = {.state = state, .timed = adapt_timed(call)};

    if (call > 0 && adapt_timed(call - 1))
        exchange(team, state, fn);
    a.aware = state->aware != adapt_tries(state, call);
    if (a.timed) {
        state->was_aware = a.aware;
        state->bytes = bytes;
        state->came_ns = clock_ns();
    }
    return a;
}

void adapt_end(struct adapt *a)
{
    if (a->timed)
        a->state->left_ns = clock_ns();
}
