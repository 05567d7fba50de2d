/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c - see program.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "include/shmem.h"
#include "pgas/coll/nonblocking/nb.h"
#include "pgas/core/base/os.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/team/team.h"
#include "pgas/datatype/op/op.h"
#include "pgas/transport/test/random.h"
#include "tests/sim/program.h"

enum {
    TEAMS = 3,
    ELEMENTS_FEW = 48,
    ELEMENTS_MOST = 6000, /* of each PE */
    MOST_IN = 12,         /* one call in so many has up to ELEMENTS_MOST, or */
    LATE_IN = 4,          /* is late by up to LATE_NS */
    LATE_NS = 8000,
    TURNS = 3,  /* of a PE in a test of a lock, of atomics */
    ROUNDS = 9, /* barriers in a row; calls of a team that a call creates */
    NB = 5,
};

enum { STREAM_CALLS = 2, STREAM_PES = 3 }; /* of the seed; job.c has others */

/* The state of a PE. */
struct pe {
    struct program *program;
    uint64_t calls, own; /* random states: equal on all PEs; of this PE */
    shmem_team_t team[TEAMS];
    long *source, *dest; /* npes * ELEMENTS_MOST elements */
    long *word;          /* WORDS words, 0 between two calls */
    long *lock;
};

enum word { WORD_COUNT, WORD_NEXT, WORD_PASSED, WORD_SUM, WORDS };

/* A call of the PEs of a team. */
struct call {
    struct pe *pe;
    shmem_team_t team;
    int me, npes, root;
    size_t n;      /* elements of a PE */
    long number;   /* different in all calls */
    uint64_t pick; /* random, equal on all PEs */
};

/* ---- results --------------------------------------------------------------------- */

static void program_fail(const struct call *c, const char *format, ...)
{
    struct program *p = c->pe->program;
    va_list args;

    if (p->wrong)
        return;
    p->wrong = true;
    int used =
        snprintf(p->why, sizeof p->why, "PE %d, call %ld: ", shmem_my_pe(), c->number);
    va_start(args, format);
    vsnprintf(p->why + used, sizeof p->why - (size_t)used, format, args);
    va_end(args);
}

static long value(const struct call *c, int pe, size_t e)
{
    return (long)((uint64_t)(c->number * 7919 + pe * 131 + (long)e) % 10007);
}

static long sum_to(const struct call *c, int end, size_t e)
{
    long sum = 0;

    for (int pe = 0; pe < end; pe++)
        sum += value(c, pe, e);
    return sum;
}

static void expect(const struct call *c, const char *what, size_t e, long got,
                   long should)
{
    if (got != should)
        program_fail(c, "%s, root %d, %zu elements: element %zu is %ld, not %ld", what,
                     c->root, c->n, e, got, should);
}

static void fill(const struct call *c)
{
    for (size_t e = 0; e < c->n; e++)
        c->pe->source[e] = value(c, c->me, e);
}

/* ---- collectives ----------------------------------------------------------------- */

static void try_broadcast(const struct call *c)
{
    fill(c);
    shmem_long_broadcast(c->team, c->pe->dest, c->pe->source, c->n, c->root);
    for (size_t e = 0; e < c->n; e++)
        expect(c, "broadcast", e, c->pe->dest[e], value(c, c->root, e));
}

/* Calls in which a root does not wait for the other PEs and runs ahead of them. */
static void try_burst(const struct call *c)
{
    struct call one = *c;

    for (int k = 0; k < 6; k++, one.number++)
        try_broadcast(&one);
}

static size_t collected_of(const struct call *c, int pe)
{
    return (c->n + (size_t)pe * (c->pick % 3)) % (c->n + 1);
}

static void try_collect(const struct call *c)
{
    size_t at = 0;

    fill(c);
    shmem_long_collect(c->team, c->pe->dest, c->pe->source, collected_of(c, c->me));
    for (int pe = 0; pe < c->npes; pe++)
        for (size_t e = 0; e < collected_of(c, pe); e++, at++)
            expect(c, "collect", at, c->pe->dest[at], value(c, pe, e));
}

static void try_fcollect(const struct call *c)
{
    fill(c);
    shmem_long_fcollect(c->team, c->pe->dest, c->pe->source, c->n);
    for (size_t e = 0; e < c->n * (size_t)c->npes; e++)
        expect(c, "fcollect", e, c->pe->dest[e], value(c, (int)(e / c->n), e % c->n));
}

static void try_alltoall(const struct call *c)
{
    struct call all = *c;

    all.n = c->n * (size_t)c->npes;
    fill(&all);
    shmem_long_alltoall(c->team, c->pe->dest, c->pe->source, c->n);
    for (size_t e = 0; e < all.n; e++)
        expect(c, "alltoall", e, c->pe->dest[e],
               value(c, (int)(e / c->n), (size_t)c->me * c->n + e % c->n));
}

static void try_alltoalls(const struct call *c)
{
    struct call all = *c;
    size_t n = (c->n + 1) / 2;

    all.n = n * (size_t)c->npes;
    fill(&all);
    shmem_long_alltoalls(c->team, c->pe->dest, c->pe->source, 2, 1, n);
    for (size_t e = 0; e < all.n; e++)
        expect(c, "alltoalls", e, c->pe->dest[2 * e],
               value(c, (int)(e / n), (size_t)c->me * n + e % n));
}

static void try_reduce(const struct call *c)
{
    long *from = c->pick % 2 != 0 ? c->pe->dest : c->pe->source;

    fill(c);
    if (from == c->pe->dest)
        memcpy(from, c->pe->source, c->n * sizeof *from);
    shmem_long_sum_reduce(c->team, c->pe->dest, from, c->n);
    for (size_t e = 0; e < c->n; e++)
        expect(c, "reduce", e, c->pe->dest[e], sum_to(c, c->npes, e));
}

static void try_scan(const struct call *c)
{
    bool exclusive = c->pick % 2 != 0;

    fill(c);
    if (exclusive)
        shmem_long_sum_exscan(c->team, c->pe->dest, c->pe->source, c->n);
    else
        shmem_long_sum_inscan(c->team, c->pe->dest, c->pe->source, c->n);
    for (size_t e = 0; e < c->n; e++)
        expect(c, "scan", e, c->pe->dest[e], sum_to(c, c->me + !exclusive, e));
}

static struct nb *nb_begin(const struct call *c, int k)
{
    const struct op_fns *sum = op_find(OP_SUM, OP_SINT, 8);
    struct shmem_team *team = team_of(c->team, "nb");
    long *dest = c->pe->dest + (size_t)(k * c->npes) * c->n, *source = c->pe->source;

    switch (k) {
    case 0:
        return nb_bcast(team, dest, source, c->n * 8, c->root, "nb_bcast");
    case 1:
        return nb_reduce(team, c->root, dest, source, c->n, 8, sum, "nb_reduce");
    case 2:
        return nb_reduce(team, NB_ALL, dest, source, c->n, 8, sum, "nb_reduce");
    case 3:
        return nb_scan(team, dest, source, c->n, 8, sum, false, "nb_scan");
    default:
        return nb_fcollect(team, dest, source, c->n * 8, "nb_fcollect");
    }
}

static void nb_expect(const struct call *c, int k)
{
    static const char *const name[NB] = {"nb_bcast", "nb_reduce to a root", "nb_reduce",
                                         "nb_scan", "nb_fcollect"};
    const long *dest = c->pe->dest + (size_t)(k * c->npes) * c->n;

    for (size_t e = 0; e < c->n && (k != 1 || c->me == c->root); e++)
        expect(c, name[k], e, dest[e],
               k == 0   ? value(c, c->root, e)
               : k == 3 ? sum_to(c, c->me + 1, e)
               : k == 4 ? value(c, 0, e)
                        : sum_to(c, c->npes, e));
}

/* Several at a time, with a blocking call between; each PE waits in its own order. */
static void try_nb(const struct call *all)
{
    struct call c = *all;
    struct nb *request[NB];

    c.n = c.n / NB + 1;
    fill(&c);
    for (int k = 0; k < NB; k++) {
        request[k] = nb_begin(&c, k);
        if (k == (int)(c.pick % NB))
            shmem_team_sync(c.team);
    }
    for (int k = 0; k < NB; k++) {
        int i = (k + c.me) % NB;
        nb_wait(&request[i]);
        nb_expect(&c, i);
    }
}

/* ---- synchronization and operations ---------------------------------------------- */

static int right_of(const struct call *c)
{
    return shmem_team_translate_pe(c->team, (c->me + 1) % c->npes, SHMEM_TEAM_WORLD);
}

static int left_in_team(const struct call *c)
{
    return (c->me + c->npes - 1) % c->npes;
}

/* ---- barriers: no PE leaves before all have entered */

static void enter(const struct call *c, long number)
{
    c->pe->program->entered[shmem_my_pe()] = number;
}

static void expect_all_entered(const struct call *c, const char *what, long number)
{
    for (int i = 0; i < c->npes; i++) {
        int pe = shmem_team_translate_pe(c->team, i, SHMEM_TEAM_WORLD);
        if (c->pe->program->entered[pe] < number)
            program_fail(c, "%s was left before PE %d had entered it", what, pe);
    }
}

static void sync_late(const struct call *c, const char *what, long number)
{
    os_sleep(random_below(&c->pe->own, LATE_NS));
    enter(c, number);
    shmem_team_sync(c->team);
    expect_all_entered(c, what, number);
}

static void try_sync(const struct call *c)
{
    for (int k = 0; k <= (int)(c->pick % ROUNDS); k++)
        sync_late(c, "a barrier", c->number + k);
}

/* A new team, some calls in it, and its last barrier. */
static void try_team(const struct call *c)
{
    struct call one = *c;

    shmem_team_split_strided(c->team, 0, 1, c->npes, NULL, 0, &one.team);
    for (int k = 0; k < (int)(c->pick % ROUNDS); k++, one.number++)
        if ((c->pick >> 8) % 2 != 0)
            sync_late(&one, "a barrier of a new team", one.number);
        else
            try_broadcast(&one);
    os_sleep(random_below(&c->pe->own, LATE_NS));
    enter(c, one.number);
    shmem_team_destroy(one.team);
    expect_all_entered(c, "the last barrier of a team", one.number);
}

/* Puts, then a barrier: they are visible after it. */
static void try_put(const struct call *c)
{
    fill(c);
    if (c->pick % 2 != 0)
        shmem_long_put(c->pe->dest, c->pe->source, c->n, right_of(c));
    else
        shmem_long_put_nbi(c->pe->dest, c->pe->source, c->n, right_of(c));
    shmem_quiet();
    shmem_team_sync(c->team);
    for (size_t e = 0; e < c->n; e++)
        expect(c, "put", e, c->pe->dest[e], value(c, left_in_team(c), e));
}

/* Gets through a context, after a barrier. */
static void try_get(const struct call *c)
{
    struct call right = *c;
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;

    fill(c);
    right.me = (c->me + 1) % c->npes;
    if (c->pick % 2 != 0 && shmem_ctx_create(0, &ctx) != 0)
        ctx = SHMEM_CTX_DEFAULT;
    shmem_team_sync(c->team);
    shmem_ctx_long_get_nbi(ctx, c->pe->dest, c->pe->source, c->n, right_of(c));
    shmem_ctx_quiet(ctx);
    if (ctx != SHMEM_CTX_DEFAULT)
        shmem_ctx_destroy(ctx);
    for (size_t e = 0; e < c->n; e++)
        expect(c, "get", e, c->pe->dest[e], value(c, right.me, e));
}

/* A token passes the PEs in order, each time with data. */
static void try_signal(const struct call *c)
{
    uint64_t *signal = (uint64_t *)&c->pe->word[WORD_NEXT];

    fill(c);
    if (c->me > 0) {
        shmem_signal_wait_until(signal, SHMEM_CMP_EQ, (uint64_t)c->number);
        for (size_t e = 0; e < c->n; e++)
            expect(c, "put_signal", e, c->pe->dest[e], value(c, c->me - 1, e));
    }
    if (c->me + 1 < c->npes)
        shmem_long_put_signal(c->pe->dest, c->pe->source, c->n, signal,
                              (uint64_t)c->number, SHMEM_SIGNAL_SET, right_of(c));
}

/* All PEs count at the root; fetched values are all different. */
static void try_amo(const struct call *c)
{
    int root = shmem_team_translate_pe(c->team, c->root, SHMEM_TEAM_WORLD);
    long fetched = 0;

    for (int k = 0; k < TURNS; k++) {
        shmem_long_atomic_inc(&c->pe->word[WORD_COUNT], root);
        fetched += shmem_long_atomic_fetch_inc(&c->pe->word[WORD_PASSED], root);
    }
    shmem_long_atomic_add(&c->pe->word[WORD_SUM], fetched, root);
    shmem_quiet();
    shmem_team_sync(c->team);
    long all = (long)TURNS * c->npes;
    if (c->me == c->root) {
        expect(c, "atomic_inc", 0, c->pe->word[WORD_COUNT], all);
        expect(c, "atomic_fetch_inc", 0, c->pe->word[WORD_SUM], all * (all - 1) / 2);
    }
}

/* Increments that are not atomic, of a counter at the root, under a lock. */
static void try_lock(const struct call *c)
{
    int root = shmem_team_translate_pe(c->team, c->root, SHMEM_TEAM_WORLD);
    long *count = &c->pe->word[WORD_COUNT];

    for (int k = 0; k < TURNS; k++) {
        shmem_set_lock(c->pe->lock);
        shmem_long_p(count, shmem_long_g(count, root) + 1, root);
        shmem_clear_lock(c->pe->lock);
    }
    shmem_team_sync(c->team);
    if (c->me == c->root)
        expect(c, "lock", 0, *count, (long)TURNS * c->npes);
}

/* Allocation in the middle of the program: a collective of all PEs. */
static void try_malloc(const struct call *c)
{
    long *p = shmem_malloc(sizeof *p);

    if (p == NULL) {
        program_fail(c, "shmem_malloc: no memory");
        return;
    }
    *p = 0;
    shmem_barrier_all();
    int right = (shmem_my_pe() + 1) % shmem_n_pes();
    shmem_long_p(p, c->number, right);
    shmem_barrier_all();
    expect(c, "put to new memory", 0, *p, c->number);
    shmem_free(p);
}

/* ---- the program ----------------------------------------------------------------- */

struct trial {
    void (*run)(const struct call *c);
    bool world;   /* by all PEs */
    bool follows; /* uses words: begins and ends with a barrier of the team */
};

static const struct trial trials[] = {
    {try_broadcast, false, false}, {try_burst, false, false},
    {try_collect, false, false},   {try_fcollect, false, false},
    {try_alltoall, false, false},  {try_alltoalls, false, false},
    {try_reduce, false, false},    {try_reduce, false, false},
    {try_scan, false, false},      {try_nb, false, false},
    {try_put, false, true},        {try_get, false, true},
    {try_signal, false, true},     {try_amo, false, true},
    {try_lock, true, true},        {try_malloc, true, false},
    {try_sync, false, false},      {try_team, false, false},
};
enum { TRIALS = sizeof trials / sizeof trials[0] };

/* The next call; false: this PE is not in its team. */
static bool next_call(struct pe *pe, struct call *c, const struct trial **trial)
{
    uint64_t k = random_below(&pe->calls, TRIALS), team = random_below(&pe->calls, TEAMS);
    uint64_t most = random_below(&pe->calls, MOST_IN) == 0 ? ELEMENTS_MOST : ELEMENTS_FEW;
    uint64_t n = 1 + random_below(&pe->calls, most), root = random_next(&pe->calls);

    *trial = &trials[k];
    *c = (struct call){.pe = pe, .number = c->number + 100, .n = n};
    c->pick = random_next(&pe->calls) >> 32;
    c->team = pe->team[(*trial)->world ? 0 : team];
    if (c->team == SHMEM_TEAM_INVALID)
        return false;
    c->me = shmem_team_my_pe(c->team);
    c->npes = shmem_team_n_pes(c->team);
    c->root = (int)(root % (uint64_t)c->npes);
    return true;
}

static void run_call(struct pe *pe, const struct call *c, const struct trial *trial)
{
    if (random_below(&pe->own, LATE_IN) == 0)
        os_sleep(random_below(&pe->own, LATE_NS));
    if (trial->follows) {
        memset(pe->word, 0, WORDS * sizeof *pe->word);
        shmem_team_sync(c->team);
    }
    trial->run(c);
    if (trial->follows)
        shmem_team_sync(c->team);
}

static void end_with_team(struct pe *pe, const struct call *last)
{
    struct call c = {.pe = pe,
                     .number = last->number,
                     .n = 1 + last->pick % ELEMENTS_FEW,
                     .pick = last->pick,
                     .team = SHMEM_TEAM_WORLD,
                     .me = shmem_my_pe(),
                     .npes = shmem_n_pes()};

    try_team(&c);
}

/* Team 0: all PEs; team 1: every other one; team 2: all but the first. */
static void make_teams(struct pe *pe, int npes)
{
    pe->team[0] = SHMEM_TEAM_WORLD;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0,
                             &pe->team[1]);
    if (npes == 1)
        pe->team[2] = SHMEM_TEAM_INVALID;
    else
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, npes - 1, NULL, 0, &pe->team[2]);
}

void program_run(void *arg)
{
    struct program *p = arg;
    int npes = shmem_n_pes();
    size_t bytes = (size_t)npes * (ELEMENTS_MOST + 1) * sizeof(long);
    struct pe pe = {.program = p,
                    .calls = random_stream(p->seed, STREAM_CALLS),
                    .own = random_stream(p->seed, STREAM_PES + (uint64_t)shmem_my_pe()),
                    .source = shmem_malloc(bytes),
                    .dest = shmem_malloc(2 * bytes),
                    .word = shmem_calloc(WORDS, sizeof *pe.word),
                    .lock = shmem_calloc(1, sizeof *pe.lock)};
    struct call c = {.number = 0};
    const struct trial *trial;

    make_teams(&pe, npes);
    for (int k = 0; k < p->calls; k++)
        if (next_call(&pe, &c, &trial))
            run_call(&pe, &c, trial);
    c.number += 100;
    c.pick = random_next(&pe.calls) >> 32;
    end_with_team(&pe, &c);
    shmem_barrier_all();
}
