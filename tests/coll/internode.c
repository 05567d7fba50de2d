/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * internode.c - large collectives of teams over several nodes against a model: every
 * inter-node algorithm, sizes around its limits, teams with equal and unequal numbers of
 * PEs per node, back to back.
 *   internode [rounds|order]
 * With 0 rounds: one round with a third of the numbers of elements and two late PEs;
 * `order`: of these the calls whose bits are those of the PE order, and mixed ones.
 */
#include "config.h"

#include "pgas/coll/sync/team_coll.h"
#include "tests/api/multi/coll.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST = (SCRATCH_SEGMENT * 2 + 4096) / (int)sizeof(long),
    /* More segments of a broadcast (128 KiB) than signal words; and fewer segments, for
     * which a leader with several children sends more messages than it has records. */
    SEGMENTED = (LEADER_WORDS * 2 + 3) * 128 * 1024 / (int)sizeof(long),
    SPREAD = (LEADER_SENDS / 2 + 9) * 128 * 1024 / (int)sizeof(long),
    PES_MAX = 16,
};

static const size_t counts[] = {
    1,     7,     130, INTERNODE_BUFFER / 8 / 3, INTERNODE_BUFFER / 8 + 1, 5000, 8192,
    16400, 40001, MOST};
enum { COUNTS = sizeof counts / sizeof counts[0] };

static long *from, *to;
static bool brief;

/* Element i of the contribution of PE `pe` of the team in this round. */
static long element(int pe, size_t i, long round)
{
    return (long)i * 3 + (long)pe * 1000003 + round * 7919;
}

static void force(enum select_collective what, int algorithm)
{
    select_force(what, (enum select_algorithm)algorithm);
    for (int g = 0; g < ngroups; g++)
        team_of(groups[g].team, "internode")->coll->select.planned = false;
}

static void fill(const struct group *g, size_t n, long round)
{
    for (size_t i = 0; i < n; i++)
        from[i] = element(g->me, i, round);
}

static void clear(size_t n)
{
    memset(to, GUARD_BYTE, n * sizeof *to + GUARD);
}

static void check(const struct group *g, const char *what, size_t i, size_t n, long is,
                  long wanted)
{
    CHECK_NAMED(is == wanted, "%s of %zu over %s: element %zu is %ld, not %ld", what, n,
                g->name, i, is, wanted);
}

/* ---- the collectives ------------------------------------------------------------- */

static void check_sum(const struct group *g, const char *what, const long *sum, size_t n,
                      long round)
{
    for (size_t i = 0; i < n; i++) {
        long wanted = 0;
        for (int pe = 0; pe < g->npes; pe++)
            wanted += element(pe, i, round);
        check(g, what, i, n, sum[i], wanted);
    }
}

static void try_reduce(const struct group *g, size_t n, long round)
{
    fill(g, n, round);
    clear(n);
    CHECK_EQ(shmem_long_sum_reduce(g->team, to, from, n), 0);
    check_sum(g, "sum", to, n, round);
    check_guard((unsigned char *)(to + n), "sum", g);
    CHECK_EQ(shmem_long_sum_reduce(g->team, from, from, n), 0);
    check_sum(g, "sum in place", from, n, round);
}

/* Sums whose bits depend on the order of combination: all PEs get the same bits. */
static void try_bits(const struct group *g, size_t n, long round)
{
    static uint64_t mine, all[PES_MAX];
    double *in = (double *)from, *out = (double *)to;

    for (size_t i = 0; i < n; i++)
        in[i] = 1.0 / (double)(1 + (element(g->me, i, round) & 0xfff));
    CHECK_EQ(shmem_double_sum_reduce(g->team, out, in, n), 0);
    mine = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &out[i], sizeof bits);
        mine = mine * 31 + bits;
    }
    CHECK_EQ(shmem_uint64_fcollect(g->team, all, &mine, 1), 0);
    for (int pe = 0; pe < g->npes; pe++)
        CHECK_NAMED(all[pe] == mine, "%zu sums over %s: PE %d has other bits", n, g->name,
                    pe);
}

/* Inclusive scan, and exclusive scan in place. */
static void try_scan(const struct group *g, size_t n, long round)
{
    fill(g, n, round);
    clear(n);
    CHECK_EQ(shmem_long_sum_inscan(g->team, to, from, n), 0);
    check_guard((unsigned char *)(to + n), "inclusive scan", g);
    for (size_t i = 0; i < n; i++)
        check(g, "source of a scan", i, n, from[i], element(g->me, i, round));
    CHECK_EQ(shmem_long_sum_exscan(g->team, from, from, n), 0);
    for (size_t i = 0; i < n; i++) {
        long before = 0;
        for (int pe = 0; pe < g->me; pe++)
            before += element(pe, i, round);
        check(g, "exclusive scan", i, n, from[i], before);
        check(g, "inclusive scan", i, n, to[i], before + element(g->me, i, round));
    }
}

/* A contribution of another order of magnitude on each PE; each 7th is a negative zero on
 * all PEs. */
static double addend(int pe, size_t i, long round)
{
    static const double scale[] = {1e16, 1.0, -1e-7, 3e8, -1e16};
    long e = element(pe, i, round);

    return i % 7 == 0 ? -0.0 : scale[(unsigned long)e % 5] * (1 + (double)(e & 0xfff));
}

static void check_bits(const struct group *g, const char *what, const double *is,
                       size_t i, size_t n, double wanted)
{
    CHECK_NAMED(memcmp(&is[i], &wanted, sizeof wanted) == 0,
                "%s of %zu over %s: element %zu is %a, not %a", what, n, g->name, i,
                is[i], wanted);
}

enum order_call { EXSCAN, INSCAN, REDUCE };

/* The bits are those of additions one after the other in PE order, so they are the same
 * on any number of nodes. */
static void try_order_of(const struct group *g, size_t n, long round,
                         enum order_call call)
{
    static const char *const names[] = {"exscan", "inscan", "reduction"};
    double *in = (double *)from, *out = (round + (long)n) % 2 ? in : (double *)to;
    int end = call == EXSCAN ? g->me : call == INSCAN ? g->me + 1 : g->npes;

    for (size_t i = 0; i < n; i++)
        in[i] = addend(g->me, i, round);
    clear(n);
    if (call == EXSCAN)
        CHECK_EQ(shmem_double_sum_exscan(g->team, out, in, n), 0);
    else if (call == INSCAN)
        CHECK_EQ(shmem_double_sum_inscan(g->team, out, in, n), 0);
    else
        CHECK_EQ(shmem_double_sum_reduce(g->team, out, in, n), 0);
    for (size_t i = 0; i < n; i++) {
        double sum = end > 0 ? addend(0, i, round) : 0.0;
        for (int pe = 1; pe < end; pe++)
            sum += addend(pe, i, round);
        check_bits(g, names[call], out, i, n, sum);
    }
}

/* Not by `doubling`, which also replaces `gather` for data that do not fit, without
 * SHMEM_REPRODUCIBLE=1. */
static void try_order_scan(const struct group *g, size_t n, long round)
{
    struct shmem_team *team = team_of(g->team, "internode");
    enum select_algorithm a = INTERNODE_SCAN_CHAIN;

    if (team->nodes != NULL && pgas_self.env.reproducible != REPRODUCIBLE_ANYWHERE)
        a = select_algorithm(team, SELECT_INTERNODE_SCAN, n * sizeof(double));
    if (a == INTERNODE_SCAN_GATHER || a == INTERNODE_SCAN_DOUBLING)
        return;
    try_order_of(g, n, round, EXSCAN);
    try_order_of(g, n, round + 1, INSCAN);
}

/* With SHMEM_REPRODUCIBLE=1.  Within a node `static` has another order. */
static void try_order_reduce(const struct group *g, size_t n, long round)
{
    if (pgas_self.env.reproducible != REPRODUCIBLE_ANYWHERE ||
        team_of(g->team, "internode")->nodes == NULL)
        return;
    try_order_of(g, n, round, REDUCE);
    try_order_of(g, n, round + 1, REDUCE);
}

/* The internal rooted reduction: only the root's dest may change. */
static void try_reduce_to(const struct group *g, size_t n, long round)
{
    int root = (int)(round % g->npes);
    const struct op_fns *sum = op_find(OP_SUM, OP_SINT, sizeof(long));

    fill(g, n, round);
    clear(n);
    CHECK_EQ(reduce_to(team_of(g->team, "internode"), root, to, from, n, sizeof(long),
                       sum, "internode"),
             0);
    if (g->me == root)
        check_sum(g, "sum to a root", to, n, round);
    else
        check_guard((unsigned char *)to, "sum to another root", g);
    check_guard((unsigned char *)(to + n), "sum to a root", g);
    for (size_t i = 0; i < n; i++)
        check(g, "source of a sum", i, n, from[i], element(g->me, i, round));
}

static void try_broadcast_of(const struct group *g, int root, size_t n, long round)
{
    fill(g, n, round);
    clear(n);
    CHECK_EQ(shmem_long_broadcast(g->team, to, from, n, root), 0);
    for (size_t i = 0; i < n; i++)
        check(g, "broadcast", i, n, to[i], element(root, i, round));
    check_guard((unsigned char *)(to + n), "broadcast", g);
}

static void try_broadcast(const struct group *g, size_t n, long round)
{
    try_broadcast_of(g, (int)((round * 5 + (long)n) % g->npes), n, round);
}

/* Delays one PE before a call; the others run ahead as far as the call permits. */
static void be_late(const struct group *g, long late)
{
    enum { LATE_US = 2000 };

    if (g->me == late % g->npes)
        check_sleep_us(LATE_US);
}

/* Many small calls, in which no PE waits for others: the source is overwritten at once,
 * and slots are reused. */
static void try_eager(const struct group *g, long round)
{
    /* While a leader is late, the root reuses slots. */
    enum {
        LONGS = BCAST_EAGER_BYTES / sizeof(long),
        EACH_LATE = BCAST_EAGER_SLOTS + 8,
        CALLS = 2 * EACH_LATE,
    };

    for (long k = 0; k < CALLS; k++) {
        long late = round + k / EACH_LATE;
        if (k % EACH_LATE == 0)
            be_late(g, late);
        try_broadcast_of(g, (int)((late + 1) % g->npes),
                         1 + (size_t)(k * 37 + round) % LONGS, k);
    }
}

/* Waits for PEs of the node, within the library or not. */
static void await_left(uint64_t *left, uint64_t all, bool inside)
{
    enum { POLL_US = 100 };

    if (inside)
        shmem_uint64_wait_until(left, SHMEM_CMP_GE, all);
    while (!inside && load_acquire_u64(left) < all)
        check_sleep_us(POLL_US);
}

/*
 * Broadcasts of up to `longs` elements in which the leaders are so late that they enter a
 * call when the other PEs of their nodes have left it (except a leader that is the root):
 * those do not wait for them.  The barrier gives credit for all calls.
 */
static void try_late_leaders_in(const struct group *g, long round, int algorithm,
                                long calls, size_t longs)
{
    static uint64_t left; /* on a leader: calls that other PEs of its node have left */
    struct shmem_team *team = team_of(g->team, "internode");
    const struct team_nodes *n = team->nodes;
    uint64_t all = 0;

    force(SELECT_INTERNODE_BROADCAST, algorithm);
    left = 0;
    shmem_team_sync(g->team);
    for (long c = 0; c < calls; c++) {
        int root = (int)((round + c * 5 + c / g->npes) % g->npes);
        all += (uint64_t)n->local_pes - 1;
        if (internode_is_leader(team) && g->me != root)
            await_left(&left, all, c % 2 == 0);
        try_broadcast_of(g, root, 1 + (size_t)(c * 37037 + round) % longs, c);
        if (!internode_is_leader(team))
            shmem_uint64_atomic_add(&left, 1, internode_leader(team));
    }
    shmem_team_sync(g->team); /* before the next round clears `left` */
    force(SELECT_INTERNODE_BROADCAST, SELECT_ALGORITHMS_ALL);
}

static void try_late_leaders(const struct group *g, long round)
{
    enum { CALLS = 40, CHUNKS = 3 }; /* CHUNKS: at most, of a streamed broadcast */
    struct shmem_team *team = team_of(g->team, "internode");

    if (team->nodes == NULL || !select_first_leader())
        return;
    if (internode_has_eager(team, "internode"))
        try_late_leaders_in(g, round, INTERNODE_BROADCAST_EAGER, CALLS,
                            BCAST_EAGER_BYTES / sizeof(long));
    if (scratch_get(team, "internode"))
        try_late_leaders_in(g, round, INTERNODE_BROADCAST_STREAM, BCAST_CHUNKS / CHUNKS,
                            CHUNKS * BCAST_CHUNK_BYTES / sizeof(long));
}

/*
 * The root, which is not a leader, runs ahead of a whole node, which enters the first
 * call when the root has entered the last one for which it has credit.  Were it to go on,
 * it would overwrite the slots of that node.
 */
static void try_credit(const struct group *g, long round)
{
    enum { CALLS = BCAST_EAGER_SLOTS + MAILBOX_LINES, LONGS = 5, AHEAD_US = 2000 };
    static uint64_t entered; /* calls that the root has entered */
    struct shmem_team *team = team_of(g->team, "internode");
    const struct team_nodes *n = team->nodes;
    int node = 0;

    while (n != NULL && node < n->leaders && n->begin[node + 1] - n->begin[node] < 2)
        node++;
    if (n == NULL || n->pos != NULL || node == n->leaders ||
        !internode_has_eager(team, "internode"))
        return;
    int root = n->begin[node] + 1, late = (node + 1) % n->leaders;
    force(SELECT_INTERNODE_BROADCAST, INTERNODE_BROADCAST_EAGER);
    entered = 0;
    shmem_team_sync(g->team);
    if (n->me == late) {
        shmem_uint64_wait_until(&entered, SHMEM_CMP_GE, BCAST_EAGER_SLOTS);
        check_sleep_us(AHEAD_US);
    }
    for (long c = 1; c <= CALLS; c++) {
        for (int i = n->begin[late]; g->me == root && i < n->begin[late + 1]; i++)
            shmem_uint64_p(&entered, (uint64_t)c, team_world_pe(team, i));
        try_broadcast_of(g, root, LONGS, round + c);
    }
    shmem_team_sync(g->team);
    force(SELECT_INTERNODE_BROADCAST, SELECT_ALGORITHMS_ALL);
}

/* Number of elements of PE i: n, or fewer unless `even`. */
static size_t part(int pe, size_t n, bool even)
{
    return even ? n : (size_t)(pe % 3) * n / 2;
}

static void try_collect(const struct group *g, size_t n, long round)
{
    bool even = round % 2 == 0;
    size_t each = n / (size_t)g->npes + 1, all = 0, mine = part(g->me, each, even);

    fill(g, mine, round);
    clear(MOST + PES_MAX);
    if (even)
        CHECK_EQ(shmem_long_fcollect(g->team, to, from, each), 0);
    else
        CHECK_EQ(shmem_long_collect(g->team, to, from, mine), 0);
    for (int pe = 0; pe < g->npes; pe++)
        for (size_t i = 0; i < part(pe, each, even); i++, all++)
            check(g, even ? "fcollect" : "collect", all, n, to[all],
                  element(pe, i, round));
    check_guard((unsigned char *)(to + all), "collect", g);
}

static void try_alltoall(const struct group *g, size_t n, long round)
{
    size_t each = n / (size_t)g->npes + 1;

    fill(g, each * (size_t)g->npes, round);
    clear(each * (size_t)g->npes);
    CHECK_EQ(shmem_long_alltoall(g->team, to, from, each), 0);
    for (int pe = 0; pe < g->npes; pe++)
        for (size_t i = 0; i < each; i++)
            check(g, "alltoall", (size_t)pe * each + i, n, to[(size_t)pe * each + i],
                  element(pe, (size_t)g->me * each + i, round));
    check_guard((unsigned char *)(to + each * (size_t)g->npes), "alltoall", g);
}

/* The destination overlaps the source: it is one element further or the same. */
static void try_alltoalls_overlap(const struct group *g, size_t n, long round)
{
    const size_t shift = (size_t)round % 2;
    size_t each = n / (size_t)(g->npes * 4) + 1, all = each * (size_t)g->npes;

    fill(g, all * 2, round);
    shmem_team_sync(g->team);
    CHECK_EQ(shmem_long_alltoalls(g->team, from + shift, from, 1 + round % 2, 2, each),
             0);
    for (size_t k = 0; k < all; k++)
        check(g, "overlapping alltoalls", k, n, from[shift + k * (size_t)(1 + round % 2)],
              element((int)(k / each), ((size_t)g->me * each + k % each) * 2, round));
}

/* Element e of all blocks is at dst * e in the destination. */
static void try_alltoalls(const struct group *g, size_t n, long round)
{
    const ptrdiff_t dst = 1 + round % 3, sst = 1 + (round + (long)n) % 2;
    size_t each = n / (size_t)(g->npes * 4) + 1, all = each * (size_t)g->npes;

    long untouched;

    memset(&untouched, GUARD_BYTE, sizeof untouched);
    fill(g, all * (size_t)sst, round);
    clear(all * (size_t)dst);
    CHECK_EQ(shmem_long_alltoalls(g->team, to, from, dst, sst, each), 0);
    for (size_t e = 0; e < all * (size_t)dst; e++) {
        size_t k = e / (size_t)dst, mine = (size_t)g->me * each + k % each;
        check(g, "alltoalls", e, n, to[e],
              e % (size_t)dst != 0 ? untouched
                                   : element((int)(k / each), mine * (size_t)sst, round));
    }
    check_guard((unsigned char *)(to + all * (size_t)dst), "alltoalls", g);
}

/* ---- all of them ------------------------------------------------------------------- */

typedef void (*try_fn)(const struct group *g, size_t n, long round);

static const struct kind {
    enum select_collective what;
    try_fn try;
} kinds[] = {
    {SELECT_INTERNODE_REDUCE, try_reduce},
    {SELECT_INTERNODE_REDUCE, try_reduce_to},
    {SELECT_INTERNODE_REDUCE, try_bits},
    {SELECT_INTERNODE_BROADCAST, try_broadcast},
    {SELECT_INTERNODE_COLLECT, try_collect},
    {SELECT_INTERNODE_ALLTOALL, try_alltoall},
    {SELECT_INTERNODE_ALLTOALL, try_alltoalls},
    {SELECT_INTERNODE_ALLTOALL, try_alltoalls_overlap},
    {SELECT_INTERNODE_SCAN, try_scan},
    {SELECT_INTERNODE_SCAN, try_order_scan},
    {SELECT_INTERNODE_REDUCE, try_order_reduce},
};
enum { ORDER_KINDS = 3 }; /* the last ones */
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Eager broadcasts and another collective, then a new team in the memory of the old. */
static void try_teams(uint64_t *seed)
{
    enum { TEAMS = 12 };
    int npes = shmem_n_pes();

    for (int k = 0; k < TEAMS; k++) {
        struct group g =
            group_split("a short team", k, k % 2 ? npes - 1 : 0, k % 2 ? -1 : 1, npes);
        for (long i = 0; i < 3 + k; i++)
            try_broadcast(&g, 1 + (size_t)i * 9, i + k);
        check_delay(seed);
        kinds[k % KINDS].try(&g, 5000, k);
        shmem_team_destroy(g.team);
    }
}

/* Each PE is late in turn; it is the root of a rooted reduction.  Scratch buffers and
 * signal words are reused. */
static void try_late(const struct kind *k, const struct group *g, long round)
{
    enum { CALLS = 9, EACH_LATE = 5 };
    static const size_t some[] = {300, 5000, 17000};

    for (long late = 0; late < g->npes; late += brief && g->npes > 2 ? g->npes - 1 : 1)
        for (long c = 0; c < CALLS; c++) {
            if (c % EACH_LATE == 0)
                be_late(g, late);
            k->try(g, some[(round + late + c / EACH_LATE) % 3], c * g->npes + late);
        }
}

/* On every team, with each of its PEs possibly late.  The short form with a forced
 * algorithm: on the world and a quarter of the other teams, chosen by their numbers: a PE
 * is not in all of them. */
static void try_all(const struct kind *k, bool forced, long round, uint64_t *seed)
{
    static int turn;

    turn++;
    for (int g = 0; g < ngroups; g++) {
        if (brief && forced && g != 0 && (groups[g].id + turn) % 4 != 0)
            continue;
        for (int c = brief ? groups[g].npes % 3 : 0; c < (g == 0 ? COUNTS : 6);
             c += brief ? 3 : 1) {
            check_delay(seed);
            k->try(&groups[g], counts[c], round + c);
        }
    }
    for (int g = 0; k->what == SELECT_INTERNODE_BROADCAST && g < ngroups; g++)
        try_eager(&groups[g], round);
    try_late(k, &groups[0], round);
    if (k->what != SELECT_INTERNODE_BROADCAST)
        return;
    k->try(&groups[0], SPREAD, round);
    k->try(&groups[0], SEGMENTED, round);
}

static void try_algorithms(const struct kind *k, long round, uint64_t *seed)
{
    for (int a = 0; a < SELECT_ALGORITHMS_ALL; a++) {
        if (select_info((enum select_algorithm)a)->what != k->what)
            continue;
        force(k->what, a);
        try_all(k, true, round, seed);
    }
    force(k->what, SELECT_ALGORITHMS_ALL);
    try_all(k, false, round, seed);
}

/* Collectives of changing kinds back to back: each finds the state that the last left. */
static void try_mixed(long round, uint64_t *seed)
{
    for (int g = 0; g < ngroups; g++)
        for (int i = 0; i < 2 * KINDS; i++) {
            check_delay(seed);
            kinds[i % KINDS].try(&groups[g], counts[(size_t)(i + round) % 7], round + i);
        }
}

int main(int argc, char **argv)
{
    bool order = argc > 1 && strcmp(argv[1], "order") == 0;
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;

    brief = rounds == 0;
    rounds += brief;
    shmem_init();
    uint64_t seed = check_seed(shmem_my_pe());
    CHECK(shmem_n_pes() <= PES_MAX);
    groups_init();
    from = check_alloc(SEGMENTED * sizeof *from + GUARD);
    to = check_alloc(SEGMENTED * sizeof *to + GUARD);
    for (long round = 0; round < rounds; round++) {
        for (int k = order ? KINDS - ORDER_KINDS : 0; k < KINDS; k++)
            try_algorithms(&kinds[k], round, &seed);
        for (int g = 0; !order && g < ngroups; g++) {
            try_late_leaders(&groups[g], round);
            try_credit(&groups[g], round);
        }
        if (!order)
            try_teams(&seed);
        for (long i = 0; i < (brief ? 2 : 5); i++)
            try_mixed(round * 5 + i, &seed);
    }
    shmem_finalize();
    return 0;
}
