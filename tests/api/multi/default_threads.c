/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * default_threads.c - SHMEM_THREAD_MULTIPLE: fence, quiet and barrier of one thread
 * concern the operations that other threads have issued on the default context before,
 * and those that they issue afterwards.
 *
 * In a round each thread updates words of the next PE.  After a barrier of the threads
 * one of them calls fence, quiet or shmem_barrier_all; after another one, a different
 * thread checks the words: there, or here when a flag or the barrier says that they have
 * arrived.
 *
 * In the end a quiet returns although the other threads post without a gap, before they
 * have posted POSTS operations.  With a delay of operations (SHMEM_FAULTS), of which a
 * context holds 64, some are outstanding at each moment, if nothing limits the posts.
 *   default_threads [ROUNDS [POSTS]]
 */
#include "config.h"

#include <pthread.h>

#include "tests/api/multi/check.h"

enum { THREADS = 6 };
enum kind { FENCE, QUIET, BARRIER, KINDS };

static struct words {
    long put_nbi, put, add;
} words[THREADS];
static long flag;
static long rounds = 96; /* or the argument */
enum { EARLY = 64 };
static long early[EARLY], early_flag[THREADS];
static int next;
static pthread_barrier_t threads;
static uint64_t posts_max = UINT64_MAX; /* or the argument */
static uint64_t posts, ended;           /* beside the quiet of thread 0; atomic */

/* Before there are threads; each later operation of a thread comes after the fence. */
static void put_early(const long *from)
{
    shmem_long_put_nbi(early, from, EARLY, next);
    shmem_fence();
}

static void check_early(int thread)
{
    if (thread > 0) { /* its first operation */
        shmem_long_p(&early_flag[thread], 1, next);
        return;
    }
    shmem_long_wait_until_any(early_flag + 1, THREADS - 1, NULL, SHMEM_CMP_EQ, 1);
    for (int i = 0; i < EARLY; i++)
        CHECK_EQ(early[i], i + 1);
}

static void update(int thread, const long *round)
{
    shmem_long_put_nbi(&words[thread].put_nbi, round, 1, next);
    shmem_long_p(&words[thread].put, *round, next);
    shmem_long_atomic_add(&words[thread].add, 1, next);
}

static void order(enum kind kind)
{
    if (kind == FENCE)
        shmem_fence();
    else if (kind == QUIET)
        shmem_quiet();
    else
        shmem_barrier_all();
}

static void check_words(const struct words *w, long round)
{
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(w[i].put_nbi, round);
        CHECK_EQ(w[i].put, round);
        CHECK_EQ(w[i].add, round);
    }
}

static void check(enum kind kind, long round)
{
    struct words there[THREADS];

    if (kind == QUIET) {
        shmem_getmem(there, words, sizeof there, next);
        check_words(there, round);
        return;
    }
    if (kind == FENCE) {
        shmem_long_p(&flag, round, next);
        shmem_quiet();
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
    }
    check_words(words, round);
}

/* One thread at a time has the turn; it rotates, with a different period for each kind.
 */
static bool has_turn(int thread, long round, int step)
{
    return thread == (round / KINDS + step * (round / KINDS / THREADS + 1)) % THREADS;
}

static void post_beside(shmem_ctx_t ctx, struct words *there)
{
    while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) == 0 &&
           __atomic_load_n(&posts, __ATOMIC_RELAXED) < posts_max) {
        shmem_ctx_long_p(ctx, &there->put, 0, next);
        shmem_ctx_long_atomic_add(ctx, &there->add, 0, next);
        __atomic_fetch_add(&posts, 2, __ATOMIC_RELAXED);
    }
}

static void quiet_beside(shmem_ctx_t ctx, struct words *there, long value)
{
    while (__atomic_load_n(&posts, __ATOMIC_RELAXED) < THREADS)
        sched_yield();
    shmem_ctx_long_put_nbi(ctx, &there->put_nbi, &value, 1, next);
    shmem_ctx_quiet(ctx);
    uint64_t n = __atomic_load_n(&posts, __ATOMIC_RELAXED);
    CHECK_NAMED(n < posts_max, "%llu operations were posted while a quiet waited",
                (unsigned long long)n);
    __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
    CHECK_EQ(shmem_long_g(&there->put_nbi, next), value);
}

/* On the default context, and on one that all threads use. */
static void beside(int thread)
{
    static shmem_ctx_t ctx;

    for (int i = 0; i < 2; i++) {
        if (thread == 0) {
            posts = ended = 0;
            ctx = SHMEM_CTX_DEFAULT;
            CHECK(i == 0 || shmem_ctx_create(0, &ctx) == 0);
        }
        pthread_barrier_wait(&threads);
        if (thread == 0)
            quiet_beside(ctx, &words[thread], rounds + 1 + i);
        else
            post_beside(ctx, &words[thread]);
        pthread_barrier_wait(&threads);
    }
    if (thread == 0)
        shmem_ctx_destroy(ctx);
}

static void *run(void *arg)
{
    int thread = (int)(intptr_t)arg;
    uint64_t seed = check_seed(shmem_my_pe() * THREADS + thread);

    check_early(thread);
    for (long round = 1; round <= rounds; round++) {
        enum kind kind = (enum kind)(round % KINDS);
        check_delay(&seed);
        update(thread, &round);
        pthread_barrier_wait(&threads);
        if (has_turn(thread, round, 0))
            order(kind);
        pthread_barrier_wait(&threads);
        if (has_turn(thread, round, 1))
            check(kind, round);
        pthread_barrier_wait(&threads);
        if (thread == 0)
            shmem_barrier_all();
        pthread_barrier_wait(&threads); /* put_nbi has read `round` */
    }
    beside(thread);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    long from[EARLY];
    int provided;

    if (argc > 1)
        rounds = strtol(argv[1], NULL, 10);
    if (argc > 2)
        posts_max = strtoull(argv[2], NULL, 10);
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
    next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (int i = 0; i < EARLY; i++)
        from[i] = i + 1;
    put_early(from);
    pthread_barrier_init(&threads, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, run, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    shmem_finalize();
    return 0;
}
