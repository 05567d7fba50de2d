/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dropped.c - operations on the last PE, which is lost with SHMEM_FT=continue.
 *   dropped stop|kill|alive|early|local
 * stop: it is silent; kill: the transport notices that it was killed; alive: likewise,
 * but the failure detector never does, so that the job must end; early: it is silent and
 * lost before the first access; local: it is killed before the first access of its node.
 * Each survivor marks the PE as failed itself, in place of the failure detector.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/progress/net.h"
#include "pgas/ft/ft.h"
#include "tests/api/multi/check.h"

enum {
    LEN = 1 << 20,
    OLD = 5,
    SETTLE_US = 200000,  /* the last PE stops or dies */
    VERDICT_US = 700000, /* then the survivors learn it */
    EARLY_MS = 400,      /* an operation that waits does so at least so long, */
    LATE_MS = 20000,     /* and no longer than this */
};

static long word, pid_of_last, arrived;
static char block[LEN], source[LEN];
static uint64_t signal_word;
static int me, npes, last;

static uint64_t now_ms(void)
{
    return clock_ns() / 1000000;
}

static void *fail_later(void *arg)
{
    uint32_t pe = (uint32_t)last;

    (void)arg;
    usleep(VERDICT_US);
    ft_map_fail(pgas_self.node, &pe, 1);
    return NULL;
}

/* Operations that do not wait. */
static void post(shmem_ctx_t ctx, long *got)
{
    static long fetched;

    shmem_ctx_long_get_nbi(ctx, got, &word, 1, last);
    shmem_ctx_getmem_nbi(ctx, source, block, LEN, last);
    shmem_ctx_long_atomic_fetch_add_nbi(ctx, &fetched, &word, 1, last);
    shmem_ctx_long_atomic_inc(ctx, &word, last);
    shmem_ctx_putmem_nbi(ctx, block, source, LEN, last);
    shmem_ctx_putmem_signal_nbi(ctx, block, source, 64, &signal_word, 1, SHMEM_SIGNAL_SET,
                                last);
    shmem_ctx_fence(ctx);
}

/* Every operation returns soon; a get leaves its destination, an atomic yields 0. */
static void check_dropped(shmem_ctx_t ctx)
{
    uint64_t begin = now_ms();
    long got = OLD, list[8] = {0};

    for (int i = 0; i < 100; i++) {
        shmem_ctx_long_p(ctx, &word, 1, last);
        shmem_ctx_long_get(ctx, &got, &word, 1, last);
        CHECK(got == OLD);
        CHECK(shmem_ctx_long_atomic_fetch_inc(ctx, &word, last) == 0);
        CHECK(shmem_ctx_long_atomic_compare_swap(ctx, &word, 1, 2, last) == 0);
        shmem_ctx_long_atomic_set(ctx, &word, 3, last);
        shmem_ctx_putmem(ctx, block, source, LEN, last);
        shmem_ctx_putmem_signal(ctx, block, source, LEN, &signal_word, 1,
                                SHMEM_SIGNAL_ADD, last);
        shmem_ctx_long_iput(ctx, (long *)(void *)block, list, 2, 1, 4, last);
        post(ctx, &got);
        shmem_ctx_quiet(ctx);
        CHECK(got == OLD);
    }
    CHECK(now_ms() - begin < LATE_MS);
}

/* Operations between survivors still work. */
static void check_survivors(shmem_ctx_t ctx)
{
    static long from;

    for (int i = 1; i < npes; i++) {
        int pe = (me + i) % npes;
        if (pe == last)
            continue;
        CHECK(shmem_ctx_long_atomic_fetch(ctx, &word, pe) == pe);
        from = me;
        shmem_ctx_long_put(ctx, (long *)(void *)block + me, &from, 1, pe);
        shmem_ctx_quiet(ctx);
        CHECK(shmem_ctx_long_g(ctx, (long *)(void *)block + me, pe) == me);
    }
}

/* A barrier of the survivors by operations. */
static void meet(long turn)
{
    for (int pe = 0; pe < last; pe++)
        shmem_long_atomic_inc(&arrived, pe);
    while (shmem_long_atomic_fetch(&arrived, me) < turn * last)
        usleep(1000);
}

static void lose(const char *how)
{
    if (strcmp(how, "stop") == 0 || strcmp(how, "early") == 0)
        raise(SIGSTOP);
    else
        kill(getpid(), SIGKILL);
    _exit(0); /* was continued */
}

static void warm_up(shmem_ctx_t ctx)
{
    for (int pe = 0; pe < npes; pe++) {
        CHECK(shmem_ctx_long_atomic_fetch(ctx, &word, pe) == pe);
        shmem_ctx_long_p(ctx, (long *)(void *)block + me, 1, pe);
    }
    shmem_ctx_quiet(ctx);
}

/* While the verdict is outstanding, quiet waits if the operations have failed or are
 * pending, and then returns.  soon: the launcher gives the verdict at once.  begin:
 * before the thread of the verdict was started. */
static void check_waits(shmem_ctx_t ctx, bool soon, uint64_t begin)
{
    long got = OLD;

    post(ctx, &got);
    shmem_ctx_quiet(ctx);
    uint64_t took = now_ms() - begin;
    printf("PE %d: quiet took %llu ms\n", me, (unsigned long long)took);
    CHECK(took < LATE_MS);
    CHECK(soon || took > EARLY_MS);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    bool early = strcmp(how, "early") == 0 || strcmp(how, "local") == 0;
    shmem_ctx_t ctx;
    pthread_t thread;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    last = npes - 1;
    word = me;
    bool local = shmem_addr_accessible(&word, last) && pgas_self.peer[last].node != NULL;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    if (me == last)
        shmem_long_p(&pid_of_last, getpid(), 0);
    shmem_barrier_all(); /* every PE has set `word` */
    if (!early)
        warm_up(ctx);
    shmem_barrier_all();
    if (me == last)
        lose(how);
    usleep(SETTLE_US);
    bool verdict = strcmp(how, "alive") != 0;
    uint64_t begin = now_ms();
    if (verdict)
        CHECK(pthread_create(&thread, NULL, fail_later, NULL) == 0);
    if (!early)
        check_waits(me == 0 ? ctx : SHMEM_CTX_DEFAULT, local || strcmp(how, "kill") == 0,
                    begin);
    else
        usleep(2 * VERDICT_US);
    if (!local) {
        check_dropped(SHMEM_CTX_DEFAULT);
        check_dropped(ctx);
    } else {
        shmem_long_p(&word, 9, last); /* a mapping, or the memory of the dead PE */
        shmem_long_atomic_inc(&word, last);
        CHECK(shmem_long_g(&word, last) >= 0);
    }
    check_survivors(SHMEM_CTX_DEFAULT);
    check_survivors(ctx);
    meet(1);
    if (verdict)
        pthread_join(thread, NULL);
    begin = now_ms();
    net_leave("dropped");
    CHECK(now_ms() - begin < LATE_MS);
    printf("PE %d: done\n", me);
    fflush(stdout);
    if (me == 0 && strcmp(how, "stop") != 0 && strcmp(how, "early") != 0)
        _exit(0);
    usleep(SETTLE_US);
    if (me == 0)
        kill((pid_t)pid_of_last, SIGKILL); /* oshrun ends the job with status 137 */
    _exit(0);
}
