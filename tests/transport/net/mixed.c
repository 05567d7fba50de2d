/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mixed.c - random sequences of small puts, gets and atomics of 4 and 8 bytes and of
 * short blocks, against a model: each PE has a row of words on every PE, which only it
 * changes. Operations come in streaks of one kind, so that a transport may send several
 * together; operations on the same word are ordered by a fence, or by a quiet if one of
 * them reads. PEs with odd numbers use a context of their own. mixed [operations [seed]]
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum {
    WORDS = 1 << 14, /* of a row */
    BLOCK = 9,       /* most words of a block */
    STREAK = 400,    /* most operations of one kind in sequence */
    READS_MAX = 2000,
    OPERATIONS = 20000,
};

/* What was done to a word since the last fence or quiet. */
enum { WRITTEN = 1, UNFENCED = 2, READ = 4 };

static int me, npes;
static shmem_ctx_t ctx;
static uint64_t random_state;
static uint64_t *rows;       /* symmetric: WORDS of each PE */
static uint64_t *model;      /* of my rows on all PEs */
static unsigned char *state; /* of each word of the model */
static uint32_t *unfenced;   /* words of the model with a state */
static size_t nunfenced, nquiets, nfences;

static struct {
    uint64_t got[READS_MAX], expected[READS_MAX], mask[READS_MAX];
    int n;
} reads;

/* ---- order ------------------------------------------------------------------------- */

static void check_reads(void)
{
    for (int i = 0; i < reads.n; i++)
        CHECK_NAMED(((reads.got[i] ^ reads.expected[i]) & reads.mask[i]) == 0,
                    "read %d of %d is %llx, not %llx", i, reads.n,
                    (unsigned long long)reads.got[i],
                    (unsigned long long)reads.expected[i]);
    reads.n = 0;
}

static void quiet(void)
{
    shmem_ctx_quiet(ctx);
    check_reads();
    for (size_t i = 0; i < nunfenced; i++)
        state[unfenced[i]] = 0;
    nunfenced = 0;
    nquiets++;
}

static void fence(void)
{
    shmem_ctx_fence(ctx);
    for (size_t i = 0; i < nunfenced; i++)
        state[unfenced[i]] &= (unsigned char)~UNFENCED;
    nfences++;
}

static void touch(size_t at, unsigned how)
{
    if (state[at] == 0)
        unfenced[nunfenced++] = (uint32_t)at;
    state[at] |= (unsigned char)how;
}

static void before_write(size_t at, size_t n)
{
    unsigned all = 0;

    for (size_t i = 0; i < n; i++)
        all |= state[at + i];
    if (all & READ)
        quiet();
    else if (all & UNFENCED)
        fence();
    for (size_t i = 0; i < n; i++)
        touch(at + i, WRITTEN | UNFENCED);
}

/* The place for the old value of a word, which is in the model at present. */
static uint64_t *before_read(size_t at, uint64_t mask)
{
    if (reads.n == READS_MAX || (state[at] & WRITTEN) != 0)
        quiet();
    touch(at, READ);
    reads.got[reads.n] = ~model[at];
    reads.expected[reads.n] = model[at];
    reads.mask[reads.n] = mask;
    return &reads.got[reads.n++];
}

/* ---- operations on word `at` of the model, with operand x -------------------------- */

static uint64_t *word_of(size_t at)
{
    return rows + (size_t)me * WORDS + at % WORDS;
}

static int pe_of(size_t at)
{
    return (int)(at / WORDS);
}

/* The lower or upper half, by a bit of x; little-endian. */
static uint32_t *half_of(uint64_t *word, uint64_t x)
{
    return (uint32_t *)(void *)word + (x >> 63);
}

static void put(size_t at, uint64_t x)
{
    before_write(at, 1);
    shmem_ctx_uint64_p(ctx, word_of(at), x, pe_of(at));
    model[at] = x;
}

static void put_half(size_t at, uint64_t x)
{
    before_write(at, 1);
    shmem_ctx_uint32_p(ctx, half_of(word_of(at), x), (uint32_t)x, pe_of(at));
    *half_of(&model[at], x) = (uint32_t)x;
}

/* Bytes of several words, which need not end with a word. */
static void put_block(size_t at, uint64_t x)
{
    size_t n = 1 + x % BLOCK, bytes = n * sizeof x - (x >> 32) % sizeof x;
    uint64_t block[BLOCK];

    if (at % WORDS + n > WORDS)
        at -= n;
    for (size_t i = 0; i < n; i++)
        block[i] = x * (i + 3);
    before_write(at, n);
    shmem_ctx_putmem(ctx, word_of(at), block, bytes, pe_of(at));
    memcpy(&model[at], block, bytes);
}

static void add(size_t at, uint64_t x)
{
    before_write(at, 1);
    shmem_ctx_uint64_atomic_add(ctx, word_of(at), x, pe_of(at));
    model[at] += x;
}

static void add_half(size_t at, uint64_t x)
{
    before_write(at, 1);
    shmem_ctx_uint32_atomic_add(ctx, half_of(word_of(at), x), (uint32_t)x, pe_of(at));
    *half_of(&model[at], x) += (uint32_t)x;
}

static void flip(size_t at, uint64_t x)
{
    before_write(at, 1);
    shmem_ctx_uint64_atomic_xor(ctx, word_of(at), x, pe_of(at));
    model[at] ^= x;
}

static void get(size_t at, uint64_t x)
{
    (void)x;
    shmem_ctx_uint64_get_nbi(ctx, before_read(at, UINT64_MAX), word_of(at), 1, pe_of(at));
}

static void get_half(size_t at, uint64_t x)
{
    uint64_t *to = before_read(at, (uint64_t)UINT32_MAX << (x >> 63) * 32);

    shmem_ctx_uint32_get_nbi(ctx, half_of(to, x), half_of(word_of(at), x), 1, pe_of(at));
}

static void fetch_add(size_t at, uint64_t x)
{
    shmem_ctx_uint64_atomic_fetch_add_nbi(ctx, before_read(at, UINT64_MAX), word_of(at),
                                          x, pe_of(at));
    touch(at, WRITTEN | UNFENCED);
    model[at] += x;
}

static void swap(size_t at, uint64_t x)
{
    shmem_ctx_uint64_atomic_swap_nbi(ctx, before_read(at, UINT64_MAX), word_of(at), x,
                                     pe_of(at));
    touch(at, WRITTEN | UNFENCED);
    model[at] = x;
}

/* Every other one succeeds. */
static void compare_swap(size_t at, uint64_t x)
{
    uint64_t *to = before_read(at, UINT64_MAX), cond = model[at] + (x & 1);

    shmem_ctx_uint64_atomic_compare_swap_nbi(ctx, to, word_of(at), cond, x, pe_of(at));
    touch(at, WRITTEN | UNFENCED);
    if (cond == model[at])
        model[at] = x;
}

static void fetch(size_t at, uint64_t x)
{
    (void)x;
    if (state[at] & WRITTEN)
        quiet();
    CHECK_EQ(shmem_ctx_uint64_atomic_fetch(ctx, word_of(at), pe_of(at)), model[at]);
}

static void (*const kinds[])(size_t at, uint64_t x) = {
    put,      put_half, put_block, add,  add_half,     flip, get,
    get_half, flip,     fetch_add, swap, compare_swap, put,  fetch,
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- all ------------------------------------------------------------------------------
 */

static void check_rows(void)
{
    uint64_t *row = malloc(WORDS * sizeof *row);

    CHECK(row != NULL);
    quiet();
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        shmem_get64(row, rows + (size_t)me * WORDS, WORDS, pe);
        for (size_t i = 0; i < WORDS; i++)
            CHECK_NAMED(row[i] == model[(size_t)pe * WORDS + i],
                        "word %zu on PE %d is %llx, not %llx", i, pe,
                        (unsigned long long)row[i],
                        (unsigned long long)model[(size_t)pe * WORDS + i]);
    }
    free(row);
}

int main(int argc, char **argv)
{
    long operations = argc > 1 ? atol(argv[1]) : OPERATIONS, done = 0;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    random_state = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1U) * 1000U + (unsigned)me;
    ctx = SHMEM_CTX_DEFAULT;
    CHECK(me % 2 == 0 || shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
    size_t all = (size_t)npes * WORDS;
    rows = shmem_calloc(all, sizeof *rows);
    model = calloc(all, sizeof *model);
    state = calloc(all, 1);
    unfenced = calloc(all, sizeof *unfenced);
    CHECK(rows != NULL && model != NULL && state != NULL && unfenced != NULL);
    while (done < operations) {
        void (*act)(size_t, uint64_t) = kinds[check_random(&random_state) % KINDS];
        long n = 1 + (long)(check_random(&random_state) % STREAK);
        for (long i = 0; i < n; i++)
            act(check_random(&random_state) % all, check_random(&random_state));
        done += n;
    }
    check_rows();
    if (me == 0)
        printf("%ld operations, %zu fences, %zu quiets\n", done, nfences, nquiets);
    if (ctx != SHMEM_CTX_DEFAULT)
        shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
