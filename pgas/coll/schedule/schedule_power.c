/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schedule_power.c - schedules of reductions in rounds of doubling distance: halving,
 * doubling and the binomial tree.
 */
#include "config.h"

#include "pgas/coll/schedule/schedule_int.h"

/* ---- powers of two ----------------------------------------------------------------- */

/*
 * The 2^levels leaders that take part in the exchange are numbered.  The first 2 * extra
 * leaders form pairs; in each pair the odd leader first passes its operand to the even
 * one (FOLD: SEND, or RECV and REDUCE; tag 0), which takes part, and receives the result
 * from it at the end (one SEND or RECV).
 */
enum { FOLD = 2 };

struct power {
    int extra, levels;
    int number; /* -1: this leader is folded into its neighbor */
};

static struct power power_of(const struct schedule *s)
{
    struct power p = {.levels = schedule_log2(s->nodes)};

    p.levels -= 1 << p.levels > s->nodes;
    p.extra = s->nodes - (1 << p.levels);
    p.number = s->rank >= 2 * p.extra ? s->rank - p.extra
               : s->rank % 2 == 0     ? s->rank / 2
                                      : -1;
    return p;
}

static int power_rank_of(const struct power *p, int number)
{
    return number < p->extra ? 2 * number : number + p->extra;
}

static int power_partner(const struct power *p, int bit)
{
    return power_rank_of(p, p->number ^ (1 << bit));
}

static struct schedule_region power_all(const struct schedule *s)
{
    return schedule_data(0, s->units);
}

static void power_fold(const struct schedule *s, const struct power *p, int part,
                       struct schedule_step *step)
{
    struct schedule_region inbox = schedule_inbox_at(0, s->units);

    if (s->rank >= 2 * p->extra)
        return;
    if (p->number < 0 && part == 0)
        schedule_send(step, s->rank - 1, 0, power_all(s), inbox);
    else if (p->number >= 0 && part == 0)
        schedule_recv(step, s->rank + 1, 0, inbox);
    else if (p->number >= 0)
        schedule_reduce(step, power_all(s), inbox, false);
}

static void power_unfold(const struct schedule *s, const struct power *p, int tag,
                         struct schedule_step *step)
{
    if (s->rank >= 2 * p->extra)
        return;
    if (p->number < 0)
        schedule_recv(step, s->rank - 1, tag, power_all(s));
    else
        schedule_send(step, s->rank + 1, tag, power_all(s), power_all(s));
}

/* ---- halving --------------------------------------------------------------------- */

/* SEND, RECV, REDUCE at each level down; SEND, RECV at each level up. */
enum { HALVING_DOWN = 3, HALVING_UP = 2 };

/* At a level this leader is responsible for units first .. end - 1; `at` is the inbox
 * offset at which the partner's contribution to the next level arrives. */
struct halving {
    size_t first, end, at, middle;
    bool lower; /* this leader keeps the lower half */
};

static struct halving halving_level(const struct schedule *s, const struct power *p,
                                    int level)
{
    struct halving h = {.end = s->units, .at = schedule_operand_part(s)};
    size_t most = s->units;

    for (int k = 0;; k++) {
        h.middle = h.first + (h.end - h.first + 1) / 2;
        h.lower = (p->number & (1 << (p->levels - 1 - k))) == 0;
        if (k == level)
            return h;
        *(h.lower ? &h.end : &h.first) = h.middle;
        most = (most + 1) / 2;
        h.at += most;
    }
}

static struct schedule_region halving_half(const struct halving *h, bool lower)
{
    return lower ? schedule_data(h->first, h->middle - h->first)
                 : schedule_data(h->middle, h->end - h->middle);
}

static void halving_down(const struct schedule *s, const struct power *p, int level,
                         int part, struct schedule_step *step)
{
    struct halving h = halving_level(s, p, level);
    int partner = power_partner(p, p->levels - 1 - level), tag = 1 + level;
    struct schedule_region out = halving_half(&h, !h.lower);
    struct schedule_region kept = halving_half(&h, h.lower);

    if (part == 0)
        schedule_send(step, partner, tag, out, schedule_inbox_at(h.at, out.count));
    else if (part == 1)
        schedule_recv(step, partner, tag, schedule_inbox_at(h.at, kept.count));
    else
        schedule_reduce(step, kept, schedule_inbox_at(h.at, kept.count), false);
}

static void halving_up(const struct schedule *s, const struct power *p, int level,
                       bool send, struct schedule_step *step)
{
    struct halving h = halving_level(s, p, level);
    int partner = power_partner(p, p->levels - 1 - level), tag = 1 + p->levels + level;
    struct schedule_region half = halving_half(&h, h.lower == send);

    if (send)
        schedule_send(step, partner, tag, half, half);
    else
        schedule_recv(step, partner, tag, half);
}

bool schedule_reduce_halving_step(const struct schedule *s, int i,
                                  struct schedule_step *step)
{
    struct power p = power_of(s);
    int down = p.number >= 0 ? HALVING_DOWN * p.levels : 0;
    int up = p.number >= 0 ? HALVING_UP * p.levels : 0;

    if (i < FOLD) {
        power_fold(s, &p, i, step);
    } else if ((i -= FOLD) < down) {
        halving_down(s, &p, i / HALVING_DOWN, i % HALVING_DOWN, step);
    } else if ((i -= down) < up) {
        halving_up(s, &p, p.levels - 1 - i / HALVING_UP, i % HALVING_UP == 0, step);
    } else {
        power_unfold(s, &p, 1 + 2 * p.levels, step);
        return i == up;
    }
    return true;
}

/* ---- doubling -------------------------------------------------------------------- */

enum { DOUBLING_LEVEL = 3 }; /* SEND, RECV, REDUCE */

/* Both partners combine the contribution of the lower rank first, for equal bits. */
static void doubling_level(const struct schedule *s, const struct power *p, int level,
                           int part, struct schedule_step *step)
{
    int partner = power_partner(p, p->levels - 1 - level), tag = 1 + level;
    struct schedule_region inbox =
        schedule_inbox_at((size_t)tag * schedule_operand_part(s), s->units);

    if (part == 0) {
        schedule_send(step, partner, tag, power_all(s), inbox);
        step->copied = true; /* the operand changes in the REDUCE of this level */
    } else if (part == 1) {
        schedule_recv(step, partner, tag, inbox);
    } else {
        schedule_reduce(step, power_all(s), inbox, partner < s->rank);
    }
}

bool schedule_reduce_doubling_step(const struct schedule *s, int i,
                                   struct schedule_step *step)
{
    struct power p = power_of(s);
    int levels = p.number >= 0 ? DOUBLING_LEVEL * p.levels : 0;

    if (i < FOLD) {
        power_fold(s, &p, i, step);
    } else if ((i -= FOLD) < levels) {
        doubling_level(s, &p, i / DOUBLING_LEVEL, i % DOUBLING_LEVEL, step);
    } else {
        power_unfold(s, &p, 1 + p.levels, step);
        return i == levels;
    }
    return true;
}

/* ---- tree ------------------------------------------------------------------------ */

enum { TREE_LEVEL = 2 }; /* SEND, or RECV and REDUCE */

static void tree_level(const struct schedule *s, int level, int part,
                       struct schedule_step *step)
{
    int bit = 1 << level;
    struct schedule_region inbox =
        schedule_inbox_at((size_t)level * schedule_operand_part(s), s->units);

    if ((s->rank & (bit - 1)) != 0)
        return; /* this leader has sent its partial result */
    if ((s->rank & bit) != 0 && part == 0)
        schedule_send(step, s->rank - bit, level, power_all(s), inbox);
    if ((s->rank & bit) != 0 || s->nodes - s->rank <= bit)
        return;
    if (part == 0)
        schedule_recv(step, s->rank + bit, level, inbox);
    else
        schedule_reduce(step, power_all(s), inbox, false);
}

bool schedule_reduce_tree_step(const struct schedule *s, int i,
                               struct schedule_step *step)
{
    if (i >= TREE_LEVEL * schedule_log2(s->nodes))
        return false;
    tree_level(s, i / TREE_LEVEL, i % TREE_LEVEL, step);
    return true;
}
