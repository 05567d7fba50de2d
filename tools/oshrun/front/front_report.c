/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front_report.c - see front_int.h: what the PEs are doing, for SIGUSR1 and --timeout.
 *
 * Uses daemons.h, ranks.c.
 *
 * The daemons send texts, each with the PEs that it is about.  Equal texts of several
 * nodes are printed once, with all their PEs.
 */
#include "config.h"

#include "tools/oshrun/front/front_int.h"
#include "tools/oshrun/front/options.h"
#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/ranks.h"
#include "tools/oshrun/util/mem.h"

#include <stdlib.h>
#include <string.h>

#define TEXTS_FIRST 64

struct front_report_text {
    enum daemon_line line;
    uint32_t *rank; /* ascending once merged */
    uint32_t count;
    char *text;
};

void front_report_request(struct front *f)
{
    f->report.again = f->report.running;
    if (f->report.running)
        return;
    f->report.running = true;
    daemons_report(f->daemons, f->o->verbose);
}

void front_report_add(struct front *f, enum daemon_line line, const uint32_t *rank,
                      uint32_t count, const char *text)
{
    struct front_report *r = &f->report;
    struct front_report_text t = {.line = line, .count = count};
    if (line == DAEMON_LINE_BINDING) {
        front_say(f, "%s", text);
        return;
    }
    if (r->count == r->capacity) {
        r->capacity = r->capacity > 0 ? 2 * r->capacity : TEXTS_FIRST;
        r->text = mem_resize(r->text, r->capacity, sizeof *r->text);
    }
    t.rank = mem_calloc((size_t)count + 1, sizeof *t.rank);
    t.text = mem_strdup(text);
    if (count > 0)
        memcpy(t.rank, rank, count * sizeof *t.rank);
    r->text[r->count++] = t;
}

static int front_report_by_text(const void *a, const void *b)
{
    const struct front_report_text *x = a, *y = b;
    return x->line != y->line ? (int)x->line - (int)y->line : strcmp(x->text, y->text);
}

static int front_report_by_rank(const void *a, const void *b)
{
    const struct front_report_text *x = a, *y = b;
    if (x->line != y->line)
        return (int)x->line - (int)y->line;
    return x->rank[0] < y->rank[0] ? -1 : x->rank[0] > y->rank[0];
}

/* Moves the PEs of `from` to `to`. */
static void front_report_join(struct front_report_text *to,
                              struct front_report_text *from)
{
    to->rank =
        mem_resize(to->rank, (size_t)to->count + from->count + 1, sizeof *to->rank);
    memcpy(to->rank + to->count, from->rank, from->count * sizeof *to->rank);
    to->count += from->count;
    free(from->rank);
    free(from->text);
}

/* Leaves one entry for each text, in the order of their first PEs. */
static void front_report_merge(struct front_report *r)
{
    size_t n = 0;
    if (r->count == 0)
        return;
    qsort(r->text, r->count, sizeof *r->text, front_report_by_text);
    for (size_t i = 1; i < r->count; i++)
        if (front_report_by_text(&r->text[n], &r->text[i]) == 0)
            front_report_join(&r->text[n], &r->text[i]);
        else
            r->text[++n] = r->text[i];
    r->count = n + 1;
    for (size_t i = 0; i < r->count; i++)
        ranks_sort(r->text[i].rank, r->text[i].count);
    qsort(r->text, r->count, sizeof *r->text, front_report_by_rank);
}

static void front_report_print_stack(struct front *f, const char *ranks, char *text)
{
    char *line;
    front_say(f, "stack of PE %s:", ranks);
    while ((line = strsep(&text, "\n")) != NULL)
        if (*line != '\0')
            front_say(f, "%s", line);
}

static void front_report_print(struct front *f)
{
    const struct front_report *r = &f->report;
    char ranks[RANKS_TEXT];
    for (size_t i = 0; i < r->count; i++) {
        const struct front_report_text *t = &r->text[i];
        ranks_text(t->rank, t->count, ranks);
        switch (t->line) {
        case DAEMON_LINE_PLACE:
            front_say(f, "PE %s %s", ranks, t->text);
            break;
        case DAEMON_LINE_STATE:
            if (i == 0 || r->text[i - 1].line != DAEMON_LINE_STATE)
                front_say(
                    f, "   PE node              pid  state, sleeps in      last stage");
            front_say(f, "%s", t->text);
            break;
        case DAEMON_LINE_STACK:
            front_report_print_stack(f, ranks, t->text);
            break;
        default:
            front_say(f, "%s", t->text);
        }
    }
}

void front_report_free(struct front_report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->text[i].rank);
        free(r->text[i].text);
    }
    free(r->text);
    *r = (struct front_report){0};
}

bool front_report_end(struct front *f)
{
    bool again = f->report.again;
    front_report_merge(&f->report);
    front_report_print(f);
    front_report_free(&f->report);
    if (again)
        front_report_request(f);
    return !again;
}
