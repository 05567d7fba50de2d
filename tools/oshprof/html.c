/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * html.c - writes the arrival profile as one web page: page.html with its line @DATA@
 * replaced by the data in JSON.
 */
#include "config.h"

#include <string.h>

#include "tools/oshprof/oshprof.h"

#define DATA_MARK "@DATA@"
#define NS_MS     1e6
#define NS_US     1e3
#define NS_S      1e9
enum { TEXT = 64 };
#define PRINTS ' ' /* the first character that needs no escape */

/* Writes a JSON string inside HTML: "<" is escaped too. */
static void html_string(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < PRINTS || c == '"' || c == '\\' || c == '<')
            fprintf(out, "\\u%04x", c);
        else
            putc(c, out);
    }
    putc('"', out);
}

static void html_separate(FILE *out, bool *first)
{
    fputs(*first ? "\n" : ",\n", out);
    *first = false;
}

/* ---- parts ----------------------------------------------------------------------- */

static void html_write_alpha(FILE *out, const char *name,
                             const struct profile_alpha *alpha)
{
    bool first = true;

    fprintf(out, "\"%s\": [", name);
    for (int i = 0; i < PROFILE_BUCKETS; i++) {
        if (alpha->ns[i] <= 0)
            continue;
        html_separate(out, &first);
        fprintf(out, "[%.0f, %.3f]", profile_bucket_bytes(i), alpha->ns[i] / NS_US);
    }
    fprintf(out, "],\n");
}

static void html_write_texts(FILE *out, const struct profile_header *h)
{
    char date[TEXT];

    fprintf(out, "\"program\": ");
    html_string(out, place_base(h->program));
    fprintf(out, ", \"command\": ");
    html_string(out, h->command);
    fprintf(out, ", \"host\": ");
    html_string(out, h->host);
    fprintf(out, ", \"date\": ");
    html_string(out, profile_date_text(h->date, date, sizeof date));
    fprintf(out, ",\n");
}

static void html_write_job(FILE *out, const struct profile_sum *sum)
{
    const struct profile_join *join = sum->join;
    const struct profile_header *h = &join->header;
    double inside = 0.0;

    for (uint32_t pe = 0; pe < h->npes; pe++)
        inside += (double)join->routine_ns[pe] / h->npes;
    fprintf(out,
            "\"pes\": %u, \"nodes\": %u, \"seconds\": %.6f, \"inside\": %.6f, "
            "\"calls\": %llu, \"incomplete\": %llu, \"clock_error_us\": %.3f,\n",
            h->npes, h->nnodes, (double)(h->end - join->begin) / NS_S, inside / NS_S,
            (unsigned long long)sum->all.calls, (unsigned long long)sum->incomplete,
            (double)join_clock_error(join) / NS_US);
    html_write_texts(out, h);
    html_write_alpha(out, "alpha", &join->job);
    html_write_alpha(out, "node_alpha", &join->node);
}

static void html_write_sites(FILE *out, const struct profile_join *join)
{
    bool first = true;

    fprintf(out, "\"sites\": [");
    for (size_t i = 0; i < join->sites; i++) {
        const struct profile_site *s = &join->site[i];
        html_separate(out, &first);
        fprintf(out, "{\"routine\": ");
        html_string(out, s->routine);
        fprintf(out, ", \"place\": ");
        html_string(out, join->place[i].text);
        fprintf(out, ", \"module\": ");
        html_string(out, s->module);
        fprintf(out, ", \"address\": \"0x%llx\"}", (unsigned long long)s->address);
    }
    fprintf(out, "],\n");
}

/* The figures of a group without the brackets around them. */
static void html_write_figures(FILE *out, const struct profile_group *g)
{
    fprintf(out,
            "\"calls\": %llu, \"time_ms\": %.6f, \"time_max_ms\": %.6f, "
            "\"omega_us\": %.3f, \"omega_max_us\": %.3f, \"d_us\": %.3f, "
            "\"d_max_us\": %.3f, ",
            (unsigned long long)g->calls, g->time.sum / NS_MS, g->time.max / NS_MS,
            profile_mean(&g->omega, g->calls) / NS_US, g->omega.max / NS_US,
            profile_mean(&g->spread, g->calls) / NS_US, g->spread.max / NS_US);
    fprintf(out,
            "\"worst\": %.3f, \"worst_max\": %.3f, \"average\": %.3f, "
            "\"average_max\": %.3f, \"node_worst\": %.3f, \"node_average\": %.3f",
            profile_mean(&g->worst, g->calls), g->worst.max,
            profile_mean(&g->average, g->calls), g->average.max,
            profile_mean(&g->node_worst, g->calls),
            profile_mean(&g->node_average, g->calls));
}

static void html_write_classes(FILE *out, const struct profile_sum *sum)
{
    bool first = true;

    fprintf(out, "\"classes\": [");
    for (int i = 0; i < PROFILE_CLASSES; i++) {
        html_separate(out, &first);
        fprintf(out, "{\"name\": \"%s\", ", profile_class_name[i]);
        html_write_figures(out, &sum->class[i]);
        fprintf(out, "}");
    }
    fprintf(out, "],\n");
}

/* Groups by power of two; the page sums them for the classes. */
static void html_write_groups(FILE *out, const struct profile_sum *sum)
{
    bool first = true;

    fprintf(out, "\"groups\": [");
    for (size_t i = 0; i < sum->join->sites; i++)
        for (int k = 0; k < PROFILE_BUCKETS; k++) {
            const struct profile_group *g = profile_group_at(sum, i, k);
            if (g->calls == 0)
                continue;
            html_separate(out, &first);
            fprintf(out, "{\"site\": %zu, \"bytes\": %.0f, \"class\": %d, ", i,
                    profile_bucket_bytes(k), profile_class(profile_bucket_bytes(k)));
            html_write_figures(out, g);
            fprintf(out, "}");
        }
    fprintf(out, "],\n");
}

static void html_write_ranks(FILE *out, const struct profile_late *late)
{
    for (int i = 0; i < PROFILE_RANKS; i++)
        fprintf(out, "%s%u", i > 0 ? ", " : "", late->rank[i]);
}

/* Arrivals by site and PE, without PEs that made no calls at the site. */
static void html_write_late(FILE *out, const struct profile_sum *sum)
{
    bool first = true;

    fprintf(out, "\"late\": [");
    for (size_t i = 0; i < sum->join->sites; i++)
        for (uint32_t pe = 0; pe < sum->join->header.npes; pe++) {
            const struct profile_late *l = &sum->late[i * sum->join->header.npes + pe];
            if (l->calls == 0)
                continue;
            html_separate(out, &first);
            fprintf(out,
                    "{\"site\": %zu, \"pe\": %u, \"calls\": %llu, \"last\": %llu, "
                    "\"behind_us\": %.3f, \"ranks\": [",
                    i, pe, (unsigned long long)l->calls, (unsigned long long)l->last,
                    l->behind / (double)l->calls / NS_US);
            html_write_ranks(out, l);
            fprintf(out, "]}");
        }
    fprintf(out, "],\n");
}

static void html_write_points(FILE *out, const struct profile_sum *sum)
{
    bool first = true;

    fprintf(out, "\"points\": [");
    for (size_t i = 0; i < sum->points; i++) {
        const struct profile_point *p = &sum->point[i];
        html_separate(out, &first);
        fprintf(out, "[%.6f, %u, %.3f, %.3f, %.3f, %d, %u]", p->t, p->site,
                p->omega / NS_US, p->spread / NS_US, p->worst, p->last, p->calls);
    }
    fprintf(out, "]\n");
}

static void html_write_data(FILE *out, const struct profile_sum *sum)
{
    fprintf(out, "{");
    html_write_job(out, sum);
    html_write_classes(out, sum);
    html_write_sites(out, sum->join);
    html_write_groups(out, sum);
    html_write_late(out, sum);
    html_write_points(out, sum);
    fprintf(out, "}\n");
}

void profile_html(FILE *out, const struct profile_sum *sum)
{
    for (size_t i = 0; profile_page[i] != NULL; i++) {
        if (strcmp(profile_page[i], DATA_MARK "\n") == 0)
            html_write_data(out, sum);
        else
            fputs(profile_page[i], out);
    }
}
