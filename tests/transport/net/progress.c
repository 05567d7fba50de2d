/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.c - operations posted on a context progress while the PE waits in another
 * routine or computes without library calls (on a private context only over tcp, whose
 * contexts all have a lock).  PE 0 sends
 * large data, one small update or many in a loop, of which a transport may queue the last
 * ones, to the last PE on a context of each kind, and makes no call on that
 * context until the reply has arrived.
 */
#include "config.h"

#include <string.h>

#include "tests/api/multi/check.h"

enum { LARGE = 16 << 20, SMALL = 8, MANY = 1000, LIMIT_S = 20 };
enum { DEFAULT = -1 }; /* instead of options: the default context */

static uint64_t sent, reply;
static long added;

/* Polls for the reply without library calls, as a computing PE. */
static void compute_until(uint64_t value)
{
    double end = check_now() + LIMIT_S;

    while (__atomic_load_n(&reply, __ATOMIC_ACQUIRE) != value)
        CHECK(check_now() < end);
}

static void post(shmem_ctx_t ctx, char *dest, const char *source, size_t len, int n,
                 int pe)
{
    if (len > SMALL)
        shmem_ctx_putmem_signal_nbi(ctx, dest, source, len, &sent, 1, SHMEM_SIGNAL_ADD,
                                    pe);
    for (int i = 0; i < n && len == SMALL; i++)
        shmem_ctx_long_atomic_add(ctx, &added, 1, pe);
}

/* `n`: updates, if small. */
static void one(long options, size_t len, int n, bool compute, char *dest, char *source)
{
    static uint64_t rounds, sent_rounds;
    static long added_rounds;
    int me = shmem_my_pe(), last = shmem_n_pes() - 1;
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;

    CHECK(options == DEFAULT || shmem_ctx_create(options, &ctx) == 0);
    rounds++;
    if (len > SMALL)
        sent_rounds++;
    else
        added_rounds += n;
    memset(source, (int)rounds, len);
    shmem_barrier_all();
    if (me == 0) {
        post(ctx, dest, source, len, n, last);
        if (compute)
            compute_until(rounds);
        else
            shmem_signal_wait_until(&reply, SHMEM_CMP_EQ, rounds);
    } else if (me == last) {
        if (len > SMALL)
            shmem_signal_wait_until(&sent, SHMEM_CMP_EQ, sent_rounds);
        else
            shmem_long_wait_until(&added, SHMEM_CMP_EQ, added_rounds);
        CHECK(len == SMALL || (dest[0] == (char)rounds && dest[len - 1] == (char)rounds));
        shmem_uint64_p(&reply, rounds, 0);
        shmem_quiet();
    }
    if (options != DEFAULT)
        shmem_ctx_destroy(ctx);
    shmem_barrier_all();
}

/* PE 0 posts to a PE without a gap until another one, to which it has posted before, has
 * all of those operations and says so. */
static void post_until_answered(void)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), last = npes - 1;
    static long answered, flood;

    added = 0;
    shmem_barrier_all();
    if (me == 0) {
        double end = check_now() + LIMIT_S;
        for (int i = 0; i < MANY; i++) {
            shmem_long_atomic_inc(&added, last);
            shmem_long_atomic_inc(&flood, npes / 2);
        }
        while (!shmem_long_test(&answered, SHMEM_CMP_EQ, 1)) {
            shmem_long_atomic_inc(&flood, npes / 2);
            CHECK(check_now() < end);
        }
    } else if (me == last) {
        shmem_long_wait_until(&added, SHMEM_CMP_EQ, MANY);
        shmem_long_p(&answered, 1, 0);
    }
    shmem_barrier_all();
}

int main(void)
{
    const char *transport = getenv("SHMEM_TRANSPORT");
    bool tcp = transport != NULL && strcmp(transport, "tcp") == 0;
    static const struct {
        size_t len;
        int n;
    } cases[] = {{SMALL, 1}, {SMALL, MANY}, {LARGE, 1}};
    static const long kinds[] = {DEFAULT, 0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE};

    shmem_init();
    char *dest = shmem_malloc(LARGE), *source = malloc(LARGE);
    CHECK(dest != NULL && source != NULL);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int c = 0; c < (int)(sizeof cases / sizeof cases[0]); c++) {
            one(kinds[k], cases[c].len, cases[c].n, false, dest, source);
            if (kinds[k] != SHMEM_CTX_PRIVATE || tcp)
                one(kinds[k], cases[c].len, cases[c].n, true, dest, source);
        }
    if (shmem_n_pes() > 2)
        post_until_answered();
    free(source);
    shmem_free(dest);
    shmem_finalize();
    return 0;
}
