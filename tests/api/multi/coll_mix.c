/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_mix.c - a long random sequence of collectives of random sizes, with random roots,
 * on overlapping teams, without synchronization between them; each result is compared
 * with a serial model.  All PEs draw the same sequence from a seed.
 *   coll_mix [calls [seed [most elements]]]
 * PEs are delayed at random.  tests/coll/stress.sh also sets SHMEM_STRESS, which delays
 * them at synchronization points, and SHMEM_*_ALGORITHM.
 */
#include "config.h"

#include "pgas/coll/api/active.h"
#include "pgas/coll/algorithms/reduce.h"
#include "tests/api/multi/coll.h"

enum { CALLS = 4000, SEED = 1, MOST = 3000, LATE = 64, PES_MAX = 64 };
enum what {
    BARRIER,
    REDUCE,
    ROOTED,
    BROADCAST,
    BURST,
    FCOLLECT,
    COLLECT,
    ALLTOALL,
    SCAN,
    WHATS
};
enum { BURST_CALLS = 20, ADAPTING_CALLS = 60 };
enum { SUM, XOR, MAX, AND, DRAWN_OPS };

/* One call: the same on all PEs. */
struct call {
    long number;
    enum what what;
    const struct group *g;
    size_t n;
    int root, op;
    bool in_place;
};

static int64_t *source, *dest;

/* Overlapping teams, with the same indices on all PEs; me = -1 if this PE is not a
 * member.
 */
enum { TEAMS_MAX = 8 };
static struct group teams[TEAMS_MAX];
static int nteams;

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
    add_team("first half", 0, 1, (n + 1) / 2);
    add_team("all but PE 0", 1, 1, n - 1);
    add_team("backwards", n - 1, -1, n);
}

static bool is_reduction(const struct call *c)
{
    return c->what == REDUCE || c->what == ROOTED;
}

/* Element e of the contribution of PE i of the team; for `and` all but one bit are set,
 * because the result of random values would be 0. */
static int64_t value(const struct call *c, int i, size_t e)
{
    uint64_t v = (uint64_t)c->number * 0x9e3779b97f4a7c15u ^
                 ((uint64_t)i << 40 | (uint64_t)e) * 0xd1b54a32d192ed03u;

    return (int64_t)(is_reduction(c) && c->op == AND ? ~((uint64_t)1 << v % 64) : v);
}

static void check_element(const struct call *c, size_t e, int64_t is, int64_t should)
{
    static const char *const names[] = {"barrier",   "reduce",   "rooted reduce",
                                        "broadcast", "burst",    "fcollect",
                                        "collect",   "alltoall", "scan"};

    CHECK_NAMED(is == should,
                "call %ld, %s of %zu on %s (root %d, op %d): element %zu is %llx, should "
                "be %llx",
                c->number, names[c->what], c->n, c->g->name, c->root, c->op, e,
                (unsigned long long)is, (unsigned long long)should);
}

/* ---- reductions and scans ---------------------------------------------------------- */

static int64_t combine(int op, int64_t a, int64_t b)
{
    switch (op) {
    case SUM:
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case XOR:
        return a ^ b;
    case MAX:
        return a > b ? a : b;
    default:
        return a & b;
    }
}

static void reduce_all(const struct call *c, int64_t *to)
{
    const int64_t *from = c->in_place ? to : source;
    shmem_team_t team = c->g->team;

    switch (c->op) {
    case SUM:
        shmem_int64_sum_reduce(team, to, from, c->n);
        break;
    case XOR:
        shmem_uint64_xor_reduce(team, (uint64_t *)to, (const uint64_t *)from, c->n);
        break;
    case MAX:
        shmem_int64_max_reduce(team, to, from, c->n);
        break;
    default:
        shmem_uint64_and_reduce(team, (uint64_t *)to, (const uint64_t *)from, c->n);
    }
}

/* The reduction of element e over PEs 0..end-1. */
static int64_t combined(const struct call *c, int op, int end, size_t e)
{
    int64_t all = end > 0 ? value(c, 0, e) : 0;

    for (int i = 1; i < end; i++)
        all = combine(op, all, value(c, i, e));
    return all;
}

static void reduce_once(const struct call *c)
{
    if (c->in_place)
        memcpy(dest, source, c->n * sizeof *dest);
    reduce_all(c, dest);
    for (size_t e = 0; e < c->n; e++)
        check_element(c, e, dest[e], combined(c, c->op, c->g->npes, e));
}

/* Every fifth time, enough calls in a row for the adaptation to try other algorithms. */
static void try_reduce(const struct call *c)
{
    int times = c->number % 5 == 0 ? ADAPTING_CALLS : 1;

    for (int k = 0; k < times; k++)
        reduce_once(c);
}

static const struct op_fns *op_of(int op)
{
    static const enum op ops[] = {OP_SUM, OP_XOR, OP_MAX, OP_AND};

    return op_find(ops[op], op == SUM || op == MAX ? OP_SINT : OP_UINT, 8);
}

/* Some of the calls on the world use it as an active set. */
static struct shmem_team *team_for(const struct call *c, struct shmem_team *set)
{
    static long psync[SHMEM_REDUCE_SYNC_SIZE];

    if (c->op != AND || c->g->team != SHMEM_TEAM_WORLD)
        return team_of(c->g->team, "rooted reduce");
    *set = active_set(0, 0, c->g->npes, psync, "rooted reduce");
    return set;
}

static void one_to_root(const struct call *c)
{
    struct shmem_team set;
    bool root = c->g->me == c->root;
    int64_t *to = c->in_place ? source : dest;

    reduce_to(team_for(c, &set), c->root, root ? to : NULL, source, c->n, sizeof *to,
              op_of(c->op), "rooted reduce");
    for (size_t e = 0; root && e < c->n; e++)
        check_element(c, e, to[e], combined(c, c->op, c->g->npes, e));
}

/* No PE waits for the root in rooted reductions, so the others run ahead of it. */
static void try_rooted(const struct call *c)
{
    struct call one = *c;

    for (int k = 0; k < BURST_CALLS; k++) {
        one.number += 1000000;
        one.root = c->op % 2 == 0 ? c->root : (c->root + k) % c->g->npes;
        for (size_t e = 0; e < c->n; e++)
            source[e] = value(&one, c->g->me, e);
        one_to_root(&one);
    }
}

static void try_scan(const struct call *c)
{
    bool inclusive = c->op % 2 == 0;

    if (inclusive)
        shmem_int64_sum_inscan(c->g->team, dest, source, c->n);
    else
        shmem_int64_sum_exscan(c->g->team, dest, source, c->n);
    for (size_t e = 0; e < c->n; e++)
        check_element(c, e, dest[e], combined(c, SUM, c->g->me + inclusive, e));
}

/* ---- movement -------------------------------------------------------------------- */

static void try_broadcast(const struct call *c)
{
    shmem_int64_broadcast(c->g->team, dest, source, c->n, c->root);
    for (size_t e = 0; e < c->n; e++)
        check_element(c, e, dest[e], value(c, c->root, e));
}

/* The root of a broadcast does not wait for the readers, so it runs ahead of them. */
static void try_burst(const struct call *c)
{
    struct call one = *c;

    for (int k = 0; k < BURST_CALLS; k++) {
        one.number += 1000000;
        for (size_t e = 0; e < c->n; e++)
            source[e] = value(&one, c->g->me, e);
        try_broadcast(&one);
    }
}

/* Number of elements that PE i contributes to a collect. */
static size_t part(const struct call *c, int i)
{
    return c->what == COLLECT ? c->n * (size_t)((i + c->root) % 3) / 2 : c->n;
}

static void try_collect(const struct call *c)
{
    size_t at = 0;

    if (c->what == COLLECT)
        shmem_int64_collect(c->g->team, dest, source, part(c, c->g->me));
    else
        shmem_int64_fcollect(c->g->team, dest, source, c->n);
    for (int i = 0; i < c->g->npes; at += part(c, i), i++)
        for (size_t e = 0; e < part(c, i); e++)
            check_element(c, at + e, dest[at + e], value(c, i, e));
}

static void try_alltoall(const struct call *c)
{
    shmem_int64_alltoall(c->g->team, dest, source, c->n);
    for (int i = 0; i < c->g->npes; i++)
        for (size_t e = 0; e < c->n; e++)
            check_element(c, (size_t)i * c->n + e, dest[(size_t)i * c->n + e],
                          value(c, i, (size_t)c->g->me * c->n + e));
}

static void try_barrier(const struct call *c)
{
    shmem_team_sync(c->g->team);
}

/* ---- the sequence ------------------------------------------------------------------ */

static void (*const tries[])(const struct call *) = {
    [BARRIER] = try_barrier,     [REDUCE] = try_reduce, [ROOTED] = try_rooted,
    [BROADCAST] = try_broadcast, [BURST] = try_burst,   [FCOLLECT] = try_collect,
    [COLLECT] = try_collect,     [SCAN] = try_scan,     [ALLTOALL] = try_alltoall,
};

/* Mostly small sizes, which leave the least time between calls; also sizes around the
 * limits of the algorithms. */
static size_t draw_n(uint64_t *random, size_t most)
{
    static const size_t limits[] = {1, 2, 6, 7, 254, 255, 256, 257, 2048, 2049};
    uint64_t r = check_random(random) >> 8;
    size_t n = r % 4 == 0   ? (size_t)(r / 4 % most) + 1
               : r % 4 == 1 ? limits[r / 4 % (sizeof limits / sizeof limits[0])]
                            : (size_t)(r / 4 % 16) + 1;
    return n < most ? n : most;
}

static struct call draw(uint64_t *random, long number, size_t most)
{
    uint64_t r = check_random(random) >> 8;
    struct call c = {.number = number,
                     .what = (enum what)(r % WHATS),
                     .g = &teams[r / 16 % (uint64_t)nteams],
                     .op = (int)(r / 256 % DRAWN_OPS),
                     .in_place = r / 1024 % 2 == 0};

    c.root = (int)(r / 4096 % (uint64_t)c.g->npes);
    c.n = draw_n(random, c.what == ALLTOALL ? most / 8 : most);
    return c;
}

static void run(const struct call *c)
{
    size_t all = c->what == ALLTOALL ? c->n * (size_t)c->g->npes : c->n;

    for (size_t e = 0; e < all; e++)
        source[e] = value(c, c->g->me, e);
    tries[c->what](c);
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : CALLS;
    uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 10) : SEED, mine;
    size_t most = argc > 3 ? (size_t)atol(argv[3]) : MOST;

    shmem_init();
    CHECK(shmem_n_pes() <= PES_MAX);
    add_teams(shmem_n_pes());
    mine = random * 77 + (uint64_t)shmem_my_pe();
    size_t space = most * (size_t)shmem_n_pes() * sizeof(int64_t);
    source = shmem_malloc(space);
    dest = shmem_malloc(space);
    CHECK(source != NULL && dest != NULL);
    for (long number = 1; number <= calls; number++) {
        struct call c = draw(&random, number, most);
        if (check_random(&mine) % LATE == 0)
            check_delay(&mine);
        if (c.g->me >= 0)
            run(&c);
    }
    shmem_finalize();
    return 0;
}
