/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conform.c - counting and reporting for the conformance programs; their contexts and
 * teams.  With CONFORM_NAMES in the environment PE 0 prints each routine that was tested.
 */
#include "tests/api/conform/conform.h"

enum { NAMES_MAX = 8192, FAILURES_SHOWN = 8 };

int cf_me, cf_npes;
static const char *family;
static const char *checked = "(no routine)";
static const char *names[NAMES_MAX]; /* hash table, open addressing */
static long cases, routines, failures;
static double start_time;

void cf_begin(const char *name)
{
    family = name;
    cf_me = shmem_my_pe();
    cf_npes = shmem_n_pes();
    start_time = check_now();
}

void cf_start(const char *name)
{
    shmem_init();
    cf_begin(name);
    cf_case("shmem_init");
}

static void record(const char *routine)
{
    uint32_t hash = 2166136261u;

    for (const char *c = routine; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    for (hash %= NAMES_MAX; names[hash] != NULL; hash = (hash + 1) % NAMES_MAX)
        if (strcmp(names[hash], routine) == 0)
            return;
    names[hash] = routine;
    routines++;
}

void cf_case(const char *routine)
{
    cases++;
    if (routine != checked)
        record(routine);
    checked = routine;
}

void cf_fail(const char *format, ...)
{
    va_list args;
    char text[CHECK_NAME_MAX];

    if (++failures > FAILURES_SHOWN)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "conform: %s: PE %d of %d: %s: %s\n", family, cf_me, cf_npes, checked,
            text);
}

void cf_report(void)
{
    shmem_barrier_all();
    if (failures > 0) {
        fprintf(stderr, "conform: %s: PE %d: %ld failures\n", family, cf_me, failures);
        shmem_global_exit(1);
    }
    if (cf_me == 0)
        printf("conform: %s: %ld cases, %ld routines (%d PEs, %.2f s)\n", family, cases,
               routines, cf_npes, check_now() - start_time);
    for (int i = 0; cf_me == 0 && getenv("CONFORM_NAMES") != NULL && i < NAMES_MAX; i++)
        if (names[i] != NULL)
            printf("name: %s\n", names[i]);
    fflush(stdout);
    shmem_barrier_all();
}

/* run-pes checks that shmem_finalize returns and that the job ends with status 0. */
int cf_finish(void)
{
    cf_case("shmem_finalize");
    cf_report();
    shmem_finalize();
    return 0;
}

/* -- contexts ------------------------------------------------------------------------ */
struct cf_ctx cf_ctxs[CF_CTXS];
static shmem_team_t backwards = SHMEM_TEAM_INVALID;

void cf_ctxs_open(void)
{
    shmem_team_config_t config = {.num_contexts = 1};

    cf_ctxs[0] = (struct cf_ctx){"default context", SHMEM_CTX_DEFAULT, false};
    cf_ctxs[1].name = "own context";
    CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &cf_ctxs[1].ctx) == 0);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, cf_npes - 1, -1, cf_npes, &config,
                                   SHMEM_TEAM_NUM_CONTEXTS, &backwards) == 0);
    cf_ctxs[2].name = "context of the backwards team";
    cf_ctxs[2].reversed = true;
    CHECK(shmem_team_create_ctx(backwards, 0, &cf_ctxs[2].ctx) == 0);
}

void cf_ctxs_close(void)
{
    shmem_ctx_destroy(cf_ctxs[1].ctx);
    shmem_ctx_destroy(cf_ctxs[2].ctx);
    shmem_team_destroy(backwards);
}

/* -- teams --------------------------------------------------------------------------- */
struct cf_team cf_teams[CF_TEAMS];
int cf_nteams;

static void add_team(const char *name, int start, int stride, int size)
{
    struct cf_team *t = &cf_teams[cf_nteams];

    if (start >= cf_npes || size < 1 || cf_nteams == CF_TEAMS)
        return;
    *t = (struct cf_team){name, SHMEM_TEAM_INVALID, start, stride, size};
    CHECK_NAMED(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0,
                                         &t->team) == 0,
                "shmem_team_split_strided(%d, %d, %d) failed", start, stride, size);
    cf_nteams++;
}

void cf_teams_open(void)
{
    int n = cf_npes;
    struct check_pes node = check_node();

    cf_teams[0] = (struct cf_team){"WORLD", SHMEM_TEAM_WORLD, 0, 1, n};
    cf_teams[1] =
        (struct cf_team){"SHARED", SHMEM_TEAM_SHARED, node.start, node.stride, node.size};
    cf_nteams = 2;
    add_team("all, backwards", n - 1, -1, n);
    add_team("even", 0, 2, (n + 1) / 2);
    add_team("odd, backwards", n - 1 - n % 2, -2, n / 2);
    add_team("low half and one", 0, 1, n / 2 + 1);
    add_team("every third from 1", 1, 3, (n + 1) / 3);
    add_team("the last alone", n - 1, 0, 1);
}

void cf_teams_close(void)
{
    for (int i = 2; i < cf_nteams; i++)
        if (cf_teams[i].team != SHMEM_TEAM_INVALID)
            shmem_team_destroy(cf_teams[i].team);
}

int cf_rank(const struct cf_team *t)
{
    for (int i = 0; i < t->size; i++)
        if (cf_world(t, i) == cf_me)
            return i;
    return -1;
}
