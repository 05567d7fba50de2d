/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * map_test.c - placement of PEs against a slow reference: each PE that a host could get
 * has a key (round, turn, host), and the PEs of the job are the first ones in key order.
 */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/oshrun/map/map.h"

/* Builds with sanitizers are ten times slower. */
#ifdef PGAS_SANITIZED
enum { ROUNDS = 3000, FUZZ_ROUNDS = 2000 };
#else
enum { ROUNDS = 20000, FUZZ_ROUNDS = 5000 };
#endif

enum { HOSTS = 6, PES = 40, FUZZ_PIECES = 24, NO_LIMIT = 1 << 20 };

/* ---- the reference ----------------------------------------------------------------- */

struct key {
    unsigned round, turn, host;
};

static int compare(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return (x->host > y->host) - (x->host < y->host);
}

/* Number of PEs per host in one round. */
static void find_caps(const struct hosts *h, const struct map_order *o, unsigned npes,
                      unsigned *cap)
{
    unsigned rest = npes, open = 0;

    for (unsigned i = 0; i < h->count; i++) {
        cap[i] = o->per_node > 0 ? o->per_node : h->host[i].slots;
        rest -= cap[i] < rest ? cap[i] : rest;
        open += cap[i] == 0;
    }
    for (unsigned i = 0; open > 0 && rest > 0; i = (i + 1) % h->count)
        if (h->host[i].slots == 0) {
            cap[i]++;
            rest--;
        }
    for (unsigned i = 0; i < h->count; i++)
        if (o->by == MAP_BY_NODE && o->per_node == 0 && h->host[i].slots == 0)
            cap[i] = NO_LIMIT;
}

/* Reference placement: host_of[rank]; returns the number of PEs placed. */
static unsigned place_slowly(const struct hosts *h, const struct map_order *o,
                             unsigned npes, unsigned *host_of)
{
    static struct key key[HOSTS * PES];
    unsigned cap[HOSTS], n = 0;

    find_caps(h, o, npes, cap);
    for (unsigned i = 0; i < h->count; i++)
        for (unsigned k = 0; k < npes && cap[i] > 0; k++)
            if (h->host[i].max == 0 || k < h->host[i].max)
                key[n++] =
                    (struct key){k / cap[i], o->by == MAP_BY_NODE ? k % cap[i] : 0, i};
    qsort(key, n, sizeof *key, compare);
    for (unsigned i = 0; i < n && i < npes; i++)
        host_of[i] = key[i].host;
    return n < npes ? n : npes;
}

/* ---- random maps ------------------------------------------------------------------ */

static void make_hosts(unsigned *seed, struct hosts *h)
{
    char why[HOSTS_WHY], name[16];
    int n = 1 + rand_r(seed) % HOSTS;

    *h = (struct hosts){0};
    for (int i = 0; i < n; i++) {
        struct host host = {.name = name};
        sprintf(name, "n%d", i);
        if (rand_r(seed) % 3 != 0)
            host.slots = 1 + (unsigned)rand_r(seed) % 5;
        if (host.slots > 0 && rand_r(seed) % 4 == 0)
            host.max = host.slots + (unsigned)rand_r(seed) % 4;
        cr_assert_eq(hosts_add(h, &host, why), 0);
    }
}

static void make_order(unsigned *seed, struct map_order *o, const struct hosts *h)
{
    *o = (struct map_order){.npes = 1 + (unsigned)rand_r(seed) % PES};
    o->by = rand_r(seed) % 2 ? MAP_BY_SLOT : MAP_BY_NODE;
    if (rand_r(seed) % 4 != 0)
        return;
    o->per_node = 1 + (unsigned)rand_r(seed) % 5;
    if (rand_r(seed) % 2) {
        o->by = MAP_BY_PPR;
        if (rand_r(seed) % 2)
            o->npes = o->per_node * h->count;
    }
}

/* True if map_make must reject it. */
static bool is_wrong(const struct hosts *h, const struct map_order *o)
{
    unsigned sum = o->per_node * h->count;

    if (o->per_node == 0)
        return false;
    for (unsigned i = 0; i < h->count; i++)
        if (h->host[i].max > 0 && h->host[i].max < o->per_node)
            return true;
    return o->by == MAP_BY_PPR ? o->npes != sum : o->npes > sum;
}

/* Every rank once, ascending; nodes in the order of the hosts and none empty. */
static void check_nodes(const struct job *job, const struct hosts *h,
                        const unsigned *host_of)
{
    unsigned seen = 0;
    uint32_t host = 0;

    for (uint32_t i = 0; i < job->nnodes; i++, host++) {
        const struct job_node *node = &job->node[i];
        while (host < h->count && h->host[host].name != node->name)
            host++;
        cr_assert_lt(host, h->count);
        cr_assert_gt(node->npes, 0);
        cr_assert_null(node->cpus);
        for (uint32_t k = 0; k < node->npes; k++, seen++) {
            cr_assert(k == 0 || node->rank[k - 1] < node->rank[k]);
            cr_assert_lt(node->rank[k], job->npes);
            cr_assert_eq(host_of[node->rank[k]], host, "PE %u is on %s", node->rank[k],
                         node->name);
        }
    }
    cr_assert_eq(seen, job->npes);
}

Test(map, equals_the_reference)
{
    unsigned seed = 7, rejected = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct hosts h;
        struct map_order o;
        struct job job = {0};
        unsigned host_of[PES];
        char why[HOSTS_WHY] = "";
        make_hosts(&seed, &h);
        make_order(&seed, &o, &h);
        bool wrong = is_wrong(&h, &o) || place_slowly(&h, &o, o.npes, host_of) < o.npes;
        cr_assert_eq(map_make(&job, &h, &o, why) != 0, wrong, "round %d: %s", i, why);
        cr_assert_eq(why[0] != '\0', wrong);
        rejected += wrong;
        if (!wrong) {
            cr_assert_eq(job.npes, o.npes);
            check_nodes(&job, &h, host_of);
        }
        map_free(&job);
        hosts_free(&h);
    }
    cr_assert(rejected > ROUNDS / 100 && rejected < ROUNDS / 2, "%u", rejected);
}

/* ---- cases of the manual page ------------------------------------------------------ */

/* "a=0-1,4 b=2,3" as text. */
static const char *show(const struct job *job)
{
    static char text[4096];
    size_t at = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < job->nnodes; i++) {
        const struct job_node *node = &job->node[i];
        at += (size_t)sprintf(text + at, "%s%s=", i > 0 ? " " : "", node->name);
        for (uint32_t k = 0; k < node->npes; k++) {
            at += (size_t)sprintf(text + at, "%s%u", k > 0 ? "," : "", node->rank[k]);
            if (node->cpus != NULL && node->cpus[k] != NULL)
                at += (size_t)sprintf(text + at, "(%s)", node->cpus[k]);
        }
    }
    return text;
}

static const struct {
    const char *hosts;
    struct map_order order;
    const char *map, *why; /* one of them */
} cases[] = {
    {"a:2,b:2", {.npes = 4}, "a=0,1 b=2,3", NULL},
    {"a:2,b:2", {.npes = 3}, "a=0,1 b=2", NULL},
    {"a:2,b:2", {.npes = 1}, "a=0", NULL},
    {"a:2,b:2", {.npes = 7}, "a=0,1,4,5 b=2,3,6", NULL},
    {"a:2,b:1", {0}, "a=0,1 b=2", NULL},
    {"a,b,c", {0}, "a=0 b=1 c=2", NULL},
    {"a,b,c", {.npes = 2}, "a=0 b=1", NULL},
    {"a,b,c", {.npes = 7}, "a=0,1,2 b=3,4 c=5,6", NULL},
    {"a,b:4,c", {.npes = 10}, "a=0,1,2 b=3,4,5,6 c=7,8,9", NULL},
    {"a,b:4", {.npes = 3}, "b=0,1,2", NULL},
    {"a,b:2", {0}, "a=0 b=1,2", NULL},
    {"a:2,b:2", {.by = MAP_BY_NODE, .npes = 3}, "a=0,2 b=1", NULL},
    {"a:1,b:3", {.by = MAP_BY_NODE, .npes = 6}, "a=0,4 b=1,2,3,5", NULL},
    {"a:4,b", {.by = MAP_BY_NODE, .npes = 4}, "a=0,2 b=1,3", NULL},
    {"a:1,b", {.by = MAP_BY_NODE, .npes = 4}, "a=0 b=1,2,3", NULL},
    {"a,b:9", {.by = MAP_BY_PPR, .per_node = 2}, "a=0,1 b=2,3", NULL},
    {"a,b", {.by = MAP_BY_PPR, .per_node = 2, .npes = 4}, "a=0,1 b=2,3", NULL},
    {"a,b,c",
     {.by = MAP_BY_PPR, .per_node = 4, .npes = 16},
     NULL,
     "--map-by ppr:4:node gives 12 PEs on 3 nodes, but -n asks for 16"},
    {"a,b,c",
     {.by = MAP_BY_PPR, .per_node = 4, .npes = 8},
     NULL,
     "--map-by ppr:4:node gives 12 PEs on 3 nodes, but -n asks for 8"},
    {"a:9,b:1", {.per_node = 2}, "a=0,1 b=2,3", NULL},
    {"a:9,b:1", {.per_node = 2, .npes = 3}, "a=0,1 b=2", NULL},
    {"a:9,b:1", {.per_node = 2, .npes = 3, .by = MAP_BY_NODE}, "a=0,2 b=1", NULL},
    {"a,b",
     {.per_node = 2, .npes = 5},
     NULL,
     "-N 2 gives at most 4 PEs on 2 nodes, but -n asks for 5"},
    {"a:60000,b:60000",
     {0},
     NULL,
     "take 120000 PEs, but a job has 65536 at most; use -n"},
    {"a,b", {.per_node = 65536}, NULL, "take 131072 PEs, but a job has 65536"},
};

Test(map, cases)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hosts h;
        struct job job = {0};
        char why[HOSTS_WHY] = "";
        cr_assert_eq(hosts_from_list(&h, cases[i].hosts, why), 0);
        int rc = map_make(&job, &h, &cases[i].order, why);
        cr_assert_eq(rc == 0, cases[i].map != NULL, "%s: %s", cases[i].hosts, why);
        if (rc == 0)
            cr_assert_str_eq(show(&job), cases[i].map);
        else
            cr_assert(strstr(why, cases[i].why), "'%s', expected '%s'", why,
                      cases[i].why);
        map_free(&job);
        hosts_free(&h);
    }
}

Test(map, no_hosts)
{
    struct hosts h = {0};
    struct job job = {0};
    struct map_order order = {.npes = 1};
    char why[HOSTS_WHY] = "";

    cr_assert_neq(map_make(&job, &h, &order, why), 0);
    cr_assert(strstr(why, "no hosts"), "%s", why);
}

/* A search of all hosts for each PE would need minutes of processor time. */
Test(map, many_pes_on_many_hosts_are_quick)
{
    static const char *const lists[] = {"n[0-65535]", "n[0-65535]:1", "n[0-32766]:1,z:4",
                                        "n[0-32766]:1,z:65536", "n[0-9]"};
    struct timespec start, end;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (int by = MAP_BY_SLOT; by <= MAP_BY_NODE; by++) {
            struct hosts h;
            struct job job = {0};
            struct map_order order = {.by = (enum map_by)by, .npes = MAP_NPES_MAX};
            char why[HOSTS_WHY];
            cr_assert_eq(hosts_from_list(&h, lists[i], why), 0, "%s", why);
            cr_assert_eq(map_make(&job, &h, &order, why), 0, "%s", why);
            map_free(&job);
            hosts_free(&h);
        }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    cr_assert_lt(end.tv_sec - start.tv_sec, 20);
}

/* ---- rank files ------------------------------------------------------------------- */

static char path[64];

static void make_path(void)
{
    strcpy(path, "/tmp/pgas-ranks.XXXXXX");
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    close(fd);
}

static void remove_path(void)
{
    unlink(path);
}

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs(text, f);
    cr_assert_eq(fclose(f), 0);
}

static const struct {
    const char *text, *hosts; /* hosts = NULL: those of the file */
    uint32_t npes;
    const char *map, *why; /* one of them; why: after "rank file PATH" */
} files[] = {
    {"rank 0=a\n", NULL, 0, "a=0", NULL},
    {"# b first\n\nrank 1=a slot=0-1,4\nrank 0=b\n", NULL, 0, "b=0 a=1(0-1,4)", NULL},
    {"rank 2=a\nrank 0=a slot=7\nrank 1=b\r\n", "x,b,a", 3, "b=1 a=0(7),2", NULL},
    {"rank 0=joe@[::1]\n", NULL, 1, "joe@::1=0", NULL},
    {"rank 0=n[3]\n", "n[0-5]", 0, "n3=0", NULL},
    {"", NULL, 0, NULL, " has no rank"},
    {"rank 0=a\nrank 2=a\n", NULL, 0, NULL, ": rank 1 of 0 to 2 is missing"},
    {"rank 0=a\n", NULL, 2, NULL, ": rank 1 of 0 to 1 is missing"},
    {"rank 0=a\nrank 1=b\n", NULL, 65536, NULL, ": rank 2 of 0 to 65535 is missing"},
    {"rank 0=a\nrank 1=a\n", NULL, 1, NULL, ", line 2: rank 1, but -n asks for 1 PEs"},
    {"rank 0=a\n\nrank 0=b\n", NULL, 0, NULL, ", line 3: rank 0 was in line 1 already"},
    {"rank 0=c\n", "a,b", 0, NULL, ", line 1: 'c' is not one of the job's hosts"},
    {"rank 65536=a\n", NULL, 0, NULL, ", line 1: rank 65536 is over 65535"},
    {"rank 123456=a\n", NULL, 0, NULL, ", line 1: expected 'rank N=HOST'"},
    {"rank -1=a\n", NULL, 0, NULL, ", line 1: expected 'rank N=HOST'"},
    {"rank x=a\n", NULL, 0, NULL, ", line 1: expected 'rank N=HOST'"},
    {"rank 0 a\n", NULL, 0, NULL, ", line 1: expected processors"},
    {"rank 0\n", NULL, 0, NULL, ", line 1: expected 'rank N=HOST'"},
    {"rank\n", NULL, 0, NULL, ", line 1: expected 'rank N=HOST'"},
    {"0=a\n", NULL, 0, NULL, ", line 1: expected 'rank N=HOST'"},
    {"rank 0=a slot=0 x\n", NULL, 0, NULL, ", line 1: expected 'rank N=HOST'"},
    {"rank 0=\n", NULL, 0, NULL, ", line 1: '': a part of the name is missing"},
    {"rank 0=a;b\n", NULL, 0, NULL, ", line 1: 'a;b': the character ';'"},
    {"rank 0=+n0\n", NULL, 0, NULL, ", line 1: '+n0': the character '+'"},
    {"rank 0=n[0-1]\n", NULL, 0, NULL, ", line 1: 'n[0-1]' names several hosts"},
    {"rank 0=a slot=\n", NULL, 0, NULL, ", line 1: expected processors"},
    {"rank 0=a slot=0-\n", NULL, 0, NULL, ", line 1: expected processors"},
    {"rank 0=a slot=3-1\n", NULL, 0, NULL, ", line 1: expected processors"},
    {"rank 0=a slot=1,\n", NULL, 0, NULL, ", line 1: expected processors"},
    {"rank 0=a slot=0:1\n", NULL, 0, NULL, ", line 1: expected processors"},
    {"rank 0=a slots=1\n", NULL, 0, NULL, ", line 1: expected processors"},
};

Test(rank_file, cases, .init = make_path, .fini = remove_path)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct hosts h = {0};
        struct job job = {0};
        struct map_order order = {.npes = files[i].npes, .rank_file = path};
        char why[HOSTS_WHY] = "", expected[HOSTS_WHY];
        write_file(files[i].text);
        if (files[i].hosts != NULL)
            cr_assert_eq(hosts_from_list(&h, files[i].hosts, why), 0);
        int rc = map_make(&job, &h, &order, why);
        cr_assert_eq(rc == 0, files[i].map != NULL, "%s: %s", files[i].text, why);
        snprintf(expected, sizeof expected, "rank file %s%s", path,
                 files[i].why != NULL ? files[i].why : "");
        if (rc == 0)
            cr_assert_str_eq(show(&job), files[i].map);
        else
            cr_assert_eq(strncmp(why, expected, strlen(expected)), 0,
                         "'%s', expected '%s'", why, expected);
        map_free(&job);
        hosts_free(&h);
    }
}

Test(rank_file, limits_of_the_hosts_hold, .init = make_path, .fini = remove_path)
{
    struct hosts h = {0};
    struct job job = {0};
    struct map_order order = {.rank_file = path};
    struct host host = {.name = "a", .slots = 1, .max = 1};
    char why[HOSTS_WHY] = "";

    write_file("rank 0=a\nrank 1=a\n");
    cr_assert_eq(hosts_add(&h, &host, why), 0);
    cr_assert_neq(map_make(&job, &h, &order, why), 0);
    cr_assert(strstr(why, "host 'a' takes 1 PEs at most"), "%s", why);
    map_free(&job);
    hosts_free(&h);
}

/* Text that is often almost valid. */
static void make_text(unsigned *seed, char *text)
{
    static const char *const pieces[] = {
        "rank 0=a\n", "rank 1=b\n", "rank ",  "0",    "1",
        "=",          "a",          " slot=", "0-1",  ",4",
        "\n",         "#",          "n[0-1]", "\xff", "rank 2=a slot=3\n"};
    int n = rand_r(seed) % FUZZ_PIECES;

    *text = '\0';
    for (int i = 0; i < n; i++)
        strcat(text, pieces[(size_t)rand_r(seed) % (sizeof pieces / sizeof *pieces)]);
}

Test(rank_file, any_text_is_accepted_or_rejected, .init = make_path, .fini = remove_path)
{
    unsigned seed = 11, good = 0;
    char text[FUZZ_PIECES * 32];

    for (int i = 0; i < FUZZ_ROUNDS; i++) {
        struct hosts h = {0};
        struct job job = {0};
        struct map_order order = {.rank_file = path};
        char why[HOSTS_WHY] = "";
        make_text(&seed, text);
        write_file(text);
        int rc = map_make(&job, &h, &order, why);
        cr_assert_eq(rc != 0, why[0] != '\0', "'%s': '%s'", text, why);
        unsigned pes = 0;
        for (uint32_t k = 0; rc == 0 && k < job.nnodes; k++)
            pes += job.node[k].npes;
        cr_assert(rc != 0 || (pes > 0 && pes == job.npes), "'%s'", text);
        good += rc == 0;
        map_free(&job);
        hosts_free(&h);
    }
    cr_assert_gt(good, FUZZ_ROUNDS / 500);
}
