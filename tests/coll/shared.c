/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared.c - node-shared results.
 *   shared mix CALLS SEED: a random sequence of all operations, sizes, roots and forms of
 *       the source on overlapping teams, without synchronization in between.  Each result
 *       is compared with a serial model when it is complete, and again just before this
 *       PE enters the next call of the handle
 *   shared memory [private]: memory use of the results, and of private copies
 *   shared wrong WHAT: one wrong call
 */
#include "config.h"

#include <shmemx.h>
#include <sys/stat.h>

#include "tests/api/multi/coll.h"

enum { MOST = 320 * 1024, LATE = 32, MIB = 1 << 20, BIG = 32 * MIB, PES_MAX = 64 };
enum what { BROADCAST, FCOLLECT, SUM, MAX, XOR, REAL, RECLAIM, WHATS };

/* A team with a result; me = -1 where this PE is no member. */
struct user {
    struct group g;
    shmemx_shared_t shared;
};

enum { USERS_MAX = 8 };
static struct user users[USERS_MAX];
static int nusers;

/* The last call of a handle: the same on all PEs. */
struct call {
    long number;
    enum what what;
    size_t n; /* bytes of a PE, or elements */
    int root, way;
} last[USERS_MAX];

static int64_t *source;
static char *local;

/* ---- the model ------------------------------------------------------------------- */

static uint64_t salt(const struct call *c, int i)
{
    return (uint64_t)c->number * PES_MAX + (uint64_t)i;
}

/* Element e of PE i's contribution; small, so that sums of doubles are exact. */
static int64_t value(const struct call *c, int i, size_t e)
{
    uint64_t x = (salt(c, i) + 1) * 0x9e3779b97f4a7c15u + e * 0xff51afd7ed558ccdu;

    return (int64_t)(x >> 40) - (1 << 23);
}

static int64_t expected(const struct user *u, const struct call *c, size_t e)
{
    int64_t all = value(c, 0, e);

    for (int i = 1; i < u->g.npes; i++) {
        int64_t next = value(c, i, e);
        if (c->what == MAX)
            all = next > all ? next : all;
        else
            all = c->what == XOR ? all ^ next : all + next;
    }
    return all;
}

static void check_reduced(const struct user *u, const struct call *c, const void *copy)
{
    const int64_t *word = copy;
    const double *real = copy;

    for (size_t e = 0; e < c->n; e++) {
        int64_t is = c->what == REAL ? (int64_t)real[e] : word[e];
        CHECK_NAMED(is == expected(u, c, e), "%s, call %ld: element %zu of %zu",
                    u->g.name, c->number, e, c->n);
    }
}

static void check_result(const struct user *u, const struct call *c)
{
    const unsigned char *copy = shmemx_shared_ptr(u->shared);

    if (c->number == 0 || c->what == RECLAIM)
        return;
    if (c->what == BROADCAST)
        check_block(copy, c->n, salt(c, c->root), "broadcast", &u->g);
    else if (c->what != FCOLLECT)
        check_reduced(u, c, copy);
    for (int i = 0; c->what == FCOLLECT && i < u->g.npes; i++)
        check_block(copy + (size_t)i * c->n, c->n, salt(c, i), "fcollect", &u->g);
}

/* ---- calls ------------------------------------------------------------------------- */

/* Writes the contribution and returns the source: private, symmetric, or NULL (in place).
 */
static const void *make_source(const struct user *u, const struct call *c, size_t at)
{
    char *to = c->way == 0 ? local : (char *)source;

    if (c->way == 2) {
        CHECK_EQ(shmemx_shared_reclaim(u->shared), 0);
        to = (char *)shmemx_shared_ptr(u->shared) + at;
    }
    if (c->what == FCOLLECT || c->root == u->g.me)
        check_fill(to, c->n, salt(c, u->g.me));
    return c->way == 2 ? NULL : to;
}

static void bring(const struct user *u, const struct call *c)
{
    double *real = (double *)source;

    for (size_t e = 0; e < c->n; e++)
        if (c->what == REAL)
            real[e] = (double)value(c, u->g.me, e);
        else
            source[e] = value(c, u->g.me, e);
}

static void reduce(const struct user *u, const struct call *c)
{
    shmemx_shared_t s = u->shared;

    bring(u, c);
    if (c->what == SUM)
        CHECK_EQ(shmemx_int64_shared_sum_reduce(s, source, c->n), 0);
    else if (c->what == MAX)
        CHECK_EQ(shmemx_int64_shared_max_reduce(s, source, c->n), 0);
    else if (c->what == XOR)
        CHECK_EQ(shmemx_int64_shared_xor_reduce(s, source, c->n), 0);
    else
        CHECK_EQ(shmemx_double_shared_sum_reduce(s, (double *)source, c->n), 0);
}

static void call(const struct user *u, const struct call *c)
{
    if (c->what == RECLAIM)
        CHECK_EQ(shmemx_shared_reclaim(u->shared), 0);
    else if (c->what == BROADCAST)
        CHECK_EQ(shmemx_shared_broadcast(u->shared, make_source(u, c, 0), c->n, c->root),
                 0);
    else if (c->what == FCOLLECT)
        CHECK_EQ(shmemx_shared_fcollect(u->shared,
                                        make_source(u, c, (size_t)u->g.me * c->n), c->n),
                 0);
    else
        reduce(u, c);
    memset(source, 0x55, 64); /* the source may be changed now */
}

/* ---- the mix ----------------------------------------------------------------------- */

static void add_user(struct group g)
{
    struct user *u = &users[nusers++];

    u->g = g;
    if (g.me >= 0)
        CHECK_EQ(shmemx_shared_create(g.team, MOST, &u->shared), 0);
}

static void add_world(const char *name, int n)
{
    add_user((struct group){
        .name = name, .team = SHMEM_TEAM_WORLD, .npes = n, .me = shmem_my_pe()});
}

static void add_team(const char *name, int start, int stride, int npes)
{
    if (npes >= 1)
        add_user(group_split(name, 0, start, stride, npes));
}

static void add_users(int n)
{
    add_world("WORLD", n);
    add_world("WORLD again", n);
    add_team("even PEs", 0, 2, (n + 1) / 2);
    add_team("all but PE 0", 1, 1, n - 1);
    add_team("backwards", n - 1, -1, n);
    add_team("last PE", n - 1, 1, 1);
}

static size_t draw_size(uint64_t *r, size_t most)
{
    static const size_t limits[] = {16, 300, 300, 20000};
    uint64_t kind = check_random(r) >> 40;
    size_t limit = kind % 24 == 0 ? most : limits[kind % 4];

    limit = limit < most ? limit : most;
    return (size_t)(check_random(r) >> 20) % (limit + 1);
}

static struct call draw(uint64_t *r, const struct user *u, long number)
{
    struct call c = {.number = number, .what = (check_random(r) >> 40) % WHATS};
    size_t most = c.what == BROADCAST  ? MOST
                  : c.what == FCOLLECT ? MOST / (size_t)u->g.npes
                                       : MOST / sizeof(int64_t);

    c.n = draw_size(r, most);
    c.root = (int)(check_random(r) >> 40) % u->g.npes;
    c.way = (int)(check_random(r) >> 40) % 3;
    return c;
}

static void end_users(void)
{
    for (int k = 0; k < nusers; k++) {
        struct user *u = &users[k];
        if (u->g.me < 0)
            continue;
        check_result(u, &last[k]);
        shmemx_shared_destroy(&u->shared);
        CHECK(u->shared == SHMEMX_SHARED_INVALID);
        shmemx_shared_destroy(&u->shared); /* no effect */
    }
}

/* Destroys the result and creates it again, in memory that was used before. */
static void renew(struct user *u)
{
    shmemx_shared_destroy(&u->shared);
    CHECK_EQ(shmemx_shared_create(u->g.team, MOST, &u->shared), 0);
}

static void mix(long calls, uint64_t seed)
{
    uint64_t ours = seed, mine = check_seed(shmem_my_pe()) ^ seed;
    enum { RENEW = 97 };

    add_users(shmem_n_pes());
    for (long number = 1; number <= calls; number++) {
        int k = (int)((check_random(&ours) >> 40) % (uint64_t)nusers);
        struct call c = draw(&ours, &users[k], number);
        if (users[k].g.me < 0)
            continue;
        if (check_random(&mine) % LATE == 0)
            check_delay(&mine);
        check_result(&users[k], &last[k]); /* unchanged */
        if (number % RENEW == 0)
            renew(&users[k]);
        call(&users[k], &c);
        check_result(&users[k], &c);
        last[k] = c;
    }
    end_users();
}

/* ---- memory ------------------------------------------------------------------------ */

/* Bytes of this PE's heap that are backed by pages. */
static long long touched(void)
{
    char link[64], name[64];
    struct stat st;

    for (int fd = 0; fd < 256; fd++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, name, sizeof name - 1);
        name[n > 0 ? n : 0] = '\0';
        if (strstr(name, "pgas-heap") != NULL && fstat(fd, &st) == 0)
            return (long long)st.st_blocks * 512;
    }
    check_fail(__FILE__, __LINE__, "no heap among the descriptors");
    return 0;
}

static long long all_touched(void)
{
    static long long mine, all;

    mine = touched();
    shmem_longlong_sum_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
    return all;
}

static void show(const char *what, long long bytes)
{
    if (shmem_my_pe() == 0)
        printf("%d PEs, %d MiB, %s: %.1f MiB\n", shmem_n_pes(), BIG / MIB, what,
               (double)bytes / MIB);
}

static void measure(void)
{
    int n = shmem_n_pes(), root = n - 1;
    const char *nodes = getenv("CHECK_VNODES");
    long long k = nodes != NULL && nodes[0] != '\0' ? atoi(nodes) : 1;
    shmemx_shared_t shared;
    size_t bytes = shmem_my_pe() == root ? BIG : BIG / (size_t)n;
    char *data = malloc(bytes);
    long long before = all_touched();

    CHECK(data != NULL);
    memset(data, 7, bytes);
    CHECK_EQ(shmemx_shared_create(SHMEM_TEAM_WORLD, BIG, &shared), 0);
    CHECK_EQ(shmemx_shared_broadcast(shared, data, BIG, root), 0);
    CHECK_EQ(((char *)shmemx_shared_ptr(shared))[BIG - 1], 7);
    CHECK_EQ(shmemx_shared_fcollect(shared, data, BIG / (size_t)n), 0);
    CHECK_EQ(((char *)shmemx_shared_ptr(shared))[BIG / n * n - 1], 7);
    long long ours = all_touched() - before;
    show("node-shared", ours);
    CHECK(ours >= k * BIG && ours <= k * (BIG + 4 * MIB));
    shmemx_shared_destroy(&shared);
    free(data);
}

static void measure_private(void)
{
    long long before = all_touched();
    char *dest = check_alloc(BIG);

    CHECK_EQ(shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, dest, BIG, 0), 0);
    memset(dest, 1, BIG);
    shmem_barrier_all();
    show("private", all_touched() - before);
    shmem_free(dest);
}

/* ---- errors ------------------------------------------------------------------------ */

static void wrong(const char *what)
{
    shmemx_shared_t shared, none = SHMEMX_SHARED_INVALID;
    shmem_team_t team;
    int me = shmem_my_pe(), n = shmem_n_pes();

    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team), 0);
    CHECK(shmemx_shared_create(SHMEM_TEAM_INVALID, 1, &shared) != 0);
    CHECK(shmemx_shared_create(team, SIZE_MAX, &shared) != 0);
    CHECK(shmemx_shared_create(team, (size_t)2 << 30, &shared) != 0 && shared == none);
    CHECK_EQ(shmemx_shared_create(team, 1000, &shared), 0);
    if (strcmp(what, "invalid") == 0)
        shmemx_shared_ptr(none);
    if (strcmp(what, "bytes") == 0)
        shmemx_shared_broadcast(shared, &me, 1001, 0);
    if (strcmp(what, "root") == 0)
        shmemx_shared_broadcast(shared, &me, sizeof me, n);
    if (strcmp(what, "blocks") == 0)
        shmemx_shared_fcollect(shared, local, 501);
    if (strcmp(what, "elements") == 0)
        shmemx_long_shared_sum_reduce(shared, (long *)source, 126);
    if (strcmp(what, "source") == 0)
        shmemx_long_shared_sum_reduce(shared, (long *)local, 1);
    if (strcmp(what, "differ") == 0)
        shmemx_shared_create(team, 8 + (size_t)me, &none);
    if (strcmp(what, "team") == 0) {
        shmem_team_destroy(team);
        shmemx_shared_reclaim(shared);
    }
    if (strcmp(what, "again") == 0) {
        shmem_finalize();
        shmem_init();
        shmemx_shared_reclaim(shared);
    }
    if (strcmp(what, "left") == 0 && me == 0)
        shmemx_shared_reclaim(shared);
    if (strcmp(what, "gone") == 0) {
        none = shared;
        shmemx_shared_destroy(&shared);
        shmemx_shared_reclaim(none);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "200";

    shmem_init();
    source = check_alloc(MOST);
    local = malloc(MOST);
    CHECK(local != NULL && argc > 1);
    if (strcmp(argv[1], "mix") == 0)
        mix(atol(what), strtoull(argc > 3 ? argv[3] : "1", NULL, 0));
    else if (strcmp(argv[1], "wrong") == 0)
        wrong(what);
    else
        measure();
    if (strcmp(what, "private") == 0)
        measure_private();
    free(local);
    shmem_finalize();
    return 0;
}
