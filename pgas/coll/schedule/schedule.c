/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.c - see schedule.h: the table of the algorithms, their bounds, segments. */
#include "config.h"

#include "pgas/coll/schedule/schedule_int.h"
#include "pgas/core/base/pgas_assert.h"

/* ---- bounds of the tags ---------------------------------------------------------- */

static int schedule_tags_none(const struct schedule *s)
{
    (void)s;
    return 0;
}

static int schedule_tags_nodes(const struct schedule *s)
{
    return s->nodes;
}

static int schedule_tags_twice_nodes(const struct schedule *s)
{
    return 2 * s->nodes;
}

static int schedule_tags_log2(const struct schedule *s)
{
    return schedule_log2(s->nodes);
}

static int schedule_tags_log2_one(const struct schedule *s)
{
    return 1 + schedule_log2(s->nodes);
}

static int schedule_tags_twice_log2(const struct schedule *s)
{
    return 2 * schedule_log2(s->nodes);
}

/* Rounds with a fold and an unfold. */
static int schedule_tags_log2_fold(const struct schedule *s)
{
    return 2 + schedule_log2(s->nodes);
}

static int schedule_tags_twice_log2_fold(const struct schedule *s)
{
    return 2 + 2 * schedule_log2(s->nodes);
}

static int schedule_tags_segments(const struct schedule *s)
{
    return schedule_segments(s);
}

static int schedule_tags_twice_segments(const struct schedule *s)
{
    return 2 * schedule_segments(s);
}

/* ---- bounds of the inbox --------------------------------------------------------- */

static size_t schedule_inbox_none(const struct schedule *s)
{
    (void)s;
    return 0;
}

static size_t schedule_inbox_operand(const struct schedule *s)
{
    return s->units;
}

static size_t schedule_inbox_segment(const struct schedule *s)
{
    return s->segment;
}

static size_t schedule_inbox_nodes(const struct schedule *s)
{
    return (size_t)s->nodes;
}

/* One of each rank. */
static size_t schedule_inbox_segments(const struct schedule *s)
{
    return (size_t)s->nodes * s->segment;
}

/* A whole operand of each rank. */
static size_t schedule_inbox_operands(const struct schedule *s)
{
    return (size_t)s->nodes * schedule_operand_part(s);
}

static size_t schedule_inbox_slices(const struct schedule *s)
{
    return (size_t)s->nodes * schedule_slice_part(s);
}

/* A whole operand for the fold; then n/2 + n/4 + .., each rounded up. */
static size_t schedule_inbox_halves(const struct schedule *s)
{
    return schedule_operand_part(s) + s->units + (size_t)schedule_log2(s->nodes);
}

/* A whole operand for each round. */
static size_t schedule_inbox_rounds(const struct schedule *s)
{
    return (size_t)schedule_log2(s->nodes) * schedule_operand_part(s);
}

/* One operand for each round, and one for the fold. */
static size_t schedule_inbox_levels(const struct schedule *s)
{
    return schedule_inbox_rounds(s) + schedule_operand_part(s);
}

static size_t schedule_inbox_bruck(const struct schedule *s)
{
    return (size_t)schedule_log2(s->nodes) * schedule_bruck_part(s);
}

/* ---- the table ------------------------------------------------------------------- */

struct algorithm {
    const char *text;
    bool (*step)(const struct schedule *s, int i, struct schedule_step *step);
    int (*tags)(const struct schedule *s);
    size_t (*inbox)(const struct schedule *s);
};

#define X(NAME, function, tags, inbox, text)                                             \
    [SCHEDULE_##NAME] = {text, schedule_##function##_step, schedule_tags_##tags,         \
                         schedule_inbox_##inbox},
static const struct algorithm algorithms[SCHEDULES] = {SCHEDULE_ALL(X)};
#undef X

bool schedule_step(const struct schedule *s, int i, struct schedule_step *step)
{
    PGAS_ASSERT(s->rank >= 0 && s->rank < s->nodes && i >= 0);
    *step = (struct schedule_step){.kind = STEP_NONE};
    return s->nodes > 1 && algorithms[s->name].step(s, i, step);
}

int schedule_tags(const struct schedule *s)
{
    return algorithms[s->name].tags(s);
}

size_t schedule_inbox(const struct schedule *s)
{
    return algorithms[s->name].inbox(s);
}

const char *schedule_text(enum schedule_name name)
{
    return algorithms[name].text;
}

/* ---- segments -------------------------------------------------------------------- */

int schedule_segments(const struct schedule *s)
{
    return (int)(s->units / s->segment + (s->units % s->segment != 0));
}

struct schedule_region schedule_segment(const struct schedule *s, int i)
{
    size_t first = (size_t)i * s->segment, remaining = s->units - first;

    return schedule_data(first, remaining < s->segment ? remaining : s->segment);
}
