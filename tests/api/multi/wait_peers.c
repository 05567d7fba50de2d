/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_peers.c - waits and tests of arrays of words that other PEs write concurrently, in
 * random order and with delays: reported words have been written, and earlier writes are
 * visible; threads share one array; a sleeper is woken soon.
 */
#include "config.h"

#include "tests/api/multi/wait.h"
#include "tests/steady/steady.h"

#include <pthread.h>

enum { LONGEST = 1000, THREADS = 4, NAP_US = 30000 };
static const size_t lengths[] = {1, 2, 100, LONGEST};
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

static uint64_t words[LONGEST];   /* of any type */
static uint64_t payload[LONGEST]; /* written before the word of the same index */
static uint64_t seed;

/* A round: PE i % npes writes word i of every PE. */
struct round {
    const struct set_type *type;
    int form;
    bool vector;
    size_t n;
    uint64_t number;
    uint64_t values[LONGEST]; /* of the type */
    int status[LONGEST];
    bool left[LONGEST]; /* indices to be reported yet */
    size_t n_left;
};

/* The new value of word i: fits the smallest type; differs between words of a vector. */
static uint64_t word_after(const struct round *r, size_t i)
{
    return r->number * 2 + (r->vector ? i % 7 : 0) + 1;
}

static uint64_t payload_of(const struct round *r, size_t i)
{
    return r->number * 1000003u + i;
}

/* Numbers 0..n-1 in random order. */
static void shuffle(size_t *order, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = (size_t)((check_random(state) >> 32) % (i + 1));
        order[i] = order[k];
        order[k] = i;
    }
}

static void write_word(const struct round *r, size_t i, int pe)
{
    shmem_uint64_p(&payload[i], payload_of(r, i), pe);
    shmem_fence();
    r->type->p((char *)words + i * r->type->size, word_after(r, i), pe);
}

static void write_mine(const struct round *r)
{
    static size_t order[LONGEST];
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shuffle(order, r->n, &seed);
    /* Every fifth round one PE is so late that all others sleep. */
    if (r->number % 5 == (uint64_t)me)
        check_sleep_us(NAP_US);
    for (size_t k = 0; k < r->n; k++)
        for (int pe = 0; pe < npes && order[k] % (size_t)npes == (size_t)me; pe++) {
            check_delay(&seed);
            write_word(r, order[k], (me + pe) % npes);
        }
}

static void report(struct round *r, size_t i)
{
    CHECK_NAMED(i < r->n && r->left[i], "%s form %d: reports word %zu of %zu",
                r->type->name, r->form, i, r->n);
    uint64_t word = 0, expected = word_after(r, i);
    memcpy(&word, (char *)words + i * r->type->size, r->type->size);
    CHECK_NAMED(word == expected, "%s form %d: word %zu of %zu is %llu", r->type->name,
                r->form, i, r->n, (unsigned long long)word);
    CHECK_EQ(payload[i], payload_of(r, i));
    r->left[i] = false;
    r->status[i] = 1;
    r->n_left--;
}

/* Call the routine until it has reported all words. */
static void take_all(struct round *r)
{
    static size_t indices[LONGEST];
    struct set_call c = {.words = words,
                         .n = r->n,
                         .indices = indices,
                         .status = r->status,
                         .cmp = r->vector ? SHMEM_CMP_EQ : SHMEM_CMP_GT,
                         .value = r->number * 2,
                         .values = r->vector ? r->values : NULL};
    while (r->n_left > 0) {
        size_t answer = r->type->call(r->form, &c);
        if (r->form >= TEST_ALL)
            sched_yield();
        if (r->form == WAIT_ALL || (r->form == TEST_ALL && answer == 1))
            for (size_t i = 0; i < r->n; i++)
                report(r, i);
        else if (r->form == WAIT_ANY || (r->form == TEST_ANY && answer != SIZE_MAX))
            report(r, answer);
        else if (r->form == WAIT_SOME || r->form == TEST_SOME)
            for (size_t k = 0; k < answer; k++)
                report(r, indices[k]);
        CHECK(r->form != WAIT_SOME || answer > 0);
    }
}

static void play(struct round *r)
{
    memset(r->status, 0, sizeof(r->status));
    r->n_left = r->n;
    for (size_t i = 0; i < r->n; i++) {
        uint64_t v = word_after(r, i);
        memcpy((char *)r->values + i * r->type->size, &v, r->type->size);
        r->left[i] = true;
    }
    memset(words, 0, sizeof(words));
    shmem_barrier_all();
    write_mine(r);
    take_all(r);
    shmem_barrier_all();
}

static void test_forms(void)
{
    static struct round r;
    for (size_t l = 0; l < LENGTHS; l++)
        for (int way = 0; way < FORMS * 2; way++)
            for (int k = 0; k < (lengths[l] < LONGEST ? 3 : 1); k++) {
                r.form = way % FORMS;
                r.vector = way >= FORMS;
                r.type = &set_types[r.number % SET_TYPES];
                r.n = lengths[l];
                r.number++;
                play(&r);
            }
}

/* Thread k of a PE waits for the words k, k + THREADS, ..., which the next PE writes. */
static long shared_words[LONGEST];
enum { SHARED = 40 * THREADS };

struct thread {
    int number;
    long round;
};

static void *take_share(void *arg)
{
    const struct thread *t = arg;
    int status[SHARED];
    size_t indices[SHARED], left = SHARED / THREADS;
    for (int i = 0; i < SHARED; i++)
        status[i] = i % THREADS != t->number;
    while (left > 0) {
        size_t count = 1;
        if (t->number % 2 == 0)
            indices[0] = shmem_long_wait_until_any(shared_words, SHARED, status,
                                                   SHMEM_CMP_EQ, t->round);
        else
            count = shmem_long_wait_until_some(shared_words, SHARED, indices, status,
                                               SHMEM_CMP_GE, t->round);
        CHECK(count > 0 && count <= left);
        for (size_t k = 0; k < count; k++) {
            CHECK(indices[k] < SHARED && status[indices[k]] == 0);
            CHECK_EQ(shared_words[indices[k]], t->round);
            status[indices[k]] = 1;
        }
        left -= count;
    }
    shmem_long_wait_until_all(shared_words, SHARED, status, SHMEM_CMP_EQ, 0);
    return NULL;
}

static void test_threads(void)
{
    enum { ROUNDS = 6 };
    pthread_t thread[THREADS];
    struct thread job[THREADS];
    size_t order[SHARED];
    int to = (shmem_my_pe() + 1) % shmem_n_pes();
    for (long round = 1; round <= ROUNDS; round++) {
        for (int k = 0; k < THREADS; k++) {
            job[k] = (struct thread){k, round};
            CHECK(pthread_create(&thread[k], NULL, take_share, &job[k]) == 0);
        }
        if (round % 2 == 0)
            check_sleep_us(NAP_US);
        shuffle(order, SHARED, &seed);
        for (size_t i = 0; i < SHARED; i++) {
            check_delay(&seed);
            shmem_long_p(&shared_words[order[i]], round, to);
        }
        for (int k = 0; k < THREADS; k++)
            pthread_join(thread[k], NULL);
        shmem_barrier_all();
    }
}

/* The wake-up latency of PE 1 in ns when PE 0 stores to one of n words it waits for. */
static uint64_t wake_late(int form, size_t n)
{
    static uint64_t released_at;
    static size_t indices[LONGEST];
    static int status[LONGEST];
    enum { NAP_SPREAD_US = 20000 }; /* the maximum duration of one sleep of a waiter */
    size_t odd = (size_t)((check_random(&seed) >> 32) % n);
    long nap_us = 2L * NAP_US + (long)((check_random(&seed) >> 32) % NAP_SPREAD_US);
    struct set_call c = {.words = words,
                         .n = n,
                         .indices = indices,
                         .status = status,
                         .cmp = SHMEM_CMP_NE};
    memset(words, 0, sizeof(words));
    for (size_t i = 0; i < n; i++)
        status[i] = form == WAIT_ALL && i != odd;
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        check_sleep_us(nap_us);
        shmem_uint64_p(&released_at, (uint64_t)(check_now() * 1e9), 1);
        shmem_fence();
        shmem_uint64_p(&words[odd], 1, 1);
    } else {
        set_uint64(form, &c);
    }
    uint64_t now = (uint64_t)(check_now() * 1e9);
    shmem_barrier_all();
    return now > released_at ? now - released_at : 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/*
 * A waiter's sleep has a time limit, which hides a lost wake-up: the waiter is then late
 * by half of that time on average.  A busy machine delays it too, but not in every round.
 */
static void test_soon(int form, size_t n)
{
    enum { SOON_US = 4000, ROUNDS = 25, TRIES = 9 };
    static long slow; /* decided by PE 1, so that both PEs take the same branch */
    uint64_t judged = 0;
    struct steady steady;
    steady_begin(&steady, getppid());
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t late[TRIES];
        for (int i = 0; i < TRIES; i++) {
            late[i] = wake_late(form, n);
            judged += late[i];
        }
        qsort(late, TRIES, sizeof(late[0]), compare);
        if (shmem_my_pe() == 1) {
            slow = late[TRIES / 2] > (uint64_t)SOON_US * 1000;
            shmem_long_p(&slow, slow, 0);
        }
        shmem_barrier_all();
        if (slow == 0)
            return;
        shmem_barrier_all();
    }
    fprintf(stderr, "form %d, %zu words: lost wake-up, the sleep timed out\n", form, n);
    if (shmem_my_pe() == 1)
        shmem_global_exit(steady_status(&steady, judged, "wake-up"));
    shmem_barrier_all();
}

int main(void)
{
    int level;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level) == 0);
    CHECK_EQ(level, SHMEM_THREAD_MULTIPLE);
    seed = check_seed(shmem_my_pe());
    test_forms();
    test_threads();
    if (shmem_n_pes() == 2) {
        seed = check_seed(0); /* both PEs choose the same */
        test_soon(WAIT_ALL, 100);
        test_soon(WAIT_ANY, 1);
        test_soon(WAIT_ANY, 100);
        test_soon(WAIT_SOME, 100);
    }
    shmem_finalize();
    return 0;
}
