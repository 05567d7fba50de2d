/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_sum.c - PE 0 sums up how far apart the PEs came.  Uses: profile_int,
 * profile_meet.
 *
 * Of one call with arrivals a_i: Omega = max a_i - min a_i; D = mean |a_i - mean a_i|;
 * the worst-case and average-case imbalance factors are those in times of a message of
 * the call's size, Omega / alpha and D / alpha (Faraj, Patarasuk, Yuan 2008).
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/coll/profile_int.h"
#include "pgas/core/pgas.h"

enum { POINTS_MAX = 4000 };

#define KIB  1024.0
#define MIB  (KIB * KIB)
#define NS_S 1e9

const char *const profile_class_name[PROFILE_CLASSES] = {"0-1 KiB", "1 KiB-1 MiB",
                                                         "1-64 MiB", "over 64 MiB"};

/* ---- sizes ----------------------------------------------------------------------- */

int profile_bucket(uint64_t bytes)
{
    int bucket = 1;

    if (bytes == 0)
        return 0;
    while (bucket < PROFILE_BUCKETS - 1 && profile_bucket_bytes(bucket) < (double)bytes)
        bucket++;
    return bucket;
}

double profile_bucket_bytes(int bucket)
{
    return bucket == 0 ? 0.0 : ldexp(1.0, bucket - 1);
}

int profile_class(double bytes)
{
    const double most[] = {KIB, MIB, 64 * MIB}; /* 64 MiB: as in the text of the names */
    int class = 0;

    while (class < PROFILE_CLASSES - 1 && bytes > most[class])
        class ++;
    return class;
}

/* Between sizes that were measured: a line; beyond the largest: in proportion. */
static double alpha_of(const struct profile_alpha *alpha, double bytes)
{
    int top = profile_bucket((uint64_t)bytes), last = profile_bucket(alpha->most);

    if (alpha->most == 0)
        return 0.0;
    if (top > last)
        return alpha->ns[last] * bytes / (double)alpha->most;
    double to = profile_bucket_bytes(top);
    double from = top > 0 ? profile_bucket_bytes(top - 1) : 0.0;
    double part = to > from ? (bytes - from) / (to - from) : 1.0;
    double low = top > 0 && alpha->ns[top - 1] > 0 ? alpha->ns[top - 1] : alpha->ns[top];
    return low + part * (alpha->ns[top] - low);
}

/* ---- one call -------------------------------------------------------------------- */

/* Some PEs of a call: how far apart. */
struct spread {
    double omega, mean_distance;
};

/* The times that PEs came, sorted, and who; of one call. */
struct arrival {
    uint64_t came;
    int pe;
};

static struct spread spread_of(const struct arrival *a, size_t n)
{
    double mean = 0.0, sum = 0.0;

    for (size_t i = 0; i < n; i++)
        mean += (double)(a[i].came - a[0].came) / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += fabs((double)(a[i].came - a[0].came) - mean);
    return (struct spread){(double)(a[n - 1].came - a[0].came), sum / (double)n};
}

static int by_time(const void *a, const void *b)
{
    const struct arrival *first = a, *second = b;

    return (first->came > second->came) - (first->came < second->came);
}

static uint32_t node_of(int pe)
{
    return pgas_self.node_of != NULL ? pgas_self.node_of[pe] : 0;
}

/* The mean over the nodes of the PEs of the call; `some` has room for all of them. */
static struct spread node_spread(const struct arrival *a, size_t n, struct arrival *some)
{
    struct spread sum = {0.0, 0.0};
    int nodes = 0;

    for (uint32_t node = 0; node < pgas_self.nnodes; node++) {
        size_t k = 0;
        for (size_t i = 0; i < n; i++)
            if (node_of(a[i].pe) == node)
                some[k++] = a[i];
        if (k == 0)
            continue;
        struct spread s = spread_of(some, k);
        sum.omega += s.omega;
        sum.mean_distance += s.mean_distance;
        nodes++;
    }
    return (struct spread){sum.omega / nodes, sum.mean_distance / nodes};
}

/* ---- sums ------------------------------------------------------------------------ */

/* What one call adds. */
struct figures {
    double bytes, time, longest, alpha;
    struct spread all, node;
};

static void add(struct profile_mean *mean, double value)
{
    mean->sum += value;
    mean->max = value > mean->max ? value : mean->max;
}

static void add_factor(struct profile_mean *mean, double ns, double alpha)
{
    if (alpha > 0)
        add(mean, ns / alpha);
}

static void add_call(struct profile_group *g, const struct figures *f)
{
    g->calls++;
    g->bytes += f->bytes;
    g->time.sum += f->time;
    g->time.max = f->longest > g->time.max ? f->longest : g->time.max;
    add(&g->omega, f->all.omega);
    add(&g->spread, f->all.mean_distance);
    add(&g->node_omega, f->node.omega);
    add(&g->node_spread, f->node.mean_distance);
    add_factor(&g->worst, f->all.omega, f->alpha);
    add_factor(&g->average, f->all.mean_distance, f->alpha);
    add_factor(&g->node_worst, f->node.omega, f->alpha);
    add_factor(&g->node_average, f->node.mean_distance, f->alpha);
}

static void add_late(struct profile_late *late, const struct arrival *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct profile_late *l = &late[a[i].pe];
        l->calls++;
        l->last += n > 1 && i == n - 1;
        l->behind += (double)(a[i].came - a[0].came);
        l->rank[n > 1 ? i * (PROFILE_RANKS - 1) / (n - 1) : 0]++;
    }
}

/* For the plot: every so many calls of a site in a row make one point. */
static void add_point(struct profile_sum *sum, struct profile_point *open,
                      const struct profile_point *p, uint64_t each)
{
    open->calls++;
    if (p->omega >= open->omega) {
        uint32_t calls = open->calls;
        *open = *p;
        open->calls = calls;
    }
    if (open->calls < each)
        return;
    sum->point[sum->points++] = *open;
    *open = (struct profile_point){.calls = 0};
}

/* Memory of one pass over all calls. */
struct pass {
    struct arrival *arrival, *some;
    struct profile_point *open; /* by site */
    uint64_t each;
};

static void sum_up(struct profile_sum *sum, struct pass *pass,
                   const struct profile_call *call, size_t n, struct figures *f)
{
    const struct arrival *a = pass->arrival;
    size_t site = call->site;
    struct profile_group *g = sum->site_class + site * PROFILE_CLASSES;

    f->bytes = (double)call->bytes;
    f->alpha = alpha_of(&sum->alpha, f->bytes);
    f->all = spread_of(a, n);
    f->node = node_spread(a, n, pass->some);
    add_call(&sum->all, f);
    add_call(&sum->class[profile_class(f->bytes)], f);
    add_call(&g[profile_class(f->bytes)], f);
    add_call(profile_group_at(sum, site, profile_bucket(call->bytes)), f);
    add_late(&sum->late[site * pgas_self.npes], a, n);
    struct profile_point p = {.t = (double)(int64_t)(a[0].came - sum->join->begin) / NS_S,
                              .omega = f->all.omega,
                              .spread = f->all.mean_distance,
                              .worst = f->alpha > 0 ? f->all.omega / f->alpha : 0.0,
                              .site = (uint32_t)site,
                              .last = a[n - 1].pe};
    add_point(sum, &pass->open[site], &p, pass->each);
}

/* Are all PEs of the team known to have made this call? */
static bool complete(const struct profile_joined *t, uint64_t i)
{
    for (size_t k = 0; k < t->team.npes; k++)
        if (t->cell[i * t->team.npes + k].left == 0)
            return false;
    return true;
}

static void sum_call(struct profile_sum *sum, struct pass *pass,
                     const struct profile_joined *t, uint64_t i)
{
    const struct profile_cell *cell = &t->cell[i * t->team.npes];
    size_t n = t->team.npes;
    struct figures f = {.bytes = 0};

    for (size_t k = 0; k < n; k++) {
        double ns = (double)(cell[k].left - cell[k].came);
        pass->arrival[k] = (struct arrival){cell[k].came, t->member[k]};
        f.time += ns / (double)n;
        f.longest = ns > f.longest ? ns : f.longest;
    }
    qsort(pass->arrival, n, sizeof *pass->arrival, by_time);
    sum_up(sum, pass, &t->call[i], n, &f);
}

static void sum_team(struct profile_sum *sum, struct pass *pass,
                     const struct profile_joined *t)
{
    sum->incomplete += t->all - t->calls;
    for (uint64_t i = 0; i < t->calls; i++) {
        if (t->members == t->team.npes && complete(t, i))
            sum_call(sum, pass, t, i);
        else
            sum->incomplete++;
    }
}

/* What remains of the points. */
static void flush_points(struct profile_sum *sum, const struct pass *pass)
{
    for (size_t i = 0; i < sum->join->sites; i++)
        if (pass->open[i].calls > 0)
            sum->point[sum->points++] = pass->open[i];
}

/* ---- together -------------------------------------------------------------------- */

static uint64_t all_calls(const struct profile_join *join)
{
    uint64_t calls = 0;

    for (size_t i = 0; i < join->teams; i++)
        calls += join->team[i].calls;
    return calls;
}

/* The sizes that occur, and those below, between which they are; and where the largest
 * ones of all are judged from. */
static void want(const struct profile_join *join, bool *wanted)
{
    for (size_t i = 0; i < join->teams; i++)
        for (uint64_t k = 0; !join->failed && k < join->team[i].calls; k++) {
            int bucket = profile_bucket(join->team[i].call[k].bytes);
            wanted[bucket] = wanted[bucket > 0 ? bucket - 1 : 0] = true;
            wanted[profile_bucket(PROFILE_SURE)] = true;
            if (bucket > profile_bucket(PROFILE_LARGEST))
                wanted[profile_bucket(PROFILE_LARGEST)] = true;
        }
}

static bool allocate(struct profile_sum *sum, struct pass *pass)
{
    size_t sites = sum->join->sites + 1, npes = pgas_self.npes;
    uint64_t calls = all_calls(sum->join);

    pass->each = calls / POINTS_MAX + 1;
    pass->arrival = malloc(npes * sizeof *pass->arrival);
    pass->some = malloc(npes * sizeof *pass->some);
    pass->open = calloc(sites, sizeof *pass->open);
    sum->group = calloc(sites * PROFILE_BUCKETS, sizeof *sum->group);
    sum->site_class = calloc(sites * PROFILE_CLASSES, sizeof *sum->site_class);
    sum->late = calloc(sites * npes, sizeof *sum->late);
    sum->point = malloc((POINTS_MAX + 1 + sites) * sizeof *sum->point);
    return pass->arrival != NULL && pass->some != NULL && pass->open != NULL &&
           sum->group != NULL && sum->site_class != NULL && sum->late != NULL &&
           sum->point != NULL;
}

static void sum_all(struct profile_sum *sum)
{
    struct pass pass = {.each = 0};

    sum->failed = !allocate(sum, &pass);
    for (size_t i = 0; i < sum->join->teams && !sum->failed; i++)
        sum_team(sum, &pass, &sum->join->team[i]);
    if (!sum->failed)
        flush_points(sum, &pass);
    free(pass.arrival);
    free(pass.some);
    free(pass.open);
}

void profile_sum(const struct profile_join *join, struct profile_sum *sum)
{
    bool wanted[PROFILE_BUCKETS] = {false};

    *sum = (struct profile_sum){.join = join, .nodes = (int)pgas_self.nnodes};
    want(join, wanted);
    profile_measure(wanted, &sum->alpha);
    if (pgas_self.me == 0 && !join->failed)
        sum_all(sum);
}

void profile_sum_free(struct profile_sum *sum)
{
    free(sum->group);
    free(sum->site_class);
    free(sum->late);
    free(sum->point);
}
