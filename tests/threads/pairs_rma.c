/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs_rma.c - cases: accesses to the partner, waits for it, locks, contexts. */
#include "tests/threads/pairs.h"

enum { ELEMENTS = 16384, STRIDE = 3, WORDS = 64 };

/* One row for each side. */
static long rma_there[PAIRS_SIDES][ELEMENTS * STRIDE];
static long rma_here[PAIRS_SIDES][ELEMENTS * STRIDE];
static uint64_t rma_signal[PAIRS_SIDES], rma_word[PAIRS_SIDES][WORDS];
/* Puts of earlier pairs may still arrive in rma_there. */
static uint64_t rma_count[PAIRS_SIDES];
static long rma_lock[PAIRS_SIDES];

static size_t rma_elements(const struct pairs_side *s)
{
    static const size_t n[] = {1, 2, 17, 300, 4096, ELEMENTS};

    return n[pairs_choose(s, 0, 6)];
}

/* ---- accesses --------------------------------------------------------------------- */

static void rma_put(struct pairs_side *s)
{
    if (pairs_choose(s, 1, 2) == 0)
        shmem_ctx_long_p(s->ctx, rma_there[s->k], s->serial, s->peer);
    else
        shmem_ctx_long_put(s->ctx, rma_there[s->k], rma_here[s->k], rma_elements(s),
                           s->peer);
}

static void rma_get(struct pairs_side *s)
{
    if (pairs_choose(s, 1, 2) == 0)
        rma_here[s->k][0] = shmem_ctx_long_g(s->ctx, rma_there[s->k], s->peer);
    else
        shmem_ctx_long_get(s->ctx, rma_here[s->k], rma_there[s->k], rma_elements(s),
                           s->peer);
}

static void rma_strided(struct pairs_side *s)
{
    long *there = rma_there[s->k], *here = rma_here[s->k];
    size_t n = rma_elements(s);

    if (pairs_choose(s, 1, 2) == 0)
        shmem_ctx_long_iput(s->ctx, there, here, STRIDE, 1, n, s->peer);
    else
        shmem_ctx_long_iget(s->ctx, here, there, 1, STRIDE, n, s->peer);
}

static void rma_put_nbi(struct pairs_side *s)
{
    for (int i = 0; i < 4; i++)
        shmem_ctx_long_put_nbi(s->ctx, rma_there[s->k], rma_here[s->k], rma_elements(s),
                               s->peer);
    shmem_ctx_quiet(s->ctx);
}

static void rma_get_nbi(struct pairs_side *s)
{
    for (int i = 0; i < 4; i++)
        shmem_ctx_long_get_nbi(s->ctx, rma_here[s->k], rma_there[s->k], rma_elements(s),
                               s->peer);
    shmem_ctx_quiet(s->ctx);
}

static void rma_put_signal(struct pairs_side *s)
{
    shmem_ctx_long_put_signal(s->ctx, rma_there[s->k], rma_here[s->k], rma_elements(s),
                              &rma_signal[s->k], 1, SHMEM_SIGNAL_ADD, s->peer);
}

static void rma_put_signal_nbi(struct pairs_side *s)
{
    shmem_ctx_long_put_signal_nbi(s->ctx, rma_there[s->k], rma_here[s->k],
                                  rma_elements(s), &rma_signal[s->k], 1, SHMEM_SIGNAL_ADD,
                                  s->peer);
    shmem_ctx_quiet(s->ctx);
}

/* A fetching atomic sees the one before it. */
static void rma_amo_fetching(struct pairs_side *s)
{
    uint64_t *word = &rma_count[s->k];

    (void)shmem_ctx_uint64_atomic_swap(s->ctx, word, s->serial, s->peer);
    CHECK_EQ(shmem_ctx_uint64_atomic_fetch_add(s->ctx, word, 2, s->peer), s->serial);
    CHECK_EQ(
        shmem_ctx_uint64_atomic_compare_swap(s->ctx, word, s->serial + 2, 7, s->peer),
        s->serial + 2);
    CHECK_EQ(shmem_ctx_uint64_atomic_fetch(s->ctx, word, s->peer), 7);
}

static void rma_amo_posted(struct pairs_side *s)
{
    uint64_t *word = &rma_count[s->k];

    shmem_ctx_uint64_atomic_set(s->ctx, word, 1, s->peer);
    shmem_ctx_fence(s->ctx);
    shmem_ctx_uint64_atomic_add(s->ctx, word, 2, s->peer);
    shmem_ctx_quiet(s->ctx);
    CHECK_EQ(shmem_ctx_uint64_g(s->ctx, word, s->peer), 3);
}

static void rma_amo_nbi(struct pairs_side *s)
{
    uint64_t *word = &rma_count[s->k], old[2] = {0, 0};

    shmem_ctx_uint64_atomic_set(s->ctx, word, s->serial, s->peer);
    shmem_ctx_quiet(s->ctx);
    shmem_ctx_uint64_atomic_fetch_add_nbi(s->ctx, &old[0], word, 0, s->peer);
    shmem_ctx_uint64_atomic_fetch_nbi(s->ctx, &old[1], word, s->peer);
    shmem_ctx_quiet(s->ctx);
    CHECK_EQ(old[0], s->serial);
    CHECK_EQ(old[1], s->serial);
}

static void rma_quiet(struct pairs_side *s)
{
    shmem_ctx_long_put(s->ctx, rma_there[s->k], rma_here[s->k], rma_elements(s), s->peer);
    shmem_ctx_fence(s->ctx);
    if (pairs_choose(s, 1, 2) == 0)
        shmem_ctx_pe_quiet(s->ctx, &s->peer, 1);
    shmem_ctx_quiet(s->ctx);
}

/* ---- waits ------------------------------------------------------------------------ */

static uint64_t *rma_last(const struct pairs_side *s)
{
    return &rma_word[s->k][WORDS - 1];
}

static void rma_set_word(struct pairs_side *s)
{
    shmem_ctx_uint64_p(s->own, rma_last(s), s->serial, s->peer);
    shmem_ctx_quiet(s->own);
}

static void rma_wait_until(struct pairs_side *s)
{
    shmem_uint64_wait_until(rma_last(s), SHMEM_CMP_EQ, s->serial);
}

static void rma_wait_set(struct pairs_side *s)
{
    size_t indices[WORDS];
    uint64_t *word = rma_word[s->k];

    switch (pairs_choose(s, 1, 3)) {
    case 0:
        shmem_uint64_wait_until_all(rma_last(s), 1, NULL, SHMEM_CMP_EQ, s->serial);
        break;
    case 1:
        CHECK_EQ(shmem_uint64_wait_until_any(word, WORDS, NULL, SHMEM_CMP_EQ, s->serial),
                 WORDS - 1);
        break;
    default:
        CHECK_EQ(shmem_uint64_wait_until_some(word, WORDS, indices, NULL, SHMEM_CMP_EQ,
                                              s->serial),
                 1);
        CHECK_EQ(indices[0], WORDS - 1);
    }
}

static void rma_signal_wait(struct pairs_side *s)
{
    CHECK_EQ(shmem_signal_wait_until(&rma_signal[s->k], SHMEM_CMP_EQ, s->serial),
             s->serial);
}

static void rma_send_signal(struct pairs_side *s)
{
    shmem_ctx_long_put_signal(s->own, rma_there[s->k], rma_here[s->k], rma_elements(s),
                              &rma_signal[s->k], s->serial, SHMEM_SIGNAL_SET, s->peer);
    shmem_ctx_quiet(s->own);
}

/* ---- locks ------------------------------------------------------------------------ */

static void rma_acquire(struct pairs_side *s)
{
    shmem_set_lock(&rma_lock[s->k]);
}

static void rma_release(struct pairs_side *s)
{
    shmem_clear_lock(&rma_lock[s->k]);
}

static void rma_set_lock(struct pairs_side *s)
{
    rma_acquire(s);
    rma_release(s);
}

static void rma_test_lock(struct pairs_side *s)
{
    if (shmem_test_lock(&rma_lock[s->k]) == 0)
        rma_release(s);
}

/* ---- contexts --------------------------------------------------------------------- */

static void rma_ctx(struct pairs_side *s)
{
    shmem_ctx_t ctx;

    CHECK_EQ(shmem_ctx_create(pairs_choose(s, 1, 2) == 0 ? 0 : SHMEM_CTX_PRIVATE, &ctx),
             0);
    shmem_ctx_long_put_nbi(ctx, rma_there[s->k], rma_here[s->k], rma_elements(s),
                           s->peer);
    shmem_ctx_destroy(ctx);
}

static void rma_team_ctx(struct pairs_side *s)
{
    shmem_ctx_t ctx;

    CHECK_EQ(shmem_team_create_ctx(s->team, 0, &ctx), 0);
    shmem_ctx_long_get(ctx, rma_here[s->k], rma_there[s->k], rma_elements(s), 1);
    shmem_ctx_destroy(ctx);
}

#define ACCESS(NAME, KIND)                                                               \
    {                                                                                    \
        .name = #NAME, .kind = PAIRS_PASSIVE | (KIND), .call = rma_##NAME                \
    }
const struct pairs_case pairs_rma[] = {
    ACCESS(put, 0),
    ACCESS(get, 0),
    ACCESS(strided, 0),
    ACCESS(put_nbi, PAIRS_QUIETS),
    ACCESS(get_nbi, PAIRS_QUIETS),
    ACCESS(put_signal, 0),
    ACCESS(put_signal_nbi, PAIRS_QUIETS),
    ACCESS(amo_fetching, 0),
    ACCESS(amo_posted, PAIRS_QUIETS),
    ACCESS(amo_nbi, PAIRS_QUIETS),
    ACCESS(quiet, PAIRS_QUIETS),
    {.name = "wait_until", .call = rma_wait_until, .release = rma_set_word},
    {.name = "signal_wait_until", .call = rma_signal_wait, .release = rma_send_signal},
    {.name = "wait_until_set", .call = rma_wait_set, .release = rma_set_word},
    {.name = "set_lock",
     .kind = PAIRS_QUIETS_DEFAULT,
     .call = rma_set_lock,
     .release = rma_release,
     .prepare = rma_acquire},
    ACCESS(test_lock, PAIRS_QUIETS_DEFAULT),
    ACCESS(ctx, 0),
    ACCESS(team_ctx, 0),
};
const int pairs_rma_count = sizeof pairs_rma / sizeof *pairs_rma;
