/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text.c - the arrival profile as text: tables whose columns are separated by two spaces
 * or more, at most 100 columns wide except for names of call sites.
 */
#include "config.h"

#include <string.h>
#include <time.h>

#include "tools/oshprof/oshprof.h"

#define NS_MS 1e6
#define NS_US 1e3
#define NS_S  1e9

enum { TEXT = 64, LATEST = 3, PERCENT = 100 };

static const char *text_bytes_text(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t i = 0;

    for (; bytes >= 1024 && i < sizeof units / sizeof units[0] - 1; i++)
        bytes /= 1024;
    snprintf(text, size, "%g %s", bytes, units[i]);
    return text;
}

const char *profile_date_text(int64_t date, char *text, size_t size)
{
    time_t t = (time_t)date;
    struct tm tm;

    if (localtime_r(&t, &tm) == NULL || strftime(text, size, "%F %T %z", &tm) == 0)
        text[0] = '\0';
    return text;
}

/* ---- the head -------------------------------------------------------------------- */

static void text_write_clocks(FILE *out, const struct profile_join *join)
{
    if (join->header.nnodes == 1)
        fprintf(out, "Clock: one for all PEs.\n");
    else
        fprintf(out, "Clocks of the nodes: aligned to within %.1f us.\n",
                (double)join_clock_error(join) / NS_US);
}

static void text_write_alpha(FILE *out, const char *where,
                             const struct profile_alpha *alpha)
{
    char text[TEXT];

    if (alpha->bytes_max == 0)
        return;
    fprintf(out, "alpha %s, from PE %u to PE %u:\n", where, alpha->first, alpha->last);
    for (int i = 0, n = 0; i < PROFILE_BUCKETS; i++)
        if (alpha->ns[i] > 0)
            fprintf(out, "%s  %s %.2f us", n++ % 5 == 0 && n > 1 ? "\n" : "",
                    text_bytes_text(profile_bucket_bytes(i), text, sizeof text),
                    alpha->ns[i] / NS_US);
    fprintf(out, "\n");
}

static void text_write_alphas(FILE *out, const struct profile_join *join)
{
    if (join->header.npes == 1)
        fprintf(out, "alpha was not measured: there is one PE.\n");
    else if (join->job.bytes_max == 0)
        fprintf(out, "alpha was not measured: no collective was called.\n");
    else if (join->header.nnodes > 1)
        text_write_alpha(out, "between nodes", &join->job);
    text_write_alpha(out, "within a node", &join->node);
    if (join->job.bytes_max > 0)
        fprintf(out, "  (larger messages: proportional to the largest size)\n");
}

static void text_write_head(FILE *out, const struct profile_sum *sum)
{
    const struct profile_join *join = sum->join;
    const struct profile_header *h = &join->header;
    double span = (double)(h->end - join->begin), inside = 0.0;
    char date[TEXT];

    for (uint32_t pe = 0; pe < h->npes; pe++)
        inside += (double)join->routine_ns[pe] / h->npes;
    fprintf(out, "Arrival profile of %s: %u PE%s on %u node%s, %.6f s\n",
            place_base(h->program), h->npes, h->npes == 1 ? "" : "s", h->nnodes,
            h->nnodes == 1 ? "" : "s", span / NS_S);
    fprintf(out, "Started %s on %s: %s\n", profile_date_text(h->date, date, sizeof date),
            h->host, h->command);
    fprintf(out, "Calls: %llu of collectives; %.6f s of a PE in them (%.1f %%)\n",
            (unsigned long long)sum->all.calls, inside / NS_S, PERCENT * inside / span);
    if (sum->incomplete > 0)
        fprintf(
            out,
            "Left out: %llu calls of which not all PEs have a record.  A PE keeps its "
            "first\n%llu calls; %llu had no space.\n",
            (unsigned long long)sum->incomplete, (unsigned long long)h->records_max,
            (unsigned long long)join->lost);
    text_write_clocks(out, join);
    fprintf(out,
            "\n"
            "Omega: time between the first and the last arrival.  D: mean distance of "
            "the arrivals\nfrom their mean.  Factors: worst = Omega / alpha, average = "
            "D / alpha; alpha: time of one\nmessage of the size that a PE "
            "contributes, within a node for PEs of one node.\n");
    text_write_alphas(out, join);
}

/* ---- tables ---------------------------------------------------------------------- */

struct column {
    const char *title;
    int width; /* less than 0: to the left */
};

/* `value` in `width` columns, with up to `decimals` digits after the point: large values
 * have fewer. */
static const char *text_number(char text[TEXT], double value, int width, int decimals)
{
    while (snprintf(text, TEXT, "%*.*f", width, decimals, value) > width && decimals > 0)
        decimals--;
    return text;
}

#define NUMBER(value, width, decimals)                                                   \
    text_number((char[TEXT]){""}, value, width, decimals)

static void text_head(FILE *out, const char *title, const struct column *c, size_t n)
{
    fprintf(out, "\n== %s ==\n", title);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%*s", i > 0 ? "  " : "", c[i].width, c[i].title);
    fprintf(out, "\n");
}

#define HEAD(out, title, columns)                                                        \
    text_head(out, title, columns, sizeof(columns) / sizeof *(columns))

static void text_write_class(FILE *out, const char *name, const char *where,
                             const struct profile_group *g, bool node)
{
    uint64_t n = g->calls;
    const struct profile_mean *omega = node ? &g->node_omega : &g->omega;
    const struct profile_mean *worst = node ? &g->node_worst : &g->worst;

    if (n == 0)
        return;
    fprintf(out, "%-12s  %-7s  %8llu  %s  %s  %s  %s  %s  %s\n", name, where,
            (unsigned long long)n, NUMBER(profile_mean(omega, n) / NS_US, 10, 2),
            NUMBER(omega->max / NS_US, 10, 2),
            NUMBER(profile_mean(node ? &g->node_spread : &g->spread, n) / NS_US, 10, 2),
            NUMBER(profile_mean(worst, n), 9, 2), NUMBER(worst->max, 9, 2),
            NUMBER(profile_mean(node ? &g->node_average : &g->average, n), 9, 2));
}

static void text_write_classes(FILE *out, const struct profile_sum *sum)
{
    static const struct column columns[] = {
        {"class", -12}, {"PEs of", -7}, {"calls", 8}, {"Omega us", 10}, {"max", 10},
        {"D us", 10},   {"worst", 9},   {"max", 9},   {"average", 9}};

    HEAD(out, "size classes", columns);
    for (int i = 0; i <= PROFILE_CLASSES; i++) {
        const struct profile_group *g = i < PROFILE_CLASSES ? &sum->class[i] : &sum->all;
        const char *name = i < PROFILE_CLASSES ? profile_class_name[i] : "all";
        text_write_class(out, name, "the job", g, false);
        if (sum->join->header.nnodes > 1)
            text_write_class(out, name, "a node", g, true);
    }
}

static void text_write_group(FILE *out, size_t site, const char *routine, double bytes,
                             const struct profile_group *g)
{
    char size[TEXT];

    if (g->calls == 0)
        return;
    fprintf(out, "%4zu  %-26s  %8s  %7llu  %s  %s  %s  %s  %s\n", site + 1, routine,
            text_bytes_text(bytes, size, sizeof size), (unsigned long long)g->calls,
            NUMBER(g->time.sum / NS_MS, 7, 2),
            NUMBER(profile_mean(&g->omega, g->calls) / NS_US, 8, 1),
            NUMBER(g->omega.max / NS_US, 8, 1),
            NUMBER(profile_mean(&g->worst, g->calls), 8, 2),
            NUMBER(profile_mean(&g->average, g->calls), 8, 2));
}

static void text_write_sites(FILE *out, const struct profile_sum *sum)
{
    static const struct column columns[] = {
        {"site", 4},     {"routine", -26}, {"up to", 8}, {"calls", 7},  {"time ms", 7},
        {"Omega us", 8}, {"max", 8},       {"worst", 8}, {"average", 8}};

    HEAD(out, "calls by site and size (time: sum of a PE's calls, mean over the PEs)",
         columns);
    for (size_t i = 0; i < sum->join->sites; i++)
        for (int k = 0; k < PROFILE_BUCKETS; k++)
            text_write_group(out, i, sum->join->site[i].routine, profile_bucket_bytes(k),
                             profile_group_at(sum, i, k));
}

/* ---- late PEs -------------------------------------------------------------------- */

/* The PE that arrived last most often after `before` (-1: of all PEs), equal counts in
 * the order of the PEs; -1: there is none. */
static int text_next_latest(const struct profile_late *late, int npes, int before)
{
    int best = -1;

    for (int pe = 0; pe < npes; pe++) {
        bool later = before < 0 || late[pe].last < late[before].last ||
                     (late[pe].last == late[before].last && pe > before);
        if (later && late[pe].last > 0 && (best < 0 || late[pe].last > late[best].last))
            best = pe;
    }
    return best;
}

static void text_write_latest(FILE *out, const struct profile_sum *sum)
{
    static const struct column columns[] = {
        {"site", 4},  {"routine", -26}, {"PE", 5},        {"calls", 10},
        {"last", 10}, {"percent", 7},   {"behind us", 11}};
    const struct profile_join *join = sum->join;
    int npes = (int)join->header.npes;

    HEAD(out, "PEs that arrive last most often (three per site), and their delay",
         columns);
    for (size_t i = 0; i < join->sites; i++) {
        const struct profile_late *late = sum->late + i * (size_t)npes;
        int pe = -1;
        for (int k = 0; k < LATEST && (pe = text_next_latest(late, npes, pe)) >= 0; k++)
            fprintf(out, "%4zu  %-26s  %5d  %10llu  %10llu  %7.1f  %s\n", i + 1,
                    join->site[i].routine, pe, (unsigned long long)late[pe].calls,
                    (unsigned long long)late[pe].last,
                    PERCENT * (double)late[pe].last / (double)late[pe].calls,
                    NUMBER(late[pe].behind / (double)late[pe].calls / NS_US, 11, 2));
    }
}

/* ---- call sites and teams -------------------------------------------------------- */

static void text_write_places(FILE *out, const struct profile_sum *sum)
{
    static const struct column columns[] = {
        {"site", 4}, {"routine", -26}, {"called by", 0}};

    HEAD(out, "call sites", columns);
    for (size_t i = 0; i < sum->join->sites; i++)
        fprintf(out, "%4zu  %-26s  %s\n", i + 1, sum->join->site[i].routine,
                sum->join->place[i].text);
}

static void text_write_teams(FILE *out, const struct profile_sum *sum)
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
    text_write_head(out, sum);
    if (sum->join->sites == 0)
        return;
    text_write_places(out, sum);
    text_write_classes(out, sum);
    text_write_sites(out, sum);
    text_write_latest(out, sum);
    text_write_teams(out, sum);
}
