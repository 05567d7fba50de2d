/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain.c - reductions in arrival order between nodes
 * (SHMEM_INTERNODE_REDUCE_ALGORITHM=chain) against a model: types and operations, sizes
 * around the limits of chunks and segments, teams, PEs that arrive in different orders,
 * and other collectives in between, back to back.
 *   chain [calls]     random calls
 *   chain order       at least 3 nodes with a PE each: the order of combination is that
 * of the arrivals
 */
#include "config.h"

#include "tests/api/multi/coll.h"

#include <stdlib.h>
#include <string.h>

enum {
    SEGMENT = 1 << 20, /* of the chain */
    CHUNK = 32 << 10,
    BYTES_MAX = 2 * SEGMENT + 5 * CHUNK,
    PERIOD = 5, /* of the contributions by element; small sums fit a char */
    PES_MAX = 32,
};

static unsigned char *dest, *source;

/* Element i of PE `pe` in this call: 0 to 2. */
static int element(int pe, size_t i, long call)
{
    return (int)(((uint64_t)pe * 7 + i % PERIOD + (uint64_t)call * 3) % 11 % 3);
}

/* ---- one reduction --------------------------------------------------------------------
 */

#define ADD(a, b)    ((a) + (b))
#define MOST(a, b)   ((a) > (b) ? (a) : (b))
#define EITHER(a, b) ((a) ^ (b))

/* A reduction of n elements of C, in place in every other call, and its check. */
#define REDUCTION(NAME, C, OP, COMBINE)                                                  \
    static void try_##NAME##_##OP(const struct group *g, size_t bytes, long call)        \
    {                                                                                    \
        bool in_place = call % 2 != 0;                                                   \
        size_t n = bytes / sizeof(C) + 1;                                                \
        C *to = (C *)(void *)dest, *from = in_place ? to : (C *)(void *)source;          \
        C wanted[PERIOD] = {0};                                                          \
        memset(dest, GUARD_BYTE, n * sizeof(C) + GUARD);                                 \
        for (size_t i = 0; i < n; i++)                                                   \
            from[i] = (C)element(g->me, i, call);                                        \
        for (size_t i = 0; i < PERIOD; i++)                                              \
            for (int pe = 0; pe < g->npes; pe++)                                         \
                wanted[i] = (C)COMBINE(wanted[i], (C)element(pe, i, call));              \
        CHECK_EQ(shmem_##NAME##_##OP##_reduce(g->team, to, from, n), 0);                 \
        for (size_t i = 0; i < n; i++)                                                   \
            CHECK_NAMED(to[i] == wanted[i % PERIOD],                                     \
                        "call %ld: " #NAME " " #OP " of %zu over %s: element %zu", call, \
                        n, g->name, i);                                                  \
        check_guard((unsigned char *)(to + n), #OP, g);                                  \
    }

REDUCTION(schar, signed char, sum, ADD)
REDUCTION(short, short, sum, ADD)
REDUCTION(int, int, sum, ADD)
REDUCTION(long, long, max, MOST)
REDUCTION(uint64, uint64_t, xor, EITHER)
REDUCTION(uchar, unsigned char, xor, EITHER)
REDUCTION(float, float, sum, ADD)
REDUCTION(double, double, max, MOST)
REDUCTION(double, double, sum, ADD)
REDUCTION(longdouble, long double, sum, ADD)
REDUCTION(complexd, double _Complex, sum, ADD)

static void (*const reductions[])(const struct group *g, size_t bytes, long call) = {
    try_schar_sum,      try_short_sum,  try_int_sum,     try_long_max,
    try_uint64_xor,     try_uchar_xor,  try_float_sum,   try_double_max,
    try_longdouble_sum, try_double_sum, try_complexd_sum};
enum { REDUCTIONS = sizeof reductions / sizeof reductions[0] };

/* ---- random calls
 * ----------------------------------------------------------------------
 */

/* The order of arrival of a call: at once, one PE late, ascending, descending, random. */
static void arrive(const struct group *g, uint64_t r, uint64_t *own)
{
    enum { STEP_US = 300, LATE_US = 2000 };
    long random = (long)(check_random(own) >> 40) % LATE_US;
    const long delay[] = {0, g->me == (int)(r % (uint64_t)g->npes) ? LATE_US : 0,
                          (long)g->me * STEP_US, (long)(g->npes - g->me) * STEP_US,
                          random};

    r = r / PES_MAX % 8;
    if (r < sizeof delay / sizeof delay[0] && delay[r] > 0)
        check_sleep_us(delay[r]);
}

static size_t bytes_of(uint64_t r)
{
    static const size_t some[] = {0,     1,         40,        2000,   CHUNK - 16, CHUNK,
                                  70000, 3 * CHUNK, 4 * CHUNK, 140000, SEGMENT / 2};
    static const size_t large[] = {SEGMENT - 16, SEGMENT, SEGMENT + CHUNK,
                                   2 * SEGMENT + 4 * CHUNK};

    return r % 16 == 0 ? large[r / 16 % (sizeof large / sizeof large[0])]
                       : some[r / 16 % (sizeof some / sizeof some[0])];
}

/* Another collective, which leaves other PEs behind or uses the same scratch memory. */
static void try_other(const struct group *g, uint64_t r, long call)
{
    enum { LONGS = 3000 };
    long *to = (long *)(void *)dest, *from = (long *)(void *)source;
    int root = (int)(r / 4 % (uint64_t)g->npes);
    size_t n = r % 2 ? 5 : LONGS;

    for (size_t i = 0; i < n; i++)
        from[i] = element(g->me, i, call);
    if (r % 4 < 2)
        CHECK_EQ(shmem_long_broadcast(g->team, to, from, n, root), 0);
    else
        CHECK_EQ(shmem_long_fcollect(g->team, to, from, n), 0);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(to[(r % 4 < 2 ? 0 : (size_t)root * n) + i], element(root, i, call));
}

/* Every PE draws the same numbers, and takes part in the calls of its teams. */
static void try_random(long calls)
{
    uint64_t same = check_seed(0), own = check_seed(shmem_my_pe());

    for (long call = 0; call < calls; call++) {
        uint64_t r = check_random(&same) >> 8, team = check_random(&same) >> 8;
        for (int k = 0; k < ngroups; k++) {
            const struct group *g = &groups[k];
            if (g->id != (team % 4 < 2 ? 1 : 3 + (int)(team / 4 % 4)))
                continue;
            arrive(g, r, &own);
            if (team % 32 / 8 == 0)
                try_other(g, r, call);
            reductions[r / 1024 % REDUCTIONS](g, bytes_of(r / 65536), call);
        }
    }
}

/* ---- order
 * -----------------------------------------------------------------------------
 */

/* PE 0 contributes 2^60, PE 1 -2^60, PE 2 1, the others 0: the sum is 1 if PE 2 arrives
 * after both, and 0 between them. */
static bool sums_in_order(const int *place, double wanted)
{
    enum { STEP_US = 20000 };
    static double sum, mine;
    const double huge = 0x1p60, part[] = {huge, -huge, 1};
    int me = shmem_my_pe();

    mine = me < 3 ? part[me] : 0;
    shmem_barrier_all();
    check_sleep_us(me < 3 ? place[me] * STEP_US : 0);
    CHECK_EQ(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1), 0);
    return sum == wanted;
}

/* On a busy machine a PE may arrive later than intended. */
static void try_order(void)
{
    enum { TRIES = 20 };
    static const int places[][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {2, 0, 1}};
    const double wanted[] = {1, 1, 0, 0};

    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        int tries = 0;
        while (!sums_in_order(places[k], wanted[k]))
            CHECK_NAMED(++tries < TRIES, "order %zu: never in order of arrival", k);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "60";

    coll_init(&dest, &source, BYTES_MAX + GUARD);
    CHECK(shmem_n_pes() <= PES_MAX);
    if (strcmp(what, "order") == 0)
        try_order();
    else
        try_random(strtol(what, NULL, 10));
    shmem_finalize();
    return 0;
}
