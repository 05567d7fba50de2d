/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - see lines.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/pgas.h"
#include "tests/sim/job_int.h"
#include "tests/sim/lines.h"

enum { PES_MOST = 1024, BUCKETS = 1 << 16, LINE = 64 };

struct line {
    struct line *next;
    uintptr_t number;
    uint64_t free_ns; /* when the last transfer ends */
    uint64_t transfers;
    int copies;
    bool has[PES_MOST]; /* PEs with a valid copy */
};

bool lines_recorded;
static bool counted;
static struct line *bucket[BUCKETS];
static struct lines_count count;
static int per_cache;

static struct line *lines_find(uintptr_t number)
{
    struct line **at = &bucket[number % BUCKETS], *line = *at;

    while (line != NULL && line->number != number)
        line = line->next;
    if (line != NULL)
        return line;
    line = job_alloc(1, sizeof *line);
    line->number = number;
    line->next = *at;
    return *at = line;
}

/* Number of copies in the cache of the PE. */
static int lines_copies_near(const struct line *line, int pe)
{
    int first = pe - pgas_self.local_rank % per_cache, n = 0;

    for (int i = first; i < first + per_cache && i < PES_MOST; i++)
        n += line->has[i];
    return n;
}

/* Waits for the line and for a transfer of it, while other PEs have the copies. */
static void lines_transfer(struct line *line, int pe, bool write)
{
    while (line->copies > line->has[pe] && sim_now_ns() < line->free_ns)
        sim_sleep_ns(line->free_ns - sim_now_ns());
    int near = lines_copies_near(line, pe);
    bool remote = write ? near < line->copies : near == 0;
    uint64_t ns = remote ? LINES_REMOTE_NS : LINES_LOCAL_NS;

    if (line->copies == line->has[pe])
        return;
    line->free_ns = sim_now_ns() + ns;
    line->transfers++;
    count.most = line->transfers > count.most ? line->transfers : count.most;
    count.remote += remote;
    count.local += !remote;
    sim_sleep_ns(ns);
}

void lines_access(const volatile void *word, _Bool write)
{
    if (pgas_thread.instance == NULL)
        return;
    struct line *line = lines_find((uintptr_t)word / LINE);
    int pe = pgas_self.me;

    if (counted && (write || !line->has[pe]))
        lines_transfer(line, pe, write);
    if (write) {
        memset(line->has, 0, sizeof line->has);
        line->copies = 0;
    }
    line->copies += !line->has[pe];
    line->has[pe] = true;
}

void lines_record(int pes_per_cache)
{
    per_cache = pes_per_cache;
    for (int i = 0; i < BUCKETS; i++)
        for (struct line *next; bucket[i] != NULL; bucket[i] = next) {
            next = bucket[i]->next;
            free(bucket[i]);
        }
    lines_recorded = true;
}

void lines_start(void)
{
    count = (struct lines_count){0};
    counted = true;
}

void lines_stop(void)
{
    counted = false;
}

struct lines_count lines_counts(void)
{
    return count;
}
