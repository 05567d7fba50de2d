/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal.c - put with signal of every type and size, blocking and not, set and add: once
 * the signal is visible, so are the data.
 */
#include "config.h"

#include "shmem_types.def"
#include "tests/api/multi/check.h"

typedef void (*put_signal_fn)(void *dest, const void *source, size_t n, uint64_t *signal,
                              uint64_t value, int op, int pe);
#define FUNCTION(NAME, FORM)                                                             \
    static void FORM##_##NAME(void *d, const void *s, size_t n, uint64_t *sig,           \
                              uint64_t v, int op, int pe)                                \
    {                                                                                    \
        shmem_##NAME##_##FORM(d, s, n, sig, v, op, pe);                                  \
    }                                                                                    \
    static void ctx_##FORM##_##NAME(void *d, const void *s, size_t n, uint64_t *sig,     \
                                    uint64_t v, int op, int pe)                          \
    {                                                                                    \
        shmem_ctx_##NAME##_##FORM(SHMEM_CTX_DEFAULT, d, s, n, sig, v, op, pe);           \
    }
#define FUNCTIONS(NAME, C, KIND) FUNCTION(NAME, put_signal) FUNCTION(NAME, put_signal_nbi)
SHMEM_TYPES_RMA(FUNCTIONS)

struct row {
    const char *name;
    size_t size;
    put_signal_fn form[4];
};
#define ROW(NAME, C, KIND)                                                               \
    {#NAME,                                                                              \
     sizeof(C),                                                                          \
     {put_signal_##NAME, put_signal_nbi_##NAME, ctx_put_signal_##NAME,                   \
      ctx_put_signal_nbi_##NAME}},
#define SIZED(BITS, BYTES)                                                               \
    {#BITS,                                                                              \
     BYTES,                                                                              \
     {shmem_put##BITS##_signal, shmem_put##BITS##_signal_nbi, shmem_put##BITS##_signal,  \
      shmem_put##BITS##_signal_nbi}},
static const struct row rows[] = {SHMEM_TYPES_RMA(ROW) SIZED(8, 1) SIZED(16, 2) SIZED(
    32, 4) SIZED(64, 8) SIZED(128, 16) SIZED(mem, 1)};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), MOST = 20000, ELEMENT = 16 };
static const size_t counts[] = {0, 1, 5, 333, MOST};

static uint64_t arrived, answered, expected, round_number;
static unsigned char *inbox, *outbox;

/* Put to the next PE, wait for the signal of the previous one, reply to it, and wait for
 * the reply of the next. */
static void exchange(const struct row *row, int form, size_t n, int op)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int to = (me + 1) % npes, from = (me - 1 + npes) % npes;
    size_t bytes = n * row->size;
    round_number++;
    expected = op == SHMEM_SIGNAL_ADD ? expected + 3 : expected * 2 + 1000;
    check_fill(outbox, bytes, round_number * 100 + (uint64_t)me);
    uint64_t value = op == SHMEM_SIGNAL_ADD ? 3 : expected;
    row->form[form](inbox, outbox, n, &arrived, value, op, to);
    uint64_t got = shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, expected);
    CHECK_EQ(got, expected);
    CHECK_EQ(shmem_signal_fetch(&arrived), expected);
    size_t wrong = check_find_wrong(inbox, bytes, round_number * 100 + (uint64_t)from);
    CHECK_NAMED(wrong == bytes, "%s, form %d, %zu bytes: byte %zu is wrong", row->name,
                form, bytes, wrong);
    if (round_number % 2 == 0)
        shmem_signal_set(&answered, round_number, from);
    else
        shmem_signal_add(&answered, 1, from);
    shmem_signal_wait_until(&answered, SHMEM_CMP_GE, round_number);
    shmem_quiet();
    expected %= 1000000;
    if (expected != got) { /* keep the numbers small: reset the signal on all PEs */
        shmem_barrier_all();
        arrived = expected;
        shmem_barrier_all();
    }
}

int main(void)
{
    shmem_init();
    inbox = check_alloc(MOST * ELEMENT);
    outbox = check_alloc(MOST * ELEMENT);
    uint64_t seed = check_seed(shmem_my_pe());
    for (size_t i = 0; i < ROWS; i++)
        for (int form = 0; form < 4; form++)
            for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
                check_delay(&seed);
                exchange(&rows[i], form, counts[c], SHMEM_SIGNAL_SET);
                exchange(&rows[i], form, counts[c] / 2, SHMEM_SIGNAL_ADD);
            }
    shmem_finalize();
    return 0;
}
