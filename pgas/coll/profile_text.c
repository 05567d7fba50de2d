/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_text.c - the arrival profile as text: tables whose columns are separated by two
 * spaces or more.  Uses: profile_int.
 */
#include "config.h"

#include <string.h>

#include "pgas/coll/profile_int.h"
#include "pgas/core/pgas.h"

#define NS_MS 1e6
#define NS_US 1e3
#define NS_S  1e9

enum { TEXT = 32, LATEST = 3, PERCENT = 100 };

const char *profile_bytes_text(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t i = 0;

    for (; bytes >= 1024 && i < sizeof units / sizeof units[0] - 1; i++)
        bytes /= 1024;
    snprintf(text, size, "%g %s", bytes, units[i]);
    return text;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* ---- the head -------------------------------------------------------------------- */

static void write_clocks(FILE *out)
{
    if (pgas_self.nnodes == 1)
        fprintf(out, "Clock: one for all PEs.\n");
    else
        fprintf(out, "Clocks of the nodes: aligned to within %.1f us.\n",
                (double)profile_clock_error() / NS_US);
}

static void write_alpha(FILE *out, const struct profile_alpha *alpha)
{
    char text[TEXT];

    if (alpha->most == 0) {
        fprintf(out, "alpha was not measured: there is one PE.\n");
        return;
    }
    fprintf(out, "alpha, from PE 0 to PE %u:", pgas_self.npes - 1);
    for (int i = 0; i < PROFILE_BUCKETS; i++)
        if (alpha->ns[i] > 0)
            fprintf(out, "  %s %.2f us",
                    profile_bytes_text(profile_bucket_bytes(i), text, sizeof text),
                    alpha->ns[i] / NS_US);
    fprintf(out, "\n  (larger messages: in proportion to the largest)\n");
}

static void write_head(FILE *out, const struct profile_sum *sum)
{
    const struct profile_join *join = sum->join;
    double span = (double)(join->end - join->begin), inside = 0.0;

    for (uint32_t pe = 0; pe < pgas_self.npes; pe++)
        inside += (double)join->routine_ns[pe] / pgas_self.npes;
    fprintf(
        out,
        "Arrival profile: %u PEs on %d %s, %.6f s from shmem_init to shmem_finalize\n",
        pgas_self.npes, sum->nodes, sum->nodes == 1 ? "node" : "nodes", span / NS_S);
    fprintf(out, "Calls: %llu of collectives; %.6f s of a PE in them (%.1f %%)\n",
            (unsigned long long)sum->all.calls, inside / NS_S, PERCENT * inside / span);
    if (sum->incomplete > 0)
        fprintf(out,
                "Left out: %llu calls of which not all PEs have a record. A PE keeps its "
                "first %zu calls; %llu had no room.\n",
                (unsigned long long)sum->incomplete, join->room,
                (unsigned long long)join->left_out);
    write_clocks(out);
    fprintf(out, "\n"
                 "Omega: last arrival minus first arrival.  D: mean distance of the "
                 "arrivals from their mean.\n"
                 "Factors: worst case = Omega / alpha, average case = D / alpha, with\n"
                 "alpha(size) = time of one message of the size that a PE gives.\n");
    write_alpha(out, &sum->alpha);
}

/* ---- tables ---------------------------------------------------------------------- */

struct column {
    const char *title;
    int width; /* less than 0: to the left */
};

static void head(FILE *out, const char *title, const struct column *c, size_t n)
{
    fprintf(out, "\n== %s ==\n", title);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%*s", i > 0 ? "  " : "", c[i].width, c[i].title);
    fprintf(out, "\n");
}

#define HEAD(out, title, columns)                                                        \
    head(out, title, columns, sizeof(columns) / sizeof *(columns))
#define DISTANCES                                                                        \
    {"Omega us", 11}, {"max", 11}, {"D us", 11},                                         \
    {                                                                                    \
        "max", 11                                                                        \
    }
#define FACTORS                                                                          \
    {"worst", 10}, {"max", 10}, {"average", 10},                                         \
    {                                                                                    \
        "max", 10                                                                        \
    }
#define GROUP {"calls", 9}, {"time ms", 11}, {"max ms", 11}, DISTANCES, FACTORS

static void write_factors(FILE *out, const struct profile_mean *worst,
                          const struct profile_mean *average, uint64_t calls)
{
    fprintf(out, "  %10.2f  %10.2f  %10.2f  %10.2f", profile_mean(worst, calls),
            worst->max, profile_mean(average, calls), average->max);
}

static void write_distances(FILE *out, const struct profile_mean *omega,
                            const struct profile_mean *spread, uint64_t calls)
{
    fprintf(out, "  %11.2f  %11.2f  %11.2f  %11.2f", profile_mean(omega, calls) / NS_US,
            omega->max / NS_US, profile_mean(spread, calls) / NS_US, spread->max / NS_US);
}

static void write_class(FILE *out, const char *name, const char *where,
                        const struct profile_group *g, bool node)
{
    if (g->calls == 0)
        return;
    fprintf(out, "%-12s  %-8s  %9llu", name, where, (unsigned long long)g->calls);
    write_distances(out, node ? &g->node_omega : &g->omega,
                    node ? &g->node_spread : &g->spread, g->calls);
    write_factors(out, node ? &g->node_worst : &g->worst,
                  node ? &g->node_average : &g->average, g->calls);
    fprintf(out, "\n");
}

static void write_classes(FILE *out, const struct profile_sum *sum)
{
    static const struct column columns[] = {
        {"class", -12}, {"PEs of", -8}, {"calls", 9}, DISTANCES, FACTORS};

    HEAD(out, "size classes", columns);
    for (int i = 0; i <= PROFILE_CLASSES; i++) {
        const struct profile_group *g = i < PROFILE_CLASSES ? &sum->class[i] : &sum->all;
        const char *name = i < PROFILE_CLASSES ? profile_class_name[i] : "all";
        write_class(out, name, "the job", g, false);
        if (sum->nodes > 1)
            write_class(out, name, "a node", g, true);
    }
}

static void write_group(FILE *out, size_t site, const char *routine, const char *size,
                        const struct profile_group *g)
{
    if (g->calls == 0)
        return;
    fprintf(out, "%4zu  %-32s  %-12s  %9llu  %11.3f  %11.3f", site + 1, routine, size,
            (unsigned long long)g->calls, g->time.sum / NS_MS, g->time.max / NS_MS);
    write_distances(out, &g->omega, &g->spread, g->calls);
    write_factors(out, &g->worst, &g->average, g->calls);
    fprintf(out, "\n");
}

static void write_sites(FILE *out, const struct profile_sum *sum)
{
    static const struct column columns[] = {
        {"site", 4}, {"routine", -32}, {"class", -12}, GROUP};

    HEAD(out, "call sites by size class (time: sum of a PE's calls, mean over the PEs)",
         columns);
    for (size_t i = 0; i < sum->join->sites; i++)
        for (int k = 0; k < PROFILE_CLASSES; k++)
            write_group(out, i, sum->join->site[i].routine, profile_class_name[k],
                        &sum->site_class[i * PROFILE_CLASSES + (size_t)k]);
}

static void write_details(FILE *out, const struct profile_sum *sum)
{
    static const struct column columns[] = {
        {"site", 4}, {"routine", -32}, {"up to", -12}, GROUP};
    char size[TEXT];

    HEAD(out, "call sites by size, powers of two", columns);
    for (size_t i = 0; i < sum->join->sites; i++)
        for (int k = 0; k < PROFILE_BUCKETS; k++)
            write_group(out, i, sum->join->site[i].routine,
                        profile_bytes_text(profile_bucket_bytes(k), size, sizeof size),
                        profile_group_at(sum, i, k));
}

/* ---- who is late ----------------------------------------------------------------- */

/* The PE that came last most often after `before` (-1: of all), counts that are equal in
 * the order of the PEs; -1: none. */
static int next_latest(const struct profile_late *late, int before)
{
    int best = -1;

    for (int pe = 0; pe < (int)pgas_self.npes; pe++) {
        bool later = before < 0 || late[pe].last < late[before].last ||
                     (late[pe].last == late[before].last && pe > before);
        if (later && late[pe].last > 0 && (best < 0 || late[pe].last > late[best].last))
            best = pe;
    }
    return best;
}

static void write_latest(FILE *out, const struct profile_sum *sum)
{
    static const struct column columns[] = {
        {"site", 4},  {"routine", -32}, {"PE", 5},        {"calls", 10},
        {"last", 10}, {"percent", 7},   {"behind us", 11}};
    const struct profile_join *join = sum->join;

    HEAD(out,
         "who comes last (the three PEs of a site that do so most often), and how far "
         "behind the first",
         columns);
    for (size_t i = 0; i < join->sites; i++) {
        const struct profile_late *late = sum->late + i * pgas_self.npes;
        int pe = -1;
        for (int k = 0; k < LATEST && (pe = next_latest(late, pe)) >= 0; k++)
            fprintf(out, "%4zu  %-32s  %5d  %10llu  %10llu  %7.1f  %11.2f\n", i + 1,
                    join->site[i].routine, pe, (unsigned long long)late[pe].calls,
                    (unsigned long long)late[pe].last,
                    PERCENT * (double)late[pe].last / (double)late[pe].calls,
                    late[pe].behind / (double)late[pe].calls / NS_US);
    }
}

/* ---- where ----------------------------------------------------------------------- */

static void write_where(FILE *out, const struct profile_sum *sum)
{
    static const struct column columns[] = {
        {"site", 4}, {"routine", -32}, {"function", -32}, {"gives the line, with -g", 0}};

    HEAD(out, "where the sites are", columns);
    for (size_t i = 0; i < sum->join->sites; i++) {
        const struct profile_site *s = &sum->join->site[i];
        fprintf(out, "%4zu  %-32s  %-32s  addr2line -e %s 0x%llx\n", i + 1, s->routine,
                s->symbol[0] != '\0' ? s->symbol : base_name(s->module), s->module,
                (unsigned long long)s->address);
    }
}

static void write_teams(FILE *out, const struct profile_sum *sum)
{
    static const struct column columns[] = {{"team", -32}, {"PEs", 7}, {"calls", 10}};

    HEAD(out, "teams and active sets", columns);
    for (size_t i = 0; i < sum->join->teams; i++) {
        const struct profile_joined *t = &sum->join->team[i];
        fprintf(out, "%-32s  %7u  %10llu\n", t->team.name, t->team.npes,
                (unsigned long long)t->calls);
    }
}

void profile_text(FILE *out, const struct profile_sum *sum)
{
    write_head(out, sum);
    write_classes(out, sum);
    write_sites(out, sum);
    write_latest(out, sum);
    write_where(out, sum);
    write_teams(out, sum);
    write_details(out, sum);
}
