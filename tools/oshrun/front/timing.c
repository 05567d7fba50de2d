/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timing.c - time taken by the stages of start and end: the tables of oshrun -v.
 *
 * Uses daemon.h (stages), pgas/core/boot/node.h.  Used by front.c.
 */
#include "config.h"

#include "tools/oshrun/util/loop.h"
#include "tools/oshrun/front/timing.h"
#include "tools/oshrun/util/mem.h"

#include <stdlib.h>

#define X(name, text) text,
static const char *const daemon_text[DAEMON_STAGES] = {DAEMON_STAGE_TABLE(X)};
static const char *const pe_text[NODE_STAGES] = {NODE_STAGE_TABLE(X)};
#undef X

void timing_open(struct timing *t, uint32_t npes, uint64_t start_ns)
{
    *t = (struct timing){.start_ns = start_ns, .npes = npes};
    for (int i = 0; i < NODE_STAGES; i++) {
        t->pe_ns[i] = mem_calloc(npes, sizeof *t->pe_ns[i]);
        t->took_ns[i] = mem_calloc(npes, sizeof *t->took_ns[i]);
    }
}

void timing_free(struct timing *t)
{
    for (int i = 0; i < NODE_STAGES; i++) {
        free(t->pe_ns[i]);
        free(t->took_ns[i]);
    }
}

void timing_stage(struct timing *t, enum daemon_stage stage)
{
    t->daemon_ns[stage] = loop_now_ns();
}

/* Time of the latest stage before `stage`; table order need not be time order. */
static uint64_t timing_stage_before(const struct daemon_end *end, int stage)
{
    uint64_t last = end->stage_ns[NODE_STAGE_FORK];

    for (int i = 0; i < NODE_STAGES; i++) {
        uint64_t at = end->stage_ns[i];

        if (at > last &&
            (at < end->stage_ns[stage] || (at == end->stage_ns[stage] && i < stage)))
            last = at;
    }
    return last;
}

void timing_pe(struct timing *t, const struct daemon_end *end)
{
    uint64_t fork_ns = end->stage_ns[NODE_STAGE_FORK];
    for (int i = NODE_STAGE_FORK + 1; i < NODE_STAGES; i++) {
        if (end->stage_ns[i] < fork_ns || t->count[i] == t->npes)
            continue; /* never reached */
        t->took_ns[i][t->count[i]] = end->stage_ns[i] - timing_stage_before(end, i);
        t->pe_ns[i][t->count[i]++] = end->stage_ns[i] - fork_ns;
    }
}

static int timing_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double timing_ms(uint64_t ns)
{
    return (double)ns / NS_PER_MS;
}

void timing_print(const struct timing *t, FILE *f)
{
    uint64_t last = t->start_ns;
    fprintf(f, "%-34s %9s %9s\n", "launcher, in ms", "at", "took");
    for (int i = 0; i < DAEMON_STAGES; i++) {
        uint64_t at = t->daemon_ns[i];
        if (at == 0)
            continue;
        fprintf(f, "%-34s %9.1f %9.1f\n", daemon_text[i], timing_ms(at - t->start_ns),
                at > last ? timing_ms(at - last) : 0.0);
        last = at > last ? at : last;
    }
    fprintf(f, "%-34s %9s %9s %9s %9s %6s\n", "PEs, in ms after their fork", "min",
            "median", "max", "took", "PEs");
    for (int i = NODE_STAGE_FORK + 1; i < NODE_STAGES; i++) {
        uint32_t n = t->count[i];
        if (n == 0)
            continue;
        qsort(t->pe_ns[i], n, sizeof *t->pe_ns[i], timing_compare);
        qsort(t->took_ns[i], n, sizeof *t->took_ns[i], timing_compare);
        fprintf(f, "%-34s %9.1f %9.1f %9.1f %9.1f %6u\n", pe_text[i],
                timing_ms(t->pe_ns[i][0]), timing_ms(t->pe_ns[i][n / 2]),
                timing_ms(t->pe_ns[i][n - 1]), timing_ms(t->took_ns[i][n / 2]), n);
    }
}
