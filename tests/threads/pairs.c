/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairs.c - blocking calls on two threads of PE 0 never wait for each other: for pairs of
 * cases, thread 0 blocks in the first call, thread 1 calls the second, and only when this
 * has returned is the first one released.
 *
 *     pairs -b FILE [-s seed] [-n pairs] [-e threads] [-c first,second] [-w seconds]
 * [-g] pairs -l
 *
 * 3 PEs.  A call that waits for others is held because the others do not call their part.
 * A call that only accesses a PE on another node is held because PE 0 has stopped that
 * process.  The PEs agree by shared memory, a file that they map, without the library.  A
 * call that has not returned after -w seconds is reported and ends the job.
 *
 * -n: a sample of the pairs, or with -c so many runs of that pair; default: all of them;
 * -e: threads of PE 0 that poll or wait meanwhile; -g: all calls take one lock, which
 * must be reported; -l: print the cases.
 */
#include "tests/threads/pairs.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/types.h>

enum { PREPARE, RELEASE, SETTLE, END };
enum { POLL_US = 20, HEAD_START_US = 300, OTHERS_MAX = 16 };

/* What PE 0 wants a thread of another PE to do; it has done so if done == wanted. */
struct pairs_order {
    _Atomic uint32_t wanted, done;
    int test, phase;
    uint32_t serial, draw;
};

struct pairs_shm {
    _Atomic pid_t pid[PAIRS_PES];
    struct pairs_order order[PAIRS_PES][PAIRS_SIDES];
};

struct pairs_options {
    const char *file, *first, *second;
    uint64_t seed;
    long pairs;
    int others;
    double limit_s;
    bool global_lock;
};

/* A thread of PE 0 and its call */
struct pairs_thread {
    struct pairs_side side;
    const struct pairs_case *test;
    int test_index;
    pthread_t thread;
    _Atomic bool entered, returned;
};

static struct pairs_options options = {.seed = 1, .limit_s = 20};
static struct pairs_shm *shm;
static struct pairs_thread threads[PAIRS_SIDES];
static pthread_mutex_t global_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool others_end;
static long held_calls, stopped_calls, stopped_held;

/* ---- cases ------------------------------------------------------------------------ */

static int pairs_cases(void)
{
    return pairs_rma_count + pairs_coll_count;
}

static const struct pairs_case *pairs_at(int i)
{
    return i < pairs_rma_count ? &pairs_rma[i] : &pairs_coll[i - pairs_rma_count];
}

static int pairs_find(const char *name, size_t len)
{
    for (int i = 0; i < pairs_cases(); i++)
        if (strlen(pairs_at(i)->name) == len &&
            strncmp(pairs_at(i)->name, name, len) == 0)
            return i;
    fprintf(stderr, "pairs: no case '%s'\n", name);
    exit(2);
}

/* ---- sides ------------------------------------------------------------------------ */

/* Collective; PE 0 makes both sides, their partners one. */
static void pairs_open(struct pairs_side *s, int k)
{
    const int partner = k + 1;

    *s = (struct pairs_side){.k = k, .partner = partner};
    s->peer = shmem_my_pe() == 0 ? partner : 0;
    s->random = check_seed(k) + options.seed;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, partner, 2, NULL, 0, &s->team),
             0);
    CHECK_EQ(shmem_ctx_create(0, &s->own), 0);
    s->ctx = s->own;
    if (s->team != SHMEM_TEAM_INVALID)
        CHECK_EQ(shmemx_shared_create(s->team, 64, &s->shared), 0);
}

static void pairs_close(struct pairs_side *s)
{
    shmem_ctx_destroy(s->own);
    if (s->team == SHMEM_TEAM_INVALID)
        return;
    shmemx_shared_destroy(&s->shared);
    shmem_team_destroy(s->team);
}

/* ---- the other PEs ---------------------------------------------------------------- */

/* Completes the messages of this PE to PE 1, also those of collectives. */
static void pairs_settle(void)
{
    static long word;

    shmem_long_p(&word, 1, 1);
    shmem_quiet();
}

static void *pairs_follow(void *arg)
{
    struct pairs_side *s = arg;
    struct pairs_order *o = &shm->order[shmem_my_pe()][s->k];

    for (uint32_t n = 1;; n++) {
        while (atomic_load(&o->wanted) != n)
            check_sleep_us(POLL_US);
        if (o->phase == END)
            return NULL;
        const struct pairs_case *test = pairs_at(o->test);
        s->serial = o->serial;
        s->draw = o->draw;
        if (o->phase == SETTLE)
            pairs_settle();
        else if (o->phase == PREPARE)
            test->prepare(s);
        else
            test->release(s);
        atomic_store(&o->done, n);
    }
}

static void pairs_order(const struct pairs_thread *t, int pe, int phase)
{
    struct pairs_order *o = &shm->order[pe][t->side.k];

    o->test = t->test_index;
    o->phase = phase;
    o->serial = t->side.serial;
    o->draw = t->side.draw;
    atomic_fetch_add(&o->wanted, 1);
}

/* ---- PE 0 ------------------------------------------------------------------------- */

static void pairs_await(const _Atomic bool *flag, const struct pairs_thread *t,
                        const char *what)
{
    double end = check_now() + options.limit_s;

    while (!atomic_load(flag)) {
        check_sleep_us(POLL_US);
        if (check_now() < end)
            continue;
        fprintf(stderr, "FAIL: thread 0 in %s, thread 1 in %s: %s %s (seed %llu)\n",
                threads[0].test->name, threads[1].test->name, t->test->name, what,
                (unsigned long long)options.seed);
        for (int pe = 1; pe < PAIRS_PES; pe++)
            kill(atomic_load(&shm->pid[pe]), SIGCONT);
        _exit(1);
    }
}

/* The partner, or all other PEs: their part of the call. */
static void pairs_let_others(const struct pairs_thread *t, int phase)
{
    for (int pe = 1; pe < PAIRS_PES; pe++)
        if (pe == t->side.partner || (t->test->kind & PAIRS_WORLD) != 0)
            pairs_order(t, pe, phase);
}

static void pairs_await_others(const struct pairs_thread *t)
{
    static _Atomic bool done;

    for (int pe = 1; pe < PAIRS_PES; pe++) {
        const struct pairs_order *o = &shm->order[pe][t->side.k];
        double end = check_now() + options.limit_s;
        while (atomic_load(&o->done) != atomic_load(&o->wanted) && check_now() < end)
            check_sleep_us(POLL_US);
        atomic_store(&done, atomic_load(&o->done) == atomic_load(&o->wanted));
        if (!atomic_load(&done))
            options.limit_s = 0;
        pairs_await(&done, t, "has not returned on the other PE");
    }
}

static void *pairs_call(void *arg)
{
    struct pairs_thread *t = arg;

    atomic_store(&t->entered, true);
    if (options.global_lock)
        pthread_mutex_lock(&global_lock);
    t->test->call(&t->side);
    if (options.global_lock)
        pthread_mutex_unlock(&global_lock);
    atomic_store(&t->returned, true);
    return NULL;
}

static void pairs_start(struct pairs_thread *t)
{
    CHECK_EQ(pthread_create(&t->thread, NULL, pairs_call, t), 0);
    pairs_await(&t->entered, t, "has not begun");
}

static void pairs_finish(struct pairs_thread *t)
{
    pairs_await(&t->returned, t, "has not returned");
    pairs_await_others(t);
    pthread_join(t->thread, NULL);
}

/* The partner of the held call may be stopped: the other call does not depend on it.
 * Collectives may complete the operations of the default context. */
static bool pairs_may_stop(const struct pairs_thread *held,
                           const struct pairs_thread *other)
{
    const int kind = other->test->kind;
    bool quiets = ((kind & PAIRS_QUIETS) != 0 && other->side.ctx == SHMEM_CTX_DEFAULT) ||
                  ((kind & PAIRS_MEMBERS) != 0 && held->side.ctx == SHMEM_CTX_DEFAULT);

    return (held->test->kind & PAIRS_PASSIVE) != 0 && !quiets &&
           (kind & (PAIRS_WORLD | PAIRS_QUIETS_DEFAULT)) == 0 &&
           shmem_ptr(threads, held->side.partner) == NULL;
}

/* Stops the partner of the held call, PE 1. */
static void pairs_stop(const struct pairs_thread *held)
{
    pairs_order(held, 2, SETTLE);
    pairs_settle();
    pairs_await_others(held);
    kill(atomic_load(&shm->pid[held->side.partner]), SIGSTOP);
}

static void pairs_begin(struct pairs_thread *t, int test, uint32_t serial)
{
    uint64_t x = check_random(&t->side.random) >> 20;

    t->test_index = test;
    t->test = pairs_at(test);
    t->side.serial = serial;
    t->side.draw = (uint32_t)x;
    t->side.ctx = x >> 32 & 1 ? t->side.own : SHMEM_CTX_DEFAULT;
    atomic_store(&t->entered, false);
    atomic_store(&t->returned, false);
    if (t->test->prepare != NULL)
        pairs_order(t, t->side.partner, PREPARE);
    pairs_await_others(t);
}

static void pairs_run(int first, int second, uint32_t serial)
{
    struct pairs_thread *held = &threads[0], *other = &threads[1];

    pairs_begin(held, first, serial);
    pairs_begin(other, second, serial);
    bool passive = (held->test->kind & PAIRS_PASSIVE) != 0;
    bool stopped = pairs_may_stop(held, other);
    if (stopped)
        pairs_stop(held);
    uint64_t draw = check_random(&held->side.random) >> 30;
    bool turned = draw % 4 == 0; /* the call that returns first begins first */
    pairs_start(turned ? other : held);
    check_sleep_us((long)(draw / 4 % HEAD_START_US));
    pairs_start(turned ? held : other);
    if ((other->test->kind & PAIRS_PASSIVE) == 0)
        pairs_let_others(other, RELEASE);
    pairs_finish(other);
    bool waits = !atomic_load(&held->returned);
    CHECK_NAMED(waits || (held->test->kind & PAIRS_EARLY) != 0,
                "%s has returned without the other PE", held->test->name);
    held_calls += !passive && waits;
    stopped_calls += stopped;
    stopped_held += stopped && waits;
    if (stopped)
        kill(atomic_load(&shm->pid[held->side.partner]), SIGCONT);
    if (!passive)
        pairs_let_others(held, RELEASE);
    pairs_finish(held);
}

/* ---- further threads of PE 0 ------------------------------------------------------ */

static uint64_t others_word[OTHERS_MAX], others_never[OTHERS_MAX];

static void *others_wait(void *arg)
{
    shmem_uint64_wait_until((uint64_t *)arg, SHMEM_CMP_NE, 0);
    return NULL;
}

/* PE 2 is never stopped. */
static void *others_poll(void *arg)
{
    uint64_t *word = arg;
    shmem_ctx_t ctx;

    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    while (!atomic_load(&others_end)) {
        (void)shmem_ctx_uint64_atomic_fetch_inc(ctx, word, 2);
        shmem_ctx_quiet(ctx);
        (void)shmem_uint64_test(word, SHMEM_CMP_EQ, 1);
        check_sleep_us(POLL_US);
    }
    shmem_ctx_destroy(ctx);
    return NULL;
}

static void others_start(pthread_t *thread)
{
    for (int i = 0; i < options.others; i++)
        CHECK_EQ(pthread_create(&thread[i], NULL, i % 2 == 0 ? others_wait : others_poll,
                                i % 2 == 0 ? &others_never[i] : &others_word[i]),
                 0);
}

static void others_finish(const pthread_t *thread)
{
    atomic_store(&others_end, true);
    for (int i = 0; i < options.others; i++) {
        shmem_uint64_p(&others_never[i], 1, 0);
        pthread_join(thread[i], NULL);
    }
}

/* ---- all -------------------------------------------------------------------------- */

/* Two threads of a PE may not be in collectives of one team. */
static bool pairs_allowed(int first, int second)
{
    return (pairs_at(first)->kind & pairs_at(second)->kind & PAIRS_WORLD) == 0;
}

static void pairs_lead(void)
{
    const int n = pairs_cases(), all = n * n;
    uint64_t state = options.seed * 1000003u + 1;
    pthread_t other[OTHERS_MAX];
    uint32_t serial = 1;

    others_start(other);
    for (long i = 0; options.first != NULL && i < (options.pairs ? options.pairs : 1);
         i++)
        pairs_run(pairs_find(options.first, (size_t)(options.second - options.first)),
                  pairs_find(options.second + 1, strlen(options.second + 1)), serial++);
    for (long i = 0; options.first == NULL && i < (options.pairs ? options.pairs : all);
         i++) {
        int pair =
            options.pairs ? (int)((check_random(&state) >> 20) % (uint64_t)all) : (int)i;
        if (pairs_allowed(pair / n, pair % n))
            pairs_run(pair / n, pair % n, serial++);
    }
    others_finish(other);
    for (int pe = 1; pe < PAIRS_PES; pe++)
        for (int k = 0; k < PAIRS_SIDES; k++)
            pairs_order(&threads[k], pe, END);
    printf("%u pairs, %ld held by others, %ld of %ld by a stopped process\n", serial - 1,
           held_calls, stopped_held, stopped_calls);
}

static void pairs_map(void)
{
    int fd = open(options.file, O_RDWR);

    CHECK(fd >= 0 && ftruncate(fd, sizeof *shm) == 0);
    shm = mmap(NULL, sizeof *shm, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(shm != MAP_FAILED);
    close(fd);
    atomic_store(&shm->pid[shmem_my_pe()], getpid());
}

static void pairs_job(void)
{
    pthread_t thread[PAIRS_SIDES];

    CHECK_EQ(shmem_n_pes(), PAIRS_PES);
    pairs_map();
    for (int k = 0; k < PAIRS_SIDES; k++)
        pairs_open(&threads[k].side, k);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        pairs_lead();
    } else {
        for (int k = 0; k < PAIRS_SIDES; k++)
            CHECK_EQ(pthread_create(&thread[k], NULL, pairs_follow, &threads[k].side), 0);
        for (int k = 0; k < PAIRS_SIDES; k++)
            pthread_join(thread[k], NULL);
    }
    shmem_barrier_all();
    for (int k = 0; k < PAIRS_SIDES; k++)
        pairs_close(&threads[k].side);
    shmem_finalize();
}

static void pairs_list(void)
{
    for (int i = 0; i < pairs_cases(); i++)
        puts(pairs_at(i)->name);
}

int main(int argc, char **argv)
{
    int provided;

    for (int c; (c = getopt(argc, argv, "b:s:n:e:c:w:gl")) != -1;)
        switch (c) {
        case 'b':
            options.file = optarg;
            break;
        case 's':
            options.seed = strtoull(optarg, NULL, 0);
            break;
        case 'n':
            options.pairs = atol(optarg);
            break;
        case 'e':
            options.others = atoi(optarg);
            break;
        case 'c':
            options.first = optarg;
            options.second = strchr(optarg, ',');
            break;
        case 'w':
            options.limit_s = atof(optarg);
            break;
        case 'g':
            options.global_lock = true;
            break;
        case 'l':
            pairs_list();
            return 0;
        default:
            return 2;
        }
    if (options.file == NULL || options.others > OTHERS_MAX ||
        (options.first != NULL && options.second == NULL))
        return 2;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
    pairs_job();
    return 0;
}
