/* SPDX-License-Identifier: BSD-3-Clause */
/* stress_actions.c - the actions of stress.c; each verifies its results. */
#include "tests/threads/stress.h"

enum { MAIL = 300, BURST = 200, BLOCK = 40, STRIDE = 2 };

bool stress_loses_updates;
uint64_t stress_counter[STRESS_COUNTERS], stress_mixed[STRESS_COUNTERS];
/* Rows of the threads of all PEs: only thread t of PE p writes row [p][t]. */
static uint64_t slot[STRESS_PES][STRESS_THREADS][STRESS_SLOTS];
/* Of threads t */
static uint64_t mail[STRESS_THREADS][MAIL], mail_signal[STRESS_THREADS];
static uint64_t word[STRESS_THREADS][3], guarded[STRESS_THREADS];
static long lock[STRESS_THREADS];
static uint64_t block_in[STRESS_THREADS][BLOCK * STRESS_PES];
static uint64_t block_out[STRESS_THREADS][BLOCK * STRESS_PES];

static int stress_pe(struct stress_worker *w)
{
    return stress_below(&w->own, shmem_n_pes());
}

void stress_complete(struct stress_worker *w)
{
    for (int i = 0; i < STRESS_CONTEXTS; i++)
        if (w->dirty[i])
            shmem_ctx_quiet(w->ctx[i]);
    memset(w->dirty, 0, sizeof w->dirty);
}

shmem_ctx_t stress_put_ctx(struct stress_worker *w)
{
    int i = stress_below(&w->own, STRESS_CONTEXTS);
    bool others = false;

    for (int k = 0; k < STRESS_CONTEXTS; k++)
        others |= k != i && w->dirty[k];
    if (others)
        stress_complete(w);
    else if (w->dirty[i])
        shmem_ctx_fence(w->ctx[i]);
    w->dirty[i] = true;
    return w->ctx[i];
}

/* ---- puts and gets ----------------------------------------------------------------- */

void stress_put(struct stress_worker *w)
{
    uint64_t values[STRESS_SLOTS * STRIDE];
    int pe = stress_pe(w), first = stress_below(&w->own, STRESS_SLOTS);
    int n = 1 + stress_below(&w->own, STRESS_SLOTS - first);
    uint64_t *to = &slot[shmem_my_pe()][w->t][first];
    shmem_ctx_t ctx = stress_put_ctx(w);

    for (int i = 0; i < n; i++)
        values[i * STRIDE] = values[i] = w->shadow[pe][first + i] = check_random(&w->own);
    switch (stress_below(&w->own, 4)) {
    case 0:
        for (int i = 0; i < n; i++)
            shmem_ctx_uint64_p(ctx, to + i, w->shadow[pe][first + i], pe);
        break;
    case 1:
        shmem_ctx_uint64_put(ctx, to, &w->shadow[pe][first], (size_t)n, pe);
        break;
    case 2:
        for (int i = 0; i < n; i++)
            values[i * STRIDE] = w->shadow[pe][first + i];
        shmem_ctx_uint64_iput(ctx, to, values, 1, STRIDE, (size_t)n, pe);
        break;
    default:
        shmem_ctx_uint64_put_nbi(ctx, to, &w->shadow[pe][first], (size_t)n, pe);
        stress_complete(w); /* the source may change */
    }
}

/* So many puts that the queues of the transport are full; the last one wins. */
void stress_burst(struct stress_worker *w)
{
    int pe = stress_pe(w), at = stress_below(&w->own, STRESS_SLOTS);
    uint64_t *to = &slot[shmem_my_pe()][w->t][at];
    shmem_ctx_t ctx = stress_put_ctx(w);

    for (int i = 0; i < BURST; i++)
        shmem_ctx_uint64_p(ctx, to, check_random(&w->own), pe);
    shmem_ctx_fence(ctx);
    w->shadow[pe][at] = check_random(&w->own);
    shmem_ctx_uint64_p(ctx, to, w->shadow[pe][at], pe);
}

void stress_get(struct stress_worker *w)
{
    uint64_t values[STRESS_SLOTS * STRIDE];
    int pe = stress_pe(w), stride = 1;
    shmem_ctx_t ctx = w->ctx[stress_below(&w->own, STRESS_CONTEXTS)];
    const uint64_t *from = slot[shmem_my_pe()][w->t];

    stress_complete(w);
    switch (stress_below(&w->own, 4)) {
    case 0:
        for (int i = 0; i < STRESS_SLOTS; i++)
            values[i] = shmem_ctx_uint64_g(ctx, from + i, pe);
        break;
    case 1:
        shmem_ctx_uint64_get(ctx, values, from, STRESS_SLOTS, pe);
        break;
    case 2:
        stride = STRIDE;
        shmem_ctx_uint64_iget(ctx, values, from, STRIDE, 1, STRESS_SLOTS, pe);
        break;
    default:
        shmem_ctx_uint64_get_nbi(ctx, values, from, STRESS_SLOTS, pe);
        shmem_ctx_quiet(ctx);
    }
    for (int i = 0; i < STRESS_SLOTS; i++)
        CHECK_NAMED(values[i * stride] == w->shadow[pe][i],
                    "thread %d: slot %d on PE %d is %llx, should be %llx", w->t, i, pe,
                    (unsigned long long)values[i * stride],
                    (unsigned long long)w->shadow[pe][i]);
}

/* ---- atomics ----------------------------------------------------------------------- */

void stress_add(struct stress_worker *w)
{
    int pe = stress_pe(w), k = stress_below(&w->own, STRESS_COUNTERS);
    uint64_t *at = &stress_counter[k], n = check_random(&w->own) >> 40, old = 0;
    int ctx_index = stress_below(&w->own, STRESS_CONTEXTS);
    shmem_ctx_t ctx = w->ctx[ctx_index];

    w->added[pe][k] += n;
    w->dirty[ctx_index] = true;
    switch (stress_loses_updates ? -1 : stress_below(&w->own, 4)) {
    case -1:
        old = shmem_ctx_uint64_g(ctx, at, pe);
        sched_yield();
        shmem_ctx_uint64_p(ctx, at, old + n, pe);
        break;
    case 0:
        shmem_ctx_uint64_atomic_add(ctx, at, n, pe);
        break;
    case 1:
        (void)shmem_ctx_uint64_atomic_fetch_add(ctx, at, n, pe);
        break;
    case 2:
        shmem_ctx_uint64_atomic_fetch_add_nbi(ctx, &old, at, n, pe);
        shmem_ctx_quiet(ctx);
        break;
    default:
        do
            old = shmem_ctx_uint64_atomic_fetch(ctx, at, pe);
        while (shmem_ctx_uint64_atomic_compare_swap(ctx, at, old, old + n, pe) != old);
    }
}

void stress_mix(struct stress_worker *w)
{
    int pe = stress_pe(w), k = stress_below(&w->own, STRESS_COUNTERS);
    uint64_t *at = &stress_mixed[k], x = check_random(&w->own);
    int ctx_index = stress_below(&w->own, STRESS_CONTEXTS);

    w->mixed[pe][k] ^= x;
    w->dirty[ctx_index] = true;
    if (stress_below(&w->own, 2) == 0)
        shmem_ctx_uint64_atomic_xor(w->ctx[ctx_index], at, x, pe);
    else
        (void)shmem_ctx_uint64_atomic_fetch_xor(w->ctx[ctx_index], at, x, pe);
}

/* ---- exchanges between neighbours ---------------------------------------------------
 */

void stress_signal(struct stress_worker *w)
{
    const int npes = shmem_n_pes(), me = shmem_my_pe(), next = (me + 1) % npes;
    size_t n = 1 + (size_t)stress_below(&w->common, MAIL);
    uint64_t values[MAIL], seen = ++w->signals;

    for (size_t i = 0; i < n; i++)
        values[i] = seen * 1000 + (uint64_t)me + i;
    shmem_ctx_uint64_put_signal(w->ctx[stress_below(&w->own, STRESS_CONTEXTS)],
                                mail[w->t], values, n, &mail_signal[w->t], 1,
                                SHMEM_SIGNAL_ADD, next);
    CHECK_EQ(shmem_signal_wait_until(&mail_signal[w->t], SHMEM_CMP_GE, seen), seen);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(mail[w->t][i], seen * 1000 + (uint64_t)((me + npes - 1) % npes) + i);
    CHECK_EQ(shmem_team_sync(w->team), 0); /* mail has been read */
}

void stress_wait(struct stress_worker *w)
{
    const int npes = shmem_n_pes(), next = (shmem_my_pe() + 1) % npes;
    int k = stress_below(&w->common, 3);
    uint64_t *mine = word[w->t], seen = ++w->waits;

    check_delay(&w->own);
    shmem_uint64_atomic_set(&mine[k], seen, next);
    switch (stress_below(&w->own, 3)) {
    case 0:
        shmem_uint64_wait_until(&mine[k], SHMEM_CMP_GE, seen);
        break;
    case 1:
        CHECK_EQ(shmem_uint64_wait_until_any(mine, 3, NULL, SHMEM_CMP_GE, seen), k);
        break;
    default:
        while (!shmem_uint64_test(&mine[k], SHMEM_CMP_GE, seen))
            sched_yield();
    }
    CHECK_EQ(shmem_team_sync(w->team), 0);
}

/* Counts a word of PE 0 under a lock; threads t of all PEs compete. */
void stress_lock(struct stress_worker *w)
{
    uint64_t *at = &guarded[w->t], total;

    if (stress_below(&w->own, 2) == 0)
        shmem_set_lock(&lock[w->t]);
    else
        while (shmem_test_lock(&lock[w->t]) != 0)
            sched_yield();
    uint64_t seen = shmem_uint64_g(at, 0);
    check_delay(&w->own);
    shmem_uint64_p(at, seen + 1, 0);
    shmem_quiet();
    shmem_clear_lock(&lock[w->t]);
    CHECK_EQ(shmem_team_sync(w->team), 0);
    total = shmem_uint64_g(at, 0);
    CHECK_EQ(total, ++w->locked[0] * (uint64_t)shmem_n_pes());
    CHECK_EQ(shmem_team_sync(w->team), 0);
}

/* ---- contexts, collectives ----------------------------------------------------------
 */

void stress_context(struct stress_worker *w)
{
    int pe = stress_pe(w), at = stress_below(&w->own, STRESS_SLOTS);
    shmem_ctx_t ctx;

    stress_complete(w);
    if (shmem_ctx_create(stress_below(&w->own, 2) == 0 ? 0 : SHMEM_CTX_PRIVATE, &ctx) !=
        0)
        return;
    w->shadow[pe][at] = check_random(&w->own);
    shmem_ctx_uint64_p(ctx, &slot[shmem_my_pe()][w->t][at], w->shadow[pe][at], pe);
    shmem_ctx_destroy(ctx);
}

static uint64_t stress_input(const struct stress_worker *w, uint64_t salt, int pe, int i)
{
    return (salt ^ (uint64_t)w->t) + (uint64_t)pe * 100000 + (uint64_t)i;
}

static void stress_check_blocks(struct stress_worker *w, uint64_t salt, size_t n)
{
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        for (size_t i = 0; i < n; i++)
            CHECK_EQ(block_out[w->t][(size_t)pe * n + i],
                     stress_input(w, salt, pe, (int)i));
}

void stress_collective(struct stress_worker *w)
{
    const int npes = shmem_n_pes(), me = shmem_my_pe();
    uint64_t salt = check_random(&w->common) >> 32, *in = block_in[w->t],
             *out = block_out[w->t], sum = 0;
    size_t n = 1 + (size_t)stress_below(&w->common, BLOCK);
    int root = stress_below(&w->common, npes);

    for (size_t i = 0; i < n; i++)
        in[i] = stress_input(w, salt, me, (int)i);
    switch (stress_below(&w->common, 5)) {
    case 0:
        CHECK_EQ(shmem_uint64_broadcast(w->team, out, in, n, root), 0);
        CHECK_EQ(out[n - 1], stress_input(w, salt, root, (int)n - 1));
        break;
    case 1:
        CHECK_EQ(shmem_uint64_fcollect(w->team, out, in, n), 0);
        stress_check_blocks(w, salt, n);
        break;
    case 2:
        CHECK_EQ(shmem_uint64_collect(w->team, out, in, n), 0);
        stress_check_blocks(w, salt, n);
        break;
    case 3:
        CHECK_EQ(shmem_uint64_sum_reduce(w->team, out, in, n), 0);
        for (int pe = 0; pe < npes; pe++)
            sum += stress_input(w, salt, pe, (int)n - 1);
        CHECK_EQ(out[n - 1], sum);
        break;
    default:
        CHECK_EQ(shmem_uint64_sum_inscan(w->team, out, in, n), 0);
        for (int pe = 0; pe <= me; pe++)
            sum += stress_input(w, salt, pe, 0);
        CHECK_EQ(out[0], sum);
    }
}

void stress_team(struct stress_worker *w)
{
    const int npes = shmem_n_pes();
    int start = stress_below(&w->common, npes);
    shmem_team_t team;

    CHECK_EQ(shmem_team_split_strided(w->team, start, 1, npes - start, NULL, 0, &team),
             0);
    if (team == SHMEM_TEAM_INVALID)
        return;
    CHECK_EQ(shmem_team_sync(team), 0);
    shmem_team_destroy(team);
}

void stress_world(struct stress_worker *w)
{
    uint64_t *block;
    const int npes = shmem_n_pes(), me = shmem_my_pe();

    switch (stress_below(&w->common, 3)) {
    case 0:
        stress_complete(w);
        shmem_barrier_all();
        break;
    case 1:
        shmem_sync_all();
        break;
    default:
        block = check_alloc(sizeof *block * (1 + (size_t)stress_below(&w->common, 3000)));
        shmem_uint64_p(block, (uint64_t)me, (me + 1) % npes);
        shmem_barrier_all();
        CHECK_EQ(*block, (me + npes - 1) % npes);
        shmem_free(block);
    }
}
