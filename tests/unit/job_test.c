/* SPDX-License-Identifier: BSD-3-Clause */
/* job_test.c - packing and unpacking of a job; rejection of invalid data. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/oshrun/util/job.h"
#include "tools/oshrun/net/pack.h"

TestSuite(job, .timeout = 60);

enum {
    NODES_MAX = 7,
    PES_MAX = 60,
    APPS_MAX = 5,
    WORDS_MAX = 40,
    JOBS = 500,
    FUZZ_JOBS = 100,
    FUZZ_ROUNDS = 600,
    LONG_ARGV = 20000,
};

static uint32_t seed = 1;

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* -- jobs ---------------------------------------------------------------------------- */

static char *random_text(void)
{
    static const char letters[] = "a=:, '\"\n\t\xc3\xa4/0";
    size_t len = next_random() % 24;
    char *text = calloc(len + 1, 1);
    for (size_t i = 0; i < len; i++)
        text[i] = letters[next_random() % (sizeof letters - 1)];
    return text;
}

static char **random_list(size_t n)
{
    char **list = calloc(n + 1, sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[i] = random_text();
    return list;
}

static void free_list(char *const *list)
{
    for (char *const *e = list; *e != NULL; e++)
        free(*e);
    free((void *)(uintptr_t)list);
}

enum kind { BLOCK, CYCLIC, RANDOM, KINDS };

/* Every node has a PE. */
static uint32_t node_of(enum kind kind, uint32_t rank, uint32_t npes, uint32_t nnodes)
{
    if (kind == BLOCK)
        return (uint32_t)((uint64_t)rank * nnodes / npes);
    return kind == CYCLIC || rank < nnodes ? rank % nnodes : next_random() % nnodes;
}

static void add_pe(struct job_node *node, uint32_t rank)
{
    node->rank = realloc(node->rank, (node->npes + 1) * sizeof *node->rank);
    node->rank[node->npes++] = rank;
}

static void add_cpus(struct job_node *node)
{
    node->cpus = calloc(node->npes, sizeof *node->cpus);
    for (uint32_t i = 0; i < node->npes; i++)
        node->cpus[i] = next_random() % 3 ? random_text() : NULL;
}

static struct job *make_job(enum kind kind, size_t argc, size_t envc)
{
    struct job *job = calloc(1, sizeof *job);
    job->nnodes = 1 + next_random() % NODES_MAX;
    job->npes = job->nnodes + next_random() % PES_MAX;
    job->node = calloc(job->nnodes, sizeof *job->node);
    for (uint32_t r = 0; r < job->npes; r++)
        add_pe(&job->node[node_of(kind, r, job->npes, job->nnodes)], r);
    for (uint32_t i = 0; i < job->nnodes; i++) {
        job->node[i].name = random_text();
        if (next_random() % 2)
            add_cpus(&job->node[i]);
    }
    snprintf(job->nspace, sizeof job->nspace, "oshrun-%u", next_random());
    job->napps = 1 + next_random() % job->npes % APPS_MAX;
    job->app = calloc(job->napps, sizeof *job->app);
    for (uint32_t i = 0; i < job->napps; i++) {
        bool last = i + 1 == job->napps;
        job->app[i] = (struct job_app){.first = i,
                                       .npes = last ? job->npes - i : 1,
                                       .argv = random_list(argc),
                                       .env = random_list(envc),
                                       .wdir = next_random() % 2 ? random_text() : NULL};
    }
    job->env = random_list(envc);
    job->bind = (enum job_bind)(next_random() % (JOB_BIND_NUMA + 1));
    job->bind_report = next_random() % 2;
    job->valgrind = next_random() % 2;
    job->whole_lines = next_random() % 2;
    job->virtual_nodes = next_random() % 2;
    job->stdin_pe = next_random() % 2 ? JOB_NO_PE : next_random() % job->npes;
    job->gdb_pe = next_random() % 2 ? JOB_NO_PE : next_random() % job->npes;
    job->ft = (struct job_ft){.on = next_random() % 2,
                              .period_ms = next_random(),
                              .timeout_ms = next_random(),
                              .domains = next_random() % 2 ? random_text() : NULL,
                              .interfaces = next_random() % 2 ? random_text() : NULL};
    return job;
}

static void free_made(struct job *job)
{
    for (uint32_t i = 0; i < job->nnodes; i++) {
        for (uint32_t k = 0; job->node[i].cpus != NULL && k < job->node[i].npes; k++)
            free(job->node[i].cpus[k]);
        free(job->node[i].cpus);
        free(job->node[i].rank);
        free((char *)(uintptr_t)job->node[i].name);
    }
    free(job->node);
    for (uint32_t i = 0; i < job->napps; i++) {
        free_list(job->app[i].argv);
        free_list(job->app[i].env);
        free((char *)(uintptr_t)job->app[i].wdir);
    }
    free(job->app);
    free_list(job->env);
    free((char *)(uintptr_t)job->ft.domains);
    free((char *)(uintptr_t)job->ft.interfaces);
    free(job);
}

/* -- unpacking ----------------------------------------------------------------------- */

static void expect_text(const char *a, const char *b)
{
    cr_assert_eq(a == NULL, b == NULL);
    if (a != NULL)
        cr_assert_str_eq(a, b);
}

static void expect_list(char *const *a, char *const *b)
{
    size_t i = 0;
    for (; a[i] != NULL; i++)
        expect_text(a[i], b[i]);
    cr_assert_null(b[i]);
}

static void expect_node(const struct job_node *a, const struct job_node *b)
{
    expect_text(a->name, b->name);
    cr_assert_eq(a->npes, b->npes);
    cr_assert_eq(memcmp(a->rank, b->rank, a->npes * sizeof *a->rank), 0);
    cr_assert_eq(a->cpus == NULL, b->cpus == NULL);
    for (uint32_t i = 0; a->cpus != NULL && i < a->npes; i++)
        expect_text(a->cpus[i], b->cpus[i]);
}

static void expect_app(const struct job_app *a, const struct job_app *b)
{
    cr_assert_eq(a->first, b->first);
    cr_assert_eq(a->npes, b->npes);
    expect_list(a->argv, b->argv);
    expect_list(a->env, b->env);
    expect_text(a->wdir, b->wdir);
}

static void expect_same(const struct job *a, const struct job *b)
{
    cr_assert_str_eq(a->nspace, b->nspace);
    cr_assert_eq(a->npes, b->npes);
    cr_assert_eq(a->nnodes, b->nnodes);
    for (uint32_t i = 0; i < a->nnodes; i++)
        expect_node(&a->node[i], &b->node[i]);
    cr_assert_eq(a->napps, b->napps);
    for (uint32_t i = 0; i < a->napps; i++)
        expect_app(&a->app[i], &b->app[i]);
    for (uint32_t r = 0; r < a->npes; r++) {
        const struct job_app *app = &b->app[job_app_of(b, r)];
        cr_assert(r >= app->first && r - app->first < app->npes);
    }
    expect_list(a->env, b->env);
    cr_assert_eq(a->bind, b->bind);
    cr_assert_eq(a->bind_report, b->bind_report);
    cr_assert_eq(a->valgrind, b->valgrind);
    cr_assert_eq(a->whole_lines, b->whole_lines);
    cr_assert_eq(a->virtual_nodes, b->virtual_nodes);
    cr_assert_eq(a->stdin_pe, b->stdin_pe);
    cr_assert_eq(a->gdb_pe, b->gdb_pe);
    cr_assert_eq(a->ft.on, b->ft.on);
    cr_assert_eq(a->ft.period_ms, b->ft.period_ms);
    cr_assert_eq(a->ft.timeout_ms, b->ft.timeout_ms);
    expect_text(a->ft.domains, b->ft.domains);
    expect_text(a->ft.interfaces, b->ft.interfaces);
}

/* Unpack from a buffer of exactly that size, which is returned in *copy. */
static struct job *unpack_copy(const void *data, size_t len, uint32_t here, void **copy)
{
    *copy = malloc(len > 0 ? len : 1);
    if (len > 0)
        memcpy(*copy, data, len);
    struct unpack u = unpack_of(*copy, len);
    return job_unpack(&u, here);
}

static void expect_round_trip(const struct job *job)
{
    struct pack p = {0};
    void *copy;
    job_pack(&p, job);
    uint32_t here = next_random() % job->nnodes;
    struct job *got = unpack_copy(p.data, p.len, here, &copy);
    pack_free(&p);
    cr_assert_not_null(got);
    cr_assert_eq(got->here, here);
    expect_same(job, got);
    job_free(got);
    free(copy);
}

Test(job, random_jobs_arrive)
{
    for (int i = 0; i < JOBS; i++) {
        struct job *job = make_job((enum kind)(i % KINDS), 1 + next_random() % WORDS_MAX,
                                   next_random() % WORDS_MAX);
        expect_round_trip(job);
        free_made(job);
    }
}

Test(job, no_environment_and_many_arguments)
{
    struct job *job = make_job(CYCLIC, 1, 0);
    expect_round_trip(job);
    free_made(job);
    job = make_job(BLOCK, LONG_ARGV, LONG_ARGV);
    expect_round_trip(job);
    free_made(job);
}

Test(job, free_accepts_null)
{
    job_free(NULL);
}

/* -- invalid jobs -------------------------------------------------------------------- */

Test(job, every_truncated_message_is_rejected)
{
    struct pack p = {0};
    void *copy;
    struct job *job = make_job(CYCLIC, 3, 3);
    job_pack(&p, job);
    for (size_t len = 0; len < p.len; len++) {
        cr_assert_null(unpack_copy(p.data, len, 0, &copy), "%zu of %zu", len, p.len);
        free(copy);
    }
    cr_assert_null(unpack_copy(p.data, p.len, job->nnodes, &copy), "a node too high");
    free(copy);
    pack_u8(&p, 0);
    cr_assert_null(unpack_copy(p.data, p.len, 0, &copy), "a byte is left over");
    free(copy);
    pack_free(&p);
    free_made(job);
}

/* A job of two nodes with two PEs each, modified by the row. */
static const struct row {
    const char *what;
    uint32_t npes, nnodes, has[2];
    uint32_t runs, run[4][2]; /* node, number of PEs */
    uint32_t argc;
    uint8_t bind;
    bool good;
} rows[] = {
    {"block", 4, 2, {2, 2}, 2, {{0, 2}, {1, 2}}, 1, 0, true},
    {"cyclic", 4, 2, {2, 2}, 4, {{0, 1}, {1, 1}, {0, 1}, {1, 1}}, 1, 3, true},
    {"too few", 4, 2, {2, 2}, 2, {{0, 2}, {1, 1}}, 1, 0, false},
    {"too many", 4, 2, {2, 2}, 2, {{0, 2}, {1, 3}}, 1, 0, false},
    {"uneven", 4, 2, {2, 2}, 2, {{0, 3}, {1, 1}}, 1, 0, false},
    {"one node", 4, 2, {2, 2}, 1, {{0, 4}}, 1, 0, false},
    {"no run", 4, 2, {2, 2}, 0, {{0}}, 1, 0, false},
    {"no such node", 4, 2, {2, 2}, 2, {{0, 2}, {2, 2}}, 1, 0, false},
    {"huge run", 4, 2, {2, 2}, 2, {{0, 2}, {1, UINT32_MAX}}, 1, 0, false},
    {"huge number", UINT32_MAX, 2, {2, 2}, 2, {{0, 2}, {1, 2}}, 1, 0, false},
    {"fewer than claimed", 5, 2, {2, 2}, 2, {{0, 2}, {1, 2}}, 1, 0, false},
    {"more than claimed", 3, 2, {2, 2}, 2, {{0, 2}, {1, 2}}, 1, 0, false},
    {"empty node", 4, 2, {4, 0}, 1, {{0, 4}}, 1, 0, false},
    {"huge node", 4, 2, {4, UINT32_MAX - 1}, 1, {{0, 4}}, 1, 0, false},
    {"no PE", 0, 2, {0, 0}, 0, {{0}}, 1, 0, false},
    {"no program", 4, 2, {2, 2}, 2, {{0, 2}, {1, 2}}, 0, 0, false},
    {"no such binding", 4, 2, {2, 2}, 2, {{0, 2}, {1, 2}}, 1, 4, false},
};

/* The programs of a job with 4 PEs. */
static const struct app_row {
    const char *what;
    uint32_t napps, app[2];
    bool good;
} app_rows[] = {
    {"two programs", 2, {3, 1}, true},   {"too few PEs", 1, {3, 0}, false},
    {"empty program", 2, {4, 0}, false}, {"huge program", 2, {3, UINT32_MAX}, false},
    {"no program", 0, {0, 0}, false},
};

static void pack_app(struct pack *p, uint32_t npes, uint32_t argc)
{
    pack_u32(p, npes);
    pack_u32(p, argc);
    for (uint32_t i = 0; i < argc; i++)
        pack_string(p, "program");
    pack_u32(p, 0);
    pack_string(p, NULL);
}

static void pack_row(struct pack *p, const struct row *r, uint32_t napps,
                     const uint32_t *app)
{
    pack_string(p, "oshrun-1");
    pack_u32(p, r->npes);
    pack_u32(p, r->nnodes);
    for (uint32_t i = 0; i < r->nnodes; i++) {
        pack_string(p, "n");
        pack_u32(p, r->has[i]);
        pack_u8(p, 0);
    }
    pack_u32(p, r->runs);
    for (uint32_t i = 0; i < r->runs; i++) {
        pack_u32(p, r->run[i][0]);
        pack_u32(p, r->run[i][1]);
    }
    pack_u32(p, napps);
    for (uint32_t i = 0; i < napps; i++)
        pack_app(p, app[i], r->argc);
    pack_u32(p, 0);
    pack_u8(p, r->bind);
    for (int flag = 0; flag < 4; flag++)
        pack_u8(p, 0);
    pack_u32(p, JOB_NO_PE);
    pack_u32(p, JOB_NO_PE);
    pack_u8(p, 0); /* struct job_ft */
    pack_u32(p, 0);
    pack_u32(p, 0);
    pack_string(p, NULL);
    pack_string(p, NULL);
}

static void expect_row(const struct row *r, const char *what, uint32_t napps,
                       const uint32_t *app, bool good)
{
    struct pack p = {0};
    void *copy;
    pack_row(&p, r, napps, app);
    struct job *job = unpack_copy(p.data, p.len, 0, &copy);
    cr_expect_eq(job != NULL, good, "%s", what);
    job_free(job);
    free(copy);
    pack_free(&p);
}

Test(job, maps_must_be_consistent)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_row(&rows[i], rows[i].what, 1, &rows[i].npes, rows[i].good);
}

Test(job, programs_must_be_consistent)
{
    for (size_t i = 0; i < sizeof app_rows / sizeof *app_rows; i++)
        expect_row(&rows[0], app_rows[i].what, app_rows[i].napps, app_rows[i].app,
                   app_rows[i].good);
}

/* -- any bytes ----------------------------------------------------------------------- */

static void check_list(char *const *list)
{
    for (size_t i = 0; list[i] != NULL; i++)
        cr_assert_lt(strlen(list[i]), SIZE_MAX);
}

/* Each rank is on one node, in ascending order, and all strings are readable. */
static void check_job(const struct job *job)
{
    bool *seen = calloc(job->npes, sizeof *seen);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < job->nnodes; i++) {
        const struct job_node *n = &job->node[i];
        cr_assert_not_null(n->name);
        for (uint32_t k = 0; k < n->npes; k++) {
            cr_assert_lt(n->rank[k], job->npes);
            cr_assert_not(seen[n->rank[k]]);
            cr_assert(k == 0 || n->rank[k] > n->rank[k - 1]);
            seen[n->rank[k]] = true;
            if (n->cpus != NULL && n->cpus[k] != NULL)
                sum += strlen(n->cpus[k]) > SIZE_MAX / 2;
        }
        sum += n->npes;
    }
    free(seen);
    cr_assert_eq(sum, job->npes);
    cr_assert_lt(job->here, job->nnodes);
    cr_assert_leq(job->bind, JOB_BIND_NUMA);
    for (uint32_t i = 0; i < job->napps; i++) {
        cr_assert_not_null(job->app[i].argv[0]);
        check_list(job->app[i].argv);
        check_list(job->app[i].env);
    }
    check_list(job->env);
}

/* Change a few bytes, mostly to small numbers, and sometimes the length. */
static size_t mutate(unsigned char *data, size_t len)
{
    for (uint32_t n = 1 + next_random() % 3; n > 0; n--) {
        unsigned char *at = &data[next_random() % len];
        uint32_t how = next_random() % 4;
        if (how == 0)
            *at = (unsigned char)next_random();
        else if (how == 1)
            *at = (unsigned char)(next_random() % 4);
        else if (how == 2)
            *at = 0xff;
        else
            *at ^= (unsigned char)(1u << next_random() % 8);
    }
    return next_random() % 8 ? len : next_random() % (len + 1);
}

Test(job, mutated_jobs)
{
    size_t accepted = 0;
    for (int i = 0; i < FUZZ_JOBS; i++) {
        struct pack p = {0};
        struct job *job =
            make_job((enum kind)(i % KINDS), 1 + next_random() % 3, next_random() % 3);
        job_pack(&p, job);
        unsigned char *data = malloc(p.len);
        for (int round = 0; round < FUZZ_ROUNDS; round++) {
            void *copy;
            memcpy(data, p.data, p.len);
            size_t len = mutate(data, p.len);
            struct job *got =
                unpack_copy(data, len, next_random() % (job->nnodes + 1), &copy);
            accepted += got != NULL;
            if (got != NULL)
                check_job(got);
            job_free(got);
            free(copy);
        }
        free(data);
        pack_free(&p);
        free_made(job);
    }
    cr_assert(accepted > FUZZ_JOBS && accepted < FUZZ_JOBS * FUZZ_ROUNDS, "%zu",
              accepted);
}
