/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb.c - nonblocking collectives, through the library's internal names.
 *   nb mix CALLS SEED: a random sequence of all of them and of blocking ones on
 *       overlapping teams; many are outstanding, and each PE tests or waits for them in
 *       its own random order.  Each result against a serial model.
 *   nb threads CALLS SEED: the same from two threads, each with its own teams
 *   nb order: floating-point sums have the same bits for every root, and, if all PEs get
 *       the sum, the bits of the blocking reduction (SHMEM_REPRODUCIBLE)
 *   nb overlap: a root computes after the start, and the other PEs complete meanwhile
 *   nb waits: a PE waits in other routines after the start, and the others complete
 *   nb many: many more requests are started than can be active
 *   nb wrong WHAT: one invalid call
 */
#include "config.h"

#include <pthread.h>

#include "pgas/coll/nonblocking/nb.h"
#include "tests/api/multi/coll.h"

enum { OPEN = 14, MOST = 24 * 1024, SMALL = 300, MIDDLE = 3000, LATE = 64, BUSY_S = 20 };
enum { THREADS = 2, TEAMS_MAX = 8, MANY = 100, ROUNDS = 3 };
enum what { BARRIER, BCAST, REDUCE, ALLREDUCE, SCAN, FCOLLECT, ALLTOALL, WHATS };

/* One call: the same on all PEs, except for the request. */
struct call {
    long number;
    enum what what;
    const struct group *g;
    size_t n; /* elements of a PE, or of each of its blocks */
    int root;
    bool in_place, exclusive;
    int64_t *source, *dest;
    struct nb *request;
};

/* State of one thread. */
struct mix {
    const struct group *teams;
    int nteams;
    long calls;
    uint64_t seed;
    int64_t *memory; /* arrays of outstanding calls; the blocking call's are last */
    struct call open[OPEN];
    uint64_t own; /* seed of the random numbers that differ between PEs */
};

static struct group teams[TEAMS_MAX];
static int nteams;

static struct shmem_team *inner(const struct group *g)
{
    return team_of(g->team, "nb");
}

static const struct op_fns *sum_fns(void)
{
    return op_find(OP_SUM, OP_SINT, sizeof(int64_t));
}

/* ---- the model -------------------------------------------------------------------- */

static int64_t value(const struct call *c, int i, size_t e)
{
    uint64_t v = (uint64_t)c->number * 0x9e3779b97f4a7c15u ^
                 ((uint64_t)i << 40 | (uint64_t)e) * 0xd1b54a32d192ed03u;

    return (int64_t)(v ^ v >> 29);
}

static int64_t sum(const struct call *c, int end, size_t e)
{
    uint64_t all = 0;

    for (int i = 0; i < end; i++)
        all += (uint64_t)value(c, i, e);
    return (int64_t)all;
}

static size_t source_elements(const struct call *c)
{
    return c->what == ALLTOALL ? c->n * (size_t)c->g->npes : c->n;
}

static size_t dest_elements(const struct call *c)
{
    bool blocks = c->what == ALLTOALL || c->what == FCOLLECT;

    return blocks ? c->n * (size_t)c->g->npes : c->n;
}

static int64_t right(const struct call *c, size_t e)
{
    switch (c->what) {
    case BCAST:
        return value(c, c->root, e);
    case SCAN:
        return sum(c, c->g->me + !c->exclusive, e);
    case FCOLLECT:
        return value(c, (int)(e / c->n), e % c->n);
    case ALLTOALL:
        return value(c, (int)(e / c->n), (size_t)c->g->me * c->n + e % c->n);
    default:
        return sum(c, c->g->npes, e);
    }
}

static bool has_result(const struct call *c)
{
    return c->what != BARRIER && (c->what != REDUCE || c->g->me == c->root);
}

static void check_result(const struct call *c)
{
    for (size_t e = 0; has_result(c) && e < dest_elements(c); e++)
        CHECK_NAMED(c->dest[e] == right(c, e),
                    "call %ld (%d, %zu elements, root %d) of %s: element %zu is %llx, "
                    "should be %llx",
                    c->number, c->what, c->n, c->root, c->g->name, e,
                    (unsigned long long)c->dest[e], (unsigned long long)right(c, e));
    if (!c->in_place)
        for (size_t e = 0; e < source_elements(c); e++)
            CHECK_NAMED(c->source[e] == value(c, c->g->me, e),
                        "call %ld has changed its source", c->number);
}

/* ---- calls ------------------------------------------------------------------------ */

static struct nb *start(const struct call *c)
{
    struct shmem_team *t = inner(c->g);
    size_t bytes = c->n * sizeof(int64_t);

    switch (c->what) {
    case BARRIER:
        return nb_barrier(t, "nb_barrier");
    case BCAST:
        return nb_bcast(t, c->dest, c->source, bytes, c->root, "nb_bcast");
    case SCAN:
        return nb_scan(t, c->dest, c->source, c->n, 8, sum_fns(), c->exclusive,
                       "nb_scan");
    case FCOLLECT:
        return nb_fcollect(t, c->dest, c->source, bytes, "nb_fcollect");
    case ALLTOALL:
        return nb_alltoall(t, c->dest, c->source, bytes, "nb_alltoall");
    default:
        return nb_reduce(t, c->what == REDUCE ? c->root : NB_ALL, c->dest, c->source,
                         c->n, 8, sum_fns(), "nb_reduce");
    }
}

/* In place: the source is dest, or (fcollect) NULL with the data in this PE's block of
 * dest. */
static void place(struct call *c, int64_t *memory)
{
    bool own = c->in_place && c->what == FCOLLECT;

    c->dest = memory + MOST;
    c->source = !c->in_place ? memory : own ? c->dest + (size_t)c->g->me * c->n : c->dest;
    for (size_t e = 0; e < source_elements(c); e++)
        c->source[e] = value(c, c->g->me, e);
    if (own)
        c->source = NULL;
}

static int64_t *memory_of(const struct mix *m, int k)
{
    return m->memory + (size_t)k * 2 * MOST;
}

static void complete(struct call *c, bool wait)
{
    if (c->request == NULL)
        return;
    if (wait)
        nb_wait(&c->request);
    else if (!nb_test(&c->request))
        return;
    CHECK(c->request == NULL);
    check_result(c);
    if (c->what != BARRIER)
        memset(c->dest, 0x55, dest_elements(c) * sizeof *c->dest);
}

/* Test or wait for a few requests in random order. */
static void complete_some(struct mix *m)
{
    for (int k = (int)(check_random(&m->own) >> 8) % 4; k > 0; k--) {
        uint64_t r = check_random(&m->own) >> 8;
        complete(&m->open[r % OPEN], r / OPEN % 8 == 0);
    }
}

/* A blocking collective with the data of the call. */
static void do_blocking(struct mix *m, struct call *c)
{
    static const size_t most = SMALL;

    c->n = c->n < most ? c->n : most;
    c->in_place = false;
    place(c, memory_of(m, OPEN));
    if (c->what == BCAST) {
        shmem_int64_broadcast(c->g->team, c->dest, c->source, c->n, c->root);
        check_result(c);
    } else if (c->what == ALLREDUCE || c->what == REDUCE) {
        c->what = ALLREDUCE;
        shmem_int64_sum_reduce(c->g->team, c->dest, c->source, c->n);
        check_result(c);
    } else {
        shmem_team_sync(c->g->team);
    }
}

static size_t size_of(uint64_t r, enum what what, int npes)
{
    bool blocks = what == ALLTOALL || what == FCOLLECT;
    size_t most = r % 8 > 1 ? SMALL : r % 8 == 1 ? MIDDLE : MOST;

    if (blocks && most > MOST / (size_t)npes)
        most = MOST / (size_t)npes;
    return r / 8 % (most + 1);
}

static struct call draw(const struct mix *m, uint64_t *common, long number)
{
    uint64_t r = check_random(common) >> 4;
    struct call c = {.number = number, .g = &m->teams[r % (uint64_t)m->nteams]};

    r /= TEAMS_MAX;
    c.what = (enum what)(r % WHATS);
    c.root = (int)(r / 8 % (uint64_t)c.g->npes);
    c.in_place = r / 4096 % 4 == 0 && c.what != ALLTOALL;
    c.exclusive = r / 32768 % 2 == 0;
    c.n = size_of(check_random(common) >> 8, c.what, c.g->npes);
    return c;
}

static void *run_mix(void *arg)
{
    struct mix *m = arg;
    uint64_t common = m->seed * 0x9e3779b97f4a7c15u + 1;

    m->own = common ^ (uint64_t)(shmem_my_pe() + 1) * 0xd1b54a32d192ed03u;
    for (long i = 1; i <= m->calls; i++) {
        struct call c = draw(m, &common, i);
        bool blocking = (check_random(&common) >> 8) % 6 == 0;
        if ((check_random(&m->own) >> 8) % LATE == 0)
            check_sleep_us(200);
        complete_some(m);
        if (c.g->me < 0)
            continue;
        struct call *open = &m->open[i % OPEN];
        if (blocking) {
            do_blocking(m, &c);
            continue;
        }
        complete(open, true);
        *open = c;
        place(open, memory_of(m, (int)(i % OPEN)));
        open->request = start(open);
    }
    for (int k = 0; k < OPEN; k++)
        complete(&m->open[(k + shmem_my_pe()) % OPEN], true);
    return NULL;
}

static void add_team(const char *name, int start, int stride, int npes)
{
    if (npes < 1)
        return;
    teams[nteams] = group_split(name, nteams, start, stride, npes);
    nteams++;
}

static void add_teams(int n)
{
    teams[nteams++] =
        (struct group){"WORLD", SHMEM_TEAM_WORLD, 0, n, shmem_my_pe(), 0, 1};
    add_team("copy", 0, 1, n);
    add_team("even PEs", 0, 2, (n + 1) / 2);
    add_team("all but PE 0", 1, 1, n - 1);
    add_team("backwards", n - 1, -1, n);
}

static int64_t *mix_memory(void)
{
    return check_alloc((OPEN + 1) * 2 * (size_t)MOST * sizeof(int64_t));
}

static void mix(long calls, uint64_t seed)
{
    add_teams(shmem_n_pes());
    struct mix m = {.teams = teams,
                    .nteams = nteams,
                    .calls = calls,
                    .seed = seed,
                    .memory = mix_memory()};
    run_mix(&m);
    shmem_barrier_all();
}

static void threads(long calls, uint64_t seed)
{
    static struct mix m[THREADS];
    pthread_t thread[THREADS];

    add_teams(shmem_n_pes());
    for (int t = 0; t < THREADS; t++)
        m[t] = (struct mix){.teams = &teams[t * 2],
                            .nteams = nteams - t * 2 < 2 ? nteams - t * 2 : 2,
                            .calls = calls,
                            .seed = seed + (uint64_t)t,
                            .memory = mix_memory()};
    for (int t = 0; t < THREADS; t++)
        if (m[t].nteams > 0)
            pthread_create(&thread[t], NULL, run_mix, &m[t]);
    for (int t = 0; t < THREADS; t++)
        if (m[t].nteams > 0)
            pthread_join(thread[t], NULL);
    shmem_barrier_all();
}

/* ---- order ------------------------------------------------------------------------ */

static double real(int i, size_t e)
{
    uint64_t s = ((uint64_t)i * 7919 + e + 1) * 0x9e3779b97f4a7c15u;

    return (double)(int64_t)(check_random(&s)) / 3e15;
}

static void order_of(size_t n, double *source, double *dest, double *first)
{
    const struct op_fns *fns = op_find(OP_SUM, OP_FLT, sizeof(double));
    struct shmem_team *t = team_of(SHMEM_TEAM_WORLD, "nb");

    for (int root = 0; root < shmem_n_pes(); root++) {
        struct nb *r =
            nb_reduce(t, root, dest, source, n, sizeof(double), fns, "nb_reduce");
        nb_wait(&r);
        if (shmem_my_pe() == root)
            shmem_double_put(first, dest, n, 0);
        shmem_barrier_all();
        if (shmem_my_pe() == 0 && root > 0)
            CHECK_EQ(memcmp(first, first + n, n * sizeof(double)), 0);
        if (shmem_my_pe() == 0 && root == 0)
            memcpy(first + n, first, n * sizeof(double));
        if (shmem_my_pe() == root)
            memset(dest, 0, n * sizeof(double));
        shmem_barrier_all();
    }
    struct nb *r = nb_reduce(t, NB_ALL, dest, source, n, 8, fns, "nb_reduce");
    nb_wait(&r);
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, first, source, n);
    CHECK_EQ(memcmp(dest, first, n * sizeof(double)), 0);
}

static void order(void)
{
    static const size_t sizes[] = {1, 100, 1500, 20000};
    double *source = check_alloc(MOST * sizeof(double));
    double *dest = check_alloc(MOST * sizeof(double));
    double *first = check_alloc(2 * MOST * sizeof(double));

    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        for (size_t e = 0; e < sizes[k]; e++)
            source[e] = real(shmem_my_pe(), e);
        shmem_barrier_all();
        order_of(sizes[k], source, dest, first);
        shmem_barrier_all();
    }
}

/* ---- progress --------------------------------------------------------------------- */

/* Polls the word without library calls, like a computing PE. */
static void compute_until(const long *word, long least)
{
    double begin = check_now();

    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < least) {
        CHECK(check_now() - begin < BUSY_S);
        sched_yield();
    }
}

/* ROUNDS < NB_SYNC_EVERY calls, so that none of them ends with a barrier. */
static void overlap(void)
{
    static long seen;
    struct shmem_team *t = team_of(SHMEM_TEAM_WORLD, "nb");
    char *data = check_alloc(MOST);
    int me = shmem_my_pe(), others = shmem_n_pes() - 1;

    for (int k = 1; k <= ROUNDS; k++) {
        if (me == 0)
            memset(data, k, MOST);
        struct nb *r = nb_bcast(t, data, data, MOST, 0, "nb_bcast");
        if (me == 0)
            compute_until(&seen, (long)k * others);
        nb_wait(&r);
        CHECK_EQ(check_find_other(data, MOST, (unsigned char)k), MOST);
        if (me != 0)
            shmem_long_atomic_inc(&seen, 0);
    }
    shmem_barrier_all();
}

static void wait_elsewhere(int k, long *word)
{
    switch (k) {
    case 0:
        shmem_barrier_all();
        break;
    case 1:
        shmem_long_wait_until(word, SHMEM_CMP_EQ, 1);
        break;
    default:
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, word + 1, word + 2, 1);
    }
}

/* PE 0 alone waits for the result, and its later action lets the others go on.  They must
 * advance the reduction in that wait, because each PE combines for its children. */
static void waits(void)
{
    struct shmem_team *t = team_of(SHMEM_TEAM_WORLD, "nb");
    int64_t *source = check_alloc(MOST * 8), *dest = check_alloc(MOST * 8);
    long *word = check_alloc(3 * sizeof(long));
    int me = shmem_my_pe(), n = shmem_n_pes();

    for (int k = 0; k < ROUNDS; k++) {
        memset(word, 0, 3 * sizeof(long));
        for (int e = 0; e < MOST; e++)
            source[e] = me + e;
        shmem_barrier_all();
        struct nb *r = nb_reduce(t, 0, dest, source, MOST, 8, sum_fns(), "nb_reduce");
        if (me != 0)
            wait_elsewhere(k, word);
        nb_wait(&r);
        for (int e = 0; me == 0 && e < MOST; e++)
            CHECK_EQ(dest[e], (int64_t)n * (n - 1) / 2 + (int64_t)e * n);
        for (int i = 1; me == 0 && k == 1 && i < n; i++)
            shmem_long_p(word, 1, i);
        if (me == 0 && k != 1)
            wait_elsewhere(k, word);
        shmem_barrier_all();
    }
}

/* A start does not wait: PE 0 starts all requests before the others start one. */
static void many(void)
{
    static long go;
    static struct nb *r[MANY];
    struct shmem_team *t = team_of(SHMEM_TEAM_WORLD, "nb");
    int64_t *source = check_alloc(MANY * 8), *dest = check_alloc(MANY * 8);
    int me = shmem_my_pe(), n = shmem_n_pes();

    for (int k = 0; k < MANY; k++)
        source[k] = me * k;
    if (me != 0)
        shmem_long_wait_until(&go, SHMEM_CMP_EQ, 1);
    for (int k = 0; k < MANY; k++)
        r[k] = nb_reduce(t, NB_ALL, &dest[k], &source[k], 1, 8, sum_fns(), "nb_reduce");
    for (int i = 1; me == 0 && i < n; i++)
        shmem_long_p(&go, 1, i);
    for (int k = MANY - 1; k >= 0; k--) {
        nb_wait(&r[k]);
        CHECK_EQ(dest[k], (int64_t)k * n * (n - 1) / 2);
    }
    shmem_barrier_all();
}

/* ---- errors ----------------------------------------------------------------------- */

static void wrong(const char *what)
{
    struct shmem_team *t = team_of(SHMEM_TEAM_WORLD, "nb");
    struct nb *r = NULL;
    shmem_team_t team;
    int me = shmem_my_pe();

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
    shmem_barrier_all();
    if (strcmp(what, "finalize") == 0)
        r = nb_barrier(t, "nb_barrier");
    if (strcmp(what, "destroy") == 0 && me == 0)
        r = nb_barrier(team_of(team, "nb"), "nb_barrier");
    if (strcmp(what, "destroy") == 0)
        shmem_team_destroy(team);
    if (strcmp(what, "root") == 0)
        r = nb_bcast(t, NULL, NULL, 0, 2, "nb_bcast");
    if (strcmp(what, "source") == 0)
        r = nb_fcollect(t, &me, &me, 4, "nb_fcollect");
    if (strcmp(what, "left") == 0 && me == 0) {
        r = nb_barrier(t, "nb_barrier");
        nb_wait(&r);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "mix";
    long calls = argc > 2 ? atol(argv[2]) : 200;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    int level;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    if (strcmp(what, "mix") == 0)
        mix(calls, seed);
    if (strcmp(what, "threads") == 0)
        threads(calls, seed);
    if (strcmp(what, "order") == 0)
        order();
    if (strcmp(what, "overlap") == 0)
        overlap();
    if (strcmp(what, "waits") == 0)
        waits();
    if (strcmp(what, "many") == 0)
        many();
    if (strcmp(what, "wrong") == 0)
        wrong(argv[2]);
    shmem_finalize();
    return 0;
}
