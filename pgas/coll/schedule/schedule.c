/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.c - see schedule.h: the table of the algorithms, and slices. */
#include "config.h"

#include "pgas/coll/schedule/schedule_int.h"
#include "pgas/core/base/pgas_assert.h"

struct algorithm {
    const char *text;
    bool (*step)(const struct schedule *s, int i, struct schedule_step *step);
    int (*tags)(const struct schedule *s);
    size_t (*inbox)(const struct schedule *s);
};

#define X(NAME, function, text)                                                          \
    [SCHEDULE_##NAME] = {text, schedule_##function##_step, schedule_##function##_tags,   \
                         schedule_##function##_inbox},
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

/* ---- slices ---------------------------------------------------------------------- */

size_t schedule_slice_most(const struct schedule *s)
{
    size_t nodes = (size_t)s->nodes, each = s->units / nodes + (s->units % nodes != 0);

    return (each + s->line - 1) / s->line * s->line;
}

struct schedule_region schedule_slice(const struct schedule *s, int i)
{
    size_t each = schedule_slice_most(s), first = each * (size_t)i;

    if (first > s->units)
        first = s->units;
    return schedule_data(first, s->units - first < each ? s->units - first : each);
}
