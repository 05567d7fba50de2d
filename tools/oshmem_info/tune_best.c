/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune_best.c - computes ranges of bytes and their best algorithms from measurements.
 * Uses: tune, coll/select.  Used by: tune.c, tune_table.c, tune_pe.c, tests.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "tools/oshmem_info/tune.h"

bool tune_by_bytes(enum select_collective what)
{
    /* PEs contribute different numbers of bytes, or none. */
    return what != SELECT_COLLECT && what != SELECT_BARRIER;
}

bool tune_is_internode(enum select_collective what)
{
    return what >= SELECT_INTERNODE_REDUCE;
}

enum select_collective tune_call_of(enum select_collective what)
{
    static const char prefix[] = "internode_";
    const char *name = select_name(what) + sizeof prefix - 1;
    int call = 0;

    if (!tune_is_internode(what))
        return what;
    if (what == SELECT_INTERNODE_COLLECT)
        return SELECT_FCOLLECT; /* which has blocks of one size */
    while (call < SELECT_ALL && strcmp(select_name((enum select_collective)call), name))
        call++;
    return (enum select_collective)call;
}

/* True if the data of a node, which its leader exchanges, grow with its PEs. */
static bool tune_best_grows(enum select_collective what)
{
    enum select_collective call = tune_call_of(what);

    return call == SELECT_COLLECT || call == SELECT_FCOLLECT || call == SELECT_ALLTOALL;
}

bool tune_usable(enum select_algorithm a, size_t bytes, int pes, int nodes)
{
    const struct select_info *info = select_info(a);

    if (tune_is_internode(info->what) && !info->same)
        return false;
    return bytes <= select_most_bytes(a, pes) &&
           (tune_is_internode(info->what) ? nodes : pes) <= info->pes;
}

const char *tune_range_text(size_t from, size_t to, char text[TUNE_TEXT_MAX])
{
    if (from == to)
        snprintf(text, TUNE_TEXT_MAX, "%zu", from);
    else if (to == SELECT_ANY_BYTES)
        snprintf(text, TUNE_TEXT_MAX, from == 0 ? "*" : "%zu-", from);
    else
        snprintf(text, TUNE_TEXT_MAX, "%zu-%zu", from, to);
    return text;
}

/* Speed-up over the built-in choice. */
static double tune_best_factor(const struct tune_point *p, enum select_algorithm a)
{
    return p->ns[a] > 0 ? p->ns[p->builtin] / p->ns[a] : 0;
}

/* The fastest algorithm that is faster than the built-in choice in most rounds; else the
 * built-in choice. */
static enum select_algorithm tune_best_fastest(const struct tune_point *p)
{
    enum select_algorithm best = p->builtin;

    for (int a = 0; a < SELECT_ALGORITHMS_ALL; a++)
        if (p->sure[a] && tune_best_factor(p, (enum select_algorithm)a) >= TUNE_BETTER &&
            p->ns[a] < p->ns[best])
            best = (enum select_algorithm)a;
    return best;
}

/* The geometric mean of two sizes. */
static size_t tune_best_middle(size_t a, size_t b)
{
    return (size_t)sqrt((double)a * (double)b);
}

/* Adds the point to the range, whose means are still sums. */
static void tune_best_add_point(struct tune_range *r, const struct tune_point *p)
{
    r->factor += log(tune_best_factor(p, r->best));
    r->ns += p->ns[r->best];
    r->points++;
}

static void tune_best_end_sums(struct tune_range *range, int n)
{
    for (int i = 0; i < n; i++) {
        range[i].factor = exp(range[i].factor / range[i].points);
        range[i].ns /= range[i].points;
    }
}

static size_t tune_best_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* End of the range of the i-th point: before the range of the next point, or at the size
 * limit of one of the two compared algorithms. */
static size_t tune_best_end_of(const struct tune_series *s, int i,
                               enum select_algorithm best)
{
    const struct tune_point *p = &s->point[i];
    size_t end =
        i + 1 < s->points ? tune_best_middle(p->bytes, p[1].bytes) : SELECT_ANY_BYTES;

    return tune_best_min(
        end, tune_best_min(select_info(best)->bytes, select_info(p->builtin)->bytes));
}

static int tune_best_ranges_by_bytes(const struct tune_series *s, struct tune_range base,
                                     struct tune_range *range, int space)
{
    size_t from = 0;
    int n = 0;

    for (int i = 0; i < s->points; i++) {
        const struct tune_point *p = &s->point[i];
        enum select_algorithm best = tune_best_fastest(p);
        struct tune_range *last = n > 0 ? &range[n - 1] : NULL;
        if (last == NULL || last->best != best || last->builtin != p->builtin) {
            if (n == space)
                return n;
            last = &range[n++];
            *last = base;
            last->builtin = p->builtin;
            last->best = best;
            last->from = from;
        }
        last->to = tune_best_end_of(s, i, best);
        tune_best_add_point(last, p);
        from = last->to + 1;
    }
    tune_best_end_sums(range, n);
    return n;
}

/* Selects one algorithm for all sizes: the one with the best mean factor, if it was
 * better in most rounds for most sizes. */
static int tune_best_range_of_all(const struct tune_series *s, struct tune_range base,
                                  struct tune_range *range)
{
    double most = log(TUNE_BETTER);

    *range = base;
    range->builtin = range->best = s->point[0].builtin;
    range->to = SELECT_ANY_BYTES;
    for (int a = 0; a < SELECT_ALGORITHMS_ALL; a++) {
        double mean = 0;
        int sure = 0;
        for (int i = 0; i < s->points && s->point[i].ns[a] > 0; i++) {
            mean +=
                log(tune_best_factor(&s->point[i], (enum select_algorithm)a)) / s->points;
            sure += s->point[i].sure[a];
        }
        if (2 * sure > s->points && mean >= most) {
            range->best = (enum select_algorithm)a;
            most = mean;
        }
    }
    for (int i = 0; i < s->points; i++)
        tune_best_add_point(range, &s->point[i]);
    tune_best_end_sums(range, 1);
    return 1;
}

/* The teams to which the results of a collective apply.  What the leaders exchange in a
 * reduction or broadcast does not depend on the number of PEs, so that the job with most
 * PEs stands for all larger teams on as many nodes. */
static void tune_best_set_teams(struct tune_range *r, const struct tune_step *step)
{
    r->pes = step->pes;
    r->nodes = step->nodes;
    r->nodes_from = step->nodes_from;
    r->nodes_to = step->nodes_to;
    r->pes_from = (size_t)step->pes_from;
    r->pes_to = (size_t)step->pes_to;
    if (!tune_is_internode(r->what) || !step->last || tune_best_grows(r->what))
        return;
    r->pes_to = SELECT_ANY_BYTES;
    if (step->pes_from == step->nodes_from) /* no team on the nodes has fewer PEs */
        r->pes_from = 0;
}

int tune_ranges(const struct tune_job *job, struct tune_range range[TUNE_RANGES_MAX])
{
    int n = 0;

    for (int what = 0; what < SELECT_ALL && n < TUNE_RANGES_MAX; what++) {
        struct tune_range base = {.what = (enum select_collective)what};
        const struct tune_series *s = &job->series[what];
        if (s->points == 0)
            continue;
        tune_best_set_teams(&base, &job->step);
        snprintf(base.machine, sizeof base.machine, "%s", job->machine);
        if (tune_by_bytes(base.what))
            n += tune_best_ranges_by_bytes(s, base, range + n, TUNE_RANGES_MAX - n);
        else
            n += tune_best_range_of_all(s, base, range + n);
    }
    return n;
}
