/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_program.c - see ft_program.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "include/shmem.h"
#include "include/shmemx.h"
#include "pgas/core/base/os.h"
#include "pgas/core/base/pgas.h"
#include "pgas/transport/test/random.h"
#include "tests/sim/ft_program.h"

enum {
    TEAMS = 3,
    SPACE = 16384, /* elements of source and dest */
    ELEMENTS_FEW = 48,
    ELEMENTS_MOST = 3000, /* of each PE */
    MOST_IN = 12,         /* one call in so many has up to ELEMENTS_MOST, or */
    LATE_IN = 4,          /* is late by up to LATE_NS */
    LATE_NS = 8000,
    TURNS = 3, /* of a PE in a test of a lock, of atomics */
    BLOCKS = 8,
    BLOCK_MOST = 2000,   /* bytes */
    NUMBERS = 100,       /* between two calls */
    DEATH_NS = 400000,   /* most until a death of round 0 */
    SHRINK_NS = 40000,   /* .. of a later round */
    KNOWN_NS = 40000000, /* after which every death is known to all */
};

/* Of the seed; job.c and run.c have others. */
enum { STREAM_CALLS = 1000, STREAM_PES = 200, STREAM_ROUNDS = 100000 };

/* The state of a PE. */
struct pe {
    struct ft_program *program;
    uint64_t own; /* random state */
    int step;     /* the call that it has begun last */
    int round;    /* shrinks of the world */
    shmem_team_t team[TEAMS];
    shmem_team_t even; /* of ft_split */
    long *source, *dest, *word, *lock;
    void *block[BLOCKS];
};

enum word { WORD_COUNT, WORD_NEXT, WORD_PASSED, WORD_SUM, WORD_IN, WORD_OUT, WORDS = 12 };

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

static void ft_fail(struct ft_program *p, const char *format, ...)
{
    va_list args;

    if (p->wrong)
        return;
    p->wrong = true;
    int used = snprintf(p->why, sizeof p->why, "PE %d: ", shmem_my_pe());
    va_start(args, format);
    vsnprintf(p->why + used, sizeof p->why - (size_t)used, format, args);
    va_end(args);
}

static long ft_value(const struct call *c, int pe, size_t e)
{
    return (long)((uint64_t)(c->number * 7919 + pe * 131 + (long)e) % 10007);
}

static long ft_sum_to(const struct call *c, int end, size_t e)
{
    long sum = 0;

    for (int pe = 0; pe < end; pe++)
        sum += ft_value(c, pe, e);
    return sum;
}

static void ft_expect(const struct call *c, const char *what, size_t e, long got,
                      long should)
{
    if (got != should)
        ft_fail(
            c->pe->program,
            "call %ld, %s of %d PEs, root %d, %zu elements: element %zu is %ld, not %ld",
            c->number, what, c->npes, c->root, c->n, e, got, should);
}

static void ft_fill(const struct call *c, size_t n)
{
    for (size_t e = 0; e < n; e++)
        c->pe->source[e] = ft_value(c, c->me, e);
}

/* Why a routine without a result has ended early. */
static int ft_status(void)
{
    return shmemx_team_status(SHMEM_TEAM_WORLD);
}

/* ---- collectives: 0, or an error code ---------------------------------------------- */

static int ft_broadcast(const struct call *c)
{
    ft_fill(c, c->n);
    int rc = shmem_long_broadcast(c->team, c->pe->dest, c->pe->source, c->n, c->root);
    for (size_t e = 0; e < c->n && rc == 0; e++)
        ft_expect(c, "broadcast", e, c->pe->dest[e], ft_value(c, c->root, e));
    return rc;
}

/* The root does not wait for the other PEs and runs ahead of them. */
static int ft_burst(const struct call *c)
{
    struct call one = *c;
    int rc = 0;

    for (int k = 0; k < 6 && rc == 0; k++, one.number++)
        rc = ft_broadcast(&one);
    return rc;
}

static size_t ft_collected_of(const struct call *c, int pe)
{
    return (c->n + (size_t)pe * (c->pick % 3)) % (c->n + 1);
}

static int ft_collect(const struct call *c)
{
    size_t at = 0;

    ft_fill(c, c->n);
    int rc = shmem_long_collect(c->team, c->pe->dest, c->pe->source,
                                ft_collected_of(c, c->me));
    for (int pe = 0; pe < c->npes && rc == 0; pe++)
        for (size_t e = 0; e < ft_collected_of(c, pe); e++, at++)
            ft_expect(c, "collect", at, c->pe->dest[at], ft_value(c, pe, e));
    return rc;
}

static int ft_fcollect(const struct call *c)
{
    ft_fill(c, c->n);
    int rc = shmem_long_fcollect(c->team, c->pe->dest, c->pe->source, c->n);
    for (size_t e = 0; e < c->n * (size_t)c->npes && rc == 0; e++)
        ft_expect(c, "fcollect", e, c->pe->dest[e],
                  ft_value(c, (int)(e / c->n), e % c->n));
    return rc;
}

static int ft_alltoall(const struct call *c)
{
    ft_fill(c, c->n * (size_t)c->npes);
    int rc = shmem_long_alltoall(c->team, c->pe->dest, c->pe->source, c->n);
    for (size_t e = 0; e < c->n * (size_t)c->npes && rc == 0; e++)
        ft_expect(c, "alltoall", e, c->pe->dest[e],
                  ft_value(c, (int)(e / c->n), (size_t)c->me * c->n + e % c->n));
    return rc;
}

static int ft_reduce(const struct call *c)
{
    long *from = c->pick % 2 != 0 ? c->pe->dest : c->pe->source;

    ft_fill(c, c->n);
    if (from == c->pe->dest)
        memcpy(from, c->pe->source, c->n * sizeof *from);
    int rc = shmem_long_sum_reduce(c->team, c->pe->dest, from, c->n);
    for (size_t e = 0; e < c->n && rc == 0; e++)
        ft_expect(c, "reduce", e, c->pe->dest[e], ft_sum_to(c, c->npes, e));
    return rc;
}

static int ft_scan(const struct call *c)
{
    bool exclusive = c->pick % 2 != 0;

    ft_fill(c, c->n);
    int rc = exclusive ? shmem_long_sum_exscan(c->team, c->pe->dest, c->pe->source, c->n)
                       : shmem_long_sum_inscan(c->team, c->pe->dest, c->pe->source, c->n);
    for (size_t e = 0; e < c->n && rc == 0; e++)
        ft_expect(c, "scan", e, c->pe->dest[e], ft_sum_to(c, c->me + !exclusive, e));
    return rc;
}

/* ---- synchronization and operations ---------------------------------------------- */

static int ft_world_pe(const struct call *c, int pe)
{
    return shmem_team_translate_pe(c->team, pe, SHMEM_TEAM_WORLD);
}

static int ft_right_of(const struct call *c)
{
    return ft_world_pe(c, (c->me + 1) % c->npes);
}

/* Puts, then a barrier: they are visible after it. */
static int ft_put(const struct call *c)
{
    int left = (c->me + c->npes - 1) % c->npes;

    ft_fill(c, c->n);
    if (c->pick % 2 != 0)
        shmem_long_put(c->pe->dest, c->pe->source, c->n, ft_right_of(c));
    else
        shmem_long_put_nbi(c->pe->dest, c->pe->source, c->n, ft_right_of(c));
    shmem_quiet();
    int rc = shmem_team_sync(c->team);
    for (size_t e = 0; e < c->n && rc == 0; e++)
        ft_expect(c, "put", e, c->pe->dest[e], ft_value(c, left, e));
    return rc;
}

/* Gets through a context.  Only the death of the target explains a wrong result. */
static int ft_get(const struct call *c)
{
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    int right = (c->me + 1) % c->npes, pe = ft_right_of(c);

    ft_fill(c, c->n);
    if (c->pick % 2 != 0 && shmem_ctx_create(0, &ctx) != 0)
        ctx = SHMEM_CTX_DEFAULT;
    int rc = shmem_team_sync(c->team);
    if (rc == 0)
        shmem_ctx_long_get_nbi(ctx, c->pe->dest, c->pe->source, c->n, pe);
    shmem_ctx_quiet(ctx);
    if (ctx != SHMEM_CTX_DEFAULT)
        shmem_ctx_destroy(ctx);
    for (size_t e = 0; e < c->n && rc == 0 && !shmemx_pe_failed(pe); e++)
        ft_expect(c, "get", e, c->pe->dest[e], ft_value(c, right, e));
    return rc;
}

/* A token passes the PEs in order, each time with data.  A wait that ends without the
 * token has a reason. */
static int ft_signal(const struct call *c)
{
    uint64_t *signal = (uint64_t *)&c->pe->word[WORD_NEXT], got = 0;

    ft_fill(c, c->n);
    if (c->me > 0)
        got = shmem_signal_wait_until(signal, SHMEM_CMP_EQ, (uint64_t)c->number);
    if (c->me > 0 && got != (uint64_t)c->number) {
        if (ft_status() == 0)
            ft_fail(c->pe->program, "call %ld: a wait has ended without a failure",
                    c->number);
        return ft_status();
    }
    for (size_t e = 0; e < c->n && c->me > 0; e++)
        ft_expect(c, "put_signal", e, c->pe->dest[e], ft_value(c, c->me - 1, e));
    if (c->me + 1 < c->npes)
        shmem_long_put_signal(c->pe->dest, c->pe->source, c->n, signal,
                              (uint64_t)c->number, SHMEM_SIGNAL_SET, ft_right_of(c));
    return 0;
}

/* All PEs count at the root; fetched values are all different. */
static int ft_amo(const struct call *c)
{
    int root = ft_world_pe(c, c->root);
    long fetched = 0, all = (long)TURNS * c->npes;

    for (int k = 0; k < TURNS; k++) {
        shmem_long_atomic_inc(&c->pe->word[WORD_COUNT], root);
        fetched += shmem_long_atomic_fetch_inc(&c->pe->word[WORD_PASSED], root);
    }
    shmem_long_atomic_add(&c->pe->word[WORD_SUM], fetched, root);
    shmem_quiet();
    int rc = shmem_team_sync(c->team);
    if (rc == 0 && c->me == c->root) {
        ft_expect(c, "atomic_inc", 0, c->pe->word[WORD_COUNT], all);
        ft_expect(c, "atomic_fetch_inc", 0, c->pe->word[WORD_SUM], all * (all - 1) / 2);
    }
    return rc;
}

/* Without a failure, the lock is held after shmem_set_lock. */
static int ft_lock_once(const struct call *c)
{
    struct ft_program *p = c->pe->program;
    int me = shmem_my_pe();

    shmem_set_lock(c->pe->lock);
    if (ft_status() != 0) {
        shmem_clear_lock(c->pe->lock);
        return ft_status();
    }
    if (p->holder != 0 && !job_is_dead(p->holder - 1))
        ft_fail(p, "call %ld: PE %d holds the lock, too", c->number, p->holder - 1);
    p->holder = me + 1;
    os_sleep(random_below(&c->pe->own, LATE_NS));
    if (p->holder == me + 1)
        p->holder = 0;
    shmem_clear_lock(c->pe->lock);
    return 0;
}

static int ft_lock(const struct call *c)
{
    int rc = 0;

    for (int k = 0; k < TURNS && rc == 0; k++)
        rc = ft_lock_once(c);
    return rc;
}

static int ft_barrier(const struct call *c)
{
    (void)c;
    shmem_barrier_all();
    return ft_status();
}

/* Equal offsets on all PEs. */
static int ft_check_block(struct ft_program *p, size_t k, const void *block)
{
    int64_t offset = 1 + (int64_t)((const char *)block - (char *)pgas_self.heap_base);

    if (block == NULL) {
        if (ft_status() == 0)
            ft_fail(p, "allocation %zu has failed", k);
        return ft_status();
    }
    if (p->offset[k % FT_BLOCKS] == 0)
        p->offset[k % FT_BLOCKS] = offset;
    else if (p->offset[k % FT_BLOCKS] != offset)
        ft_fail(p, "allocation %zu is at offset %lld, elsewhere at %lld", k,
                (long long)offset, (long long)p->offset[k % FT_BLOCKS]);
    return 0;
}

static int ft_malloc(const struct call *c)
{
    void **block = &c->pe->block[c->pick % BLOCKS];

    if (*block != NULL) {
        void *old = *block;
        *block = NULL;
        shmem_free(old);
        if (ft_status() != 0)
            return ft_status();
    }
    *block = shmem_malloc(1 + c->pick % BLOCK_MOST);
    return ft_check_block(c->pe->program, (size_t)c->pe->step, *block);
}

static int ft_realloc(const struct call *c)
{
    void **block = &c->pe->block[c->pick % BLOCKS], *old = *block;

    *block = NULL;
    void *new = shmem_realloc(old, 1 + (c->pick >> 8) % BLOCK_MOST);
    int rc = ft_check_block(c->pe->program, (size_t)c->pe->step, new);
    if (rc == 0)
        *block = new;
    return rc;
}

/* A team of the even PEs.  A split may end with an error on some PEs only: after the
 * barrier, all PEs have the team and can revoke it. */
static int ft_split(const struct call *c)
{
    struct call sub = *c;
    shmem_team_t *even = &c->pe->even;

    int rc = shmem_team_split_strided(c->team, 0, 2, (c->npes + 1) / 2, NULL, 0, even);
    if (rc == 0 && (*even == SHMEM_TEAM_INVALID) != (c->me % 2 != 0))
        ft_fail(c->pe->program, "call %ld: a PE is not in its team", c->number);
    if (rc == 0)
        rc = shmem_team_sync(c->team);
    if (rc != 0 || *even == SHMEM_TEAM_INVALID)
        return rc;
    sub.team = *even;
    sub.me = c->me / 2;
    sub.npes = (c->npes + 1) / 2;
    sub.root %= sub.npes;
    rc = ft_reduce(&sub);
    if (rc == 0) {
        shmem_team_destroy(*even);
        *even = SHMEM_TEAM_INVALID;
    }
    return rc;
}

/* A PE revokes the team: all calls on it end. */
static int ft_revoke(const struct call *c)
{
    int rc = 0;

    if (c->team == SHMEM_TEAM_WORLD)
        return 0; /* its revocation is final */
    if (c->me == c->root)
        shmemx_team_revoke(c->team);
    while (rc == 0)
        rc = shmem_team_sync(c->team);
    if (rc == SHMEMX_ERR_PE_FAILED && ft_status() == 0)
        ft_fail(c->pe->program, "call %ld: an error without a failure", c->number);
    return rc;
}

/* ---- the world after a failure ----------------------------------------------------- */

/* The first PE that begins the round plans its deaths. */
static void ft_begin_round(struct ft_program *p, int round)
{
    if (p->begun[round])
        return;
    p->begun[round] = true;
    for (int i = 0; i < p->deaths; i++) {
        const struct ft_death *d = &p->death[i];
        if (d->round != round)
            continue;
        job_fail(d->pe, d->node, d->delay_ns);
        if (p->last_ns < sim_now_ns() + d->delay_ns)
            p->last_ns = sim_now_ns() + d->delay_ns;
    }
}

static void ft_set_of(uint64_t *set, const int *pes, int n)
{
    for (int i = 0; i < n; i++)
        set[pes[i] / 64] |= UINT64_C(1) << pes[i] % 64;
}

/* The members of the team, as PEs of the world, in ascending order. */
static void ft_members(struct ft_program *p, shmem_team_t team, uint64_t *set)
{
    int before = -1;

    for (int i = 0; i < shmem_team_n_pes(team); i++) {
        int pe = shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);
        if (pe <= before)
            ft_fail(p, "PE %d of the survivors is PE %d of the world", i, pe);
        before = pe;
        ft_set_of(set, &pe, 1);
    }
    if (shmem_team_my_pe(team) < 0)
        ft_fail(p, "is not among the survivors");
}

/* Equal on all survivors. */
static void ft_compare(struct ft_program *p, int round, const struct ft_round *got)
{
    struct ft_round *first = &p->round[round];

    if (!first->known) {
        *first = *got;
        first->known = true;
        p->rounds = round > p->rounds ? round : p->rounds;
    }
    if (memcmp(first->members, got->members, sizeof first->members) != 0)
        ft_fail(p, "shrink %d: other survivors than elsewhere", round);
    if (first->flags != got->flags || first->agreed != got->agreed)
        ft_fail(p, "agreement %d: result %d, %llx; elsewhere %d, %llx", round,
                got->agreed, (unsigned long long)got->flags, first->agreed,
                (unsigned long long)first->flags);
}

/* Agreement and shrink, which every survivor calls. */
static shmem_team_t ft_shrink_world(struct pe *pe)
{
    struct ft_program *p = pe->program;
    struct ft_round got = {.flags = ~(uint64_t)0};
    shmem_team_t survivors = SHMEM_TEAM_INVALID;

    int round = ++pe->round;
    if (round >= FT_ROUNDS) {
        ft_fail(p, "%d shrinks", round);
        round = FT_ROUNDS - 1;
    }
    ft_begin_round(p, round);
    uint64_t random = random_stream(p->seed, STREAM_ROUNDS + (uint64_t)round);
    if (random_below(&random, 2) != 0) {
        got.flags = ~(UINT64_C(1) << random_below(&pe->own, 64));
        uint64_t mine = got.flags;
        got.agreed = shmemx_team_agree(SHMEM_TEAM_WORLD, &got.flags);
        if ((got.flags & ~mine) != 0)
            ft_fail(p, "agreement %d: without the value of this PE", round);
    }
    int rc = shmemx_team_shrink(SHMEM_TEAM_WORLD, &survivors);
    if (rc != 0 || survivors == SHMEM_TEAM_INVALID) {
        ft_fail(p, "shrink %d: error %d", round, rc);
        shmem_global_exit(1);
    }
    ft_members(p, survivors, got.members);
    ft_compare(p, round, &got);
    return survivors;
}

/* Ends the calls of PEs on a team without a failed PE. */
static void ft_revoke_team(shmem_team_t team)
{
    if (team != SHMEM_TEAM_INVALID && team != SHMEM_TEAM_WORLD &&
        shmemx_team_status(team) == 0)
        shmemx_team_revoke(team);
}

static void ft_revoke_teams(struct pe *pe)
{
    for (int i = 0; i < TEAMS; i++)
        ft_revoke_team(pe->team[i]);
    ft_revoke_team(pe->even);
}

static void ft_drop_team(shmem_team_t *team)
{
    if (*team != SHMEM_TEAM_INVALID && *team != SHMEM_TEAM_WORLD &&
        shmemx_team_status(*team) != 0)
        shmem_team_destroy(*team);
    *team = SHMEM_TEAM_INVALID;
}

static void ft_drop_teams(struct pe *pe)
{
    for (int i = 0; i < TEAMS; i++)
        ft_drop_team(&pe->team[i]);
    ft_drop_team(&pe->even);
}

/* Team 0: all live PEs; team 1: every other one; team 2: all but the first. */
static int ft_make_teams(struct pe *pe)
{
    int npes = shmem_team_n_pes(pe->team[0]), rc;

    rc = shmem_team_split_strided(pe->team[0], 0, 2, (npes + 1) / 2, NULL, 0,
                                  &pe->team[1]);
    if (rc == 0 && npes > 1)
        rc = shmem_team_split_strided(pe->team[0], 1, 1, npes - 1, NULL, 0, &pe->team[2]);
    if (rc == 0) /* all PEs have the teams and can revoke them */
        rc = shmem_team_sync(pe->team[0]);
    if (rc != 0 && shmemx_team_status(pe->team[0]) == 0)
        ft_fail(pe->program, "a split has failed with %d", rc);
    return rc;
}

/* After a shrink: the survivors continue after the last call that one of them has begun,
 * and their heaps are equal. */
static int ft_continue(struct pe *pe)
{
    struct ft_program *p = pe->program;
    long *in = &pe->word[WORD_IN], *out = &pe->word[WORD_OUT];

    memset(pe->block, 0, sizeof pe->block); /* may be in use elsewhere */
    *in = pe->step;
    if (pe->round % 2 != 0) {
        shmem_barrier_all();
        if (ft_status() != 0)
            return ft_status();
    }
    int rc = shmem_long_max_reduce(pe->team[0], out, in, 1);
    if (rc != 0)
        return rc;
    pe->step = (int)*out;
    void *block = shmem_malloc(BLOCK_MOST);
    rc = ft_check_block(p, (size_t)(p->calls + pe->round), block);
    return rc != 0 ? rc : ft_make_teams(pe);
}

static void ft_recover(struct pe *pe)
{
    int rc;

    do {
        ft_revoke_teams(pe);
        shmem_team_t survivors = ft_shrink_world(pe);
        ft_drop_teams(pe);
        pe->team[0] = survivors;
        rc = ft_continue(pe);
    } while (rc != 0 && !pe->program->wrong);
}

/* ---- the program ----------------------------------------------------------------- */

struct trial {
    int (*run)(const struct call *c);
    bool all;     /* by all PEs */
    bool follows; /* uses words, or dest: begins and ends with a barrier of the team */
};

static const struct trial trials[] = {
    {ft_broadcast, false, false}, {ft_burst, false, false},    {ft_collect, false, false},
    {ft_fcollect, false, false},  {ft_alltoall, false, false}, {ft_reduce, false, false},
    {ft_reduce, false, false},    {ft_scan, false, false},     {ft_put, false, true},
    {ft_get, false, true},        {ft_signal, false, true},    {ft_amo, false, true},
    {ft_lock, true, false},       {ft_barrier, true, false},   {ft_malloc, true, false},
    {ft_malloc, true, false},     {ft_realloc, true, false},   {ft_split, false, false},
    {ft_revoke, true, true},
};
enum { TRIALS = sizeof trials / sizeof trials[0] };

/* Call pe->step; false: this PE is not in its team. */
static bool ft_next_call(struct pe *pe, struct call *c, const struct trial **trial)
{
    uint64_t random = random_stream(pe->program->seed, STREAM_CALLS + (uint64_t)pe->step);
    uint64_t k = random_below(&random, TRIALS), team = random_below(&random, TEAMS);
    uint64_t most = random_below(&random, MOST_IN) == 0 ? ELEMENTS_MOST : ELEMENTS_FEW;
    uint64_t n = 1 + random_below(&random, most), root = random_next(&random);

    *trial = &trials[k];
    *c = (struct call){.pe = pe, .number = (pe->step + 1) * (long)NUMBERS};
    c->pick = random_next(&random) >> 32;
    c->team = pe->team[(*trial)->all ? 0 : team];
    if (c->team == SHMEM_TEAM_INVALID)
        return false;
    c->me = shmem_team_my_pe(c->team);
    c->npes = shmem_team_n_pes(c->team);
    c->root = (int)(root % (uint64_t)c->npes);
    c->n = n * (uint64_t)c->npes <= SPACE ? n : SPACE / (uint64_t)c->npes;
    return true;
}

static int ft_run_call(struct pe *pe, const struct call *c, const struct trial *trial)
{
    int rc = 0;

    if (random_below(&pe->own, LATE_IN) == 0)
        os_sleep(random_below(&pe->own, LATE_NS));
    if (trial->follows) {
        memset(pe->word, 0, WORD_IN * sizeof *pe->word);
        rc = shmem_team_sync(c->team);
    }
    if (rc == 0)
        rc = trial->run(c);
    return rc == 0 && trial->follows ? shmem_team_sync(c->team) : rc;
}

static void ft_run_calls(struct pe *pe)
{
    const struct trial *trial;
    struct call c;

    for (pe->step = 0; pe->step < pe->program->calls && !pe->program->wrong; pe->step++)
        if (ft_next_call(pe, &c, &trial) && ft_run_call(pe, &c, trial) != 0)
            ft_recover(pe);
}

/* When every death is known, the survivors recover from those that they have not seen. */
static void ft_settle(struct pe *pe)
{
    struct ft_program *p = pe->program;

    for (;;) {
        uint64_t until = p->last_ns + KNOWN_NS, now = sim_now_ns();
        if (now < until)
            os_sleep(until - now);
        if (ft_status() != 0)
            ft_recover(pe);
        else if (p->last_ns + KNOWN_NS <= until)
            return;
    }
}

/* In the end each survivor knows of exactly the PEs that have died, and the routines of
 * the world work. */
static void ft_check_end(struct pe *pe)
{
    struct ft_program *p = pe->program;
    int npes = shmem_n_pes(), dead = 0;

    for (int i = 0; i < npes; i++) {
        dead += job_is_dead(i);
        if (shmemx_pe_failed(i) != job_is_dead(i))
            ft_fail(p, "PE %d is %s, but is considered %s", i,
                    job_is_dead(i) ? "dead" : "alive",
                    job_is_dead(i) ? "alive" : "failed");
    }
    if (shmemx_team_failed(SHMEM_TEAM_WORLD, NULL, 0) != dead)
        ft_fail(p, "shmemx_team_failed: not %d", dead);
    if (pe->round > 0 && shmem_team_n_pes(pe->team[0]) != npes - dead)
        ft_fail(p, "%d survivors, not %d", shmem_team_n_pes(pe->team[0]), npes - dead);
    shmem_barrier_all();
    if (ft_status() != 0 && !p->begun[FT_LAST])
        ft_fail(p, "the last barrier has ended with %d", ft_status());
}

void ft_program_run(void *arg)
{
    struct ft_program *p = arg;
    struct pe pe = {.program = p,
                    .own = random_stream(p->seed, STREAM_PES + (uint64_t)shmem_my_pe()),
                    .source = shmem_malloc(SPACE * sizeof(long)),
                    .dest = shmem_malloc(SPACE * sizeof(long)),
                    .word = shmem_calloc(WORDS, sizeof *pe.word),
                    .lock = shmem_calloc(1, sizeof *pe.lock)};

    pe.team[0] = SHMEM_TEAM_WORLD;
    pe.team[1] = pe.team[2] = pe.even = SHMEM_TEAM_INVALID;
    ft_make_teams(&pe);
    ft_begin_round(p, 0);
    ft_run_calls(&pe);
    if (!p->wrong)
        ft_settle(&pe);
    if (!p->wrong)
        ft_check_end(&pe);
    if (p->wrong)
        shmem_global_exit(1);
    p->end_ns = sim_now_ns();
    ft_begin_round(p, FT_LAST);
}

void ft_program_choose(struct ft_program *p, const struct job_config *c, uint64_t *random)
{
    int npes = c->nodes * c->pes_per_node;

    p->deaths = (int)random_below(random, FT_DEATHS + 1);
    for (int i = 0; i < p->deaths; i++) {
        struct ft_death *d = &p->death[i];
        uint64_t kind = random_below(random, 8);
        d->round = kind < 4 ? 0 : kind < 7 ? 1 + (int)random_below(random, 3) : FT_LAST;
        d->pe = 1 + (int)random_below(random, (uint64_t)npes);
        d->pe %= npes;
        d->node = random_below(random, 4) == 0;
        d->delay_ns = 1 + random_below(random, d->round == 0 ? DEATH_NS : SHRINK_NS);
    }
}
