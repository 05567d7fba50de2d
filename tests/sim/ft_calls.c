/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_calls.c - the calls of ft_program.c.  Where a routine returns 0, its result is
 * right. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "include/shmem.h"
#include "include/shmemx.h"
#include "pgas/core/base/os.h"
#include "pgas/core/base/pgas.h"
#include "pgas/transport/test/random.h"
#include "tests/sim/ft_program_int.h"

enum { TURNS = 3 /* of a PE in a test of a lock, of atomics */ };

/* ---- results --------------------------------------------------------------------- */

void ft_fail(struct ft_program *p, const char *format, ...)
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

int ft_status(void)
{
    return shmemx_team_status(SHMEM_TEAM_WORLD);
}

static struct ft_outcome *ft_outcome_of(struct ft_program *p, uint64_t key)
{
    for (size_t i = 0; i < FT_OUTCOMES; i++) {
        struct ft_outcome *o = &p->outcome[(key * 31 + i) % FT_OUTCOMES];
        if (o->key == 0)
            o->key = key;
        if (o->key == key)
            return o;
    }
    return NULL;
}

int ft_same(struct pe *pe, int rc)
{
    uint64_t place = pe->mends ? 0xffff : (uint64_t)pe->step;
    uint64_t key = (uint64_t)(pe->round + 1) << 32 | place << 16 | (uint64_t)++pe->number;
    struct ft_outcome *o = ft_outcome_of(pe->program, key);
    int me = shmem_my_pe(), npes = shmem_n_pes();

    if (o == NULL)
        return rc;
    const uint64_t *others = o->result[rc != 0];
    o->result[rc == 0][me / 64] |= UINT64_C(1) << me % 64;
    pe->program->outcomes++;
    pe->program->interrupted += rc != 0;
    for (int i = 0; i < npes; i++)
        if ((others[i / 64] >> i % 64 & 1) != 0 && !job_is_dead(i))
            ft_fail(pe->program, "round %d, call %d.%d: result %d, but %s on PE %d",
                    pe->round, (int)place, pe->number, rc, rc != 0 ? "success" : "error",
                    i);
    return rc;
}

int ft_same_data(struct pe *pe, int rc)
{
    return pe->program->uniform ? ft_same(pe, rc) : rc;
}

int ft_sync(struct pe *pe, shmem_team_t team)
{
    return ft_same(pe, shmem_team_sync(team));
}

/* ---- collectives: 0, or an error code ---------------------------------------------- */

static int ft_broadcast(const struct call *c)
{
    ft_fill(c, c->n);
    int rc = shmem_long_broadcast(c->team, c->pe->dest, c->pe->source, c->n, c->root);
    ft_same_data(c->pe, rc);
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
    ft_same_data(c->pe, rc);
    for (int pe = 0; pe < c->npes && rc == 0; pe++)
        for (size_t e = 0; e < ft_collected_of(c, pe); e++, at++)
            ft_expect(c, "collect", at, c->pe->dest[at], ft_value(c, pe, e));
    return rc;
}

static int ft_fcollect(const struct call *c)
{
    ft_fill(c, c->n);
    int rc = shmem_long_fcollect(c->team, c->pe->dest, c->pe->source, c->n);
    ft_same_data(c->pe, rc);
    for (size_t e = 0; e < c->n * (size_t)c->npes && rc == 0; e++)
        ft_expect(c, "fcollect", e, c->pe->dest[e],
                  ft_value(c, (int)(e / c->n), e % c->n));
    return rc;
}

static int ft_alltoall(const struct call *c)
{
    ft_fill(c, c->n * (size_t)c->npes);
    int rc = shmem_long_alltoall(c->team, c->pe->dest, c->pe->source, c->n);
    ft_same_data(c->pe, rc);
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
    ft_same_data(c->pe, rc);
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
    ft_same_data(c->pe, rc);
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
    int rc = ft_sync(c->pe, c->team);
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
    int rc = ft_sync(c->pe, c->team);
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
    int rc = ft_sync(c->pe, c->team);
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

int ft_check_block(struct pe *pe, size_t k, const void *block)
{
    struct ft_program *p = pe->program;
    int64_t offset = 1 + (int64_t)((const char *)block - (char *)pgas_self.heap_base);

    ft_same(pe, block == NULL);
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
    return ft_check_block(c->pe, (size_t)c->pe->step, *block);
}

static int ft_realloc(const struct call *c)
{
    void **block = &c->pe->block[c->pick % BLOCKS], *old = *block;

    *block = NULL;
    void *new = shmem_realloc(old, 1 + (c->pick >> 8) % BLOCK_MOST);
    int rc = ft_check_block(c->pe, (size_t)c->pe->step, new);
    if (rc == 0)
        *block = new;
    return rc;
}

/* A context of the team with an operation in flight, which shmem_team_destroy closes. */
static void ft_open_context(const struct call *c)
{
    shmem_ctx_t ctx;

    if (c->pick % 2 != 0 && shmem_team_create_ctx(c->team, 0, &ctx) == 0)
        shmem_ctx_long_put_nbi(ctx, &c->pe->word[WORD_CONTEXT], c->pe->source, 1,
                               (c->me + 1) % c->npes);
}

/* A team of the even PEs.  A split may end with an error on some PEs only: after the
 * barrier, all PEs have the team and can revoke it. */
static int ft_split(const struct call *c)
{
    struct call sub = *c;
    shmem_team_t *even = &c->pe->even;

    int rc = ft_same(
        c->pe, shmem_team_split_strided(c->team, 0, 2, (c->npes + 1) / 2, NULL, 0, even));
    if (rc == 0 && (*even == SHMEM_TEAM_INVALID) != (c->me % 2 != 0))
        ft_fail(c->pe->program, "call %ld: a PE is not in its team", c->number);
    if (rc == 0)
        rc = ft_sync(c->pe, c->team);
    if (rc != 0 || *even == SHMEM_TEAM_INVALID)
        return rc;
    sub.team = *even;
    sub.me = c->me / 2;
    sub.npes = (c->npes + 1) / 2;
    sub.root %= sub.npes;
    rc = ft_reduce(&sub);
    if (rc == 0) {
        ft_open_context(&sub);
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
        rc = ft_sync(c->pe, c->team);
    if (rc == SHMEMX_ERR_PE_FAILED && ft_status() == 0)
        ft_fail(c->pe->program, "call %ld: an error without a failure", c->number);
    return rc;
}

const struct trial ft_trials[] = {
    {ft_broadcast, false, false}, {ft_burst, false, false},    {ft_collect, false, false},
    {ft_fcollect, false, false},  {ft_alltoall, false, false}, {ft_reduce, false, false},
    {ft_reduce, false, false},    {ft_scan, false, false},     {ft_put, false, true},
    {ft_get, false, true},        {ft_signal, false, true},    {ft_amo, false, true},
    {ft_lock, true, false},       {ft_barrier, true, false},   {ft_malloc, true, false},
    {ft_malloc, true, false},     {ft_realloc, true, false},   {ft_split, false, false},
    {ft_revoke, true, true},
};
const int ft_trials_n = sizeof ft_trials / sizeof ft_trials[0];
