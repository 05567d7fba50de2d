/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sum.c - statistics of the arrivals.
 *
 * For one call with arrivals a_i: Omega = max a_i - min a_i; D = mean |a_i - mean a|; the
 * worst-case and average-case imbalance factors are Omega / alpha and D / alpha, where
 * alpha is the time of one message of the call's size (Faraj, Patarasuk, Yuan 2008).
 * Between PEs of one node that is the time of a message within a node.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/oshprof/oshprof.h"

enum { POINTS_MAX = 4000 };

#define KIB  1024.0
#define MIB  (KIB * KIB)
#define NS_S 1e9

const char *const profile_class_name[PROFILE_CLASSES] = {"0-1 KiB", "1 KiB-1 MiB",
                                                         "1-64 MiB", "over 64 MiB"};

/* ---- sizes ----------------------------------------------------------------------- */

int profile_class(double bytes)
{
    const double most[] = {KIB, MIB, 64 * MIB}; /* 64 MiB: as in the text of the names */
    int class = 0;

    while (class < PROFILE_CLASSES - 1 && bytes > most[class])
        class ++;
    return class;
}

/* Linear between measured sizes, proportional to the size beyond the largest one. */
static double sum_alpha_of(const struct profile_alpha *alpha, double bytes)
{
    int top = profile_bucket((uint64_t)bytes), last = profile_bucket(alpha->bytes_max);

    if (alpha->bytes_max == 0)
        return 0.0;
    if (top > last)
        return alpha->ns[last] * bytes / (double)alpha->bytes_max;
    double to = profile_bucket_bytes(top);
    double from = top > 0 ? profile_bucket_bytes(top - 1) : 0.0;
    double part = to > from ? (bytes - from) / (to - from) : 1.0;
    double low = top > 0 && alpha->ns[top - 1] > 0 ? alpha->ns[top - 1] : alpha->ns[top];
    return low + part * (alpha->ns[top] - low);
}

/* ---- one call -------------------------------------------------------------------- */

/* Imbalance of a set of PEs in one call: last - first arrival, and mean |a_i - mean|. */
struct spread {
    double omega, mean_distance;
};

/* One arrival; the array of a call is sorted by time. */
struct arrival {
    uint64_t enter;
    int pe;
};

static struct spread sum_spread_of(const struct arrival *a, size_t n)
{
    double mean = 0.0, sum = 0.0;

    for (size_t i = 0; i < n; i++)
        mean += (double)(a[i].enter - a[0].enter) / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += fabs((double)(a[i].enter - a[0].enter) - mean);
    return (struct spread){(double)(a[n - 1].enter - a[0].enter), sum / (double)n};
}

static int sum_by_time(const void *a, const void *b)
{
    const struct arrival *first = a, *second = b;

    return (first->enter > second->enter) - (first->enter < second->enter);
}

static const struct profile_join *job;

static uint32_t sum_node_of(int pe)
{
    return job->node_of[pe];
}

static bool sum_on_one_node(const struct arrival *a, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (sum_node_of(a[i].pe) != sum_node_of(a[0].pe))
            return false;
    return true;
}

/* The mean over the nodes of the PEs of the call; `some` has space for all of them. */
static struct spread sum_node_spread(const struct arrival *a, size_t n,
                                     struct arrival *some)
{
    struct spread sum = {0.0, 0.0};
    int nodes = 0;

    for (uint32_t node = 0; node < job->header.nnodes; node++) {
        size_t k = 0;
        for (size_t i = 0; i < n; i++)
            if (sum_node_of(a[i].pe) == node)
                some[k++] = a[i];
        if (k == 0)
            continue;
        struct spread s = sum_spread_of(some, k);
        sum.omega += s.omega;
        sum.mean_distance += s.mean_distance;
        nodes++;
    }
    return (struct spread){sum.omega / nodes, sum.mean_distance / nodes};
}

/* ---- sums ------------------------------------------------------------------------ */

/* The contribution of one call. */
struct figures {
    double bytes, time, longest;
    double alpha, node_alpha; /* message times for these PEs, and within a node */
    struct spread all, node;
};

static void sum_add(struct profile_mean *mean, double value)
{
    mean->sum += value;
    mean->max = value > mean->max ? value : mean->max;
}

static void sum_add_factor(struct profile_mean *mean, double ns, double alpha)
{
    if (alpha > 0)
        sum_add(mean, ns / alpha);
}

static void sum_add_call(struct profile_group *g, const struct figures *f)
{
    g->calls++;
    g->bytes += f->bytes;
    g->time.sum += f->time;
    g->time.max = f->longest > g->time.max ? f->longest : g->time.max;
    sum_add(&g->omega, f->all.omega);
    sum_add(&g->spread, f->all.mean_distance);
    sum_add(&g->node_omega, f->node.omega);
    sum_add(&g->node_spread, f->node.mean_distance);
    sum_add_factor(&g->worst, f->all.omega, f->alpha);
    sum_add_factor(&g->average, f->all.mean_distance, f->alpha);
    sum_add_factor(&g->node_worst, f->node.omega, f->node_alpha);
    sum_add_factor(&g->node_average, f->node.mean_distance, f->node_alpha);
}

static void sum_add_late(struct profile_late *late, const struct arrival *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct profile_late *l = &late[a[i].pe];
        l->calls++;
        l->last += n > 1 && i == n - 1;
        l->behind += (double)(a[i].enter - a[0].enter);
        l->rank[n > 1 ? i * (PROFILE_RANKS - 1) / (n - 1) : 0]++;
    }
}

/* For the plot: a fixed number of consecutive calls of a site makes one point. */
static void sum_add_point(struct profile_sum *sum, struct profile_point *open,
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

    f->bytes = (double)call->bytes;
    f->node_alpha = sum_alpha_of(&job->node, f->bytes);
    f->alpha = sum_on_one_node(a, n) ? f->node_alpha : sum_alpha_of(&job->job, f->bytes);
    f->all = sum_spread_of(a, n);
    f->node = sum_node_spread(a, n, pass->some);
    sum_add_call(&sum->all, f);
    sum_add_call(&sum->class[profile_class(f->bytes)], f);
    sum_add_call(profile_group_at(sum, site, profile_bucket(call->bytes)), f);
    sum_add_late(&sum->late[site * job->header.npes], a, n);
    struct profile_point p = {.t =
                                  (double)(int64_t)(a[0].enter - sum->join->begin) / NS_S,
                              .omega = f->all.omega,
                              .spread = f->all.mean_distance,
                              .worst = f->alpha > 0 ? f->all.omega / f->alpha : 0.0,
                              .site = (uint32_t)site,
                              .last = a[n - 1].pe};
    sum_add_point(sum, &pass->open[site], &p, pass->each);
}

/* True if all PEs of the team have a record of this call. */
static bool sum_complete(const struct profile_joined *t, uint64_t i)
{
    for (size_t k = 0; k < t->team.npes; k++)
        if (t->cell[i * t->team.npes + k].exit == 0)
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
        double ns = (double)(cell[k].exit - cell[k].enter);
        pass->arrival[k] = (struct arrival){cell[k].enter, t->member[k]};
        f.time += ns / (double)n;
        f.longest = ns > f.longest ? ns : f.longest;
    }
    qsort(pass->arrival, n, sizeof *pass->arrival, sum_by_time);
    sum_up(sum, pass, &t->call[i], n, &f);
}

static void sum_team(struct profile_sum *sum, struct pass *pass,
                     const struct profile_joined *t)
{
    sum->incomplete += t->all - t->calls;
    for (uint64_t i = 0; i < t->calls; i++) {
        if (t->members == t->team.npes && sum_complete(t, i))
            sum_call(sum, pass, t, i);
        else
            sum->incomplete++;
    }
}

/* Adds the last point of each site. */
static void sum_flush_points(struct profile_sum *sum, const struct pass *pass)
{
    for (size_t i = 0; i < sum->join->sites; i++)
        if (pass->open[i].calls > 0)
            sum->point[sum->points++] = pass->open[i];
}

/* ---- all calls ------------------------------------------------------------------- */

static uint64_t sum_all_calls(const struct profile_join *join)
{
    uint64_t calls = 0;

    for (size_t i = 0; i < join->teams; i++)
        calls += join->team[i].calls;
    return calls;
}

static bool sum_allocate(struct profile_sum *sum, struct pass *pass)
{
    size_t sites = sum->join->sites + 1, npes = job->header.npes;
    uint64_t calls = sum_all_calls(sum->join);

    pass->each = calls / POINTS_MAX + 1;
    pass->arrival = malloc(npes * sizeof *pass->arrival);
    pass->some = malloc(npes * sizeof *pass->some);
    pass->open = calloc(sites, sizeof *pass->open);
    sum->group = calloc(sites * PROFILE_BUCKETS, sizeof *sum->group);
    sum->late = calloc(sites * npes, sizeof *sum->late);
    sum->point = malloc((POINTS_MAX + 1 + sites) * sizeof *sum->point);
    return pass->arrival != NULL && pass->some != NULL && pass->open != NULL &&
           sum->group != NULL && sum->late != NULL && sum->point != NULL;
}

bool profile_sum(const struct profile_join *join, struct profile_sum *sum)
{
    struct pass pass = {.each = 0};

    job = join;
    *sum = (struct profile_sum){.join = join};
    bool good = sum_allocate(sum, &pass);
    for (size_t i = 0; i < join->teams && good; i++)
        sum_team(sum, &pass, &join->team[i]);
    if (good)
        sum_flush_points(sum, &pass);
    free(pass.arrival);
    free(pass.some);
    free(pass.open);
    return good;
}

void profile_sum_free(struct profile_sum *sum)
{
    free(sum->group);
    free(sum->late);
    free(sum->point);
}
