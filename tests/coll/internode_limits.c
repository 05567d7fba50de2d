/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * internode_limits.c - collectives of teams over several nodes at their limits.
 *   internode_limits         at least 4 nodes and 8 PEs
 *   internode_limits nodes   17 nodes, one PE each
 * - A PE that reads its leader's slot when the slot is about to be reused.
 * - Eager fcollects of the maximum size of a block, of all blocks, and on the maximum
 *   number of nodes; and one element or node more.
 * - Allreduces by exchange of the whole operands on the maximum number of nodes.
 */
#include "config.h"

#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/memory/peer.h"
#include "tests/api/multi/coll.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCK_MOST = 128 * 1024, /* of an eager fcollect, bytes of a PE */
    NODES_MOST = 16,
    NOT_PIGGYBACKED =
        INTERNODE_BUFFER / 32, /* more elements than travel with a barrier */
    EXCHANGE_NODES = 4,        /* of an allreduce by exchange, with 8 to 64 KiB */
    LONGS = (SCRATCH_SEGMENT * 2 + 4096) / (int)sizeof(long),
};

static long *from, *to;

static long element(int pe, size_t i, long round)
{
    return (long)i * 3 + (long)pe * 1000003 + round * 7919;
}

static struct shmem_team *team_in(const struct group *g)
{
    return team_of(g->team, "internode_limits");
}

/* ---- a late reader ---------------------------------------------------------------- */

/* The first access of this PE to `page`, a mapped page of its leader, waits until the
 * leader's signal word is that of the next message in the slot, which is an error, or for
 * HELD_MS. */
static struct {
    char *page;
    size_t bytes;
    const uint64_t *word;
    uint64_t number;
    volatile sig_atomic_t held, reused;
} late;

enum { HELD_MS = 100 };

static void hold(int sig, siginfo_t *info, void *context)
{
    const char *at = info->si_addr;

    (void)context;
    if (at < late.page || at >= late.page + late.bytes) {
        signal(sig, SIG_DFL);
        return;
    }
    for (int ms = 0; ms < HELD_MS && load_acquire_u64(late.word) <= late.number; ms++)
        check_sleep_us(1000);
    late.reused = load_acquire_u64(late.word) > late.number;
    late.held = 1;
    mprotect(late.page, late.bytes, PROT_READ | PROT_WRITE);
}

/* This PE will be late in call `number`, which reads `slot` of its leader. */
static void hold_at(struct shmem_team *team, char *slot, uint64_t *word, uint64_t number)
{
    struct sigaction action = {.sa_sigaction = hold, .sa_flags = SA_SIGINFO};
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    int leader = internode_leader(team);
    char *mapped = peer_at(slot, 1, leader, "internode_limits");

    late.page = mapped - (uintptr_t)mapped % page;
    late.bytes = page;
    late.word = peer_at(word, sizeof *word, leader, "internode_limits");
    late.number = number;
    late.held = late.reused = 0;
    CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
    CHECK_EQ(mprotect(late.page, late.bytes, PROT_NONE), 0);
}

/* A node with several PEs, or -1. */
static int shared_node(const struct team_nodes *n)
{
    for (int node = 0; node < n->leaders; node++)
        if (n->begin[node + 1] - n->begin[node] > 1)
            return node;
    return -1;
}

/* More calls than slots, of a root on another node; a PE is late in the first one. */
static void try_late_reader(const struct group *g, bool eager)
{
    struct shmem_team *team = team_in(g);
    const int slots = eager ? (int)BCAST_EAGER_SLOTS : (int)BCAST_CHUNKS;
    const size_t n = eager ? 8 : BCAST_CHUNK_BYTES / sizeof(long);
    int node = shared_node(team->nodes);
    int root = team->nodes->leader[node == 0];
    bool is_late = team->nodes->me == node && team->nodes->local_pe[1] == team->me;
    struct bcast_state *state = &team->coll->bcast;

    CHECK(node >= 0);
    for (int k = -1; k < slots + 2; k++) {
        if (k <= 0) /* k = -1 allocates the slots, k = 0 has credit for all of them */
            shmem_team_sync(g->team);
        if (k == 0 && is_late && eager) {
            uint64_t number = state->eager.seq + 1, i = number % BCAST_EAGER_SLOTS;
            hold_at(team,
                    scratch_at(&team->coll->internode.eager, node,
                               offsetof(struct internode_eager, slot[i])),
                    &internode_own_words(team)->bcast.eager[i], number);
        } else if (k == 0 && is_late) {
            uint64_t number = state->chunks.seq + 1, i = number % BCAST_CHUNKS;
            hold_at(team,
                    scratch_at(&team->coll->scratch, node,
                               SCRATCH_CHUNKS + (size_t)i * BCAST_CHUNK_BYTES),
                    &internode_own_words(team)->bcast.chunk[i], number);
        }
        for (size_t i = 0; i < n; i++)
            from[i] = element(g->me, i, k);
        CHECK_EQ(shmem_long_broadcast(g->team, to, from, n, root), 0);
        if (k == 0 && is_late)
            CHECK_NAMED(late.held && !late.reused,
                        "the slot of a %s broadcast was %s before this PE had read it",
                        eager ? "small" : "medium", late.held ? "reused" : "not read");
        for (size_t i = 0; i < n; i++)
            CHECK_NAMED(to[i] == element(root, i, k), "broadcast %d: element %zu", k, i);
    }
}

/* ---- fcollect -----------------------------------------------------------------------
 */

/* An eager fcollect needs no barrier of the leaders, since the one before has returned
 * all credit. */
static void try_fcollect(const struct group *g, size_t each, bool eager)
{
    struct shmem_team *team = team_in(g);

    for (size_t i = 0; i < each; i++)
        from[i] = element(g->me, i, 1);
    CHECK_EQ(shmem_long_fcollect(g->team, to, from, each), 0); /* allocates memory */
    memset(to, GUARD_BYTE, each * (size_t)g->npes * sizeof *to + GUARD);
    shmem_team_sync(g->team);
    uint64_t epoch = team->coll->internode.epoch;
    CHECK_EQ(shmem_long_fcollect(g->team, to, from, each), 0);
    if (internode_is_leader(team))
        CHECK_NAMED((team->coll->internode.epoch == epoch) == eager,
                    "fcollect of %zu over %s is %seager", each, g->name,
                    eager ? "not " : "");
    for (int pe = 0; pe < g->npes; pe++)
        for (size_t i = 0; i < each; i++)
            CHECK_NAMED(to[(size_t)pe * each + i] == element(pe, i, 1),
                        "fcollect of %zu over %s: element %zu of PE %d", each, g->name, i,
                        pe);
    const unsigned char *guard = (unsigned char *)(to + each * (size_t)g->npes);
    for (int i = 0; i < GUARD; i++)
        CHECK_EQ(guard[i], GUARD_BYTE);
}

static void try_fcollects(const struct group *world, const struct group *few)
{
    const size_t block = BLOCK_MOST / sizeof(long);
    const size_t all = SCRATCH_SEGMENT / sizeof(long) / (size_t)world->npes;

    for (size_t more = 0; more < 2; more++) {
        try_fcollect(world, all + more, more == 0);
        if (few->me >= 0)
            try_fcollect(few, block + more, more == 0);
    }
}

/* ---- allreduce ----------------------------------------------------------------------
 */

static void try_exchange(const struct group *g)
{
    static const size_t some[] = {1025, 4000, 8192};

    for (long k = 0; k < 12; k++) {
        size_t n = some[k % 3];
        CHECK_EQ(select_algorithm(team_in(g), SELECT_INTERNODE_REDUCE, n * sizeof(long)),
                 INTERNODE_REDUCE_EXCHANGE);
        for (size_t i = 0; i < n; i++)
            from[i] = element(g->me, i, k);
        if (g->me == k % g->npes)
            check_sleep_us(1000);
        CHECK_EQ(shmem_long_sum_reduce(g->team, to, from, n), 0);
        for (size_t i = 0; i < n; i++) {
            long sum = 0;
            for (int pe = 0; pe < g->npes; pe++)
                sum += element(pe, i, k);
            CHECK_NAMED(to[i] == sum, "sum %ld of %zu: element %zu", k, n, i);
        }
    }
}

int main(int argc, char **argv)
{
    shmem_init();
    int npes = shmem_n_pes(), me = shmem_my_pe();
    struct group world = {"WORLD", SHMEM_TEAM_WORLD, 1, npes, me, 0, 1};
    int nodes = team_in(&world)->nodes->leaders;

    from = check_alloc(LONGS * sizeof *from + GUARD);
    to = check_alloc(LONGS * sizeof *to + GUARD);
    if (argc > 1 && strcmp(argv[1], "nodes") == 0) {
        struct group most = group_split("16 nodes", 2, 0, 1, NODES_MOST);
        CHECK_EQ(nodes, NODES_MOST + 1);
        try_fcollect(&world, NOT_PIGGYBACKED, false);
        if (most.me >= 0)
            try_fcollect(&most, NOT_PIGGYBACKED, true);
    } else {
        struct group few = group_split("3 PEs", 2, 0, 3, 3);
        CHECK_EQ(nodes, EXCHANGE_NODES);
        try_late_reader(&world, true);
        try_late_reader(&world, false);
        try_fcollects(&world, &few);
        try_exchange(&world);
    }
    shmem_finalize();
    return 0;
}
