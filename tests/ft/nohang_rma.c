/* SPDX-License-Identifier: BSD-3-Clause */
/* nohang_rma.c - cases: accesses to the victim, waits for it, locks, contexts. */
#include "tests/ft/nohang.h"

enum {
    ELEMENTS = 16384,
    STRIDE = 3,
    LOCKS = 64,
    WORDS = 64,
    LONG = 65536, /* words of a long strided transfer */
    ROW = 2 * 8192,
};

static long rma_there[ELEMENTS * STRIDE], rma_here[ELEMENTS * STRIDE];
static uint64_t rma_signal, rma_never[WORDS];
static long rma_lock[LOCKS];

/* Mostly the victim, sometimes another PE. */
static int rma_target(struct nohang_round *r)
{
    uint64_t x = check_random(&r->own) >> 20;
    int pe = (int)(x / 4 % BOARD_PES);

    return x % 4 == 0 && nohang_has(nohang_alive, pe) ? pe : r->victim;
}

static size_t rma_elements(const struct nohang_round *r)
{
    static const size_t n[] = {1, 2, 17, 300, 4096, ELEMENTS};

    return n[nohang_draw(r, 10, 6)];
}

/* Every STRIDE-th element there, a contiguous array here */
static void rma_copy_layout(size_t n, int pe, bool put)
{
    shmemx_layout_t there, here;

    if (shmemx_layout_vector(sizeof(long), STRIDE * sizeof(long), n, &there) != 0 ||
        shmemx_layout_contiguous(n * sizeof(long), &here) != 0)
        shmem_global_exit(1);
    if (put)
        shmemx_put_layout(rma_there, there, rma_here, here, pe);
    else
        shmemx_get_layout(rma_here, here, rma_there, there, pe);
    shmemx_layout_free(&there);
    shmemx_layout_free(&here);
}

static int rma_put(struct nohang_round *r)
{
    size_t n = rma_elements(r);
    int pe = rma_target(r);

    switch (nohang_draw(r, 11, 7)) {
    case 0:
        shmem_long_p(rma_there, 1, pe);
        break;
    case 1:
        shmem_long_put(rma_there, rma_here, n, pe);
        break;
    case 2:
        shmem_putmem(rma_there, rma_here, n * sizeof(long), pe);
        break;
    case 3:
        shmem_long_iput(rma_there, rma_here, STRIDE, 1, n, pe);
        break;
    case 4:
        shmem_long_ibput(rma_there, rma_here, STRIDE, 2, 1, n, pe);
        break;
    case 5:
        rma_copy_layout(n, pe, true);
        break;
    default:
        shmem_ctx_put32(SHMEM_CTX_DEFAULT, rma_there, rma_here, n, pe);
    }
    return 0;
}

static int rma_get(struct nohang_round *r)
{
    size_t n = rma_elements(r);
    int pe = rma_target(r);

    switch (nohang_draw(r, 11, 7)) {
    case 0:
        (void)shmem_long_g(rma_there, pe);
        break;
    case 1:
        shmem_long_get(rma_here, rma_there, n, pe);
        break;
    case 2:
        shmem_getmem(rma_here, rma_there, n * sizeof(long), pe);
        break;
    case 3:
        shmem_long_iget(rma_here, rma_there, 1, STRIDE, n, pe);
        break;
    case 4:
        shmem_long_ibget(rma_here, rma_there, 2, STRIDE, 1, n, pe);
        break;
    case 5:
        rma_copy_layout(n, pe, false);
        break;
    default:
        shmem_ctx_get64(SHMEM_CTX_DEFAULT, rma_here, rma_there, n, pe);
    }
    return 0;
}

static int rma_put_nbi(struct nohang_round *r)
{
    for (int i = 0; i < 4; i++)
        shmem_long_put_nbi(rma_there, rma_here, rma_elements(r), rma_target(r));
    shmem_quiet();
    return 0;
}

static int rma_get_nbi(struct nohang_round *r)
{
    for (int i = 0; i < 4; i++)
        shmem_long_get_nbi(rma_here, rma_there, rma_elements(r), rma_target(r));
    shmem_quiet();
    return 0;
}

static int rma_put_signal(struct nohang_round *r)
{
    shmem_long_put_signal(rma_there, rma_here, rma_elements(r), &rma_signal, 1,
                          SHMEM_SIGNAL_ADD, rma_target(r));
    return 0;
}

static int rma_put_signal_nbi(struct nohang_round *r)
{
    shmem_long_put_signal_nbi(rma_there, rma_here, rma_elements(r), &rma_signal, 1,
                              SHMEM_SIGNAL_ADD, rma_target(r));
    shmem_signal_add(&rma_signal, 1, rma_target(r));
    shmem_signal_set(&rma_signal, 1, rma_target(r));
    shmem_quiet();
    return 0;
}

static int rma_amo_fetching(struct nohang_round *r)
{
    int pe = rma_target(r);
    uint64_t *word = (uint64_t *)rma_there;

    switch (nohang_draw(r, 11, 8)) {
    case 0:
        (void)shmem_uint64_atomic_fetch(word, pe);
        break;
    case 1:
        (void)shmem_uint64_atomic_swap(word, 1, pe);
        break;
    case 2:
        (void)shmem_uint64_atomic_compare_swap(word, 0, 1, pe);
        break;
    case 3:
        (void)shmem_uint64_atomic_fetch_inc(word, pe);
        break;
    case 4:
        (void)shmem_uint64_atomic_fetch_add(word, 2, pe);
        break;
    case 5:
        (void)shmem_uint32_atomic_fetch_and((uint32_t *)word, 2, pe);
        break;
    case 6:
        (void)shmem_uint32_atomic_fetch_or((uint32_t *)word, 2, pe);
        break;
    default:
        (void)shmem_uint64_atomic_fetch_xor(word, 2, pe);
    }
    return 0;
}

static int rma_amo_posted(struct nohang_round *r)
{
    int pe = rma_target(r);
    uint64_t *word = (uint64_t *)rma_there;

    shmem_uint64_atomic_set(word, 1, pe);
    shmem_uint64_atomic_inc(word, pe);
    shmem_uint64_atomic_add(word, 3, pe);
    shmem_uint64_atomic_and(word, 3, pe);
    shmem_uint64_atomic_or(word, 3, pe);
    shmem_uint64_atomic_xor(word, 3, pe);
    if (nohang_draw(r, 11, 2) == 0)
        shmem_quiet();
    else
        shmem_fence();
    return 0;
}

static int rma_amo_nbi(struct nohang_round *r)
{
    static uint64_t old[8];
    int pe = rma_target(r);
    uint64_t *word = (uint64_t *)rma_there;

    shmem_uint64_atomic_fetch_nbi(&old[0], word, pe);
    shmem_uint64_atomic_swap_nbi(&old[1], word, 1, pe);
    shmem_uint64_atomic_compare_swap_nbi(&old[2], word, 1, 2, pe);
    shmem_uint64_atomic_fetch_inc_nbi(&old[3], word, pe);
    shmem_uint64_atomic_fetch_add_nbi(&old[4], word, 1, pe);
    shmem_uint64_atomic_fetch_and_nbi(&old[5], word, 1, pe);
    shmem_uint64_atomic_fetch_or_nbi(&old[6], word, 1, pe);
    shmem_uint64_atomic_fetch_xor_nbi(&old[7], word, 1, pe);
    shmem_quiet();
    return 0;
}

static int rma_quiet(struct nohang_round *r)
{
    for (int pe = 0; pe < BOARD_PES; pe++)
        if (nohang_has(nohang_alive, pe))
            shmem_long_put_nbi(rma_there, rma_here, rma_elements(r), pe);
    if (nohang_draw(r, 11, 2) == 0)
        shmem_fence();
    if (nohang_draw(r, 12, 2) == 0)
        shmem_pe_quiet(&r->victim, 1);
    shmem_quiet();
    return 0;
}

/* ---- transfers of several fragments -------------------------------------------------
 */

/* A PE reads and writes its own rows of other PEs. */
static uint64_t rma_rows[BOARD_PES][ROW], rma_long[LONG * 2], rma_packed[LONG];

static void rma_fill(uint64_t *words, size_t n, uint64_t first)
{
    for (size_t i = 0; i < n; i++)
        words[i] = first + i;
}

/* A strided put to a PE, and a strided get back.  Their result counts if the PE has not
 * failed until then. */
static void rma_check_live(struct nohang_round *r, int pe)
{
    static uint64_t packed[ROW / 2];
    uint64_t *row = rma_rows[shmem_my_pe()], first = check_random(&r->own) >> 1;

    rma_fill(packed, ROW / 2, first);
    shmem_uint64_iput(row, packed, 2, 1, ROW / 2, pe);
    shmem_quiet();
    memset(packed, 0, sizeof packed);
    shmem_uint64_iget(packed, row, 1, 2, ROW / 2, pe);
    for (size_t i = 0; i < ROW / 2 && !shmemx_pe_failed(pe); i++)
        CHECK_NAMED(packed[i] == first + i,
                    "word %zu of a strided get from PE %d is "
                    "%llx, should be %llx",
                    i, pe, (unsigned long long)packed[i],
                    (unsigned long long)(first + i));
}

/* Long strided transfers.  When quiet or a get has returned, the memory on this PE
 * belongs to the program again, also after a failure. */
static int rma_strided(struct nohang_round *r)
{
    uint64_t first = check_random(&r->own);
    int pe = rma_target(r);
    size_t n = nohang_draw(r, 12, 2) == 0 ? LONG : LONG / 8;

    switch ((first >> 40) % 3) {
    case 0:
        shmem_uint64_iput(rma_long, rma_packed, 2, 1, n, r->victim);
        shmem_quiet();
        break;
    case 1:
        shmem_uint64_ibput(rma_long, rma_packed, 4, 2, 2, n / 2, r->victim);
        break;
    default:
        shmem_uint64_iget(rma_packed, rma_long, 1, 2, n, r->victim);
    }
    rma_fill(rma_packed, n, first);
    if (pe != r->victim)
        rma_check_live(r, pe);
    shmem_quiet();
    for (size_t i = 0; i < n; i++)
        CHECK_NAMED(rma_packed[i] == first + i,
                    "word %zu, into which PE %d was read, has "
                    "changed after that",
                    i, r->victim);
    return 0;
}

/* ---- waits ------------------------------------------------------------------------ */

static int rma_wait_until(struct nohang_round *r)
{
    if (nohang_draw(r, 11, 2) == 0)
        shmem_uint64_wait_until(rma_never, SHMEM_CMP_NE, 0);
    else
        shmem_long_wait((long *)rma_never, 0);
    return 0;
}

static int rma_signal_wait(struct nohang_round *r)
{
    (void)r;
    (void)shmem_signal_wait_until(rma_never, SHMEM_CMP_GT, 0);
    return 0;
}

static int rma_wait_set(struct nohang_round *r)
{
    static uint64_t values[WORDS];
    static size_t indices[WORDS];
    size_t n = 1 + (size_t)nohang_draw(r, 12, WORDS);

    switch (nohang_draw(r, 11, 6)) {
    case 0:
        shmem_uint64_wait_until_all(rma_never, n, NULL, SHMEM_CMP_NE, 0);
        break;
    case 1:
        (void)shmem_uint64_wait_until_any(rma_never, n, NULL, SHMEM_CMP_NE, 0);
        break;
    case 2:
        (void)shmem_uint64_wait_until_some(rma_never, n, indices, NULL, SHMEM_CMP_NE, 0);
        break;
    case 3:
        shmem_uint64_wait_until_all_vector(rma_never, n, NULL, SHMEM_CMP_NE, values);
        break;
    case 4:
        (void)shmem_uint64_wait_until_any_vector(rma_never, n, NULL, SHMEM_CMP_NE,
                                                 values);
        break;
    default:
        (void)shmem_uint64_wait_until_some_vector(rma_never, n, indices, NULL,
                                                  SHMEM_CMP_NE, values);
    }
    return 0;
}

/* ---- locks ------------------------------------------------------------------------ */

static long *rma_lock_of(const struct nohang_round *r)
{
    return &rma_lock[nohang_draw(r, 12, LOCKS)];
}

static int rma_set_lock(struct nohang_round *r)
{
    shmem_set_lock(rma_lock_of(r));
    if (shmem_my_pe() == r->victim && nohang_draw(r, 11, 2) == 0)
        check_sleep_us(100000); /* killed while it holds the lock */
    shmem_clear_lock(rma_lock_of(r));
    return 0;
}

static int rma_test_lock(struct nohang_round *r)
{
    if (shmem_test_lock(rma_lock_of(r)) == 0)
        shmem_clear_lock(rma_lock_of(r));
    return 0;
}

/* ---- contexts --------------------------------------------------------------------- */

static int rma_ctx(struct nohang_round *r)
{
    shmem_ctx_t ctx;
    long options = nohang_draw(r, 11, 2) == 0 ? 0 : SHMEM_CTX_PRIVATE;

    if (shmem_ctx_create(options, &ctx) != 0)
        return 0;
    shmem_ctx_long_put_nbi(ctx, rma_there, rma_here, rma_elements(r), rma_target(r));
    if (nohang_draw(r, 12, 2) == 0)
        shmem_ctx_fence(ctx);
    else
        shmem_ctx_quiet(ctx);
    (void)shmem_ctx_uint64_atomic_fetch_add(ctx, (uint64_t *)rma_there, 1, r->victim);
    shmem_ctx_put64_nbi(ctx, rma_there, rma_here, rma_elements(r), r->victim);
    shmem_ctx_destroy(ctx);
    return 0;
}

static int rma_team_ctx(struct nohang_round *r)
{
    shmem_ctx_t ctx;

    if (shmem_team_create_ctx(r->team, 0, &ctx) != 0)
        return 0;
    shmem_ctx_long_get(ctx, rma_here, rma_there, rma_elements(r), r->victim_index);
    shmem_ctx_pe_quiet(ctx, &r->victim_index, 1);
    shmem_ctx_quiet(ctx);
    shmem_ctx_destroy(ctx);
    return 0;
}

const struct nohang_case nohang_rma[] = {
    {.name = "put", .call = rma_put},
    {.name = "get", .call = rma_get},
    {.name = "put_nbi", .call = rma_put_nbi},
    {.name = "get_nbi", .call = rma_get_nbi},
    {.name = "put_signal", .call = rma_put_signal},
    {.name = "put_signal_nbi", .call = rma_put_signal_nbi},
    {.name = "amo_fetching", .call = rma_amo_fetching},
    {.name = "amo_posted", .call = rma_amo_posted},
    {.name = "amo_nbi", .call = rma_amo_nbi},
    {.name = "quiet", .call = rma_quiet},
    {.name = "strided", .call = rma_strided},
    {.name = "wait_until", .call = rma_wait_until, .victim_idle = true},
    {.name = "signal_wait_until", .call = rma_signal_wait, .victim_idle = true},
    {.name = "wait_until_set", .call = rma_wait_set, .victim_idle = true},
    {.name = "set_lock", .call = rma_set_lock},
    {.name = "test_lock", .call = rma_test_lock},
    {.name = "ctx", .call = rma_ctx},
    {.name = "team_ctx", .call = rma_team_ctx},
};
const int nohang_rma_count = sizeof nohang_rma / sizeof *nohang_rma;
