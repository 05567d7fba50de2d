/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_bench.c - measures the matching engines (compat/mpi/match): the time of a post
 * and a matching arrival behind N entries that do not match, in several patterns of keys.
 * The engines of a cell take turns.  Prints a line per figure: pattern, N, engine, ns,
 * and false positives per search.  Uses: compat/mpi/match.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compat/mpi/match/match.h"

enum {
    DEPTH_MAX = 8192,
    REQUEST_BYTES = 192, /* in which an entry is embedded */
    ROUNDS = 9,
    CONTESTANTS_MAX = 24,
};

/* ---- patterns ------------------------------------------------------------------- */

/* Key i of a queue; key N is the one that matches in the end.  searched: what a probe or
 * receive asks for in the queue of messages. */
struct pattern {
    const char *name;
    struct match_key (*key)(int i, int n);
    bool unexpected;               /* the N entries are messages */
    bool aged;                     /* entries are scattered in memory */
    bool holes;                    /* of 2 N entries, every other one was removed */
    int32_t source_wild, tag_wild; /* not 0: the search in the queue of messages has it */
};

static struct match_key key_tags(int i, int n)
{
    (void)n;
    return (struct match_key){0, 1, 1000 + i};
}

static struct match_key key_sources(int i, int n)
{
    (void)n;
    return (struct match_key){0, i, 7};
}

/* Bits of a tag hold two fields. */
static struct match_key key_fields(int i, int n)
{
    (void)n;
    return (struct match_key){0, 1, 3 + i * 256};
}

/* Neighbours in three dimensions, each with several tags */
static struct match_key key_halo(int i, int n)
{
    (void)n;
    return (struct match_key){0, 4096 + (i % 27 - 13) * 37, i / 27};
}

/* One receive in 16 has a wildcard; the matching one has none. */
static struct match_key key_any_source(int i, int n)
{
    struct match_key k = {0, 1 + i % 64, 1000 + i};

    if (i < n && i % 16 == 0)
        k.source = MATCH_ANY_SOURCE;
    return k;
}

static struct match_key key_any_tag(int i, int n)
{
    struct match_key k = {0, 1 + i, 1000 + i % 64};

    if (i < n && i % 16 == 0)
        k.tag = MATCH_ANY_TAG;
    return k;
}

static struct match_key key_all_any_source(int i, int n)
{
    return (struct match_key){0, i < n ? MATCH_ANY_SOURCE : 3, 1000 + i};
}

/* Neighbour i of 26 of a rank in the middle of a grid of 16 x 16 x 16 */
static int32_t code_neighbour(int i)
{
    const int n = i < 13 ? i : i + 1;

    return 2184 + (n / 9 - 1) * 256 + (n / 3 % 3 - 1) * 16 + n % 3 - 1;
}

/* HPCG and MiniFE: one tag, 26 neighbours */
static struct match_key key_hpcg(int i, int n)
{
    return (struct match_key){0, i < n ? code_neighbour(i % 26) : 0, 99};
}

/* LULESH: three tags, 1024 apart */
static struct match_key key_lulesh(int i, int n)
{
    return (struct match_key){0, i < n ? code_neighbour(i % 26) : 0,
                              1024 * (1 + i / 26 % 3)};
}

/* Kripke: the tag is the number of a subdomain; three upwind neighbours */
static struct match_key key_kripke(int i, int n)
{
    static const int32_t upwind[] = {2184 - 1, 2184 - 16, 2184 - 256};

    return (struct match_key){0, upwind[i % 3], i < n ? i / 3 : 1 << 20};
}

static const struct pattern patterns[] = {
    {.name = "posted-tags", .key = key_tags},
    {.name = "posted-sources", .key = key_sources},
    {.name = "posted-fields", .key = key_fields},
    {.name = "posted-halo", .key = key_halo},
    {.name = "posted-any-source-1/16", .key = key_any_source},
    {.name = "posted-any-tag-1/16", .key = key_any_tag},
    {.name = "posted-any-source-all", .key = key_all_any_source},
    {.name = "posted-tags-aged", .key = key_tags, .aged = true},
    {.name = "posted-tags-holes", .key = key_tags, .holes = true},
    {.name = "unexpected-tags", .key = key_tags, .unexpected = true},
    {.name = "unexpected-sources", .key = key_sources, .unexpected = true},
    {.name = "unexpected-tags-aged", .key = key_tags, .unexpected = true, .aged = true},
    {.name = "unexpected-holes", .key = key_tags, .unexpected = true, .holes = true},
    {.name = "search-any-source",
     .key = key_halo,
     .unexpected = true,
     .source_wild = MATCH_ANY_SOURCE},
    {.name = "search-any-tag",
     .key = key_sources,
     .unexpected = true,
     .tag_wild = MATCH_ANY_TAG},
    {.name = "code-hpcg", .key = key_hpcg},
    {.name = "code-lulesh", .key = key_lulesh},
    {.name = "code-kripke", .key = key_kripke},
};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

/* ---- one matcher in one cell ---------------------------------------------------- */

struct contestant {
    char name[32];
    struct match_options options;
};

struct request {
    struct match_entry entry;
    char rest[REQUEST_BYTES - sizeof(struct match_entry)];
};

struct cell {
    const struct pattern *pattern;
    int n;
    struct matcher m;
    struct request *requests; /* 2 N + 1, in order of age */
    struct request *message;  /* the mate of the last one */
    struct match_entry **entry;
};

static void cell_key(struct cell *c, struct match_entry *e, int i)
{
    *e = (struct match_entry){.key = c->pattern->key(i, c->n)};
}

/* A permutation of the entries in memory, the same in each run */
static void cell_order(struct cell *c, int total)
{
    uint64_t random = 1;

    for (int i = 0; i < total; i++)
        c->entry[i] = &c->requests[i].entry;
    for (int i = total - 1; c->pattern->aged && i > 0; i--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        int j = (int)((random >> 33) % (uint64_t)(i + 1));
        struct match_entry *e = c->entry[i];
        c->entry[i] = c->entry[j];
        c->entry[j] = e;
    }
}

static struct match_entry *cell_add(struct cell *c, struct match_entry *e)
{
    return c->pattern->unexpected ? match_arrive(&c->m, e) : match_post(&c->m, e);
}

static void cell_open(struct cell *c, const struct pattern *p, int n,
                      const struct match_options *o)
{
    const int total = p->holes ? 2 * n : n;

    *c = (struct cell){.pattern = p, .n = n};
    c->requests = malloc((size_t)(total + 1) * sizeof *c->requests);
    c->message = malloc(sizeof *c->message);
    c->entry = malloc((size_t)(total + 1) * sizeof *c->entry);
    if (c->requests == NULL || c->message == NULL || c->entry == NULL ||
        match_init(&c->m, o) != 0)
        abort();
    cell_order(c, total + 1);
    for (int i = 0; i < total; i++) {
        cell_key(c, c->entry[i], p->holes ? i / 2 : i);
        /* Entries of holes are unique, so that no post finds another. */
        if (p->holes && i % 2 == 1)
            c->entry[i]->key.tag += 1 << 20;
        if (cell_add(c, c->entry[i]) != NULL)
            abort();
    }
    for (int i = 1; p->holes && i < total; i += 2)
        match_queue_remove(p->unexpected ? &c->m.unexpected : &c->m.posted, c->entry[i]);
    c->entry[n] = c->entry[total];
    cell_key(c, c->entry[n], n);
    cell_key(c, &c->message->entry, n);
    if (p->unexpected && p->source_wild != 0)
        c->message->entry.key.source = p->source_wild;
    if (p->unexpected && p->tag_wild != 0)
        c->message->entry.key.tag = p->tag_wild;
    if (p->unexpected && p->tag_wild != 0)
        c->message->entry.key.source = n; /* no other entry has it */
    if (p->source_wild != 0)
        c->entry[n]->key.tag = c->message->entry.key.tag = 1 << 20;
}

static void cell_close(struct cell *c)
{
    match_free(&c->m);
    free(c->requests);
    free(c->message);
    free(c->entry);
}

/* The last entry is queued and matched. */
static void cell_pair(struct cell *c)
{
    struct match_entry *e = c->entry[c->n], *mate;

    if (c->pattern->unexpected) {
        match_arrive(&c->m, e);
        mate = match_post(&c->m, &c->message->entry);
    } else {
        match_post(&c->m, e);
        mate = match_arrive(&c->m, &c->message->entry);
    }
    if (mate != e)
        abort();
}

/* Of this thread: what else runs on the machine counts little. */
static double cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double cell_time(struct cell *c, long pairs)
{
    double began = cpu_ns();

    for (long i = 0; i < pairs; i++)
        cell_pair(c);
    return (cpu_ns() - began) / (double)pairs;
}

/* ---- the contest ---------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static long bench_pairs(struct cell *c, double ns)
{
    cell_time(c, 20);
    double pair = cell_time(c, 20);
    long pairs = (long)(ns / (pair > 10 ? pair : 10));

    return pairs < 4 ? 4 : pairs;
}

static void bench_cell(const struct pattern *p, int n, const struct contestant *who,
                       int contestants, double ns)
{
    static struct cell cells[CONTESTANTS_MAX];
    double times[CONTESTANTS_MAX][ROUNDS];
    long pairs[CONTESTANTS_MAX];

    for (int k = 0; k < contestants; k++) {
        cell_open(&cells[k], p, n, &who[k].options);
        pairs[k] = bench_pairs(&cells[k], ns);
    }
    for (int r = 0; r < ROUNDS; r++)
        for (int k = 0; k < contestants; k++)
            times[k][r] = cell_time(&cells[k], pairs[k]);
    for (int k = 0; k < contestants; k++) {
        const struct match_stats s = match_queue_stats(
            p->unexpected ? &cells[k].m.unexpected : &cells[k].m.posted);
        qsort(times[k], ROUNDS, sizeof times[k][0], compare_doubles);
        printf("%s %d %s %.1f %.2f\n", p->name, n, who[k].name, times[k][ROUNDS / 2],
               s.hits == 0 ? 0.0 : (double)s.false_positives / (double)s.hits);
        cell_close(&cells[k]);
    }
    fflush(stdout);
}

static int bench_engines(struct contestant *who)
{
    for (enum match_engine e = 0; e < MATCH_ENGINES; e++) {
        who[e].options = match_options_default();
        who[e].options.engine = e;
        snprintf(who[e].name, sizeof who[e].name, "%s", match_engine_name(e));
    }
    return MATCH_ENGINES;
}

/* The list, and fuzzy keys of each width with each instruction set */
static int bench_lanes(struct contestant *who)
{
    int n = 0;

    who[n].options = (struct match_options){.engine = MATCH_LIST};
    snprintf(who[n++].name, sizeof who[0].name, "list");
    for (enum isa isa = 0; isa < ISAS; isa++)
        for (unsigned bits = 8; bits <= 32 && isa_here(isa); bits *= 2) {
            who[n].options = (struct match_options){
                .engine = MATCH_FUZZY, .isa = isa, .lane_bits = bits};
            snprintf(who[n++].name, sizeof who[0].name, "%s-%u", isa_name(isa), bits);
        }
    return n;
}

/* Lists and linked arrays without bins and with bins by source */
static int bench_bins(struct contestant *who)
{
    static const enum match_engine engines[] = {MATCH_LIST, MATCH_FUZZY, MATCH_AUTO};
    static const unsigned bins[] = {0, 4, 16, 64};
    int n = 0;

    for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++)
        for (size_t b = 0; b < sizeof bins / sizeof bins[0]; b++) {
            who[n].options = match_options_default();
            who[n].options.engine = engines[e];
            who[n].options.bins = bins[b];
            snprintf(who[n++].name, sizeof who[0].name, "%s-%u",
                     match_engine_name(engines[e]), bins[b]);
        }
    return n;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: match_bench [-b | -l] [-p PATTERN] [-n N] [-t NS]\n"
            "  -b  engines without and with bins by source, instead of all engines\n"
            "  -l  lanes of 8, 16 and 32 bits with each instruction set, instead of"
            " engines\n"
            "  -t  time of one block of repetitions (100000 ns)\nPatterns:");
    for (int i = 0; i < PATTERNS; i++)
        fprintf(stderr, " %s", patterns[i].name);
    fprintf(stderr, "\n");
    return 2;
}

int main(int argc, char **argv)
{
    static const int depths[] = {0,  1,  2,   4,   8,    12,   16,
                                 32, 64, 128, 256, 1024, 4096, 8192};
    struct contestant who[CONTESTANTS_MAX];
    const char *pattern = NULL;
    int (*choose)(struct contestant * who) = bench_engines;
    int only = -1;
    double ns = 1e5;

    for (int option; (option = getopt(argc, argv, "bln:p:t:")) != -1;)
        switch (option) {
        case 'b':
            choose = bench_bins;
            break;
        case 'l':
            choose = bench_lanes;
            break;
        case 'n':
            only = atoi(optarg);
            break;
        case 'p':
            pattern = optarg;
            break;
        case 't':
            ns = atof(optarg);
            break;
        default:
            return usage();
        }
    int contestants = choose(who);
    for (int i = 0; i < PATTERNS; i++)
        for (size_t d = 0; d < sizeof depths / sizeof depths[0]; d++)
            if ((pattern == NULL || strcmp(pattern, patterns[i].name) == 0) &&
                (only < 0 || only == depths[d]))
                bench_cell(&patterns[i], depths[d], who, contestants, ns);
    return 0;
}
